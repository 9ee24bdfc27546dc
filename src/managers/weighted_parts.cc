#include "managers/weighted_parts.h"

#include <algorithm>
#include <cmath>

#include "managers/verdicts.h"
#include "rewardloop/registry.h"

namespace rewardloop {
namespace {

const std::vector<ArgSpec>& PartArgs() {
  static const std::vector<ArgSpec> specs = {
      {"name", "string", nullptr, "Name of the component; absent: the scorer's name.", {}},
      {"scorer", "string", nullptr, "The scorer; absent: the one for the item's data source.", {}},
      {"args", "object", nullptr, "Arguments of the scorer.", {}},
      {"weight", "number", 1.0, "Factor of the part's score.", {}},
      {"optional", "boolean", false, "Whether the total exists without this part.", {}},
      {"gate", "object", nullptr, "{min, otherwise | max_total}: what a score below min does to the total.", {}},
  };
  return specs;
}

const std::vector<ArgSpec>& GateArgs() {
  static const std::vector<ArgSpec> specs = {
      {"min", "number", 1.0, "Lowest score that passes.", {}},
      {"otherwise", "number", nullptr, "The total when the gate is shut.", {}},
      {"max_total", "number", nullptr, "The highest total when the gate is shut.", {}},
  };
  return specs;
}

Result<Gate> ParseGate(const std::string& owner, const Json& given) {
  RL_ASSIGN_OR_RETURN(Json args, ValidateArgs(owner + ".gate", GateArgs(), given));
  const Json& otherwise = *args.Find("otherwise");
  const Json& max_total = *args.Find("max_total");
  if (!otherwise.is_null() && !max_total.is_null()) {
    return InvalidArgument(owner + ".gate has both otherwise and max_total", "give one of them");
  }
  Gate gate;
  gate.min = args.Find("min")->AsDouble();
  if (!otherwise.is_null()) gate.otherwise = otherwise.AsDouble();
  if (!max_total.is_null()) gate.max_total = max_total.AsDouble();
  return gate;
}

Status PickScorer(const std::string& owner, const Json& args, const ManagerSpec::Deps& deps, WeightedPart* part) {
  const Json& scorer = *args.Find("scorer");
  if (scorer.is_null()) {
    if (!args.Find("args")->is_null()) return InvalidArgument(owner + " has args but no scorer");
    if (!deps.scorers) return InvalidArgument(owner + " names no scorer, and none is chosen by data source");
    part->scorers = deps.scorers;
    part->by_data_source = true;
    part->name = "by_data_source";
    return Status();
  }
  if (!deps.registry) return FailedPrecondition(owner + " needs a scorer registry");
  Result<std::shared_ptr<Scorer>> made = deps.registry->Make(scorer.AsString(), *args.Find("args"));
  if (!made.ok()) {
    const Status status = made.status();
    return Status(status.code(), owner + ": " + status.message(), status.hint());
  }
  part->scorers = ScorerSelector::Of(std::move(*made));
  part->name = scorer.AsString();
  return Status();
}

Result<WeightedPart> ParsePart(const std::string& owner, const Json& given, const ManagerSpec::Deps& deps) {
  RL_ASSIGN_OR_RETURN(Json args, ValidateArgs(owner, PartArgs(), given));
  WeightedPart part;
  RL_RETURN_IF_ERROR(PickScorer(owner, args, deps, &part));
  if (!args.Find("name")->is_null()) part.name = args.Find("name")->AsString();
  part.weight = args.Find("weight")->AsDouble();
  part.optional = args.Find("optional")->AsBool();
  if (const Json& gate = *args.Find("gate"); !gate.is_null()) {
    // A gate nobody could look at would have to be open or shut by guess.
    if (part.optional) return InvalidArgument(owner + " is optional and has a gate", "a gate needs its part's score");
    RL_ASSIGN_OR_RETURN(part.gate, ParseGate(owner, gate));
  }
  return part;
}

// A score that is no number is none.
void RejectNonFinite(Verdict* verdict) {
  if (verdict->status != ItemStatus::kScored || std::isfinite(verdict->score)) return;
  *verdict = Verdict::Error("non_finite", "the score is not finite");
}

constexpr std::string_view kNotAsked = "not_asked";

// The part that decides what a total without a score is: the first whose failure stays, else the first that was asked.
std::optional<size_t> Culprit(const std::vector<size_t>& missing, const std::vector<Verdict>& verdicts) {
  std::optional<size_t> first;
  for (size_t i : missing) {
    const std::optional<RewardError>& error = verdicts[i].error;
    if (error && error->error_class == kNotAsked) continue;
    if (!error || !error->retryable) return i;
    if (!first) first = i;
  }
  return first;
}

void TakeParts(const WeightedPart& part, const Verdict& verdict, Verdict* total) {
  SetComponent(total, part.name, verdict.score);
  for (const Component& component : verdict.components) {
    SetComponent(total, part.name + "." + component.name, component.value);
  }
  if (verdict.extra.size() > 0) total->extra.Set(part.name, verdict.extra);
  if (verdict.extracted && !total->extracted) total->extracted = verdict.extracted;
}

void ApplyGates(const std::vector<WeightedPart>& parts, const std::vector<Verdict>& verdicts, Verdict* total) {
  std::optional<double> limited;
  Json::Array shut;
  const double sum = total->score;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::optional<Gate>& gate = parts[i].gate;
    if (!gate || verdicts[i].score >= gate->min) continue;
    const double then = gate->max_total ? std::min(sum, *gate->max_total) : gate->otherwise;
    limited = limited ? std::min(*limited, then) : then;
    shut.push_back(parts[i].name);
  }
  if (!limited) return;
  total->score = *limited;
  total->reason = "gated";
  total->extra.Set("gated_by", std::move(shut));
}

}  // namespace

