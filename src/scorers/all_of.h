// AllOf: several verdicts at once.
#pragma once

#include <vector>

#include "rewardloop/result.h"
#include "rewardloop/task.h"

namespace rewardloop {

// Starts all `tasks` and yields their verdicts, in their order, when the last one ended. An exception becomes error(exception)
// of its task. Resumes on the thread where the last one ended.
Task<std::vector<Verdict>> AllOf(std::vector<Task<Verdict>> tasks);

}  // namespace rewardloop
