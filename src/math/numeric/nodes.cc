#include "math/numeric/nodes.h"

namespace rewardloop::math {

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

}  // namespace rewardloop::math
