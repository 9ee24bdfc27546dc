#include "scorers/function_scorer.h"

#include <algorithm>
#include <utility>

#include "scorers/all_of.h"

namespace rewardloop {

Verdict FunctionScorer::Score(const RewardItem& item, ScoreContext& context) const {
  return Verdict::Error("no_engine", "'" + function_ + "' needs a pipeline");
}

Task<Verdict> FunctionScorer::ScoreAsync(const RewardItem& item, ScoreContext& context) const {
  const ScoreContext::Limits limits = context.TakeOverDeadline();
  Task<Verdict> one = CallOne(&item, context, limits);
  co_return co_await std::move(one);
}

Task<std::vector<Verdict>> FunctionScorer::ScoreBatch(std::vector<const RewardItem*> items, ScoreContext& context) const {
  ScoreContext::Limits limits = context.TakeOverDeadline();
  std::vector<Verdict> verdicts;
  if (is_batch_) {
    Task<std::vector<Verdict>> together = Call(items, context, limits);
    verdicts = co_await std::move(together);
    if (items.size() == 1 || !FailedAsAWhole(verdicts)) co_return verdicts;
    limits.queue_deadline_ns = kNoDeadline;  // they have started in time
  }
  std::vector<Task<Verdict>> tasks;
  for (const RewardItem* item : items) tasks.push_back(CallOne(item, context, limits));
  Task<std::vector<Verdict>> all = AllOf(std::move(tasks));
  verdicts = co_await std::move(all);
  co_return verdicts;
}

Task<Verdict> FunctionScorer::CallOne(const RewardItem* item, ScoreContext& context, ScoreContext::Limits limits) const {
  std::vector<const RewardItem*> one(1, item);  // named: g++ 12 cannot have it inside the expression
  Task<std::vector<Verdict>> call = Call(std::move(one), context, limits);
  std::vector<Verdict> verdicts = co_await std::move(call);
  co_return std::move(verdicts[0]);
}

bool FunctionScorer::FailedAsAWhole(const std::vector<Verdict>& verdicts) const {
  return std::all_of(verdicts.begin(), verdicts.end(), [this](const Verdict& verdict) {
    return verdict.status == ItemStatus::kError || (verdict.status == ItemStatus::kTimeout && ends_late_calls());
  });
}

}  // namespace rewardloop
