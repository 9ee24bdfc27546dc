// Evaluates a tree in exact rational arithmetic.
#pragma once

#include "math/expr.h"
#include "math/fuel.h"
#include "math/numeric/exact.h"
#include "math/numeric/numeric.h"

namespace rewardloop::math {

inline constexpr int64_t kSumTermsMax = 10'000;
inline constexpr int kEvalDepthMax =
    kTreeDepthMax + 100;  // differences and derivatives add a little

// Values of symbols, innermost first; lives on the stack of the evaluation that binds them.
struct Binding {
  int64_t symbol;
  const Rational* value;
  const Binding* next;
};
const Rational* FindBinding(const Binding* bindings, int64_t symbol);

enum class ExactStatus : uint8_t {
  kOk,
  kUndefined,  // proved: division by zero, 0^0, (-3)!, ...
  kInexact,    // irrational, has a free symbol, or not recognised
  kTooBig,     // above kExactBitsMax, or out of the step's own budget
  kFuel,
};

struct ExactContext {
  const NumericOptions& options;
  Fuel& fuel;
  bool odd_real_roots = true;  // (-8)^(1/3) is -2
};

ExactStatus EvaluateExact(const Expr* e, const ExactContext& context, const Binding* bindings,
                          Rational* out, int depth = 0);

// The bounds of a finite sum or product as integers: kOk, and lower > upper for an empty one.
ExactStatus EvaluateBounds(const Expr* e, const ExactContext& context, const Binding* bindings,
                           int64_t* lower, int64_t* upper, int depth);

// base^(num/den) when it is rational. kInexact otherwise.
ExactStatus ExactPower(const Rational& base, const Rational& exponent, const ExactContext& context,
                       Rational* out);
// The rational log_base(x) for positive base != 1 and positive x. kInexact otherwise.
ExactStatus ExactLog(const Rational& base, const Rational& x, Fuel& fuel, Rational* out);

}  // namespace rewardloop::math
