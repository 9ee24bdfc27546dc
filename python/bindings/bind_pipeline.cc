// include/rewardloop/pipeline.h, config.h
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "direct.h"
#include "engine_handle.h"
#include "item_convert.h"
#include "json_convert.h"
#include "log_queue.h"
#include "pipeline_handle.h"
#include "results.h"

namespace rewardloop::python {
namespace {

// One Python pipeline: hides the shared state, so that C++ never counts Python references.
class PyPipeline {
 public:
  PyPipeline(const nb::dict& options, PyEngine* engine, const nb::dict& inline_code, const std::vector<std::string>& sys_path);
  PyPipeline(const PyPipeline&) = delete;
  PyPipeline& operator=(const PyPipeline&) = delete;
  ~PyPipeline() {
    GilRelease release;
    state_.reset();
  }
  const std::shared_ptr<PipelineState>& state() const {
    state_->CheckAlive();
    return state_;
  }
  // Of any process: for what must work in a forked child.
  const PipelineState& unchecked() const { return *state_; }

 private:
  std::shared_ptr<PipelineState> state_;
};

struct PyWakeup {
  std::shared_ptr<Wakeup> wakeup = std::make_shared<Wakeup>();
};

struct PyGroup {
  Group group;  // its results are in the batch
  std::shared_ptr<Batch> batch;
};

std::shared_ptr<Engine> EngineFor(const PipelineConfig& config, PyEngine* engine) {
  if (engine) return engine->Get();
  // A pool size of its own cannot come from the shared engine.
  if (config.threads > 0) {
    EngineOptions options = config.ToEngineOptions();
    options.log_sink = PythonLogSink();
    return Engine::Make(options);
  }
  return DefaultEngine();
}

struct BuildInput {
  PipelineConfig config;
  std::shared_ptr<Engine> engine;
  ScorerRegistry scorers;
  ManagerRegistry managers;
  InlineParts inline_parts;
};

// Builds on a thread of its own, since a function's import may take minutes, so that Ctrl-C ends the wait. What is built
// after that is closed at once.
BuiltPipeline BuildWithSignals(BuildInput input) {
  struct Building {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<Result<BuiltPipeline>> result;
  };
  const auto building = std::make_shared<Building>();
  std::thread([building, input = std::move(input)] {
    auto built = BuildPipeline(input.config, input.engine, input.scorers, input.managers, nullptr, nullptr,
                               [parts = input.inline_parts] {
                                 for (const auto& [name, calls] : parts.calls) calls->Close();
                               });
    std::lock_guard<std::mutex> lock(building->mutex);
    building->result.emplace(std::move(built));
    building->changed.notify_all();
  }).detach();
  WaitWithSignals(kNoDeadline, [&](int64_t slice_ns) {
    std::unique_lock<std::mutex> lock(building->mutex);
    return building->changed.wait_for(lock, std::chrono::nanoseconds(slice_ns), [&] { return building->result.has_value(); });
  });
  return ValueOrThrow(std::move(*building->result));
}

PyPipeline::PyPipeline(const nb::dict& options, PyEngine* engine, const nb::dict& inline_code,
                       const std::vector<std::string>& sys_path) {
  auto state = std::make_shared<PipelineState>();
  state->config = ValueOrThrow(PipelineConfig::FromJson(JsonFrom(options.ptr(), "options")));
  if (!sys_path.empty()) state->config.sys_path = Json(Json::Array(sys_path.begin(), sys_path.end()));
  std::shared_ptr<Engine> used = EngineFor(state->config, engine);
  // Copies for this pipeline, with its inline code.
  ScorerRegistry scorers = Scorers();
  ManagerRegistry managers = Managers();
  RegisterInline(inline_code, used, &scorers, &managers, &state->inline_parts);
  state->built = BuildWithSignals({state->config, std::move(used), std::move(scorers), std::move(managers), state->inline_parts});
  state_ = std::move(state);
}

BatchHandle HandleOf(const PyPipeline& self, const PyHandle& handle) {
  if (handle.state().get() != self.state().get()) {
    throw StatusError(InvalidArgument("this handle belongs to another pipeline"));
  }
  return handle.handle();
}

// Calls a method that takes a time-out in slices; on expiry it raises what the method said.
template <typename T, typename Call>
T WaitFor(std::optional<double> timeout, Call call) {
  std::optional<Result<T>> result;
  const bool done = WaitWithSignals(TimeoutNs(timeout), [&](int64_t slice_ns) {
    result.emplace(call(slice_ns));
    return result->ok() || result->status().code() != StatusCode::kDeadlineExceeded;
  });
  if (!done) throw StatusError(result->status());
  return ValueOrThrow(std::move(*result));
}

// The results and, where some have no score, None or the message of on_error="raise".
nb::object Collect(const PyPipeline& self, PyHandle& handle, std::optional<double> timeout) {
  const BatchHandle batch = HandleOf(self, handle);
  AsyncRewardPipeline& pipeline = self.state()->pipeline();
  Collected collected = WaitFor<Collected>(timeout, [&](int64_t slice) { return pipeline.Collect(batch, slice); });
  handle.SetDelivered();
  auto batch_of_results = std::make_shared<Batch>(std::move(collected.results));
  const bool missing = batch_of_results->missing > 0;
  nb::object results = ResultsOf(std::move(batch_of_results));
  if (collected.status.ok() && !missing) return results;
  return nb::make_tuple(results, collected.status.ok() ? nb::none() : ToPython(collected.status.ToString()));
}

nb::object Next(const PyPipeline& self, PyHandle& handle, std::optional<double> timeout) {
  const BatchHandle batch = HandleOf(self, handle);
  AsyncRewardPipeline& pipeline = self.state()->pipeline();
  auto result = WaitFor<std::optional<RewardResult>>(timeout, [&](int64_t slice) { return pipeline.Next(batch, slice); });
  if (result) return SingleResult(std::move(*result));
  handle.SetDelivered();
  return nb::none();
}

std::optional<PyGroup> NextGroup(const PyPipeline& self, int64_t step, std::optional<double> timeout) {
  AsyncRewardPipeline& pipeline = self.state()->pipeline();
  auto group = WaitFor<std::optional<Group>>(timeout, [&](int64_t slice) { return pipeline.NextGroup(step, slice); });
  if (!group) return std::nullopt;
  auto batch = std::make_shared<Batch>(std::move(group->results));
  return PyGroup{std::move(*group), std::move(batch)};
}

void Close(const PyPipeline& self, const std::string& mode, std::optional<double> timeout) {
  if (mode != "drain" && mode != "cancel") {
    throw StatusError(InvalidArgument("close mode must be 'drain' or 'cancel', not '" + mode + "'"));
  }
  AsyncRewardPipeline& pipeline = self.state()->pipeline();
  const CloseMode close_mode = mode == "drain" ? CloseMode::kDrain : CloseMode::kCancel;
  Status status;
  WaitWithSignals(TimeoutNs(timeout), [&](int64_t slice) {
    status = pipeline.Close(close_mode, slice);
    return status.code() != StatusCode::kDeadlineExceeded;
  });
  ThrowIfError(status);
}

nb::dict MetricsDict(const StepMetrics& metrics) {
  const auto optional = [](const std::optional<double>& value) {
    return value ? nb::object(nb::float_(*value)) : nb::none();
  };
  nb::dict result;
  result["items"] = metrics.items;
  result["submit_s"] = metrics.submit_s;
  result["collect_wait_s"] = metrics.collect_wait_s;
  result["reward_s"] = metrics.reward_s;
  result["overlap_ratio"] = optional(metrics.overlap_ratio);
  result["reward_head_start"] = optional(metrics.reward_head_start_s);
  result["reward_tail_after_sample"] = optional(metrics.reward_tail_after_sample_s);
  result["reward_share_in_sampling"] = optional(metrics.reward_share_in_sampling);
  return result;
}

// Calls a method of the pipeline without the GIL and raises its Status.
template <typename Work>
void Call(const PyPipeline& self, Work work) {
  const auto& state = self.state();
  Status status;
  {
    GilRelease release;
    status = work(state->pipeline());
  }
  ThrowIfError(status);
}

// A BatchHandle inside its Python object: no other allocation, and no reference counts to keep in step.
nb::object MakeHandle(std::shared_ptr<PipelineState> state, BatchHandle handle) {
  nb::object object = nb::inst_alloc(nb::type<PyHandle>());
  new (nb::inst_ptr<PyHandle>(object)) PyHandle(std::move(state), handle);
  nb::inst_mark_ready(object);
  return object;
}

nb::object Submit(const PyPipeline& self, std::vector<RewardItem> items, int64_t step) {
  const auto& state = self.state();
  return MakeHandle(state, SubmitWithSignals(*state, std::move(items), step));
}

// A handle, or a PendingSubmit where there is no room.
nb::object BeginSubmit(const PyPipeline& self, nb::handle items, int64_t step, const PyWakeup& wakeup, int64_t token) {
  const auto& state = self.state();
  std::vector<RewardItem> converted = ItemsFrom(items);
  if (HasRoom(*state, converted)) return Submit(self, std::move(converted), step);
  return nb::cast(PendingSubmit::Start(state, std::move(converted), step, wakeup.wakeup, token));
}

std::function<void()> Notifier(const PyWakeup& wakeup, int64_t token) {
  return [target = wakeup.wakeup, token] { target->Notify(token); };
}

void BindHandle(nb::module_& m) {
  nb::class_<PyHandle>(m, "BatchHandle",
                       "Names a submit. When it is dropped before its results were delivered, its items are cancelled.")
      .def_prop_ro("submit", [](const PyHandle& self) { return self.handle().submit; })
      .def_prop_ro("step", [](const PyHandle& self) { return self.handle().step; })
      .def_prop_ro("delivered", &PyHandle::delivered, "True once all results were handed over.")
      .def("__len__", [](const PyHandle& self) { return self.handle().size; })
      .def("__repr__", [](const PyHandle& self) {
        return "BatchHandle(submit=" + std::to_string(self.handle().submit) +
               ", step=" + std::to_string(self.handle().step) + ", items=" + std::to_string(self.handle().size) + ")";
      });
}

void BindGroup(nb::module_& m) {
  nb::class_<PyGroup>(m, "_Group")
      .def_prop_ro("step", [](const PyGroup& self) { return self.group.step; })
      .def_prop_ro("group_id", [](const PyGroup& self) { return ToPython(self.group.group_id); },
                   nb::sig("def group_id(self) -> str"))
      .def_prop_ro("complete", [](const PyGroup& self) { return self.group.complete; })
      .def_prop_ro("expected", [](const PyGroup& self) { return self.group.expected; })
      .def_prop_ro("missing",
                   [](const PyGroup& self) {
                     nb::list ids;
                     for (const std::string& id : self.group.missing) ids.append(ToPython(id));
                     return ids;
                   },
                   nb::sig("def missing(self) -> list[str]"))
      .def_prop_ro("batch", [](const PyGroup& self) { return PyBatch{self.batch}; });
}

void BindWakeup(nb::module_& m) {
  nb::class_<PyWakeup>(m, "_Wakeup", "The eventfd of one event loop.")
      .def(nb::init<>())
      .def("fileno", [](const PyWakeup& self) { return self.wakeup->fd(); })
      .def("drain", [](const PyWakeup& self) { return self.wakeup->Drain(); }, "Tokens of what became ready.");
  nb::class_<PendingSubmit>(m, "_PendingSubmit", "A submit that waits for room.")
      .def("withdraw",
           [](PendingSubmit& self) {
             GilRelease release;
             self.Withdraw();
           })
      .def("take", [](PendingSubmit& self) { return MakeHandle(self.state(), self.Take()); },
           nb::sig("def take(self) -> BatchHandle"));
}

void BindConfig(nb::module_& m) {
  m.def("_config_keys",
        [] {
          nb::list keys;
          for (const ConfigKey& key : ConfigKeys()) {
            nb::dict entry;
            entry["name"] = key.name;
            entry["type"] = key.type;
            entry["default"] = ToPython(key.default_value);
            entry["doc"] = key.doc;
            entry["choices"] = key.choices;
            keys.append(entry);
          }
          return keys;
        },
        nb::sig("def _config_keys() -> list[dict[str, typing.Any]]"));
}

void BindMaking(nb::class_<PyPipeline>& pipeline) {
  pipeline
      .def(nb::init<const nb::dict&, PyEngine*, const nb::dict&, const std::vector<std::string>&>(), nb::arg("options"),
           nb::arg("engine").none(), nb::arg("inline_code"), nb::arg("sys_path"),
           nb::sig("def __init__(self, options: dict[str, typing.Any], engine: Engine | None, "
                   "inline_code: dict[str, dict[str, typing.Any]], sys_path: list[str]) -> None"))
      .def("inline_calls",
           [](const PyPipeline& self, const std::string& name) { return InlineCallsOf(self.state()->inline_parts, name); },
           nb::arg("name"), nb::sig("def inline_calls(self, name: str) -> _InlineCalls"))
      .def_prop_ro("alive", [](const PyPipeline& self) { return self.unchecked().generation == ForkGeneration(); },
                   "False in a child that was forked after the pipeline was made.")
      .def_prop_ro("config", [](const PyPipeline& self) { return ToPython(self.unchecked().config.ToJson()); },
                   nb::sig("def config(self) -> dict[str, typing.Any]"))
      .def_prop_ro("engine", [](const PyPipeline& self) { return std::make_shared<PyEngine>(self.state()->built.engine); })
      .def("check_alive", [](const PyPipeline& self) { self.state(); }, "Raises in a forked child.");
}

}  // namespace

void BindPipeline(nb::module_& m) {
  BindHandle(m);
  BindGroup(m);
  BindWakeup(m);
  BindConfig(m);
  nb::class_<PyPipeline> pipeline(m, "_Pipeline");
  BindMaking(pipeline);
  pipeline
      .def("submit",
           [](const PyPipeline& self, nb::handle items, int64_t step) {
             self.state();
             return Submit(self, ItemsFrom(items), step);
           },
           nb::arg("items"), nb::arg("step"),
           nb::sig("def submit(self, items: typing.Iterable[typing.Mapping[str, typing.Any]], step: int) -> BatchHandle"))
      .def("submit_items",
           [](const PyPipeline& self, ItemVector& items, int64_t step) {
             return Submit(self, std::move(*items.items), step);
           },
           nb::sig("def submit_items(self, items: _Items, step: int) -> BatchHandle"), "Empties `items`.")
      .def("begin_submit", &BeginSubmit, nb::arg("items"), nb::arg("step"), nb::arg("wakeup"), nb::arg("token"),
           nb::sig("def begin_submit(self, items: typing.Iterable[typing.Mapping[str, typing.Any]], step: int, "
                   "wakeup: _Wakeup, token: int) -> BatchHandle | _PendingSubmit"))
      .def("collect", &Collect, nb::sig("def collect(self, handle: BatchHandle, timeout: float | None) -> "
                                         "list[RewardResult] | tuple[list[RewardResult], str | None]"))
      .def("next", &Next, nb::arg("handle"), nb::arg("timeout").none(),
           nb::sig("def next(self, handle: BatchHandle, timeout: float | None) -> RewardResult | None"))
      .def("next_group", &NextGroup, nb::arg("step"), nb::arg("timeout").none())
      .def("ready", [](const PyPipeline& self, const PyHandle& handle) {
             return self.state()->pipeline().Ready(HandleOf(self, handle));
           }, nb::arg("handle"))
      .def("begin_step", [](const PyPipeline& self) { return self.state()->pipeline().BeginStep(); })
      .def("sampling_done",
           [](const PyPipeline& self, int64_t step) {
             Call(self, [&](AsyncRewardPipeline& pipeline) { return pipeline.SamplingDone(step); });
           },
           nb::arg("step"))
      .def("end_step",
           [](const PyPipeline& self, int64_t step) {
             Call(self, [&](AsyncRewardPipeline& pipeline) { return pipeline.EndStep(step); });
           },
           nb::arg("step"))
      .def("step_metrics",
           [](const PyPipeline& self, int64_t step) {
             return MetricsDict(ValueOrThrow(self.state()->pipeline().MetricsOf(step)));
           },
           nb::arg("step"), nb::sig("def step_metrics(self, step: int) -> dict[str, typing.Any]"))
      .def("close_group",
           [](const PyPipeline& self, nb::handle group_id, int64_t step) {
             const std::string id = PyUnicode_Check(group_id.ptr()) ? TextFrom(group_id.ptr()) : nb::str(group_id).c_str();
             Call(self, [&](AsyncRewardPipeline& pipeline) { return pipeline.CloseGroup(id, step); });
           },
           nb::arg("group_id"), nb::arg("step"), nb::sig("def close_group(self, group_id: str | int, step: int) -> None"))
      .def("cancel",
           [](const PyPipeline& self, const PyHandle& handle) {
             const BatchHandle batch = HandleOf(self, handle);
             Call(self, [&](AsyncRewardPipeline& pipeline) { return pipeline.Cancel(batch); });
           },
           nb::arg("handle"))
      .def("close", &Close, nb::arg("mode"), nb::arg("timeout").none())
      .def("when_ready",
           [](const PyPipeline& self, const PyHandle& handle, const PyWakeup& wakeup, int64_t token) {
             const BatchHandle batch = HandleOf(self, handle);
             self.state()->pipeline().WhenReady(batch, Notifier(wakeup, token));
           },
           nb::arg("handle"), nb::arg("wakeup"), nb::arg("token"))
      .def("when_next",
           [](const PyPipeline& self, const PyHandle& handle, const PyWakeup& wakeup, int64_t token) {
             const BatchHandle batch = HandleOf(self, handle);
             self.state()->pipeline().WhenNext(batch, Notifier(wakeup, token));
           },
           nb::arg("handle"), nb::arg("wakeup"), nb::arg("token"))
      .def("when_group",
           [](const PyPipeline& self, int64_t step, const PyWakeup& wakeup, int64_t token) {
             self.state()->pipeline().WhenGroup(step, Notifier(wakeup, token));
           },
           nb::arg("step"), nb::arg("wakeup"), nb::arg("token"))
      .def_prop_ro("backlog_items", [](const PyPipeline& self) { return self.state()->pipeline().backlog_items(); })
      .def_prop_ro("backlog_bytes", [](const PyPipeline& self) { return self.state()->pipeline().backlog_bytes(); })
      .def_prop_ro("uncollected_items", [](const PyPipeline& self) { return self.state()->pipeline().uncollected_items(); });
}

}  // namespace rewardloop::python
