// include/rewardloop/result.h
#include <nanobind/ndarray.h>
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdio>
#include <limits>

#include "interpreter.h"
#include "json_convert.h"
#include "results.h"

namespace rewardloop::python {
namespace {

using Doubles = nb::ndarray<nb::numpy, double, nb::ndim<1>>;
using Bools = nb::ndarray<nb::numpy, bool, nb::ndim<1>>;

// A Python str per status, made once.
nb::object StatusText(ItemStatus status) {
  static PyObject* texts[kItemStatusCount] = {};
  PyObject*& text = texts[static_cast<int>(status)];
  if (!text) text = PyUnicode_InternFromString(std::string(ItemStatusName(status)).c_str());
  return nb::borrow(text);
}

nb::object OptionalText(const std::optional<std::string>& text) {
  return text ? ToPython(*text) : nb::none();
}

nb::object OptionalNumber(const std::optional<double>& number) {
  return number ? nb::object(nb::float_(*number)) : nb::none();
}

std::string DigestText(const Digest& digest) {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(digest[0]),
                static_cast<unsigned long long>(digest[1]));
  return text;
}

nb::object ExtraOf(PyResult& self) {
  if (!self.extra.is_valid()) {
    const Json& extra = self.get().extra;
    self.extra = extra.is_object() ? ToPython(extra) : nb::dict();
  }
  return self.extra;
}

nb::object ComponentsOf(PyResult& self) {
  if (!self.components.is_valid()) {
    nb::dict components;
    for (const Component& component : self.get().components) {
      components[ToPython(component.name)] = nb::float_(component.value);
    }
    self.components = components;
  }
  return self.components;
}

nb::object ErrorField(const RewardError& error, const std::string& name) {
  if (name == "class") return ToPython(error.error_class);
  if (name == "message") return ToPython(error.message);
  if (name == "retryable") return nb::bool_(error.retryable);
  return nb::object();
}

nb::dict ErrorDict(const RewardError& error) {
  nb::dict result;
  for (const char* name : {"class", "message", "retryable"}) result[name] = ErrorField(error, name);
  return result;
}

nb::dict TimingDict(const Timing& timing) {
  nb::dict result;
  result["queued"] = timing.queued_ns;
  result["started"] = timing.started_ns;
  result["finished"] = timing.finished_ns;
  result["attempts"] = timing.attempts;
  return result;
}

nb::dict ResultDict(PyResult& self) {
  const RewardResult& result = self.get();
  nb::dict dict;
  dict["item_id"] = ToPython(result.item_id);
  dict["status"] = StatusText(result.status);
  dict["score"] = OptionalNumber(result.score);
  dict["extracted"] = OptionalText(result.extracted);
  dict["reason"] = ToPython(result.reason);
  dict["components"] = ComponentsOf(self);
  dict["extra"] = ExtraOf(self);
  dict["error"] = result.error ? nb::object(ErrorDict(*result.error)) : nb::none();
  dict["digest"] = DigestText(result.digest);
  dict["timing"] = TimingDict(result.timing);
  dict["scorer"] = ToPython(result.scorer);
  dict["scorer_version"] = ToPython(result.scorer_version);
  dict["valid"] = result.valid;
  dict["policy_value"] = result.policy_value;
  dict["group_id"] = OptionalText(result.group_id);
  dict["step"] = result.step;
  dict["submit"] = result.submit;
  return dict;
}

Timing TimingOf(const nb::object& dict) {
  return {nb::cast<int64_t>(dict["queued"]), nb::cast<int64_t>(dict["started"]), nb::cast<int64_t>(dict["finished"]),
          nb::cast<int32_t>(dict["attempts"])};
}

std::string TextOf(nb::handle value) {
  if (!PyUnicode_Check(value.ptr())) throw nb::type_error("expected a str");
  return TextFrom(value.ptr());
}

std::optional<std::string> OptionalTextOf(nb::handle value) {
  if (value.is_none()) return std::nullopt;
  return TextOf(value);
}

ItemStatus StatusOf(const std::string& name) {
  for (int i = 0; i < kItemStatusCount; ++i) {
    if (ItemStatusName(static_cast<ItemStatus>(i)) == name) return static_cast<ItemStatus>(i);
  }
  throw StatusError(InvalidArgument("no item status is called '" + name + "'"));
}

// The inverse of ResultDict, for pickle.
RewardResult ResultOf(const nb::dict& dict) {
  RewardResult result;
  result.item_id = TextOf(dict["item_id"]);
  result.status = StatusOf(TextOf(dict["status"]));
  if (!dict["score"].is_none()) result.score = nb::cast<double>(dict["score"]);
  result.extracted = OptionalTextOf(dict["extracted"]);
  result.reason = TextOf(dict["reason"]);
  for (auto [name, value] : nb::cast<nb::dict>(dict["components"])) {
    result.components.push_back({TextOf(name), nb::cast<double>(value)});
  }
  result.extra = JsonFrom(nb::object(dict["extra"]).ptr(), "extra");
  if (nb::object error = dict["error"]; !error.is_none()) {
    result.error = RewardError{TextOf(error["class"]), TextOf(error["message"]), nb::cast<bool>(error["retryable"])};
  }
  const std::string digest = TextOf(dict["digest"]);
  unsigned long long high = 0, low = 0;
  std::sscanf(digest.c_str(), "%16llx%16llx", &high, &low);
  result.digest = {high, low};
  result.timing = TimingOf(dict["timing"]);
  result.scorer = TextOf(dict["scorer"]);
  result.scorer_version = TextOf(dict["scorer_version"]);
  result.valid = nb::cast<bool>(dict["valid"]);
  result.policy_value = nb::cast<bool>(dict["policy_value"]);
  result.group_id = OptionalTextOf(dict["group_id"]);
  result.step = nb::cast<int64_t>(dict["step"]);
  result.submit = nb::cast<int64_t>(dict["submit"]);
  return result;
}

std::string Repr(PyResult& self) {
  const RewardResult& result = self.get();
  std::string text = "RewardResult(item_id=" + std::string(nb::repr(ToPython(result.item_id)).c_str());
  text += ", status='" + std::string(ItemStatusName(result.status)) + "'";
  text += ", score=" + std::string(nb::repr(OptionalNumber(result.score)).c_str());
  if (result.extracted) text += ", extracted=" + std::string(nb::repr(ToPython(*result.extracted)).c_str());
  if (!result.reason.empty()) text += ", reason='" + result.reason + "'";
  if (result.error) text += ", error='" + result.error->error_class + "'";
  return text + ")";
}

int TraverseResult(PyObject* self, visitproc visit, void* arg) {
#if PY_VERSION_HEX >= 0x03090000
  Py_VISIT(Py_TYPE(self));
#endif
  if (!nb::inst_ready(self)) return 0;
  PyResult* result = nb::inst_ptr<PyResult>(self);
  Py_VISIT(result->extra.ptr());
  Py_VISIT(result->components.ptr());
  return 0;
}

int ClearResult(PyObject* self) {
  PyResult* result = nb::inst_ptr<PyResult>(self);
  result->extra.reset();
  result->components.reset();
  return 0;
}

PyType_Slot result_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(TraverseResult)},
                              {Py_tp_clear, reinterpret_cast<void*>(ClearResult)},
                              {0, nullptr}};

