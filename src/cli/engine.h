// Engines whose log goes to stderr, in the style of the other messages.
#pragma once

#include <memory>

#include "rewardloop/config.h"

namespace rewardloop::cli {

// `over_progress`: a progress line may stand where the cursor is; a message takes its place, and it is drawn anew below.
std::shared_ptr<Engine> MakeEngine(const PipelineConfig& config, bool over_progress = false);

}  // namespace rewardloop::cli
