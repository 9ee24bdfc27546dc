// Notation of programs and calculators: constructors of computer algebra, [1 2; 3 4], <1, 2>.
#include <algorithm>

#include "math/parser_impl.h"

namespace rewardloop::math {

// Constructors of computer algebra: Rational(1, 2), Eq(y, 2*x), FiniteSet(1, 2), Matrix([[1, 2]]). Null when `name` is none.
const Expr* Parser::Constructor(std::string_view name) {
  struct Entry { std::string_view name; Kind kind; std::string_view op; };
  static constexpr Entry kEntries[] = {
      {"Rational", Kind::kDiv, ""}, {"Eq", Kind::kRelation, "="}, {"Ne", Kind::kRelation, "#"}, {"Lt", Kind::kRelation, "<"}, {"Le", Kind::kRelation, "["},
      {"Gt", Kind::kRelation, ">"}, {"Ge", Kind::kRelation, "]"}, {"FiniteSet", Kind::kSet, ""}, {"Union", Kind::kUnion, ""}, {"Interval", Kind::kInterval, ""},
      {"Matrix", Kind::kMatrix, ""}, {"Integer", Kind::kNumber, ""}, {"Float", Kind::kNumber, ""}, {"Tuple", Kind::kTuple, ""}, {"root", Kind::kRoot, ""}};
  const Entry* entry = std::find_if(std::begin(kEntries), std::end(kEntries), [&](const Entry& e) { return e.name == name; });
  if (entry == std::end(kEntries)) return nullptr;
  ++at_;
  E inner = List(Tok::kRParen);
  if (!inner || !Take(Tok::kRParen)) return status_ == ParseStatus::kOk ? Fail() : nullptr;
  const bool many = inner->kind == Kind::kList && !inner->parens;
  if (entry->kind == Kind::kNumber || (entry->kind == Kind::kMatrix && !many) || (entry->kind == Kind::kDiv && !many)) return many ? Fail() : inner;
  const size_t count = many ? inner->child_count : 1;
  const bool pair = entry->kind == Kind::kDiv || entry->kind == Kind::kRelation || entry->kind == Kind::kInterval || entry->kind == Kind::kUnion || entry->kind == Kind::kRoot;
  if ((pair && count != 2) || entry->kind == Kind::kMatrix) return Fail();
  Expr* e = many ? build_.Make(entry->kind, inner->children()) : build_.Make(entry->kind, {inner});
  if (!e) return Fail(ParseStatus::kLimitNodes);
  if (entry->kind == Kind::kRelation) e->text = entry->op;
  if (entry->kind == Kind::kInterval) e->flags = kFlagLowerClosed | kFlagUpperClosed;
  return e;
}

}  // namespace rewardloop::math
