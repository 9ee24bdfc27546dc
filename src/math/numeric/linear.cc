// Linear form of an expression in one variable.
#include <initializer_list>

#include "math/numeric/numeric.h"

namespace rewardloop::math {
namespace {

Expr* Node(Arena& arena, Kind kind, std::initializer_list<const Expr*> children) {
  Expr* e = arena.NewArray<Expr>(1);
  Expr** child = children.size() == 0 ? nullptr : arena.NewArray<Expr*>(children.size());
  if (e == nullptr || (child == nullptr && children.size() != 0)) return nullptr;
  *e = Expr{};
  e->kind = kind;
  e->child = child;
  e->child_count = static_cast<uint16_t>(children.size());
  uint32_t i = 0;
  for (const Expr* c : children) {
    if (c == nullptr || c->depth >= kTreeDepthMax) return nullptr;
    e->depth = c->depth >= e->depth ? static_cast<uint16_t>(c->depth + 1) : e->depth;
    child[i++] = const_cast<Expr*>(c);
  }
  return e;
}

// An exact value as a tree of numbers.
const Expr* NumberNode(Arena& arena, const Rational& value) {
  const auto digits = [&](const Rational& integer) {
    Expr* e = Node(arena, Kind::kNumber, {});
    if (e == nullptr) return e;
    e->text = arena.Copy(integer.ToString());
    e->aux = -1;
    return e->text.empty() ? nullptr : e;
  };
  const Expr* e = digits(Abs(value).Numerator());
  if (e != nullptr && !value.is_integer())
    e = Node(arena, Kind::kDiv, {e, digits(value.Denominator())});
  if (e != nullptr && value.sign() < 0) e = Node(arena, Kind::kNeg, {e});
  return e;
}

const Expr* Folded(const Expr* e, const NumericOptions& options, Arena& arena, Fuel& fuel) {
  if (e == nullptr) return nullptr;
  const std::optional<Rational> value = EvaluateRational(e, fuel, options);
  return value ? NumberNode(arena, *value) : e;
}

}  // namespace

std::optional<Linear> LinearIn(const Expr* e, const Expr* variable, const NumericOptions& options,
                               Arena& arena, Fuel& fuel) {
  const int64_t symbol = variable->number;
  if (!ContainsSymbol(e, symbol)) return std::nullopt;
  const Expr* zero = NumberNode(arena, Rational(0));
  const Expr* one = NumberNode(arena, Rational(1));
  if (zero == nullptr || one == nullptr) return std::nullopt;
  // Were e linear, then c = e(0) and k = e(1) - e(0); whether it is, is one comparison.
  const Expr* c = Folded(Substitute(e, symbol, zero, arena), options, arena, fuel);
  const Expr* at_one = Substitute(e, symbol, one, arena);
  if (c == nullptr || at_one == nullptr) return std::nullopt;
  const Expr* k =
      Folded(Node(arena, Kind::kAdd, {at_one, Node(arena, Kind::kNeg, {c})}), options, arena, fuel);
  if (k == nullptr) return std::nullopt;
  const Expr* line = Node(arena, Kind::kAdd, {Node(arena, Kind::kMul, {k, variable}), c});
  if (line == nullptr) return std::nullopt;
  if (Compare(e, line, options, fuel).equality != Equality::kEqual) return std::nullopt;
  if (Compare(k, zero, options, fuel).equality != Equality::kDifferent) return std::nullopt;
  return Linear{k, c};
}

}  // namespace rewardloop::math
