// What every binding needs of the interpreter: exceptions, signals while waiting, life after fork.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "rewardloop/clock.h"
#include "rewardloop/status.h"

namespace rewardloop::python {

namespace nb = nanobind;

// Carries a Status to the translator, which raises the exception class that errors.py registered for its code.
class StatusError : public std::exception {
 public:
  explicit StatusError(Status status) : status_(std::move(status)), text_(status_.ToString()) {}
  const char* what() const noexcept override { return text_.c_str(); }
  const Status& status() const { return status_; }

 private:
  Status status_;
  std::string text_;
};

inline void ThrowIfError(const Status& status) {
  if (!status.ok()) throw StatusError(status);
}

template <typename T>
T ValueOrThrow(Result<T> result) {
  if (!result.ok()) throw StatusError(result.status());
  return std::move(result).value();
}

// What nanobind's guards do, but for a daemon thread that wants the GIL when the interpreter is ending: Python before 3.14
// ends such a thread by pthread_exit, and its unwinding would end the process at the first noexcept function. It stops here.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease();
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

class GilAcquire {
 public:
  GilAcquire();
  ~GilAcquire() { PyGILState_Release(state_); }
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  PyGILState_STATE state_;
};

// How long a blocked call waits before it looks for a signal.
inline constexpr int64_t kSignalSliceNs = 50'000'000;

// For work without the GIL: looks for signals now and then, and keeps what a handler raised.
class Interruption {
 public:
  // Whether a handler has raised. Takes the GIL, at most once in kSignalSliceNs.
  bool operator()();
  // Raises it. With the GIL.
  void Rethrow() {
    if (raised_) throw std::move(*raised_);
  }

 private:
  int64_t looked_ns_ = Clock::Real().NowNs();
  std::optional<nb::python_error> raised_;
};

// Calls `wait(deadline slice in ns)` without the GIL until it returns true or `timeout_ns` has passed, and lets Python
// handle signals in between. Returns whether `wait` did. Raises what a signal handler raises (KeyboardInterrupt).
bool WaitWithSignals(int64_t timeout_ns, const std::function<bool(int64_t)>& wait);

// Seconds as Python gives them (None: no limit) to nanoseconds. Raises ValueError for NaN and negative values.
int64_t TimeoutNs(const std::optional<double>& seconds);

// Number of forks between the process that loaded the module and this one.
uint64_t ForkGeneration();
// Raises the exception for objects whose threads stayed in the parent.
[[noreturn]] void ThrowForked(const char* what);
inline void CheckFork(uint64_t generation, const char* what) {
  if (generation != ForkGeneration()) ThrowForked(what);
}

void BindInterpreter(nb::module_& m);
void BindScorer(nb::module_& m);
void BindResult(nb::module_& m);
void BindMath(nb::module_& m);
void BindEngine(nb::module_& m);
void BindPipeline(nb::module_& m);
void BindRows(nb::module_& m);
void BindInline(nb::module_& m);

}  // namespace rewardloop::python
