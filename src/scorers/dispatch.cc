#include "scorers/dispatch.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/pystring.h"
#include "base/suggest.h"

namespace rewardloop {
namespace {

constexpr char kWildcard = '*';
constexpr std::string_view kNoCodeScorer =
    "code rewards are not built in yet; give a scorer of your own";
constexpr std::string_view kEvaluatesText =
    "verl's scorer for it evaluates model text (SymPy's parser) and is not called by default; map "
    "the source to 'math'";

struct Row {
  std::string_view pattern, scorer, why_none = "";
};

// What both tables know of code.
constexpr std::array kCodeRows = {
    Row{"apps", "", kNoCodeScorer},
    Row{"codecontests", "", kNoCodeScorer},
    Row{"codeforces", "", kNoCodeScorer},
    Row{"taco", "", kNoCodeScorer},
};

constexpr Row kNativeRows[] = {
    {"gsm8k", "gsm8k"},
    {"openai/gsm8k", "gsm8k"},
    // Mathematics.
    {"AI-MO/aimo-validation-aime", "math"},
    {"AI-MO/aimo-validation-amc", "math"},
    {"DigitalLearningGmbH/MATH-lighteval", "math"},
    {"EleutherAI/hendrycks_math", "math"},
    {"HuggingFaceH4/MATH-500", "math"},
    {"HuggingFaceH4/aime_2024", "math"},
    {"aime*", "math"},
    {"amc*", "math"},
    {"hiyouga/geometry3k", "math"},
    {"lighteval/MATH", "math"},
    {"math", "math"},
    {"math500", "math"},
    {"math_500", "math"},
    {"math_dapo", "math"},
    {"math_dapo_reasoning", "math"},
    {"minerva_math", "math"},
    {"numina_*", "math"},
    {"olympiadbench", "math"},
    // Multiple choice.
    {"Idavidrein/gpqa", "choice"},
    {"TIGER-Lab/MMLU-Pro", "choice"},
    {"allenai/ai2_arc", "choice"},
    {"arc_*", "choice"},
    {"cais/mmlu", "choice"},
    {"commonsense_qa", "choice"},
    {"gpqa", "choice"},
    {"gpqa_*", "choice"},
    {"mmlu", "choice"},
    {"mmlu_*", "choice"},
    {"tau/commonsense_qa", "choice"},
    // Questions with short answers.
    {"searchR1_*", "qa_em"},
};

constexpr Row kVerlRows[] = {
    {"openai/gsm8k", "verl/gsm8k"},
    {"DigitalLearningGmbH/MATH-lighteval", "verl/math_reward"},
    {"HuggingFaceH4/MATH-500", "verl/math_reward"},
    {"lighteval/MATH", "verl/math_reward"},
    {"aime*", "verl/math_dapo"},
    {"math", "verl/math_dapo"},
    {"math_dapo", "verl/math_dapo"},
    {"math_dapo_reasoning", "verl/math_dapo"},
    {"numina_amc_aime", "", kEvaluatesText},
    {"numina_aops_forum", "", kEvaluatesText},
    {"numina_cn_k12", "", kEvaluatesText},
    {"numina_olympiads", "", kEvaluatesText},
    {"numina_synthetic_amc", "", kEvaluatesText},
    {"numina_synthetic_math", "", kEvaluatesText},
    {"hiyouga/geometry3k", "", kEvaluatesText},
    {"searchR1_2wikimultihopqa", "verl/search_r1_em"},
    {"searchR1_bamboogle", "verl/search_r1_em"},
    {"searchR1_hotpotqa", "verl/search_r1_em"},
    {"searchR1_musique", "verl/search_r1_em"},
    {"searchR1_nq", "verl/search_r1_em"},
    {"searchR1_popqa", "verl/search_r1_em"},
    {"searchR1_triviaqa", "verl/search_r1_em"},
};

std::span<const Row> RowsOf(std::string_view name) {
  return name == "native" ? std::span<const Row>(kNativeRows) : std::span<const Row>(kVerlRows);
}

std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

// The known name that `data_source` most likely means, or "": the same one but for white space or
// the folder before its last "/", else the nearest by spelling.
std::string LikelyMeant(std::string_view data_source, const std::vector<std::string>& known) {
  const std::string_view stripped = py::Strip(data_source);
  if (stripped.empty()) return "";
  const auto last_part = [](std::string_view path) { return path.substr(path.rfind('/') + 1); };
  for (const std::string& name : known) {
    if (name == stripped) return name;
  }
  if (std::string near = NearestName(stripped, known); !near.empty()) return near;
  for (const std::string& name : known) {
    if (last_part(name) == last_part(stripped)) return name;
  }
  return "";
}

}  // namespace

bool DispatchTable::Level::Add(DispatchEntry entry) {
  std::string key = entry.pattern;
  const bool is_prefix = key.ends_with(kWildcard);
  if (is_prefix) key.pop_back();
  return (is_prefix ? prefixes_ : exact_).try_emplace(std::move(key), std::move(entry)).second;
}

const DispatchEntry* DispatchTable::Level::Find(std::string_view data_source) const {
  if (const auto found = exact_.find(data_source); found != exact_.end()) return &found->second;
  const DispatchEntry* longest = nullptr;
  for (const auto& [prefix, entry] : prefixes_) {
    if (data_source.starts_with(prefix) &&
        (!longest || entry.pattern.size() > longest->pattern.size())) {
      longest = &entry;
    }
  }
  return longest;
}

void DispatchTable::Level::AppendTo(std::vector<const DispatchEntry*>* out) const {
  const size_t begin = out->size();
  for (const auto& [key, entry] : exact_) out->push_back(&entry);
  for (const auto& [key, entry] : prefixes_) out->push_back(&entry);
  std::sort(out->begin() + static_cast<std::ptrdiff_t>(begin), out->end(),
            [](const DispatchEntry* a, const DispatchEntry* b) { return a->pattern < b->pattern; });
}

std::vector<std::string> DispatchTable::Names() { return {"native", "verl"}; }

Result<DispatchTable> DispatchTable::Named(std::string_view name) {
  const std::vector<std::string> names = Names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return NotFound("no dispatch table is named " + Quoted(name), SuggestionFor(name, names));
  }
  DispatchTable table;
  table.name_ = name;
  const auto add = [&table](const Row& row) {
    table.table_.Add(
        {std::string(row.pattern), std::string(row.scorer), {}, std::string(row.why_none)});
  };
  for (const Row& row : RowsOf(name)) add(row);
  for (const Row& row : kCodeRows) add(row);
  return table;
}

