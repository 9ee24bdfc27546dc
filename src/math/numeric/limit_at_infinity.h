// Limits of rational functions where the variable grows without bound.
#pragma once

#include "math/arena.h"
#include "math/fuel.h"
#include "math/numeric/numeric.h"

namespace rewardloop::math {

inline constexpr size_t kLimitDegreeMax = 64;

// The limit of `body` for symbol -> infinity (sign 1) or -infinity (sign -1), as a tree: a constant or a signed infinity. Null
// when the body is no rational function of the symbol, or its leading coefficients cannot be told from zero.
const Expr* LimitAtInfinity(const Expr* body, int64_t symbol, int sign, const NumericOptions& options, Arena& arena, Fuel& fuel);

}  // namespace rewardloop::math
