// The environment of worker processes.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rewardloop::workers {

// The caller's environment without the variables that `hidden` names ("NAME" or "PREFIX*"), with one computing thread a
// worker (OMP_NUM_THREADS=1 and its kin), a fixed hash seed unless the caller set one, and the GPUs of `gpus`: none when empty,
// the caller's when "all".
std::vector<std::pair<std::string, std::string>> WorkerEnvironment(const std::vector<std::string>& hidden, const std::string& gpus);

}  // namespace rewardloop::workers
