// The elementary and special functions of EvaluateBall(), with their poles and branch cuts.
#pragma once

#include "math/numeric/ball_eval.h"

namespace rewardloop::math {

// fn(x) for a function of one argument; x may be *out. Domain and reality rules of research notes:
// real where the real function is defined, principal values elsewhere.
BallStatus ApplyFunction(Function fn, const Ball& x, slong prec, Ball* out);

BallStatus BallDivide(const Ball& x, const Ball& y, slong prec, Ball* out);
BallStatus BallLog(const Ball& x, slong prec, Ball* out);
BallStatus BallExp(const Ball& x, slong prec, Ball* out);
// The principal root, or the real one of a real x when `real_odd` and index is odd. index >= 1.
BallStatus BallRoot(const Ball& x, uint64_t index, bool real_odd, slong prec, Ball* out);
BallStatus BallPowInt(const Ball& x, int64_t n, slong prec, Ball* out);
// Principal value exp(y log x).
BallStatus BallPower(const Ball& x, const Ball& y, slong prec, Ball* out);
// Gamma(x + 1).
BallStatus BallFactorial(const Ball& x, slong prec, Ball* out);
BallStatus BallFloor(const Ball& x, bool ceiling, slong prec, Ball* out);
// Fuel of one call.
int64_t FunctionCost(slong prec);
int64_t GammaCost(slong prec);

}  // namespace rewardloop::math
