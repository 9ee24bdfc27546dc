// Fractions, roots and functions with their arguments.
#include <algorithm>

#include "math/parser_impl.h"

namespace rewardloop::math {
namespace {

Function Inverse(Function fn) {
  switch (fn) {
    case Function::kSin: return Function::kArcsin;
    case Function::kCos: return Function::kArccos;
    case Function::kTan: return Function::kArctan;
    case Function::kCot: return Function::kArccot;
    case Function::kSec: return Function::kArcsec;
    case Function::kCsc: return Function::kArccsc;
    case Function::kSinh: return Function::kArsinh;
    case Function::kCosh: return Function::kArcosh;
    case Function::kTanh: return Function::kArtanh;
    case Function::kCoth: return Function::kArcoth;
    default: return Function::kNone;
  }
}

bool IsTrig(Function fn) { return fn >= Function::kSin && fn <= Function::kArcsch; }

}  // namespace

// One argument of \frac: a group, or a single digit, letter or command.
const Expr* Parser::FracArg() {
  DepthGuard guard(this);
  if (TooDeep()) return nullptr;
  if (Type() == Tok::kLBrace) return Brace();
  if (Type() == Tok::kNumber && Peek().text.size() > 1 && IsDigits(Peek().text)) {
    auto& token = const_cast<Token&>(tokens_[at_]);
    E digit = build_.Number(token.text.substr(0, 1));
    token.text.remove_prefix(1);
    token.space_before = false;
    return digit;
  }
  if (Type() == Tok::kWord && Peek().text.size() > 1) {
    auto& token = const_cast<Token&>(tokens_[at_]);
    E letter = build_.Symbol(token.text.substr(0, 1));
    token.text.remove_prefix(1);
    return letter;
  }
  if (Type() == Tok::kMinus) { ++at_; E x = FracArg(); return x ? build_.Neg(x) : nullptr; }
  return Primary();
}

const Expr* Parser::FracArgOrNumber() {
  if (Type() == Tok::kLBrace) return Brace();
  if (Type() == Tok::kNumber) {
    // \log_28: LaTeX takes one digit, "log10(x)" means all of them
    if (Type(1) != Tok::kLParen && Type(1) != Tok::kLBrace && Peek().text.size() > 1 && Peek().begin > 0) return FracArg();
    return NumberFromText(tokens_[at_++].text);
  }
  return Primary();
}

const Expr* Parser::Frac() {
  ++at_;
  if (Type() == Tok::kLParen && (Type(1) != Tok::kEnd)) {  // frac(1, 2) and \frac(1)(2)
    E numerator = Round();
    if (!numerator) return nullptr;
    if (numerator->kind == Kind::kTuple && numerator->child_count == 2) return build_.Make(Kind::kDiv, {(*numerator)[0], (*numerator)[1]});
    E denominator = FracArg();
    return denominator ? build_.Make(Kind::kDiv, {numerator, denominator}) : nullptr;
  }
  const size_t before = at_;
  E numerator = FracArg();
  if (!numerator) return nullptr;
  E denominator = FracArg();
  if (!denominator) return nullptr;
  // \frac{d}{dx} f
  const bool d_over = numerator->kind == Kind::kSymbol && numerator->text == "d" && denominator->kind == Kind::kMul &&
                      denominator->child_count == 2 && denominator->text.starts_with('d') && (*denominator)[1]->kind == Kind::kSymbol;
  (void)before;
  if (d_over && StartsOperand()) {
    E body = Multiplicative();
    E one = build_.Integer(1);
    return body ? build_.Make(Kind::kDerivative, {body, (*denominator)[1], one}) : nullptr;
  }
  E e = build_.Make(Kind::kDiv, {numerator, denominator});
  return e ? e : Fail(ParseStatus::kLimitNodes);
}

const Expr* Parser::Sqrt() {
  const bool cube = Type() == Tok::kCbrt;
  ++at_;
  E index = nullptr;
  if (cube) index = build_.Integer(3);
  if (Type() == Tok::kLBracket) {
    ++at_;
    index = List(Tok::kRBracket);
    if (!index || !Take(Tok::kRBracket)) return status_ == ParseStatus::kOk ? Fail() : nullptr;
  }
  E radicand = nullptr;
  if (Type() == Tok::kLBrace) radicand = Brace();
  else if (Type() == Tok::kLParen) radicand = Round();
  else if (Type() == Tok::kMinus) { ++at_; radicand = build_.Neg(Primary()); }
  else radicand = Primary();
  if (!radicand) return status_ == ParseStatus::kOk ? Fail() : nullptr;
  E e = index ? build_.Make(Kind::kRoot, {radicand, index}) : build_.Make(Kind::kSqrt, {radicand});
  return e ? e : Fail(ParseStatus::kLimitNodes);
}

// The argument of a function written without brackets: sin 2x, ln|x|, cos 20^\circ.
const Expr* Parser::FunctionArgument(Function fn) {
  DepthGuard guard(this);
  if (TooDeep()) return nullptr;
  if (Take(Tok::kMinus)) {
    E operand = FunctionArgument(fn);
    return operand ? build_.Neg(operand) : nullptr;
  }
  NodeList factors(arena_);
  bool pi = false;
  while (true) {
    if (factors.size() && (Type() == Tok::kFunction || Type() == Tok::kSum || Type() == Tok::kIntegral || Type() == Tok::kText || Type() == Tok::kBegin ||
                           Type() == Tok::kLSet || Peek().quad_before || !StartsOperand() || StartsCondition()))
      break;
    if (factors.size() && Type() == Tok::kLParen && factors[factors.size() - 1]->parens) break;
    if (factors.size() && Type() == Tok::kNumber) break;
    pi |= Type() == Tok::kConstant;
    E factor = Power();
    if (!factor || !factors.Add(factor)) return nullptr;
  }
  E product = factors.size() == 1 ? factors[0] : build_.Make(Kind::kMul, factors.span());
  // sin pi/6
  if (product && pi && IsTrig(fn) && Type() == Tok::kSlash && Type(1) == Tok::kNumber) {
    ++at_;
    E divisor = Number();
    product = divisor ? build_.Make(Kind::kDiv, {product, divisor}) : nullptr;
  }
  return product;
}

const Expr* Parser::FunctionCall() {
  const Token token = Peek();
  Function fn = token.fn;
  ++at_;
  E base = nullptr, exponent = nullptr;
  if (token.text == "lg" || token.text == "\\lg") base = build_.Integer(10);
  for (int i = 0; i < 2; ++i) {
    if (Type() == Tok::kUnder) {
      ++at_;
      base = FracArgOrNumber();
      if (!base) return nullptr;
    }
    if (Type() == Tok::kCaret && !exponent) {
      ++at_;
      exponent = Exponent();
      if (!exponent) return nullptr;
    }
  }
  E args = nullptr;
  bool bracketed = false;
  if (Type() == Tok::kLParen || Type() == Tok::kLBrace || (Type() == Tok::kLSet && fn >= Function::kGcd) || (Type() == Tok::kLBracket)) {
    bracketed = true;
    args = Type() == Tok::kLParen ? Round() : Type() == Tok::kLBrace ? Brace() : Type() == Tok::kLSet ? SetBraces() : Square();
  } else {
    args = FunctionArgument(fn);
  }
  if (!args) return status_ == ParseStatus::kOk ? Fail() : nullptr;
  (void)bracketed;
  if (args->kind == Kind::kInterval && args->flags != (kFlagLowerClosed | kFlagUpperClosed)) return Fail();  // f(1, 2] is a slip
  const bool many = args->kind == Kind::kTuple || args->kind == Kind::kSet || args->kind == Kind::kList || args->kind == Kind::kInterval;
  const auto children = many ? args->children() : std::span<Expr* const>();
  const Function inverse = exponent && exponent->kind == Kind::kNeg && (*exponent)[0]->kind == Kind::kNumber && (*exponent)[0]->text == "1" ? Inverse(fn) : Function::kNone;
  if (inverse != Function::kNone) { fn = inverse; exponent = nullptr; }
  Expr* call = nullptr;
  if (token.text == "factorial") {
    call = build_.Make(Kind::kFactorial, {args});
  } else if (fn == Function::kLog && base) {
    call = build_.Call(Function::kLogBase, {base, args});
  } else if (fn == Function::kLog && many && children.size() == 2) {
    E log_base = children[1];
    if (log_base->kind == Kind::kSymbol && log_base->text == "E") log_base = build_.Constant(Function::kE);
    call = build_.Call(Function::kLogBase, {log_base, children[0]});
  } else {
    if (base && fn != Function::kMax && fn != Function::kMin) return Fail();
    const size_t arity = fn == Function::kLogBase || fn == Function::kBinomial || fn == Function::kMod || fn == Function::kAtan2 ? 2
                         : fn >= Function::kGcd && fn <= Function::kMin                                                              ? 0
                                                                                                                                     : 1;
    if (arity && (many ? children.size() : 1) != arity) return Fail();
    call = many ? build_.Make(Kind::kFunction, std::span<const Expr* const>(args->child, args->child_count)) : build_.Make(Kind::kFunction, {args});
    if (call) call->fn = fn;
  }
  if (!call) return Fail(ParseStatus::kLimitNodes);
  if (!exponent) return call;
  return build_.Make(Kind::kPow, {call, exponent});
}

}  // namespace rewardloop::math