Status DispatchTable::Override(std::string_view pattern, const Json& target) {
  const std::string where = "data source " + Quoted(pattern);
  const size_t star = pattern.find(kWildcard);
  if (star != std::string_view::npos && star + 1 != pattern.size()) {
    return InvalidArgument(where + ": '*' may only be its last character",
                           "list the sources one by one");
  }
  DispatchEntry entry{std::string(pattern), "", {}, ""};
  const Json* scorer = &target;
  if (target.is_object()) {
    for (const auto& member : target.AsObject()) {
      if (member.first == "scorer" || member.first == "args") continue;
      return InvalidArgument(where + ": unknown key " + Quoted(member.first),
                             SuggestionFor(member.first, {"scorer", "args"}));
    }
    scorer = target.Find("scorer");
    if (const Json* args = target.Find("args")) entry.args = *args;
  }
  if (!scorer || !scorer->is_string() || scorer->AsString().empty()) {
    return InvalidArgument(where + ": must be mapped to a scorer",
                           "write its name, or {\"scorer\": name, \"args\": {...}}");
  }
  if (!entry.args.is_null() && !entry.args.is_object()) {
    return InvalidArgument(where + ": args must be an object, got " +
                           std::string(entry.args.TypeName()));
  }
  entry.scorer = scorer->AsString();
  if (!overrides_.Add(std::move(entry)))
    return AlreadyExists(where + " is mapped twice", "keep one of the two");
  return Status();
}

const DispatchEntry* DispatchTable::Find(std::string_view data_source) const {
  const DispatchEntry* entry = overrides_.Find(data_source);
  return entry ? entry : table_.Find(data_source);
}

Status DispatchTable::Unknown(std::string_view data_source) const {
  if (data_source.empty()) {
    return NotFound("there is no data_source, which would pick the scorer, and no scorer is named",
                    "name one scorer for all rows (--scorer), or the column of the data source (--field data_source=COLUMN)");
  }
  std::vector<std::string> known;
  for (const DispatchEntry* entry : entries()) {
    if (!entry->pattern.ends_with(kWildcard)) known.push_back(entry->pattern);
  }
  const std::string meant = LikelyMeant(data_source, known);
  std::string hint = meant.empty() ? "" : "did you mean " + Quoted(meant) + "? ";
  hint += "Map it to a scorer under data_sources, or name one scorer for all rows";
  return NotFound("no scorer is known for data source " + Quoted(data_source) +
                      " in the dispatch table " + Quoted(name_),
                  std::move(hint));
}

std::vector<const DispatchEntry*> DispatchTable::entries() const {
  std::vector<const DispatchEntry*> all;
  overrides_.AppendTo(&all);
  table_.AppendTo(&all);
  return all;
}

}  // namespace rewardloop