void BindError(nb::module_& m) {
  nb::class_<RewardError>(m, "RewardErrorInfo", "Why an item has no score: class, message, retryable.")
      .def_prop_ro("error_class", [](const RewardError& e) { return ToPython(e.error_class); },
                   nb::sig("def error_class(self) -> str"), "Class of the table in docs/statuses.md.")
      .def_prop_ro("class_", [](const RewardError& e) { return ToPython(e.error_class); },
                   nb::sig("def class_(self) -> str"), "Same as error_class.")
      .def_prop_ro("message", [](const RewardError& e) { return ToPython(e.message); },
                   nb::sig("def message(self) -> str"))
      .def_ro("retryable", &RewardError::retryable)
      .def("to_dict", &ErrorDict, nb::sig("def to_dict(self) -> dict[str, typing.Any]"))
      .def("__getitem__",
           [](const RewardError& e, const std::string& name) {
             nb::object value = ErrorField(e, name);
             if (!value.is_valid()) throw nb::key_error(name.c_str());
             return value;
           },
           nb::arg("name"), nb::sig("def __getitem__(self, name: str) -> typing.Any"),
           "error['class'], error['message'], error['retryable'].")
      .def("__getattr__",
           [](const RewardError& e, const std::string& name) {
             nb::object value = name == "class" ? ErrorField(e, name) : nb::object();
             if (!value.is_valid()) throw nb::attribute_error(("no attribute '" + name + "'").c_str());
             return value;
           },
           nb::arg("name"), nb::sig("def __getattr__(self, name: str) -> typing.Any"))
      .def("__eq__",
           [](const RewardError& a, nb::handle other) {
             if (!nb::isinstance<RewardError>(other)) return false;
             const auto& b = nb::cast<const RewardError&>(other);
             return a.error_class == b.error_class && a.message == b.message && a.retryable == b.retryable;
           },
           nb::arg("other").none(), nb::sig("def __eq__(self, other: object) -> bool"))
      .def("__hash__", [](const RewardError& e) { return std::hash<std::string>()(e.error_class + e.message); })
      .def("__repr__", [](const RewardError& e) {
        return "RewardErrorInfo(class='" + e.error_class + "', message=" +
               nb::repr(ToPython(e.message)).c_str() + ", retryable=" + (e.retryable ? "True" : "False") + ")";
      })
      .def("__getstate__", [](const RewardError& e) { return ErrorDict(e); },
           nb::sig("def __getstate__(self) -> dict[str, typing.Any]"))
      .def("__setstate__",
           [](RewardError& e, const nb::dict& state) {
             new (&e) RewardError{TextOf(state["class"]), TextOf(state["message"]), nb::cast<bool>(state["retryable"])};
           },
           nb::arg("state"), nb::sig("def __setstate__(self, state: dict[str, typing.Any]) -> None"));
}

