// Round, square, curly and angle brackets, bars.
#include <algorithm>

#include "math/parser_impl.h"

namespace rewardloop::math {

// Makes of `inner` (a list or one item) what its brackets say.
const Expr* Parser::Wrap(E inner, Tok open, Tok close) {
  const auto bracket = [](Tok type) { return type == Tok::kLParen || type == Tok::kRParen ? Bracket::kRound : Bracket::kSquare; };
  const bool list = inner->kind == Kind::kList && !inner->parens;
  if (!list) {
    if (bracket(open) != bracket(close)) return Fail();
    if (bracket(open) == Bracket::kSquare && inner->kind == Kind::kInterval) {
      Expr* e = build_.Make(Kind::kTuple, {inner});
      if (e) e->aux = e->aux2 = static_cast<int32_t>(Bracket::kSquare);
      return e;
    }
    auto* copy = build_.Make(inner->kind, inner->children());
    if (!copy) return Fail(ParseStatus::kLimitNodes);
    E* children = nullptr;
    (void)children;
    Expr** child = copy->child;
    const uint16_t depth = copy->depth;
    *copy = *inner;
    copy->child = child;
    copy->depth = depth;
    copy->parens = 1;
    return copy;
  }
  if (inner->aux > 0 || inner->has(kFlagOr)) {
    Expr* copy = build_.Make(Kind::kList, inner->children());
    if (!copy) return Fail(ParseStatus::kLimitNodes);
    copy->flags = inner->flags;
    copy->aux = inner->aux;
    copy->parens = 1;
    return copy;
  }
  const bool mixed = bracket(open) != bracket(close);
  const bool french = open == Tok::kRBracket || close == Tok::kLBracket;
  // [[1,2],[3,4]]
  if (!mixed && !french && bracket(open) == Bracket::kSquare) {
    const auto row = [](E e) { return (e->kind == Kind::kInterval && e->flags == 3) || (e->kind == Kind::kTuple && e->aux == 1 && e->aux2 == 1); };
    bool matrix = true;
    for (E child : inner->children()) matrix = matrix && row(child) && child->child_count == (*inner)[0]->child_count;
    if (matrix) {
      NodeList entries(arena_);
      for (E child : inner->children()) for (E entry : child->children()) entries.Add(entry);
      Expr* e = build_.Make(Kind::kMatrix, entries.span());
      if (!e) return Fail(ParseStatus::kLimitNodes);
      e->aux = inner->child_count;
      e->aux2 = (*inner)[0]->child_count;
      return e;
    }
  }
  if (inner->child_count == 2 && (mixed || french || bracket(open) == Bracket::kSquare)) {
    Expr* e = build_.Make(Kind::kInterval, inner->children());
    if (!e) return Fail(ParseStatus::kLimitNodes);
    if (open == Tok::kLBracket) e->flags |= kFlagLowerClosed;
    if (close == Tok::kRBracket) e->flags |= kFlagUpperClosed;
    return e;
  }
  if (mixed || french) return Fail();
  Expr* e = build_.Make(Kind::kTuple, inner->children());
  if (!e) return Fail(ParseStatus::kLimitNodes);
  e->aux = static_cast<int32_t>(bracket(open));
  e->aux2 = static_cast<int32_t>(bracket(close));
  return e;
}

const Expr* Parser::ListWithin(Tok close) {
  const int bars = bars_;
  const bool set_bar = set_bar_;
  bars_ = 0;
  set_bar_ = false;
  E list = List(close);
  bars_ = bars;
  set_bar_ = set_bar;
  return list;
}

const Expr* Parser::Round() {
  ++at_;
  // (C): a letter in brackets stays what it is
  E inner = ListWithin(Tok::kRParen);
  if (!inner) return nullptr;
  const Tok close = Type();
  if (close != Tok::kRParen && close != Tok::kRBracket) return Fail();
  ++at_;
  return Wrap(inner, Tok::kLParen, close);
}

const Expr* Parser::Square() {
  const Tok open = Type();
  if (open == Tok::kLBracket) {
    if (E matrix = SpacedMatrix()) return matrix;
    if (E matrix = NestedMatrix()) return matrix;
  }
  if (status_ != ParseStatus::kOk) return nullptr;
  ++at_;
  E inner = ListWithin(Tok::kRBracket);
  if (!inner) return nullptr;
  const Tok close = Type();
  if (close != Tok::kRParen && close != Tok::kRBracket && close != Tok::kLBracket) return Fail();
  ++at_;
  return Wrap(inner, open, close);
}

// Plain braces: a group; with commas a list.
const Expr* Parser::Brace() {
  ++at_;
  if (Type() == Tok::kRBrace) {  // {} is nothing: the operand follows
    ++at_;
    return Type() == Tok::kEnd ? Fail() : Power();
  }
  E inner = ListWithin(Tok::kRBrace);
  if (!inner) return nullptr;
  if (Type() == Tok::kOver || Type() == Tok::kChoose) {
    const bool over = Type() == Tok::kOver;
    ++at_;
    E bottom = List(Tok::kRBrace);
    inner = !bottom ? nullptr : over ? build_.Make(Kind::kDiv, {inner, bottom}) : build_.Call(Function::kBinomial, {inner, bottom});
    if (!inner) return nullptr;
  }
  if (!Take(Tok::kRBrace)) return Fail();
  return inner;
}

const Expr* Parser::SetBraces() {
  if (Type(1) == Tok::kBegin) {  // \left\{ \begin{array} ... \end{array} \right.
    ++at_;
    E system = Environment(true);
    Take(Tok::kRSet);
    return system;
  }
  ++at_;
  if (Take(Tok::kRSet)) {
    Expr* e = build_.Leaf(Kind::kNamedSet);
    if (e) e->fn = Function::kEmptySet;
    return e;
  }
  const int bars = bars_;
  const bool set_bar = set_bar_;
  bars_ = 0;
  set_bar_ = true;
  E first = List(Tok::kRSet);
  set_bar_ = false;
  E result = nullptr;
  if (first && (Type() == Tok::kBar || Type() == Tok::kColon || Type() == Tok::kSemicolon)) {
    ++at_;
    E conditions = List(Tok::kRSet);
    if (conditions) {
      NodeList parts(arena_);
      parts.Add(first);
      if (conditions->kind == Kind::kList && !conditions->has(kFlagOr)) {
        for (E child : conditions->children()) parts.Add(child);
      } else {
        parts.Add(conditions);
      }
      result = build_.Make(Kind::kSetBuilder, parts.span());
    }
  } else if (first) {
    result = first->kind == Kind::kList && !first->parens ? build_.Make(Kind::kSet, first->children()) : build_.Make(Kind::kSet, {first});
  }
  bars_ = bars;
  set_bar_ = set_bar;
  if (!result) return nullptr;
  if (!Take(Tok::kRSet) && !Take(Tok::kRBrace)) return Fail();
  return result;
}

const Expr* Parser::AngleVector() {
  ++at_;
  E inner = List(Tok::kRAngle);
  if (!inner || !Take(Tok::kRAngle)) return status_ == ParseStatus::kOk ? Fail() : nullptr;
  Expr* e = inner->kind == Kind::kList ? build_.Make(Kind::kTuple, inner->children()) : build_.Make(Kind::kTuple, {inner});
  if (!e) return Fail(ParseStatus::kLimitNodes);
  e->aux = e->aux2 = static_cast<int32_t>(Bracket::kAngle);
  return e;
}

const Expr* Parser::Delimited(Tok close, Function fn) {
  E inner = ListWithin(close);
  if (!inner || !Take(close)) return status_ == ParseStatus::kOk ? Fail() : nullptr;
  if (inner->kind == Kind::kList) return Fail();
  if (inner->kind == Kind::kMatrix) fn = Function::kDet;
  return build_.Call(fn, {inner});
}

const Expr* Parser::AbsoluteBars() {
  if (bars_ > 0 || set_bar_) {
    if (!set_bar_) return Fail();
  }
  ++at_;
  ++bars_;
  const bool set_bar = set_bar_;
  set_bar_ = false;
  E inner = Additive();
  set_bar_ = set_bar;
  --bars_;
  // |x||y|: a double bar that closes one and opens another
  if (inner && Type() == Tok::kDoubleBar && bars_ == 0) {
    const_cast<Token&>(tokens_[at_]).type = Tok::kBar;
    return build_.Call(inner->kind == Kind::kMatrix ? Function::kDet : Function::kAbs, {inner});
  }
  if (!inner || (!Take(Tok::kBar) && !Take(Tok::kRAbs))) return status_ == ParseStatus::kOk ? Fail() : nullptr;
  return build_.Call(inner->kind == Kind::kMatrix ? Function::kDet : Function::kAbs, {inner});
}

}  // namespace rewardloop::math
