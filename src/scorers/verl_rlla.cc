// verl/rlla: verl.utils.reward_score.rlla.compute_score (tool calling, GDPO).
#include <algorithm>
#include <initializer_list>
#include <optional>
#include <unordered_map>
#include <variant>

#include "base/pystring.h"
#include "scorers/builtin.h"
#include "scorers/python_error.h"
#include "scorers/python_json.h"
#include "scorers/verl_explain.h"

namespace rewardloop {
namespace {

constexpr double kToolMax = 3.0, kToolMin = -3.0;
constexpr std::string_view kThink = "<think>", kThinkEnd = "</think>";
constexpr std::string_view kResponse = "<response>", kResponseEnd = "</response>";
constexpr std::string_view kToolCall = "<tool_call>", kToolCallEnd = "</tool_call>";

// `needle in container` for the types that JSON has.
std::optional<bool> In(std::string_view needle, const Json& container) {
  if (container.is_string()) return py::Contains(container.AsString(), needle);
  if (container.is_object()) return container.Find(needle) != nullptr;
  if (!container.is_array()) return std::nullopt;
  const Json::Array& elements = container.AsArray();
  return std::any_of(elements.begin(), elements.end(), [&](const Json& element) {
    return element.is_string() && element.AsString() == needle;
  });
}

PythonError NotIterable(const Json& value) {
  return TypeError("argument of type '" + std::string(PythonTypeName(value)) + "' is not iterable");
}

// Whether `text` is `parts` in this order with anything between them, the first at its start and
// the last at its end.
bool FitsLayout(std::string_view text, std::initializer_list<std::string_view> parts) {
  const std::string_view first = *parts.begin(), last = *(parts.end() - 1);
  if (!text.starts_with(first)) return false;
  size_t pos = first.size();
  for (const auto* part = parts.begin() + 1; part != parts.end() - 1; ++part) {
    pos = text.find(*part, pos);
    if (pos == std::string_view::npos) return false;
    pos += part->size();
  }
  return pos + last.size() <= text.size() && text.ends_with(last);
}

bool Once(std::string_view text, std::string_view open, std::string_view close) {
  return py::Count(text, open) == 1 && py::Count(text, close) == 1;
}

// Whether `text` has the layout that the truth's tags ask for.
bool HasFormat(std::string_view text, bool wants_response, bool wants_tool_call) {
  if (wants_response && wants_tool_call) {
    return FitsLayout(text, {kThink, "</think>\n<tool_call>\n", "\n</tool_call>\n<response>",
                             kResponseEnd}) &&
           Once(text, kToolCall, kToolCallEnd) && Once(text, kResponse, kResponseEnd);
  }
  if (wants_response) {
    return FitsLayout(text, {kThink, "</think>\n<response>", kResponseEnd}) &&
           Once(text, kResponse, kResponseEnd);
  }
  if (wants_tool_call) {
    return FitsLayout(text, {kThink, "</think>\n<tool_call>\n", "\n</tool_call>"}) &&
           Once(text, kToolCall, kToolCallEnd);
  }
  return FitsLayout(text, {kThink, kThinkEnd});
}

// What stands in the first tool call of `text`, stripped. Precondition: `text` has a "<tool_call>".
std::string_view ToolCallBlock(std::string_view text) {
  const std::string_view rest = text.substr(text.find(kToolCall) + kToolCall.size());
  return py::Strip(py::BeforeFirst(py::BeforeFirst(rest, kToolCall), kToolCallEnd));
}

// The values of the JSON lines of `block`, or what reading them raises.
std::variant<PythonValue::List, PythonError> ToolCalls(std::string_view block) {
  PythonValue::List tools;
  for (const std::string_view line : py::Split(block, "\n")) {
    std::variant<PythonValue, PythonError> tool = PythonJsonLoads(line);
    if (PythonError* error = std::get_if<PythonError>(&tool)) return std::move(*error);
    tools.push_back(std::move(std::get<PythonValue>(tool)));
  }
  return tools;
}

// Jaccard index of two multisets, 1 for equal lists. nullopt where a key cannot be hashed.
std::optional<double> MatchScore(const PythonValue::List& a, const PythonValue::List& b) {
  if (a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), PythonSameOrEqual))
    return 1.0;
  if (a.empty() || b.empty()) return 0.0;
  std::unordered_map<std::string, size_t> left;
  for (const PythonValue& value : a) {
    const std::optional<std::string> key = PythonHashKey(value);
    if (!key) return std::nullopt;
    ++left[*key];
  }
  size_t common = 0;
  for (const PythonValue& value : b) {
    const std::optional<std::string> key = PythonHashKey(value);
    if (!key) return std::nullopt;
    const auto found = left.find(*key);
    if (found == left.end() || found->second == 0) continue;
    --found->second;
    ++common;
  }
  return static_cast<double>(common) / static_cast<double>(a.size() + b.size() - common);
}