void BindTiming(nb::module_& m) {
  nb::class_<Timing>(m, "Timing", "Monotonic nanoseconds of an item's stages; 0 where a stage was never reached.")
      .def_ro("queued", &Timing::queued_ns, "Accepted by submit.")
      .def_ro("started", &Timing::started_ns, "The first attempt began.")
      .def_ro("finished", &Timing::finished_ns, "The verdict was there.")
      .def_ro("attempts", &Timing::attempts)
      .def("to_dict", &TimingDict, nb::sig("def to_dict(self) -> dict[str, int]"))
      .def("__repr__", [](const Timing& t) {
        return "Timing(queued=" + std::to_string(t.queued_ns) + ", started=" + std::to_string(t.started_ns) +
               ", finished=" + std::to_string(t.finished_ns) + ", attempts=" + std::to_string(t.attempts) + ")";
      })
      .def("__getstate__", &TimingDict, nb::sig("def __getstate__(self) -> dict[str, int]"))
      .def("__setstate__", [](Timing& t, const nb::dict& state) { new (&t) Timing(TimingOf(state)); }, nb::arg("state"),
           nb::sig("def __setstate__(self, state: dict[str, int]) -> None"));
}

void BindRewardResult(nb::module_& m) {
  const auto text = [](auto member) {
    return [member](const PyResult& self) { return ToPython(self.get().*member); };
  };
  nb::class_<PyResult>(m, "RewardResult", nb::type_slots(result_slots),
                       "What became of one item. A score is there only if a verdict was reached.")
      .def_prop_ro("item_id", text(&RewardResult::item_id), nb::sig("def item_id(self) -> str"))
      .def_prop_ro("status", [](const PyResult& self) { return StatusText(self.get().status); },
                   nb::sig("def status(self) -> str"),
                   "'scored', 'unscorable', 'timeout', 'error', 'judge_error', 'rejected' or 'cancelled'.")
      .def_prop_ro("score", [](const PyResult& self) { return self.get().score; },
                   "The score, or None when no verdict was reached.")
      .def_prop_ro("valid", [](const PyResult& self) { return self.get().valid; },
                   "May be trained on: there is a score and no policy masked it.")
      .def_prop_ro("policy_value", [](const PyResult& self) { return self.get().policy_value; },
                   "True when on_error put a number in place of a missing score.")
      .def_prop_ro("components", &ComponentsOf, nb::sig("def components(self) -> dict[str, float]"),
                   "Named parts of the reward.")
      .def_prop_ro("extra", &ExtraOf, nb::sig("def extra(self) -> dict[str, typing.Any]"),
                   "What else the scorer said; within a collected batch every row has the same keys.")
      .def_prop_ro("extracted", [](const PyResult& self) { return OptionalText(self.get().extracted); },
                   nb::sig("def extracted(self) -> str | None"), "The answer that was found.")
      .def_prop_ro("reason", text(&RewardResult::reason), nb::sig("def reason(self) -> str"),
                   "Code of what decided.")
      .def_prop_ro("error", [](const PyResult& self) { return self.get().error; }, "None, or why there is no score.")
      .def_prop_ro("digest", [](const PyResult& self) { return DigestText(self.get().digest); },
                   "128 bits of what was scored, as 32 hexadecimal digits.")
      .def_prop_ro("timing", [](const PyResult& self) { return self.get().timing; })
      .def_prop_ro("scorer", text(&RewardResult::scorer), nb::sig("def scorer(self) -> str"))
      .def_prop_ro("scorer_version", text(&RewardResult::scorer_version), nb::sig("def scorer_version(self) -> str"))
      .def_prop_ro("group_id", [](const PyResult& self) { return OptionalText(self.get().group_id); },
                   nb::sig("def group_id(self) -> str | None"))
      .def_prop_ro("step", [](const PyResult& self) { return self.get().step; })
      .def_prop_ro("submit", [](const PyResult& self) { return self.get().submit; })
      .def("to_dict", &ResultDict, nb::sig("def to_dict(self) -> dict[str, typing.Any]"), "All of it as plain values.")
      .def("__repr__", &Repr)
      .def("__eq__",
           [](PyResult& self, nb::handle other) {
             if (!nb::isinstance<PyResult>(other)) return false;
             return ResultDict(self).equal(ResultDict(nb::cast<PyResult&>(other)));
           },
           nb::arg("other").none(), nb::sig("def __eq__(self, other: object) -> bool"))
      .def("__hash__", [](const PyResult& self) { return std::hash<std::string>()(self.get().item_id); })
      .def("__getstate__", &ResultDict, nb::sig("def __getstate__(self) -> dict[str, typing.Any]"))
      .def("__setstate__",
           [](PyResult& self, const nb::dict& state) {
             std::vector<RewardResult> results;
             results.push_back(ResultOf(state));
             new (&self) PyResult{std::make_shared<const Batch>(std::move(results)), 0, {}, {}};
           },
           nb::arg("state"), nb::sig("def __setstate__(self, state: dict[str, typing.Any]) -> None"));
}

}  // namespace

