// Simulator: an executor that runs everything on one thread in virtual time.
//
// Time moves only when no task is runnable, to the next timer. The order in which runnable tasks run is drawn from the seed
// where several could, so that one seed is one schedule and many seeds are many. The public pipeline runs on it unchanged:
// Engine::MakeOn(&simulator).
#pragma once

#include <cstdint>
#include <memory>

#include "rewardloop/executor.h"

namespace rewardloop {

struct SimulatorOptions {
  uint64_t seed = 0;
  // CPU slots: tasks themselves take no virtual time, so this only bounds what counts as running at once.
  int concurrency = 2;
  // Run runnable tasks in random order instead of first in, first out.
  bool shuffle = true;
};

// Not thread-safe: everything happens on the thread that made it. A wait that nothing can end any more aborts with a message,
// since in production it would hang.
class REWARDLOOP_EXPORT Simulator : public Executor {
 public:
  static std::unique_ptr<Simulator> Make(const SimulatorOptions& options = {});
  // Runs until no task and no timer is left.
  virtual void RunUntilIdle() = 0;
  // Runs everything due within the next `duration_ns` of virtual time, then stands at its end.
  virtual void RunFor(int64_t duration_ns) = 0;
};

}  // namespace rewardloop
