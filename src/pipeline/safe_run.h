// SafeRun: user code may throw or return nonsense; each has its defined status.
#pragma once

#include <cmath>
#include <exception>
#include <utility>

#include "rewardloop/result.h"
#include "scorers/guard.h"

namespace rewardloop {

// A score that is no finite number is no score.
inline Verdict Checked(Verdict verdict) {
  if (verdict.status != ItemStatus::kScored) return verdict;
  if (!std::isfinite(verdict.score)) {
    return Verdict::Error("non_finite", std::isnan(verdict.score) ? "the score is NaN" : "the score is infinite");
  }
  for (const Component& component : verdict.components) {
    if (!std::isfinite(component.value)) {
      return Verdict::Error("non_finite", "component '" + component.name + "' is not a finite number");
    }
  }
  return verdict;
}

template <typename Function>
Verdict SafeRun(Function function) {
  try {
    return Checked(function());
  } catch (...) {
    return VerdictOfException(std::current_exception());
  }
}

}  // namespace rewardloop
