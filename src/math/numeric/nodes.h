// Trees that a method of this folder builds in an arena.
#pragma once

#include <initializer_list>

#include "math/arena.h"
#include "math/expr.h"
#include "math/numeric/numeric.h"

namespace rewardloop::math {

// Null when a child is null, the arena is full or the tree would be too deep.
Expr* Node(Arena& arena, Kind kind, std::initializer_list<const Expr*> children);

// An exact value as a tree of numbers.
const Expr* NumberNode(Arena& arena, const Rational& value);

// e as a number where exact arithmetic finds one; else e itself.
const Expr* Folded(const Expr* e, const NumericOptions& options, Arena& arena, Fuel& fuel);

}  // namespace rewardloop::math
