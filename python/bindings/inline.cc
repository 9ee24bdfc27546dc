#include "inline.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <utility>

#include "interpreter.h"
#include "json_convert.h"
#include "managers/inline_manager.h"

namespace rewardloop::python {
namespace {

struct PyInlineCalls {
  std::shared_ptr<InlineCalls> calls;
};

Granularity GranularityOf(const std::string& name) {
  if (name == "batch") return Granularity::kBatch;
  return name == "group" ? Granularity::kGroup : Granularity::kItem;
}

void RegisterScorer(const std::string& name, const nb::dict& spec, std::shared_ptr<InlineCalls> calls, ScorerRegistry* scorers) {
  ScorerSpec made;
  made.name = name;
  made.version = nb::cast<std::string>(spec["version"]);
  made.summary = "Python code in this process";
  made.pure = false;
  made.make = [calls, version = made.version, batch = nb::cast<bool>(spec["batch"])](const Json&) {
    return Result<std::unique_ptr<Scorer>>(MakeInlineScorer(calls, version, batch));
  };
  ThrowIfError(scorers->Register(std::move(made)));
}

void RegisterManager(const std::string& name, const nb::dict& spec, std::shared_ptr<InlineCalls> calls, ManagerRegistry* managers) {
  InlineManagerOptions options;
  options.granularity = GranularityOf(nb::cast<std::string>(spec["granularity"]));
  options.max_batch = nb::cast<size_t>(spec["max_batch"]);
  options.with_verdicts = nb::cast<bool>(spec["verdicts"]);
  ManagerSpec made;
  made.name = name;
  made.summary = "Python code in this process";
  made.make = [calls, options](const Json&, const ManagerSpec::Deps& deps) {
    return Result<std::unique_ptr<RewardManager>>(MakeInlineManager(calls, options, deps.scorers));
  };
  ThrowIfError(managers->Register(std::move(made)));
}

nb::object Fetch(const PyInlineCalls& self, size_t most) {
  std::optional<std::vector<InlineCalls::Work>> works;
  {
    GilRelease release;
    works = self.calls->Fetch(most);
  }
  if (!works) return nb::none();
  nb::list list;
  for (const InlineCalls::Work& work : *works) {
    list.append(nb::make_tuple(work.id, work.cancel, nb::bytes(work.json.data(), work.json.size()), work.items));
  }
  return list;
}

}  // namespace

void RegisterInline(const nb::dict& specs, const std::shared_ptr<Engine>& engine, ScorerRegistry* scorers,
                    ManagerRegistry* managers, InlineParts* parts) {
  for (const auto& [key, value] : specs) {
    const auto name = nb::cast<std::string>(key);
    const auto spec = nb::cast<nb::dict>(value);
    auto calls = InlineCalls::Make(&engine->executor(), &engine->log(), engine, {.name = name,
                                            .threads = nb::cast<int>(spec["threads"]),
                                            .cancellable = nb::cast<bool>(spec["cancellable"])});
    parts->calls.emplace(name, calls);
    if (nb::cast<std::string>(spec["kind"]) == "scorer") {
      RegisterScorer(name, spec, std::move(calls), scorers);
    } else {
      RegisterManager(name, spec, std::move(calls), managers);
    }
  }
}

void BindInline(nb::module_& m) {
  nb::class_<PyInlineCalls>(m, "_InlineCalls", "Calls of Python code in this process, for the threads that run them.")
      .def("fetch", &Fetch, nb::arg("most"),
           nb::sig("def fetch(self, most: int) -> list[tuple[int, bool, bytes, int]] | None"),
           "Waits for calls: (id, cancel, JSON, number of items). None when the pipeline is closed.")
      .def("complete",
           [](const PyInlineCalls& self, uint64_t id, nb::bytes reply) {
             std::string text(reply.c_str(), reply.size());
             GilRelease release;
             self.calls->Complete(id, std::move(text));
           },
           nb::arg("id"), nb::arg("reply"))
      .def_prop_ro("lost", [](const PyInlineCalls& self) { return self.calls->lost(); },
                   "Threads that run a call which nobody waits for any more.");
}

nb::object InlineCallsOf(const InlineParts& parts, const std::string& name) {
  return nb::cast(PyInlineCalls{parts.calls.at(name)});
}

}  // namespace rewardloop::python
