// LauncherHost: worker processes of one pool, owned by a launcher process of their own (launcher.py).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "workers/host.h"
#include "workers/interpreter.h"

namespace rewardloop::workers {

struct LauncherOptions {
  Interpreter interpreter;
  // What workers get of the environment beyond the caller's: OMP_NUM_THREADS=1 and the like.
  // Names (a trailing * stands for anything) of variables that they must not see.
  std::vector<std::string> hidden_env;
  std::string gpus;  // empty: workers see none; "all": the caller's; else what CUDA_VISIBLE_DEVICES and its kin say
};

// Starts the launcher and waits, at most kLauncherSeconds, until it says that it is there. Blocks for that long. An error
// names the interpreter, how it was found, and the flag that changes it.
//
// The launcher is posix_spawned with every other descriptor closed, never forked, watches this process through a pidfd and
// kills everything when it is gone. kill -9 of this process therefore leaves nothing.
Result<std::unique_ptr<WorkerHost>> StartLauncher(const LauncherOptions& options);

}  // namespace rewardloop::workers
