// Everything: for programs that prefer one include to several.
#pragma once

#include "rewardloop/clock.h"             // IWYU pragma: export
#include "rewardloop/config.h"            // IWYU pragma: export
#include "rewardloop/engine.h"            // IWYU pragma: export
#include "rewardloop/executor.h"          // IWYU pragma: export
#include "rewardloop/item.h"              // IWYU pragma: export
#include "rewardloop/json.h"              // IWYU pragma: export
#include "rewardloop/limiter.h"           // IWYU pragma: export
#include "rewardloop/log.h"               // IWYU pragma: export
#include "rewardloop/math.h"              // IWYU pragma: export
#include "rewardloop/metrics.h"           // IWYU pragma: export
#include "rewardloop/pipeline.h"          // IWYU pragma: export
#include "rewardloop/registry.h"          // IWYU pragma: export
#include "rewardloop/result.h"            // IWYU pragma: export
#include "rewardloop/reward_manager.h"    // IWYU pragma: export
#include "rewardloop/scorer.h"            // IWYU pragma: export
#include "rewardloop/scorer_selector.h"   // IWYU pragma: export
#include "rewardloop/simulator.h"         // IWYU pragma: export
#include "rewardloop/status.h"            // IWYU pragma: export
#include "rewardloop/task.h"              // IWYU pragma: export
#include "rewardloop/version.h"           // IWYU pragma: export
