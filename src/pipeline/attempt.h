// Attempt: one try at a unit of work that passes limits or waits: an item, a batch or a group.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "pipeline/batch.h"
#include "rewardloop/limiter.h"
#include "rewardloop/scorer.h"

namespace rewardloop {

// Guarded by the pipeline's mutex but for `context`, which belongs to the running work.
struct Attempt {
  enum class Kind { kRun, kRunAsync, kRunMany };
  enum class Phase {
    kWaitSlot,     // for a place in flight
    kWaitLimiter,  // for the manager's limiter
    kWaitRetry,    // for the pause before another try
    kRunning,
    kOver,         // ended or withdrawn
  };

  Kind kind = Kind::kRunAsync;
  Phase phase = Phase::kWaitSlot;
  std::vector<ItemRef> items;
  std::shared_ptr<TrackedGroup> group;  // of a group manager's unit
  int32_t number = 1;
  int64_t first_started_ns = kNeverNs;  // of the first attempt
  bool timed_out = false;

  std::shared_ptr<Limiter> limiter;
  double tokens = 0;
  bool holds_slot = false;
  bool holds_limiter = false;
  Limiter::Ticket ticket = 0;   // of the wait it is in
  Executor::TimerId timer = 0;  // of the deadline or the retry

  std::stop_source stop;
  std::optional<ScoreContext> context;
};

}  // namespace rewardloop
