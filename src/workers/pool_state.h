// What WorkerPool keeps of a call and of a worker. Guarded by the pool's mutex.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "workers/pool.h"

namespace rewardloop::workers {

struct WorkerPool::PendingCall {
  enum class State { kNew, kQueued, kRunning, kDone };

  uint64_t id = 0;
  CallRequest request;
  CallLimits limits;
  std::function<void(int64_t)> started;
  State state = State::kNew;
  bool alone = false;  // a worker was lost with it: from now on it shares none
  int deaths = 0;      // of workers that nobody killed
  std::coroutine_handle<> waiter;
  CallReply reply;
};

struct WorkerPool::Worker {
  enum class State { kStarting, kReady, kRetiring, kGone };

  struct Running {
    CallPtr call;
    uint32_t slot = 0;
    int64_t sent_ns = 0;
    int64_t abandoned_ns = 0;  // since when nobody wants its reply; 0: somebody does
    int64_t lost_ns = 0;       // that others kept it from running; not its own time

    bool live() const { return abandoned_ns == 0; }
  };

  State state = State::kStarting;
  std::shared_ptr<WorkerProcess> process;
  int64_t started_ns = 0;
  int64_t ready_ns = 0;
  bool answered = false;  // at least one call
  int64_t kill_at_ns = kNoDeadline;  // of a retiring one
  bool exclusive = false;            // runs one call, alone
  std::map<uint64_t, Running> running;  // by call id
  std::vector<uint32_t> free_slots;
  std::map<int64_t, int64_t> cpu_before;  // thread -> CPU time at the first look at a stall
  int64_t cpu_before_ns = 0;              // when that was
  uint64_t interrupted = 0;  // the call whose coroutine was told to let go of the loop
  int64_t interrupted_ns = 0;
  int64_t stalled_since_ns = 0;
  std::string failure;  // what it said before it ended
  std::string hint;

  bool has_live() const {
    return std::any_of(running.begin(), running.end(), [](const auto& entry) { return entry.second.live(); });
  }
};

}  // namespace rewardloop::workers
