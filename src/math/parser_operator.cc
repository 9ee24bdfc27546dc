// Sums, products, integrals, limits.
#include <algorithm>

#include "math/parser_impl.h"

namespace rewardloop::math {

const Expr* Parser::BigOperator() {
  const Kind kind = Type() == Tok::kSum ? Kind::kSum : Kind::kProduct;
  ++at_;
  E lower = nullptr, upper = nullptr;
  if (Type() == Tok::kLParen && !Peek().space_before) return Fail();
  for (int i = 0; i < 2; ++i) {
    if (Take(Tok::kUnder)) lower = ScriptArgument();
    else if (Take(Tok::kCaret)) upper = ScriptArgument();
    else break;
    if (status_ != ParseStatus::kOk) return nullptr;
  }
  E body = Multiplicative();
  if (!body) return nullptr;
  if (!lower || lower->kind != Kind::kRelation || lower->child_count != 2 || (*lower)[0]->kind != Kind::kSymbol) {
    // i as an index reads as the imaginary unit
    if (lower && lower->kind == Kind::kRelation && lower->child_count == 2 && (*lower)[0]->kind == Kind::kConstant && (*lower)[0]->fn == Function::kI && upper) {
      if (lower->text != "=") return Fail();
      E index = build_.Symbol("i");
      body = RenameImaginary(body, index);
      if (!body) return nullptr;
      return build_.Make(kind, {body, index, (*lower)[1], upper});
    }
    return Fail();
  }
  if (lower->text == "e") return build_.Make(kind, {body, (*lower)[0], (*lower)[1]});
  if (lower->text != "=" || !upper) return Fail();
  return build_.Make(kind, {body, (*lower)[0], (*lower)[1], upper});
}

// What follows _ or ^ of an operator: a group, or one token with its sign. \int_0^1, \int^b_a, \sum^3_{k=1}.
const Expr* Parser::ScriptArgument() {
  DepthGuard guard(this);
  if (TooDeep()) return nullptr;
  if (Type() == Tok::kLBrace) return Brace();
  if (Take(Tok::kMinus)) {
    E value = ScriptArgument();
    return value ? build_.Neg(value) : nullptr;
  }
  Take(Tok::kPlus);
  const Token& token = Peek();
  switch (Type()) {
    case Tok::kNumber: ++at_; return NumberFromText(token.text);
    case Tok::kSymbol: ++at_; return build_.Symbol(token.text);
    case Tok::kWord:
      if (token.text.size() != 1) return FracArg();
      ++at_;
      return build_.Symbol(token.text);
    default: return Primary();
  }
}

const Expr* Parser::Integral() {
  ++at_;
  E lower = nullptr, upper = nullptr;
  for (int i = 0; i < 2; ++i) {
    if (Take(Tok::kUnder)) lower = ScriptArgument();
    else if (Take(Tok::kCaret)) upper = ScriptArgument();
    else break;
    if (status_ != ParseStatus::kOk) return nullptr;
  }
  // Find the differential on this level.
  int depth = 0;
  size_t j = at_;
  for (; j < end_; ++j) {
    const Tok type = tokens_[j].type;
    if (type == Tok::kLBrace || type == Tok::kLParen || type == Tok::kLBracket) ++depth;
    if (type == Tok::kRBrace || type == Tok::kRParen || type == Tok::kRBracket) --depth;
    if (depth < 0) return Fail();
    if (depth == 0 && type == Tok::kWord) {
      const std::string_view run = tokens_[j].text;
      if (run == "d" && j + 1 < end_ && (tokens_[j + 1].type == Tok::kWord || tokens_[j + 1].type == Tok::kSymbol)) break;
      if (run.size() >= 2 && run[run.size() - 2] == 'd') break;
    }
  }
  if (j == end_) return Fail();
  auto& differential = const_cast<Token&>(tokens_[j]);
  std::string_view variable;
  size_t next = j + 1;
  size_t body_end = j;
  if (differential.text == "d") {
    variable = tokens_[j + 1].text;
    next = j + 2;
  } else {
    variable = differential.text.substr(differential.text.size() - 1);
    if (differential.text.size() > 2) {
      differential.text.remove_suffix(2);
      body_end = j + 1;
    }
  }
  E body = nullptr;
  if (body_end == at_) {
    body = build_.Integer(1);
  } else {
    const size_t end = end_;
    end_ = body_end;
    body = Additive();
    if (body && at_ != end_) { end_ = end; return Fail(); }
    end_ = end;
  }
  if (!body) return nullptr;
  at_ = next;
  E symbol = build_.Symbol(variable);
  if (lower && upper) return build_.Make(Kind::kIntegral, {body, symbol, lower, upper});
  if (lower || upper) return Fail();
  return build_.Make(Kind::kIntegral, {body, symbol});
}

const Expr* Parser::Limit() {
  ++at_;
  if (!Take(Tok::kUnder)) return Fail();
  limit_side_ = 0;
  E approach = Type() == Tok::kLBrace ? Brace() : nullptr;
  if (!approach) return status_ == ParseStatus::kOk ? Fail() : nullptr;
  const int side = limit_side_;
  limit_side_ = 0;
  if (approach->kind != Kind::kRelation || approach->child_count != 2 || approach->text != "m" || (*approach)[0]->kind != Kind::kSymbol) return Fail();
  E body = Multiplicative();
  Expr* e = body ? build_.Make(Kind::kLimit, {body, (*approach)[0], (*approach)[1]}) : nullptr;
  if (!e) return status_ == ParseStatus::kOk ? Fail(ParseStatus::kLimitNodes) : nullptr;
  if (side) e->flags |= side > 0 ? kFlagFromAbove : kFlagFromBelow;
  return e;
}

}  // namespace rewardloop::math
