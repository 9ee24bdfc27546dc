// include/rewardloop/scorer.h, registry.h: scorers by name, called on the caller's thread, without an engine.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>

#include "direct.h"
#include "interpreter.h"
#include "item_convert.h"
#include "json_convert.h"
#include "results.h"
#include "rewardloop/registry.h"
#include "rewardloop/reward_manager.h"

namespace rewardloop::python {
namespace {

nb::list ArgList(const std::vector<ArgSpec>& specs) {
  nb::list args;
  for (const ArgSpec& spec : specs) {
    nb::dict arg;
    arg["name"] = spec.name;
    arg["type"] = spec.type;
    arg["default"] = ToPython(spec.default_value);
    arg["doc"] = spec.doc;
    arg["choices"] = spec.choices;
    args.append(arg);
  }
  return args;
}

template <typename Spec>
nb::dict Describe(const Spec& spec) {
  nb::dict entry;
  entry["name"] = spec.name;
  entry["summary"] = spec.summary;
  entry["doc"] = spec.doc;
  entry["args"] = ArgList(spec.args);
  return entry;
}

nb::list ListScorers() {
  nb::list list;
  for (const ScorerSpec& spec : Scorers().specs()) {
    nb::dict entry = Describe(spec);
    entry["version"] = spec.version;
    list.append(entry);
  }
  return list;
}

nb::list ListManagers() {
  nb::list list;
  for (const ManagerSpec& spec : Managers().specs()) list.append(Describe(spec));
  return list;
}

RewardItem VerifyItem(nb::handle gold, nb::handle prediction, const char* gold_name, const char* prediction_name) {
  RewardItem item;
  item.ground_truth = JsonFrom(gold.ptr(), gold_name);
  Output& output = item.outputs.emplace_back();
  if (PyUnicode_Check(prediction.ptr())) {
    output.text = TextFrom(prediction.ptr());
  } else if (!prediction.is_none()) {
    throw StatusError(InvalidArgument(std::string(prediction_name) + " must be a string or None, not " +
                                      nb::inst_name(prediction).c_str()));
  }
  return item;
}

// Pairs that are converted and judged at a time: few enough to stay in the cache.
constexpr size_t kVerifyChunk = 512;

// UTF-8 of a str without a copy; empty data when it has lone surrogates or is no str.
std::string_view Utf8View(PyObject* text) {
  if (!PyUnicode_Check(text)) return {};
  Py_ssize_t size;
  const char* data = PyUnicode_AsUTF8AndSize(text, &size);
  if (!data) PyErr_Clear();
  return {data, data ? static_cast<size_t>(size) : 0};
}

// Judges predictions [begin, end). Texts are read where they lie in the Python objects, which are held meanwhile; what is no
// text, and what has no score, goes the long way.
void VerifyChunk(const DirectScorer& self, const nb::list& golds, const nb::list& predictions, size_t begin, size_t end,
                 int threads, Interruption& interrupted, std::vector<RewardResult>* results) {
  std::vector<nb::object> held;
  std::vector<DirectScorer::Pair> pairs;
  held.reserve(2 * (end - begin));
  pairs.reserve(end - begin);
  const bool one_gold = golds.size() == 1;
  for (size_t i = begin; i < end; ++i) {
    const nb::object& gold = held.emplace_back(golds[one_gold ? 0 : i]);
    const nb::object& prediction = held.emplace_back(predictions[i]);
    if (!self.judges_pairs()) continue;
    const DirectScorer::Pair pair{Utf8View(gold.ptr()), Utf8View(prediction.ptr()), i};
    if (pair.gold.data() && pair.completion.data()) pairs.push_back(pair);
  }
  if (!pairs.empty()) {
    GilRelease release;
    self.JudgePairs(pairs, threads, std::ref(interrupted), results->data());
  }
  interrupted.Rethrow();
  std::vector<RewardItem> items;
  std::vector<size_t> of_item;
  for (size_t i = begin; i < end; ++i) {
    const std::string id = "item:" + std::to_string(i);
    if (RewardResult& result = (*results)[i]; !result.scorer.empty()) {
      result.item_id = id;
      continue;
    }
    items.push_back(VerifyItem(held[2 * (i - begin)], held[2 * (i - begin) + 1], "gold", "prediction"));
    items.back().item_id = id;
    of_item.push_back(i);
  }
  if (items.empty()) return;
  std::vector<RewardResult> scored;
  {
    GilRelease release;
    self.ScoreAll(items, threads, std::ref(interrupted), &scored);
  }
  interrupted.Rethrow();
  for (size_t k = 0; k < scored.size(); ++k) (*results)[of_item[k]] = std::move(scored[k]);
}

// `golds` has one element per prediction, or a single one for all.
PyBatch VerifyBatch(const DirectScorer& self, const nb::list& golds, const nb::list& predictions, int threads) {
  const size_t size = predictions.size();
  const size_t chunk = threads == 1 ? kVerifyChunk : 16 * kVerifyChunk;
  std::vector<RewardResult> results(size);
  Interruption interrupted;
  for (size_t begin = 0; begin < size; begin += chunk) {
    VerifyChunk(self, golds, predictions, begin, std::min(size, begin + chunk), threads, interrupted, &results);
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  return PyBatch{std::make_shared<Batch>(std::move(results))};
}

RewardResult VerifyOne(const DirectScorer& self, nb::handle gold, nb::handle prediction) {
  RewardResult result;
  if (self.judges_pairs()) {
    const DirectScorer::Pair pair{Utf8View(gold.ptr()), Utf8View(prediction.ptr()), 0};
    if (pair.gold.data() && pair.completion.data()) {
      GilRelease release;
      self.JudgePairs({&pair, 1}, 1, [] { return false; }, &result);
    }
    if (!result.scorer.empty()) return result;
  }
  const RewardItem item = VerifyItem(gold, prediction, "gold", "prediction");
  GilRelease release;
  return self.Score(item);
}

}  // namespace

void BindScorer(nb::module_& m) {
  nb::class_<DirectScorer>(m, "Scorer",
                           "A built-in scorer, called on the caller's thread. Needs no engine; valid in a forked child.")
      .def("__init__",
           [](DirectScorer* self, const std::string& name, const nb::kwargs& args) {
             Json values = JsonFrom(args.ptr(), "args");
             auto scorer = ValueOrThrow(Scorers().Make(name, values));
             new (self) DirectScorer(std::move(scorer), std::move(values));
           },
           nb::arg("name"), nb::arg("args"),
           nb::sig("def __init__(self, name: str, **args: typing.Any) -> None"))
      .def_prop_ro("name", [](const DirectScorer& self) { return self.scorer().name(); })
      .def_prop_ro("args", [](const DirectScorer& self) { return ToPython(self.args()); },
                   nb::sig("def args(self) -> dict[str, typing.Any]"), "The arguments that were given.")
      .def_prop_ro("version", [](const DirectScorer& self) { return self.scorer().version(); })
      .def("score",
           [](const DirectScorer& self, nb::handle item) {
             RewardItem converted = ItemFrom(item);
             RewardResult result;
             {
               GilRelease release;
               result = self.Score(converted);
             }
             return SingleResult(std::move(result));
           },
           nb::arg("item"), nb::sig("def score(self, item: typing.Mapping[str, typing.Any]) -> RewardResult"),
           "Judges one item.")
      .def("_score_batch",
           [](const DirectScorer& self, nb::handle items, int threads) {
             std::vector<RewardItem> converted = ItemsFrom(items);
             std::vector<RewardResult> results;
             Interruption interrupted;
             {
               GilRelease release;
               self.ScoreAll(converted, threads, std::ref(interrupted), &results);
             }
             interrupted.Rethrow();
             return PyBatch{std::make_shared<Batch>(std::move(results))};
           },
           nb::arg("items"), nb::arg("threads"),
           nb::sig("def _score_batch(self, items: typing.Iterable[typing.Mapping[str, typing.Any]], threads: int) -> Batch"))
      .def("_verify",
           [](const DirectScorer& self, nb::handle gold, nb::handle prediction) {
             return SingleResult(VerifyOne(self, gold, prediction));
           },
           nb::arg("gold").none(), nb::arg("prediction").none(),
           nb::sig("def _verify(self, gold: typing.Any, prediction: str | None) -> RewardResult"))
      .def("_verify_batch", &VerifyBatch, nb::arg("golds"), nb::arg("predictions"), nb::arg("threads"),
           nb::sig("def _verify_batch(self, golds: list[typing.Any], predictions: list[str | None], threads: int) -> Batch"))
      .def("__repr__", [](const DirectScorer& self) {
        return "Scorer('" + self.scorer().name() + "', version='" + self.scorer().version() + "')";
      });
  m.def("list_scorers", &ListScorers, nb::sig("def list_scorers() -> list[dict[str, typing.Any]]"),
        "Every built-in scorer with its arguments.");
  m.def("list_managers", &ListManagers, nb::sig("def list_managers() -> list[dict[str, typing.Any]]"),
        "Every built-in manager with its arguments.");
}

}  // namespace rewardloop::python