PythonValue::List KeysOf(const PythonDict& dict) {
  PythonValue::List keys;
  keys.reserve(dict.items.size());
  for (const auto& item : dict.items) keys.push_back({item.first});
  return keys;
}

// The member `key` of each tool; nullopt where one is no dict or has none.
std::optional<PythonValue::List> Members(const PythonValue::List& tools, const std::string& key) {
  PythonValue::List members;
  members.reserve(tools.size());
  for (const PythonValue& tool : tools) {
    const PythonDict* dict = tool.AsDict();
    const PythonValue* member = dict ? dict->Find(key) : nullptr;
    if (!member) return std::nullopt;
    members.push_back(*member);
  }
  return members;
}

// len(value); nullopt where it has none.
std::optional<size_t> LengthOf(const PythonValue& value) {
  if (const std::string* text = value.AsStr()) return py::Length(*text);
  if (const PythonValue::List* list = value.AsList()) return list->size();
  if (const PythonDict* dict = value.AsDict()) return dict->items.size();
  return std::nullopt;
}

// How well `predicted` parameters fit `wanted` ones: Jaccard of the names plus the number of equal
// values. nullopt where either is no dict or missing.
std::optional<double> ParameterScore(const PythonValue& wanted, const PythonValue* predicted) {
  const PythonDict* a = wanted.AsDict();
  const PythonDict* b = predicted ? predicted->AsDict() : nullptr;
  if (!a || !b) return std::nullopt;
  double equal_values = 0;
  for (const auto& [key, value] : a->items) {
    const PythonValue* other = b->Find(key);
    if (other && PythonEqual(*other, value)) ++equal_values;
  }
  return *MatchScore(KeysOf(*a), KeysOf(*b)) + equal_values;
}

// The reward for `predicted` tool calls. nullopt where the origin raises, which costs the minimum.
std::optional<double> ToolCallReward(const PythonValue::List& wanted,
                                     const PythonValue::List& predicted) {
  if (wanted.size() == predicted.size() &&
      std::equal(wanted.begin(), wanted.end(), predicted.begin(), PythonSameOrEqual)) {
    return kToolMax;
  }
  const std::optional<PythonValue::List> wanted_names = Members(wanted, "name");
  const std::optional<PythonValue::List> predicted_names = Members(predicted, "name");
  if (!wanted_names || !predicted_names) return std::nullopt;
  const std::optional<double> names = MatchScore(*wanted_names, *predicted_names);
  if (!names) return std::nullopt;
  double score = *names;
  double best_possible = 1;
  std::vector<bool> used(predicted.size(), false);
  for (size_t w = 0; w < wanted.size(); ++w) {
    const PythonValue* parameters = wanted[w].AsDict()->Find("parameters");
    const std::optional<size_t> count = parameters ? LengthOf(*parameters) : std::nullopt;
    if (!count) return std::nullopt;
    best_possible += 1.0 + static_cast<double>(*count);
    double best = 0;
    size_t best_index = predicted.size();
    for (size_t p = 0; p < predicted.size(); ++p) {
      if (used[p] || !PythonEqual((*predicted_names)[p], (*wanted_names)[w])) continue;
      const std::optional<double> fit =
          ParameterScore(*parameters, predicted[p].AsDict()->Find("parameters"));
      if (!fit) return std::nullopt;
      if (*fit > best) {
        best = *fit;
        best_index = p;
      }
    }
    if (best_index == predicted.size()) continue;
    used[best_index] = true;
    score += best;
  }
  return (kToolMax - kToolMin) * score / best_possible + kToolMin;
}

// The part of `solution` that the model wrote, or what the origin raises.
std::variant<std::string_view, PythonError> ModelTurn(const std::string* solution,
                                                      const Json& extra_info) {
  if (!extra_info.is_object()) return NoAttribute(extra_info, "get");
  const Json* found = extra_info.Find("experiment_name");
  const Json name = found ? *found : Json("");
  const std::optional<bool> llama = In("llama", name);
  if (!llama) return NotIterable(name);
  if (!*llama && !*In("qwen", name)) {
    return PythonError{"NotImplementedError",
                       "Unknown model name: " + (name.is_string() ? name.AsString() : name.Dump())};
  }
  if (!solution) return NoAttributeOfNone("split");
  const std::string_view turn =
      *llama ? py::BeforeFirst(
                   py::AfterLast(*solution, "<|start_header_id|>assistant<|end_header_id|>"),
                   "<|eot_id|>")
             : py::BeforeFirst(py::AfterLast(*solution, "<|im_start|>assistant"), "<|im_end|>");
  return py::Strip(turn);
}

