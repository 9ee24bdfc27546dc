// Definite integrals between finite bounds, by rigorous quadrature.
#pragma once

#include "math/numeric/ball_eval.h"

namespace rewardloop::math {

inline constexpr int64_t kIntegrandEvaluationsMax = 2'000;
inline constexpr int64_t kQuadratureStepCost = 1'500;  // Arb's own work for one evaluation
inline constexpr slong kIntegralPrecisionMax = 256;
inline constexpr slong kQuadratureDegreeMax = 64;

// e is a kIntegral with both bounds. The value is a ball that certainly holds the integral.
BallStatus EvaluateIntegral(const Expr* e, const BallContext& context, const Binding* bindings,
                            Ball* out, BallInfo* info);

}  // namespace rewardloop::math
