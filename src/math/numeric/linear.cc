// Linear form of an expression in one variable.
#include "math/numeric/nodes.h"

namespace rewardloop::math {

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
