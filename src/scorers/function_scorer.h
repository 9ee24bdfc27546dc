// FunctionScorer: what scorers that call a function of the user's have in common, wherever it runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rewardloop/scorer.h"

namespace rewardloop {

// Thread-safe, as every Scorer.
class FunctionScorer : public Scorer {
 public:
  FunctionScorer(std::string function, bool is_batch) : function_(std::move(function)), is_batch_(is_batch) {}

  Execution execution() const override { return Execution::kAsync; }
  Verdict Score(const RewardItem& item, ScoreContext& context) const override;
  Task<Verdict> ScoreAsync(const RewardItem& item, ScoreContext& context) const override;
  // One call for all items when the function takes batches, else one each. A batch that failed as a whole is asked again item
  // by item, so that only the items at fault have no score.
  Task<std::vector<Verdict>> ScoreBatch(std::vector<const RewardItem*> items, ScoreContext& context) const override;

 protected:
  // One call of the function: a verdict for each of `items`, which outlive it.
  virtual Task<std::vector<Verdict>> Call(std::vector<const RewardItem*> items, ScoreContext& context,
                                          ScoreContext::Limits limits) const = 0;
  // Whether a call that was late is really over, so that its items may be asked again.
  virtual bool ends_late_calls() const = 0;

  const std::string& function() const { return function_; }

 private:
  Task<Verdict> CallOne(const RewardItem* item, ScoreContext& context, ScoreContext::Limits limits) const;
  bool FailedAsAWhole(const std::vector<Verdict>& verdicts) const;

  const std::string function_;
  const bool is_batch_;
};

}  // namespace rewardloop
