// What a manager does that overrides only some of the Run methods.
#include "rewardloop/reward_manager.h"
#include "scorers/guard.h"

namespace rewardloop {

Verdict RewardManager::Run(const RewardItem& item, ScoreContext& context) const {
  return Verdict::Error("unimplemented", "manager '" + name_ + "' overrides none of Run, RunAsync and RunMany");
}

Task<Verdict> RewardManager::RunAsync(const RewardItem& item, ScoreContext& context) const {
  co_return Run(item, context);
}

Task<std::vector<Verdict>> RewardManager::RunMany(std::vector<const RewardItem*> items,
                                                  ScoreContext& context) const {
  std::vector<Verdict> verdicts;
  verdicts.reserve(items.size());
  for (const RewardItem* item : items) {
    Verdict verdict = Verdict::Of(ItemStatus::kCancelled, "cancelled", "");
    // Nobody wants the rest after a stop. An exception concerns its item alone.
    if (!context.stop().stop_requested()) {
      try {
        if (execution(*item) == Execution::kAsync) {
          verdict = co_await RunAsync(*item, context);
        } else {
          verdict = Run(*item, context);
        }
      } catch (...) {
        verdict = VerdictOfException(std::current_exception());
      }
    }
    verdicts.push_back(std::move(verdict));
  }
  co_return verdicts;
}

}  // namespace rewardloop
