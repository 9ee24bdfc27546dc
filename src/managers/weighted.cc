// weighted: several scorers, one reward.
#include "base/hash128.h"
#include "scorers/all_of.h"
#include "managers/builtin.h"
#include "managers/weighted_parts.h"
#include "rewardloop/registry.h"
#include "scorers/guard.h"

namespace rewardloop {
namespace {

// Only a name and a version, for results and digests.
class Identity : public Scorer {
 public:
  Verdict Score(const RewardItem& item, ScoreContext& context) const override {
    return Verdict::Error("unimplemented", "not a scorer");
  }
};

// Changes with anything that changes the total.
std::string VersionOf(const std::vector<WeightedPart>& parts, const Json& args) {
  Hash128 hash;
  hash.Add(args.DumpSorted());
  for (const WeightedPart& part : parts) {
    const Scorer* scorer = part.by_data_source ? nullptr : part.scorers->Select(RewardItem());
    hash.Add(scorer ? scorer->version() : "");
  }
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text = "1+";
  for (int shift = 60; shift >= 0; shift -= 4) text.push_back(kHex[(hash.Finish()[0] >> shift) & 15]);
  return text;
}

class WeightedManager : public RewardManager {
 public:
  WeightedManager(std::vector<WeightedPart> parts, bool normalize, std::string version)
      : parts_(std::move(parts)), normalize_(normalize) {
    identity_.SetIdentity("weighted", std::move(version));
  }

  Execution execution(const RewardItem& item) const override {
    for (const WeightedPart& part : parts_) {
      if (Waits(part, item)) return Execution::kAsync;
    }
    return Execution::kCpu;
  }
  Status Admit(const RewardItem& item) const override {
    for (const WeightedPart& part : parts_) RL_RETURN_IF_ERROR(part.scorers->Admit(item));
    return Status();
  }
  const Scorer* ScorerOf(const RewardItem& item) const override { return &identity_; }

  Verdict Run(const RewardItem& item, ScoreContext& context) const override {
    std::vector<Verdict> verdicts;
    verdicts.reserve(parts_.size());
    for (const WeightedPart& part : parts_) verdicts.push_back(RunPart(part, item, context));
    return CombineParts(parts_, std::move(verdicts), normalize_);
  }

  // Parts that compute come first: when one of them leaves the total without a score for good, nobody is asked in vain.
  Task<Verdict> RunAsync(const RewardItem& item, ScoreContext& context) const override {
    std::vector<Verdict> verdicts(parts_.size());
    std::vector<size_t> waiting;
    bool hopeless = false;
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (Waits(parts_[i], item)) {
        waiting.push_back(i);
        verdicts[i] = NotAsked();
        continue;
      }
      verdicts[i] = RunPart(parts_[i], item, context);
      hopeless = hopeless || (verdicts[i].status != ItemStatus::kScored && !parts_[i].optional);
    }
    if (!hopeless) {
      // An attempt's context is not thread-safe: each part has its own.
      std::vector<ScoreContext> contexts;
      std::vector<std::vector<ExplainStep>> steps(waiting.size());
      contexts.reserve(waiting.size());
      std::vector<Task<Verdict>> tasks;
      for (size_t k = 0; k < waiting.size(); ++k) {
        contexts.emplace_back(context.executor(), context.deadline_ns(), context.stop(), context.seed());
        if (context.explanation) contexts.back().explanation = &steps[k];
        const Scorer* scorer = parts_[waiting[k]].scorers->Select(item);
        tasks.push_back(scorer->ScoreAsync(item, contexts.back()));
      }
      std::vector<Verdict> answers = co_await AllOf(std::move(tasks));
      for (size_t k = 0; k < waiting.size(); ++k) {
        verdicts[waiting[k]] = std::move(answers[k]);
        for (ExplainStep& step : steps[k]) context.explanation->push_back(Named(parts_[waiting[k]], std::move(step)));
      }
    }
    co_return CombineParts(parts_, std::move(verdicts), normalize_);
  }

 private:
  static bool Waits(const WeightedPart& part, const RewardItem& item) {
    const Scorer* scorer = part.scorers->Select(item);
    return scorer && scorer->execution() == Execution::kAsync;
  }

  static ExplainStep Named(const WeightedPart& part, ExplainStep step) {
    step.stage = part.name + "." + step.stage;
    return step;
  }

  static Verdict RunPart(const WeightedPart& part, const RewardItem& item, ScoreContext& context) {
    const Scorer* scorer = part.scorers->Select(item);
    if (!scorer) return part.scorers->NoScorer(item);
    const size_t steps_before = context.explanation ? context.explanation->size() : 0;
    Verdict verdict;
    try {
      verdict = scorer->Score(item, context);
    } catch (...) {
      verdict = VerdictOfException(std::current_exception());
    }
    if (context.explanation) {
      for (size_t i = steps_before; i < context.explanation->size(); ++i) {
        (*context.explanation)[i] = Named(part, std::move((*context.explanation)[i]));
      }
    }
    return verdict;
  }

  const std::vector<WeightedPart> parts_;
  const bool normalize_;
  Identity identity_;
};

Result<std::unique_ptr<RewardManager>> Make(const Json& args, const ManagerSpec::Deps& deps) {
  RL_ASSIGN_OR_RETURN(std::vector<WeightedPart> parts, ParseWeightedParts(*args.Find("parts"), deps));
  std::string version = VersionOf(parts, args);
  return std::unique_ptr<RewardManager>(new WeightedManager(std::move(parts), args.Find("normalize")->AsBool(), std::move(version)));
}

}  // namespace

ManagerSpec WeightedManagerSpec() {
  return {
      .name = "weighted",
      .summary = "Several scorers with weights and gates",
      .doc =
          "The reward is the sum of weight * score over the parts; with `normalize` it is divided by the weights. A part is "
          "{name, scorer, args, weight, optional, gate}; without `scorer` it is the scorer for the item's data source. Each "
          "part's score is a component. A gate {min, otherwise | max_total} shuts when the part's score is below min: the "
          "total becomes `otherwise` (0), or is cut to `max_total`; of several shut gates the lowest total holds, and extra "
          "`gated_by` names them. A part without a score leaves the total without one, unless it is optional: then it is left "
          "out and named in extra `missing_parts`. Parts that wait run at the same time, after those that compute. Example: "
          "{\"parts\": [{\"scorer\": \"math\"}, {\"scorer\": \"format\", \"weight\": 0.2, \"gate\": {\"min\": 1}}]}.",
      .args = {{"parts", "array", nullptr, "The parts; at least one.", {}},
               {"normalize", "boolean", false, "Divide by the sum of the weights that took part.", {}}},
      .make = Make,
  };
}

}  // namespace rewardloop
