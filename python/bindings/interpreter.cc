#include "interpreter.h"

#include <cxxabi.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cmath>

#include "rewardloop/version.h"

namespace rewardloop::python {
namespace {

std::atomic<uint64_t> fork_generation{0};
// {StatusCodeName: exception class} and the class for forked children; filled by errors.py, never freed: exceptions may be
// raised as late as the interpreter's end.
PyObject* error_types = nullptr;

constexpr char kForkedKey[] = "FORKED";

void Raise(const char* key, const std::string& message) {
  PyObject* type = error_types ? PyDict_GetItemString(error_types, key) : nullptr;
  PyErr_SetString(type ? type : PyExc_RuntimeError, message.c_str());
}

void Translate(const std::exception_ptr& exception, void*) {
  try {
    std::rethrow_exception(exception);
  } catch (const StatusError& error) {
    Raise(std::string(StatusCodeName(error.status().code())).c_str(), error.what());
  }
}

// Calls what may end this thread by pthread_exit; then it waits for the end of the process instead.
template <typename Call>
auto OrWaitForExit(Call call) noexcept {
  try {
    return call();
  } catch (const abi::__forced_unwind&) {
    while (true) pause();
  }
}

}  // namespace

GilRelease::~GilRelease() {
  OrWaitForExit([this] { PyEval_RestoreThread(state_); });
}

GilAcquire::GilAcquire() : state_(OrWaitForExit([] { return PyGILState_Ensure(); })) {}

bool Interruption::operator()() {
  const int64_t now = Clock::Real().NowNs();
  if (raised_ || now - looked_ns_ < kSignalSliceNs) return raised_.has_value();
  looked_ns_ = now;
  GilAcquire acquire;
  if (PyErr_CheckSignals() != 0) raised_.emplace();
  return raised_.has_value();
}

bool WaitWithSignals(int64_t timeout_ns, const std::function<bool(int64_t)>& wait) {
  const int64_t deadline = timeout_ns == kNoDeadline ? kNoDeadline : DeadlineAfter(Clock::Real().NowNs(), timeout_ns);
  while (true) {
    const int64_t left = deadline == kNoDeadline ? kNoDeadline : deadline - Clock::Real().NowNs();
    bool done;
    {
      GilRelease release;
      done = wait(std::max<int64_t>(0, std::min(left, kSignalSliceNs)));
    }
    if (done) return true;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (left <= kSignalSliceNs) return false;
  }
}

int64_t TimeoutNs(const std::optional<double>& seconds) {
  if (!seconds) return kNoDeadline;
  if (std::isnan(*seconds) || *seconds < 0) {
    throw StatusError(InvalidArgument("timeout must be seconds >= 0 or None"));
  }
  return SecondsToNs(*seconds);
}

uint64_t ForkGeneration() { return fork_generation.load(std::memory_order_relaxed); }

void ThrowForked(const char* what) {
  Raise(kForkedKey,
        std::string(what) +
            " was made before fork(): its threads stayed in the parent process. Start the child with "
            "multiprocessing's 'spawn' method, or make the first pipeline after the fork; rl.verify and rl.Scorer "
            "work in a forked child");
  throw nb::python_error();
}

void BindInterpreter(nb::module_& m) {
  pthread_atfork(nullptr, nullptr, [] { ++fork_generation; });
  nb::register_exception_translator(Translate, nullptr);
  m.def(
      "_set_error_types",
      [](nb::dict types) {
        Py_XDECREF(error_types);
        error_types = types.release().ptr();
      },
      nb::arg("types"), nb::sig("def _set_error_types(types: dict[str, type[Exception]]) -> None"),
      "Exception class per status code; called once by the package.");
  m.attr("VERSION") = std::string(Version());
}

}  // namespace rewardloop::python
