#include "math/numeric/exact_eval.h"
#include "math/numeric/numeric.h"

namespace rewardloop::math {

NumericResult Compare(const Expr* a, const Expr* b, const NumericOptions& options, Fuel& fuel) {
  const ExactContext context{options, fuel};
  Rational x, y;
  const ExactStatus sa = EvaluateExact(a, context, nullptr, &x);
  if (sa == ExactStatus::kOk) {
    const ExactStatus sb = EvaluateExact(b, context, nullptr, &y);
    if (sb == ExactStatus::kOk) return {x == y ? Equality::kEqual : Equality::kDifferent, Method::kRational};
  }
  return {fuel.empty() ? Equality::kLimit : Equality::kUnknown, Method::kNone};
}

std::optional<Rational> EvaluateRational(const Expr* e, Fuel& fuel, const NumericOptions& options) {
  Rational value;
  if (EvaluateExact(e, {options, fuel}, nullptr, &value) != ExactStatus::kOk) return std::nullopt;
  return value;
}

std::optional<uint64_t> ValueKey(const Expr* e, Fuel& fuel, const NumericOptions& options) {
  const std::optional<Rational> value = EvaluateRational(e, fuel, options);
  if (!value) return std::nullopt;
  return value->Hash();
}

}  // namespace rewardloop::math
