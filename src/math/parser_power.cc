// Signs, powers, and the marks behind an operand: factorial, percent, degrees, primes.
#include "math/parser_impl.h"

namespace rewardloop::math {

// `2\frac12` and `2 1/2`: null (and nothing read) when what follows is no proper fraction of two integers.
const Expr* Parser::Mixed(E integer) {
  if (integer->kind != Kind::kNumber || integer->aux >= 0 || integer->number != 0 || integer->parens) return nullptr;
  const size_t saved = at_;
  E fraction = nullptr;
  if (Type() == Tok::kFrac) {
    fraction = Frac();
    if (!fraction) return nullptr;
  } else {
    if (Type() != Tok::kNumber || Type(1) != Tok::kSlash || Type(2) != Tok::kNumber || !Peek().space_before) return nullptr;
    E numerator = Number();
    ++at_;
    E denominator = Number();
    if (!numerator || !denominator) return nullptr;
    fraction = build_.Make(Kind::kDiv, {numerator, denominator});
  }
  const auto integral = [](E e) { return e->kind == Kind::kNumber && e->aux < 0 && e->number == 0; };
  if (!fraction || fraction->kind != Kind::kDiv || !integral((*fraction)[0]) || !integral((*fraction)[1])) {
    at_ = saved;
    return nullptr;
  }
  const std::string_view n = (*fraction)[0]->text, d = (*fraction)[1]->text;
  const bool proper = n.size() < d.size() || (n.size() == d.size() && n < d);
  if (!proper || n == "0" || Type() == Tok::kCaret) {
    // "2 3/2" is nothing; "2\frac{3}{2}" is a product for some and a mistake for others: not read as a number.
    if (!proper && integer->text != "0") return Fail();
    at_ = saved;
    return nullptr;
  }
  Expr* sum = build_.Make(Kind::kAdd, {integer, fraction});
  if (!sum) return Fail(ParseStatus::kLimitNodes);
  sum->flags |= kFlagMixed;
  sum->parens = 1;
  return sum;
}

const Expr* Parser::Unary() {
  DepthGuard guard(this);
  if (TooDeep()) return nullptr;
  if (Take(Tok::kMinus)) {
    E operand = Unary();
    return operand ? build_.Neg(operand) : nullptr;
  }
  if (Take(Tok::kPlus)) return Unary();
  return Power();
}

const Expr* Parser::Exponent() {
  DepthGuard guard(this);
  if (TooDeep()) return nullptr;
  if (Take(Tok::kMinus)) {
    E operand = Exponent();
    return operand ? build_.Neg(operand) : nullptr;
  }
  if (Take(Tok::kPlus)) return Exponent();
  E base = Primary();
  if (!base) return nullptr;
  while (Take(Tok::kBang)) base = build_.Make(Kind::kFactorial, {base});
  if (base && Take(Tok::kCaret)) {
    E exponent = Exponent();
    return exponent ? build_.Make(Kind::kPow, {base, exponent}) : nullptr;
  }
  return base;
}

// x^+ and x^- are sides of a limit; x^{\prime} and x^* are names. Null with status_ ok: `base` stays as it is.
const Expr* Parser::Raised(E base) {
  ++at_;
  const bool brace = Type() == Tok::kLBrace;
  const Tok inner = brace ? Type(1) : Type();
  const Tok after = brace ? Type(2) : Type(1);
  const bool operand_after = after == Tok::kNumber || after == Tok::kWord || after == Tok::kLParen || after == Tok::kSymbol || after == Tok::kFrac || after == Tok::kConstant;
  if ((inner == Tok::kPlus || inner == Tok::kMinus) && (brace ? after == Tok::kRBrace : !operand_after)) {
    limit_side_ = inner == Tok::kPlus ? 1 : -1;
    at_ += brace ? 3 : 1;
    return base;
  }
  if (inner == Tok::kPrime || inner == Tok::kTimes) {
    if (base->kind != Kind::kSymbol && base->kind != Kind::kMatrix) return Fail();
    at_ += 1;
    if (brace) { while (Take(Tok::kPrime)) {} at_ += 1; }
    base = SymbolTail(base->text);
    Expr* call = base ? build_.Make(Kind::kCall, {base}) : nullptr;
    if (call) call->text = "'";
    return call;
  }
  if (base->kind == Kind::kMatrix || base->kind == Kind::kTuple) {
    const Token& token = brace ? Peek(1) : Peek();
    if ((token.type == Tok::kWord || token.type == Tok::kText) && token.text == "T") {
      at_ += brace ? 3 : 1;
      return build_.Call(Function::kTranspose, {base});
    }
  }
  const int side = limit_side_;
  E exponent = Exponent();
  limit_side_ = side;
  return exponent ? build_.Make(Kind::kPow, {base, exponent}) : nullptr;
}

// 60^\circ 42' 30'', read up to the sign of degrees.
const Expr* Parser::Degrees(E base) {
  ++at_;
  if ((Type() == Tok::kText || Type() == Tok::kWord) && Peek().text == "C") { ++at_; return base; }
  E degrees = base;
  for (const int64_t part : {int64_t{60}, int64_t{3600}}) {
    if (!degrees || Type() != Tok::kNumber || Type(1) != Tok::kPrime) break;
    E fraction = Number();
    ++at_;
    if (part == 3600) Take(Tok::kPrime);
    degrees = fraction ? build_.Make(Kind::kAdd, {degrees, build_.Make(Kind::kDiv, {fraction, build_.Integer(part)})}) : nullptr;
  }
  return degrees ? build_.Make(Kind::kDegree, {degrees}) : nullptr;
}

const Expr* Parser::Primed(E base) {
  ++at_;
  if (base->kind == Kind::kNumber) {  // feet, minutes: a mark
    Take(Tok::kPrime);
    return base;
  }
  if (base->kind == Kind::kDegree) return Fail();
  Expr* call = build_.Make(Kind::kCall, {base});
  if (call) call->text = "'";
  return call;
}

const Expr* Parser::Power() {
  DepthGuard guard(this);
  if (TooDeep()) return nullptr;
  E base = Primary();
  while (base) {
    switch (Type()) {
      case Tok::kCaret: base = Raised(base); break;
      case Tok::kBang: {
        ++at_;
        const bool twice = Type() == Tok::kBang && !Peek().space_before;
        if (twice) ++at_;
        base = build_.Make(twice ? Kind::kDoubleFactorial : Kind::kFactorial, {base});
        break;
      }
      case Tok::kPercent:
        if (Type(1) == Tok::kNumber) return base;  // 17 % 5
        ++at_;
        base = build_.Make(Kind::kPercent, {base});
        break;
      case Tok::kDegree: base = Degrees(base); break;
      case Tok::kPrime: base = Primed(base); break;
      case Tok::kPmod: {
        ++at_;
        E modulus = Type() == Tok::kLBrace ? Brace() : Primary();
        base = modulus ? build_.Make(Kind::kCongruence, {base, base, modulus}) : nullptr;
        break;
      }
      default: return base;
    }
  }
  return status_ == ParseStatus::kOk ? Fail(ParseStatus::kLimitNodes) : nullptr;
}

}  // namespace rewardloop::math
