// Evaluates a tree in ball arithmetic at rational values of its symbols.
#pragma once

#include "math/numeric/ball.h"
#include "math/numeric/exact_eval.h"

namespace rewardloop::math {

inline constexpr slong kPrecisionMin = 64;
inline constexpr slong kPrecisionMax = 4096;
inline constexpr int64_t kSeriesTermsMax = 2'000;

enum class BallStatus : uint8_t {
  kOk,
  kUndefined,    // proved
  kUndecided,    // not at this precision: a ball that holds a pole, a branch point or a jump
  kUnsupported,  // at no precision: no value, a free symbol, numbers beyond 2^(2^50)
  kFuel,
};

// Symbols whose value is a ball: variables of integration.
struct BallBinding {
  int64_t symbol;
  const Ball* value;
  const BallBinding* next;
};

struct BallContext {
  const NumericOptions& options;
  Fuel& fuel;
  slong prec;
  bool odd_real_roots = true;  // (-8)^(1/3) is -2
  const BallBinding* balls = nullptr;
  // Only functions known to be analytic on the whole ball of their argument have a value.
  bool analytic = false;
};

// What the evaluation saw, for the precision that a zero must be checked at.
struct BallInfo {
  int64_t scale_bits = 0;  // sum of |log2| over the intermediate values far from 1
};

BallStatus EvaluateBall(const Expr* e, const BallContext& context, const Binding* bindings,
                        Ball* out, BallInfo* info);

}  // namespace rewardloop::math
