// naive: the reward is the score of the item's scorer.
#include "managers/builtin.h"

namespace rewardloop {
namespace {

class NaiveManager : public RewardManager {
 public:
  explicit NaiveManager(std::shared_ptr<const ScorerSelector> scorers) : scorers_(std::move(scorers)) {}

  Execution execution(const RewardItem& item) const override {
    const Scorer* scorer = scorers_->Select(item);
    return scorer ? scorer->execution() : Execution::kCpu;
  }
  Status Admit(const RewardItem& item) const override { return scorers_->Admit(item); }
  const Scorer* ScorerOf(const RewardItem& item) const override { return scorers_->Select(item); }

  Verdict Run(const RewardItem& item, ScoreContext& context) const override {
    const Scorer* scorer = scorers_->Select(item);
    return scorer ? scorer->Score(item, context) : scorers_->NoScorer(item);
  }
  Task<Verdict> RunAsync(const RewardItem& item, ScoreContext& context) const override {
    const Scorer* scorer = scorers_->Select(item);
    if (!scorer) co_return scorers_->NoScorer(item);
    co_return co_await scorer->ScoreAsync(item, context);
  }

 private:
  const std::shared_ptr<const ScorerSelector> scorers_;
};

Result<std::unique_ptr<RewardManager>> Make(const Json& args, const ManagerSpec::Deps& deps) {
  if (!deps.scorers) return InvalidArgument("no scorer is given", "name a scorer or a dispatch table");
  return std::unique_ptr<RewardManager>(new NaiveManager(deps.scorers));
}

}  // namespace

ManagerSpec NaiveManagerSpec() {
  return {
      .name = "naive",
      .summary = "The score of the item's scorer, one item at a time",
      .doc = "Asks the scorer that belongs to the item (the named one, or the one for its data source) and hands its "
             "verdict on as it is. Scorers that wait run many at once, scorers that compute run on the CPU pool.",
      .args = {},
      .make = Make,
  };
}

}  // namespace rewardloop