class VerlRlla : public Scorer {
 public:
  Verdict Score(const RewardItem& item, ScoreContext& context) const override {
    const std::string* solution = item.Response();
    std::variant<std::string_view, PythonError> turn = ModelTurn(solution, item.extra_info);
    if (const PythonError* error = std::get_if<PythonError>(&turn)) return RaisedVerdict(*error);
    const std::string_view text = std::get<std::string_view>(turn);
    ExplainTurn(*solution, text, &context);

    const Json& truth = item.ground_truth;
    const std::optional<bool> wants_response = In(kResponse, truth);
    if (!wants_response) return RaisedVerdict(NotIterable(truth));
    const bool wants_tool_call = *In(kToolCall, truth);
    const double format = HasFormat(text, *wants_response, wants_tool_call) ? 1.0 : 0.0;
    context.Explain("format", format == 1.0 ? "has the layout of the ground truth"
                                            : "lacks the layout of the ground truth");
    Verdict verdict;
    double accuracy = 0;
    if (wants_tool_call) {
      if (!truth.is_string()) return RaisedVerdict(NoAttribute(truth, "split"));
      const auto wanted = ToolCalls(ToolCallBlock(truth.AsString()));
      if (const PythonError* error = std::get_if<PythonError>(&wanted))
        return RaisedVerdict(*error);
      accuracy = Accuracy(std::get<PythonValue::List>(wanted), text, &verdict, &context);
    } else {
      verdict.reason = "format_only";
    }
    verdict.status = ItemStatus::kScored;
    verdict.score = format + accuracy;
    verdict.extra = Json::MakeObject({{"format_reward", format}, {"accuracy_reward", accuracy}});
    verdict.components = {{"format_reward", format}, {"accuracy_reward", accuracy}};
    return verdict;
  }

 private:
  // The accuracy reward; fills `extracted` and `reason`.
  static double Accuracy(const PythonValue::List& wanted, std::string_view text, Verdict* verdict,
                         ScoreContext* context) {
    if (!py::Contains(text, kToolCall) || !py::Contains(text, kToolCallEnd)) {
      verdict->reason = "no_answer";
      context->Explain("tool_calls", "no <tool_call>...</tool_call>: the minimum");
      return kToolMin;
    }
    const std::string_view block = ToolCallBlock(text);
    verdict->extracted = std::string(block);
    const auto predicted = ToolCalls(block);
    if (const PythonError* error = std::get_if<PythonError>(&predicted)) {
      verdict->reason = "unparsable";
      if (context->explanation)
        context->Explain("tool_calls", "a line is no JSON, the minimum: " + error->message);
      return kToolMin;
    }
    const std::optional<double> reward =
        ToolCallReward(wanted, std::get<PythonValue::List>(predicted));
    verdict->reason = reward ? "tool_calls_compared" : "bad_tool_call";
    if (context->explanation) {
      context->Explain("tool_calls",
                       reward ? "compared names, parameters and values: " + Json(*reward).Dump()
                              : "a call lacks a name or parameters: the minimum");
    }
    return reward.value_or(kToolMin);
  }

  static void ExplainTurn(std::string_view solution, std::string_view text, ScoreContext* context) {
    if (!context->explanation) return;
    const int64_t begin = text.data() - solution.data();
    context->Explain("extract", "the model's turn: " + QuotedForPeople(text), begin,
                     begin + static_cast<int64_t>(text.size()));
  }
};

}  // namespace

ScorerSpec VerlRllaSpec() {
  ScorerSpec spec;
  spec.name = "verl/rlla";
  spec.version = "1";
  spec.summary =
      "verl's rlla (tool calls, for GDPO), bit for bit: format 0 to 1 plus accuracy -3 to 3";
  spec.doc =
      "Needs extra_info.experiment_name with 'llama' or 'qwen' in it: it picks the chat template "
      "that the model's turn is cut "
      "out of. The ground truth's tags say which layout earns format_reward 1; its <tool_call> "
      "block (one JSON object a line) "
      "is compared with the answer's by names, parameter names and values. extra and components: "
      "format_reward, "
      "accuracy_reward.\nExample: both blocks equal and the layout right scores 4.";
  spec.args = {{"step", "any", 0, "Accepted and unused, as in the origin.", {}}};
  spec.make = [](const Json&) -> Result<std::unique_ptr<Scorer>> {
    return std::unique_ptr<Scorer>(new VerlRlla());
  };
  return spec;
}

}  // namespace rewardloop