void BindResult(nb::module_& m) {
  BindError(m);
  BindTiming(m);
  BindRewardResult(m);
  // A NumPy view keeps its Batch alive and owns the memory it shows: nothing else reads the arrays.
  nb::class_<PyBatch>(m, "Batch", "Results of one delivery, with their scores as arrays.")
      .def("fill", [](const PyBatch& self, nb::list list) { FillList(self.batch, list.ptr()); }, nb::arg("list"),
           nb::sig("def fill(self, list: list[RewardResult]) -> None"), "Appends all results.")
      .def_prop_ro("scores",
                   [](nb::handle_t<PyBatch> self) {
                     Batch& batch = *nb::cast<PyBatch&>(self).batch;
                     return Doubles(batch.scores().data(), {batch.results.size()}, self);
                   },
                   nb::sig("def scores(self) -> numpy.typing.NDArray[numpy.float64]"))
      .def_prop_ro("valid",
                   [](nb::handle_t<PyBatch> self) {
                     Batch& batch = *nb::cast<PyBatch&>(self).batch;
                     return Bools(batch.valid(), {batch.results.size()}, self);
                   },
                   nb::sig("def valid(self) -> numpy.typing.NDArray[numpy.bool_]"))
      .def_prop_ro("missing", [](const PyBatch& self) { return self.batch->missing; })
      .def("__len__", [](const PyBatch& self) { return self.batch->results.size(); });
  m.def("_set_results_type", &SetResultsType, nb::arg("type"),
        nb::sig("def _set_results_type(type: type[list[RewardResult]]) -> None"), "The list that collect hands over.");
  m.def("_statuses",
        [] {
          nb::list names;
          for (int i = 0; i < kItemStatusCount; ++i) names.append(StatusText(static_cast<ItemStatus>(i)));
          return names;
        },
        nb::sig("def _statuses() -> list[str]"));
}

}  // namespace rewardloop::python
