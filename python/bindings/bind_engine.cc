// include/rewardloop/engine.h, limiter.h, metrics.h
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <utility>

#include "engine_handle.h"
#include "json_convert.h"
#include "log_queue.h"

namespace rewardloop::python {

PyEngine::PyEngine(const EngineOptions& options) : PyEngine(Engine::Make(options)) {}

PyEngine::PyEngine(std::shared_ptr<Engine> engine) : engine_(std::move(engine)), generation_(ForkGeneration()) {}

PyEngine::~PyEngine() {
  if (generation_ != ForkGeneration()) {
    new std::shared_ptr<Engine>(std::move(engine_));  // leaked
    return;
  }
  GilRelease release;
  engine_.reset();
}

const std::shared_ptr<Engine>& PyEngine::Get() const {
  CheckFork(generation_, "this engine");
  return engine_;
}

std::shared_ptr<Engine> DefaultEngine() {
  static std::shared_ptr<Engine>* shared = nullptr;
  static uint64_t generation = 0;
  if (!shared) {
    shared = new std::shared_ptr<Engine>(Engine::Make(EngineOptions{.log_sink = PythonLogSink()}));
    generation = ForkGeneration();
  }
  CheckFork(generation, "this process's default engine");
  return *shared;
}

namespace {

// How Python's logging counts levels.
int PythonLevel(LogLevel level) { return 10 * (static_cast<int>(level) + 1); }

struct PyLogQueue {
  std::shared_ptr<LogQueue> queue = LogQueue::OfProcess();
};

void BindLogQueue(nb::module_& m) {
  nb::class_<PyLogQueue>(m, "_LogQueue", "What the engines of this process have to say.")
      .def(nb::init<>())
      .def("fileno", [](const PyLogQueue& self) { return self.queue->fd(); }, "Readable when there is something.")
      .def("drain",
           [](const PyLogQueue& self) {
             nb::list records;
             for (const LogRecord& record : self.queue->Drain()) {
               records.append(nb::make_tuple(PythonLevel(record.level), ToPython(LogText(record))));
             }
             return records;
           },
           nb::sig("def drain(self) -> list[tuple[int, str]]"), "(level, text) of what has come.")
      .def("stop", [](const PyLogQueue& self) { self.queue->Stop(); })
      .def_prop_ro("stopped", [](const PyLogQueue& self) { return self.queue->stopped(); });
}

}  // namespace

void BindEngine(nb::module_& m) {
  BindLogQueue(m);
  nb::class_<PyEngine>(m, "Engine", "Owns the resources that pipelines share: CPU pool, named limiters, metrics.")
      .def("__init__",
           [](PyEngine* self, int threads, int64_t max_concurrent) {
             if (threads < 0) throw StatusError(InvalidArgument("threads must not be negative"));
             if (max_concurrent < 1) throw StatusError(InvalidArgument("max_concurrent must be at least 1"));
             new (self) PyEngine(EngineOptions{.threads = threads, .max_concurrent = max_concurrent, .log_sink = PythonLogSink()});
           },
           nb::arg("threads") = 0, nb::arg("max_concurrent") = EngineOptions().max_concurrent,
           "threads=0: as many as this process may use.")
      .def_prop_ro("threads", [](const PyEngine& self) { return self.Get()->executor().concurrency(); })
      .def_prop_ro("max_concurrent", [](const PyEngine& self) { return self.Get()->options().max_concurrent; })
      .def("define_limiter",
           [](const PyEngine& self, const std::string& name, int64_t max_concurrent, double max_rpm, double max_tpm) {
             (void)ValueOrThrow(self.Get()->DefineLimiter(name, LimiterOptions{max_concurrent, max_rpm, max_tpm}));
           },
           nb::arg("name"), nb::arg("max_concurrent") = 0, nb::arg("max_rpm") = 0.0, nb::arg("max_tpm") = 0.0,
           "Makes the limiter `name`; 0 means no such limit. The same name with other limits is an error.")
      .def("metrics", [](const PyEngine& self) { return ToPython(MetricsToJson(self.Get()->metrics().Snapshot())); },
           nb::sig("def metrics(self) -> dict[str, typing.Any]"), "Counts, and latency histograms in seconds.")
      .def("__repr__", [](const PyEngine& self) {
        return "Engine(threads=" + std::to_string(self.Get()->executor().concurrency()) + ")";
      })
      .def("__reduce__",
           [](const PyEngine&) {
             throw nb::type_error("an Engine owns threads and cannot be pickled; make one with rl.Engine(...) where it is used");
           },
           nb::sig("def __reduce__(self) -> typing.NoReturn"));
  m.def("default_engine", [] { return std::make_shared<PyEngine>(DefaultEngine()); },
        "The engine that pipelines without one of their own share.");
}

}  // namespace rewardloop::python
