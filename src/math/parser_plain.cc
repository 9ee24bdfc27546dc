// Notation of programs and calculators: constructors of computer algebra, [1 2; 3 4], <1, 2>.
#include <algorithm>

#include "math/parser_impl.h"

namespace rewardloop::math {

// n! / (n - k)!
const Expr* Parser::Permutations(E n, E k) {
  return build_.Make(Kind::kDiv, {build_.Make(Kind::kFactorial, {n}), build_.Make(Kind::kFactorial, {build_.Make(Kind::kAdd, {n, build_.Neg(k)})})});
}

// C(5, 2) inside an expression, where it is no point: null, with nothing read, when it may be one.
const Expr* Parser::Combinations(std::string_view name) {
  if (name != "C" && name != "P") return nullptr;
  const size_t name_at = at_ - 1;
  int depth = 0, commas = 0;
  size_t j = 0;
  for (; Type(j) != Tok::kEnd && j < kTokensAheadMax; ++j) {
    if (Type(j) == Tok::kLParen) ++depth;
    if (Type(j) == Tok::kRParen && --depth == 0) break;
    commas += depth == 1 && Type(j) == Tok::kComma;
  }
  const auto joins = [](Tok type) { return type == Tok::kPlus || type == Tok::kMinus || type == Tok::kTimes || type == Tok::kSlash || type == Tok::kCaret || type == Tok::kDivide; };
  const bool before = name_at > 0 && (joins(tokens_[name_at - 1].type) || tokens_[name_at - 1].type == Tok::kNumber || tokens_[name_at - 1].type == Tok::kRParen);
  const bool after = joins(Type(j + 1)) || (Type(j + 1) == Tok::kWord && Peek(j + 1).text == "C");
  if (depth != 0 || commas != 1 || !(before || after)) return nullptr;
  E args = Round();
  if (!args) return nullptr;
  if (args->kind != Kind::kTuple || args->child_count != 2) return Fail();
  return name == "C" ? build_.Call(Function::kBinomial, {(*args)[0], (*args)[1]}) : Permutations((*args)[0], (*args)[1]);
}

// [1 2; 3 4]: entries by spaces, rows by semicolons. Null, with nothing read, when something else stands here.
const Expr* Parser::SpacedMatrix() {
  size_t j = 1, row = 0, columns = 0, rows = 0;
  NodeList entries(arena_);
  const size_t saved = at_;
  const auto give_up = [&]() -> E {
    at_ = saved;
    return nullptr;
  };
  for (;; ++j) {  // a look ahead over the tokens that such a matrix has
    const Tok type = Type(j);
    if (type == Tok::kRBracket) break;
    if (type == Tok::kSemicolon) { ++rows; continue; }
    if (type != Tok::kNumber && type != Tok::kMinus && type != Tok::kSlash && type != Tok::kComma) return nullptr;
    if (type == Tok::kMinus && Peek(j + 1).space_before) return nullptr;  // a difference
  }
  if (rows == 0) return nullptr;
  rows = 0;
  ++at_;
  while (true) {
    if (Type() == Tok::kSemicolon || Type() == Tok::kRBracket) {
      if (row == 0 || (columns && row != columns)) return give_up();
      columns = row;
      row = 0;
      ++rows;
      if (Type() == Tok::kRBracket) break;
      ++at_;
      continue;
    }
    if (Take(Tok::kComma)) continue;
    const bool negative = Take(Tok::kMinus);
    if (Type() != Tok::kNumber) return give_up();
    E entry = Number();
    if (entry && Take(Tok::kSlash)) entry = Type() == Tok::kNumber ? build_.Make(Kind::kDiv, {entry, Number()}) : nullptr;
    if (negative && entry) entry = build_.Neg(entry);
    if (!entries.Add(entry)) return give_up();
    ++row;
  }
  if (columns < 2) return give_up();
  ++at_;
  Expr* e = build_.Make(Kind::kMatrix, entries.span());
  if (!e) return Fail(ParseStatus::kLimitNodes);
  e->aux = static_cast<int32_t>(rows);
  e->aux2 = static_cast<int32_t>(columns);
  return e;
}

// [[1, 2], [3, 4]] and [[1], [2]]. Null, with nothing read, when something else stands here.
const Expr* Parser::NestedMatrix() {
  if (Type(1) != Tok::kLBracket) return nullptr;
  // Only a look ahead can tell it from a union of intervals and the like without reading twice.
  int depth = 0;
  size_t j = 0;
  for (; Type(j) != Tok::kEnd; ++j) {
    const Tok type = Type(j);
    if (type == Tok::kLBracket) ++depth;
    if (type == Tok::kRBracket && --depth == 0) break;
    if (depth == 1 && type != Tok::kLBracket && type != Tok::kRBracket && type != Tok::kComma) return nullptr;
    if (depth > 2) return nullptr;
  }
  if (depth != 0) return nullptr;
  const size_t saved = at_;
  ++at_;
  NodeList entries(arena_);
  size_t columns = 0, rows = 0;
  while (Take(Tok::kLBracket)) {
    size_t row = 0;
    do {
      E entry = RelationChain();
      if (!entry) return nullptr;
      if (!entries.Add(entry)) return Fail(ParseStatus::kLimitMemory);
      ++row;
    } while (Take(Tok::kComma));
    if (!Take(Tok::kRBracket) || (rows && row != columns)) { at_ = saved; return nullptr; }
    columns = row;
    ++rows;
    Take(Tok::kComma);
  }
  if (rows == 0 || !Take(Tok::kRBracket)) { at_ = saved; return nullptr; }
  Expr* e = build_.Make(Kind::kMatrix, entries.span());
  if (!e) return Fail(ParseStatus::kLimitNodes);
  e->aux = static_cast<int32_t>(rows);
  e->aux2 = static_cast<int32_t>(columns);
  return e;
}

// Sum(k, (k, 1, 10)), Integral(x, (x, 0, 1)), Derivative(f, x), Limit(f, x, 3), Interval.open(0, 1). Null, with nothing read, when
// `name` is none of them.
const Expr* Parser::ComputerAlgebra(std::string_view name) {
  struct Entry { std::string_view name; Kind kind; };
  static constexpr Entry kEntries[] = {{"Sum", Kind::kSum}, {"summation", Kind::kSum}, {"Product", Kind::kProduct}, {"Integral", Kind::kIntegral}, {"integrate", Kind::kIntegral},
                                       {"Derivative", Kind::kDerivative}, {"diff", Kind::kDerivative}, {"Limit", Kind::kLimit}, {"limit", Kind::kLimit}};
  const Entry* entry = std::find_if(std::begin(kEntries), std::end(kEntries), [&](const Entry& e) { return e.name == name; });
  if (entry == std::end(kEntries)) return nullptr;
  E args = Round();
  if (!args || args->kind != Kind::kTuple || args->child_count < 2) return status_ == ParseStatus::kOk ? Fail() : nullptr;
  E body = (*args)[0], second = (*args)[1];
  const bool range = second->kind == Kind::kTuple && second->child_count == 3 && args->child_count == 2;
  E variable = range ? (*second)[0] : second;
  if (variable->kind == Kind::kConstant && variable->fn == Function::kI && variable->has(kFlagWordConstant)) {
    variable = build_.Symbol("i");
    body = variable ? RenameImaginary(body, variable) : nullptr;
  }
  if (!body || variable->kind != Kind::kSymbol) return status_ == ParseStatus::kOk ? Fail() : nullptr;
  if (range && entry->kind != Kind::kDerivative && entry->kind != Kind::kLimit) return build_.Make(entry->kind, {body, variable, (*second)[1], (*second)[2]});
  if (range) return Fail();
  switch (entry->kind) {
    case Kind::kIntegral: return args->child_count == 2 ? build_.Make(Kind::kIntegral, {body, variable}) : Fail();
    case Kind::kLimit: return args->child_count == 3 ? build_.Make(Kind::kLimit, {body, variable, (*args)[2]}) : Fail();
    case Kind::kDerivative: {
      E order = args->child_count == 3 ? (*args)[2] : build_.Integer(1);
      return args->child_count <= 3 && order && order->kind == Kind::kNumber ? build_.Make(Kind::kDerivative, {body, variable, order}) : Fail();
    }
    default: return Fail();
  }
}

// <1, 2>, a vector in the signs of a keyboard.
const Expr* Parser::KeyboardVector() {
  const auto sign = [&](size_t j, char op) { return Type(j) == Tok::kRelation && Peek(j).op == op; };
  if (!sign(0, '<')) return Fail();
  size_t j = 1;
  bool comma = false;
  while (Type(j) != Tok::kEnd && Type(j) != Tok::kRelation) comma |= Type(j++) == Tok::kComma;
  const Tok after = Type(j + 1);
  const bool ends = after == Tok::kEnd || after == Tok::kComma || after == Tok::kSemicolon || after == Tok::kPeriod || after == Tok::kAnd || after == Tok::kOr || after == Tok::kRParen;
  if (!sign(j, '>') || !comma || !ends) return Fail();
  ++at_;
  const size_t end = end_;
  end_ = at_ + j - 1;
  E inner = List(Tok::kEnd);
  const bool complete = at_ == end_;
  end_ = end;
  if (!inner) return nullptr;
  if (!complete || inner->kind != Kind::kList) return Fail();
  ++at_;
  Expr* e = build_.Make(Kind::kTuple, inner->children());
  if (!e) return Fail(ParseStatus::kLimitNodes);
  e->aux = e->aux2 = static_cast<int32_t>(Bracket::kAngle);
  return e;
}

// mod(17, 5)
const Expr* Parser::ModCall() {
  if (Type(1) != Tok::kLParen) return Fail();
  ++at_;
  E args = Round();
  if (!args) return nullptr;
  return args->kind == Kind::kTuple && args->child_count == 2 ? build_.Call(Function::kMod, {(*args)[0], (*args)[1]}) : Fail();
}

// cis t = e^{it}
const Expr* Parser::Cis() {
  ++at_;
  E angle = Type() == Tok::kLParen ? Round() : Type() == Tok::kLBrace ? Brace() : FunctionArgument(Function::kCos);
  if (!angle) return status_ == ParseStatus::kOk ? Fail() : nullptr;
  return build_.Make(Kind::kPow, {build_.Constant(Function::kE), build_.Make(Kind::kMul, {build_.Constant(Function::kI), angle})});
}

// Constructors of computer algebra: Rational(1, 2), Eq(y, 2*x), FiniteSet(1, 2), Matrix([[1, 2]]). Null when `name` is none.
const Expr* Parser::Constructor(std::string_view name) {
  struct Entry { std::string_view name; Kind kind; std::string_view op; };
  static constexpr Entry kEntries[] = {
      {"Rational", Kind::kDiv, ""}, {"Eq", Kind::kRelation, "="}, {"Ne", Kind::kRelation, "#"}, {"Lt", Kind::kRelation, "<"}, {"Le", Kind::kRelation, "["},
      {"Gt", Kind::kRelation, ">"}, {"Ge", Kind::kRelation, "]"}, {"FiniteSet", Kind::kSet, ""}, {"Union", Kind::kUnion, ""}, {"Interval", Kind::kInterval, ""},
      {"Matrix", Kind::kMatrix, ""}, {"matrix", Kind::kMatrix, ""}, {"array", Kind::kMatrix, ""}, {"Fraction", Kind::kDiv, ""}, {"nthroot", Kind::kRoot, ""},
      {"nPr", Kind::kFactorial, ""}, {"perm", Kind::kFactorial, ""}, {"complex", Kind::kAdd, ""}, {"Pow", Kind::kPow, ""}, {"pow", Kind::kPow, ""}, {"Integer", Kind::kNumber, ""}, {"Float", Kind::kNumber, ""}, {"Tuple", Kind::kTuple, ""}, {"root", Kind::kRoot, ""}};
  const Entry* entry = std::find_if(std::begin(kEntries), std::end(kEntries), [&](const Entry& e) { return e.name == name; });
  if (entry == std::end(kEntries)) return ComputerAlgebra(name);
  ++at_;
  E inner = List(Tok::kRParen);
  if (!inner || !Take(Tok::kRParen)) return status_ == ParseStatus::kOk ? Fail() : nullptr;
  const bool many = inner->kind == Kind::kList && !inner->parens;
  if (entry->kind == Kind::kNumber || (entry->kind == Kind::kMatrix && !many) || (entry->kind == Kind::kDiv && !many)) return many ? Fail() : inner;
  const size_t count = many ? inner->child_count : 1;
  const bool pair = entry->kind == Kind::kFactorial || entry->kind == Kind::kAdd || entry->kind == Kind::kPow || entry->kind == Kind::kDiv || entry->kind == Kind::kRelation || entry->kind == Kind::kInterval || entry->kind == Kind::kUnion || entry->kind == Kind::kRoot;
  if ((pair && count != 2) || entry->kind == Kind::kMatrix) return Fail();
  if (entry->kind == Kind::kFactorial) return Permutations((*inner)[0], (*inner)[1]);
  if (entry->kind == Kind::kAdd) return build_.Make(Kind::kAdd, {(*inner)[0], build_.Make(Kind::kMul, {(*inner)[1], build_.Constant(Function::kI)})});
  Expr* e = many ? build_.Make(entry->kind, inner->children()) : build_.Make(entry->kind, {inner});
  if (!e) return Fail(ParseStatus::kLimitNodes);
  if (entry->kind == Kind::kRelation) e->text = entry->op;
  if (entry->kind == Kind::kInterval) e->flags = kFlagLowerClosed | kFlagUpperClosed;
  return e;
}

}  // namespace rewardloop::math
