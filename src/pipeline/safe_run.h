// SafeRun: user code may throw or return nonsense; each has its defined status.
#pragma once

#include <cxxabi.h>

#include <cmath>
#include <cstdlib>
#include <exception>
#include <string>
#include <typeinfo>

#include "rewardloop/result.h"

namespace rewardloop {

inline Verdict VerdictOfException(std::exception_ptr exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& error) {
    int failed = 0;
    char* const demangled = abi::__cxa_demangle(typeid(error).name(), nullptr, nullptr, &failed);
    const std::string type = failed == 0 ? demangled : typeid(error).name();
    std::free(demangled);
    return Verdict::Error("exception", type + ": " + error.what());
  } catch (...) {
    return Verdict::Error("exception", "an exception that is no std::exception");
  }
}

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
