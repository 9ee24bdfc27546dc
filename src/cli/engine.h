// Engines whose log goes to stderr, in the style of the other messages, and waits that a signal ends.
#pragma once

#include <memory>

#include "rewardloop/config.h"
#include "rewardloop/pipeline.h"

namespace rewardloop::cli {

// `over_progress`: a progress line may stand where the cursor is; a message takes its place, and it is drawn anew below.
std::shared_ptr<Engine> MakeEngine(const PipelineConfig& config, bool over_progress = false);

// Blocks until all items of `handle` ended; kCancelled when a signal came.
Result<Collected> CollectUnlessInterrupted(AsyncRewardPipeline* pipeline, const BatchHandle& handle);

}  // namespace rewardloop::cli