Result<std::vector<WeightedPart>> ParseWeightedParts(const Json& parts, const ManagerSpec::Deps& deps) {
  if (!parts.is_array() || parts.size() == 0) {
    return InvalidArgument("parts must be a list of at least one part", R"(for example [{"scorer": "math"}])");
  }
  std::vector<WeightedPart> parsed;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string owner = "parts[" + std::to_string(i) + "]";
    RL_ASSIGN_OR_RETURN(WeightedPart part, ParsePart(owner, parts.AsArray()[i], deps));
    for (const WeightedPart& earlier : parsed) {
      if (earlier.name != part.name) continue;
      return InvalidArgument(owner + " is called '" + part.name + "' as an earlier part is", "give it a name of its own");
    }
    parsed.push_back(std::move(part));
  }
  return parsed;
}

Verdict NotAsked() {
  return Verdict::Of(ItemStatus::kCancelled, std::string(kNotAsked), "another part has no score");
}

Verdict CombineParts(const std::vector<WeightedPart>& parts, std::vector<Verdict> verdicts, bool normalize) {
  Verdict total = Verdict::Scored(0, "weighted_sum");
  std::vector<size_t> missing;
  Json left_out;
  double weights = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    RejectNonFinite(&verdicts[i]);
    if (verdicts[i].status != ItemStatus::kScored) {
      if (!parts[i].optional) missing.push_back(i);
      left_out.Set(parts[i].name, std::string(ItemStatusName(verdicts[i].status)));
      continue;
    }
    TakeParts(parts[i], verdicts[i], &total);
    total.score += parts[i].weight * verdicts[i].score;
    weights += parts[i].weight;
  }
  if (!left_out.is_null()) total.extra.Set("missing_parts", left_out);
  if (const std::optional<size_t> culprit = Culprit(missing, verdicts)) {
    const Verdict& verdict = verdicts[*culprit];
    total.status = verdict.status;
    total.score = 0;
    total.reason = verdict.reason;
    total.error = verdict.error.value_or(RewardError{"missing_part", "", false});
    total.error->message = "part '" + parts[*culprit].name + "': " + total.error->message;
    return total;
  }
  // Nothing left to judge by is no verdict.
  if (left_out.size() == parts.size()) return Verdict::Unscorable("missing_part", "no part has a score");
  if (normalize) {
    if (weights == 0) return Verdict::Error("non_finite", "the weights of the parts with a score add up to 0");
    total.score /= weights;
  }
  ApplyGates(parts, verdicts, &total);
  return total;
}

}  // namespace rewardloop
