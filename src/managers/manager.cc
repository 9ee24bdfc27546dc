// What a manager does that overrides only some of the Run methods.
#include <utility>

#include "rewardloop/reward_manager.h"
#include "scorers/guard.h"

namespace rewardloop {

Verdict RewardManager::Run(const RewardItem& item, ScoreContext& context) const {
  return Verdict::Error("unimplemented", "manager '" + name_ + "' overrides none of Run, RunAsync and RunMany");
}

Task<Verdict> RewardManager::RunAsync(const RewardItem& item, ScoreContext& context) const {
  co_return Run(item, context);
}

Task<std::vector<Verdict>> RewardManager::RunMany(std::vector<const RewardItem*> items, ScoreContext& context) const {
  struct Judge {
    const RewardManager& manager;
    ScoreContext& context;
    bool Waits(const RewardItem& item) const { return manager.execution(item) == Execution::kAsync; }
    Verdict Now(const RewardItem& item) const { return manager.Run(item, context); }
    Task<Verdict> Later(const RewardItem& item) const { return manager.RunAsync(item, context); }
  };
  return OneByOne(std::move(items), context, Judge{*this, context});
}

}  // namespace rewardloop
