// A manager whose code runs in the caller's process, on threads that the caller owns (rl.RewardManager).
#pragma once

#include <memory>

#include "rewardloop/reward_manager.h"
#include "scorers/inline_calls.h"

namespace rewardloop {

struct InlineManagerOptions {
  Granularity granularity = Granularity::kItem;
  size_t max_batch = 256;
  bool with_verdicts = false;  // it wants the scorer's verdicts too
};

// `calls` get {"items": [...], "verdicts": [...] or null}, with items as user functions see them, and reply with a JSON list
// of verdicts in that order. Scorers run before, as the engine runs them; an item whose scorer gave no score is handed over
// with that verdict. `scorers` may be null when no verdicts are wanted.
std::unique_ptr<RewardManager> MakeInlineManager(std::shared_ptr<InlineCalls> calls, InlineManagerOptions options,
                                                 std::shared_ptr<const ScorerSelector> scorers);

}  // namespace rewardloop
