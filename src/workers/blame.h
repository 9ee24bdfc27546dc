// Blame: who keeps a worker busy, when one of its calls is late.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "workers/host.h"

namespace rewardloop::workers {

// A call that a worker has been given.
struct RunningCall {
  uint64_t id = 0;
  uint32_t slot = 0;
  int64_t sent_ns = 0;
};

struct Stall {
  bool stalled = false;
  uint64_t culprit = 0;  // 0: it cannot be told
};

// When `call` began to run; 0 while it has not.
int64_t StartedNs(const BoardSnapshot& board, const RunningCall& call);

// A worker is stalled when one call keeps the others from running: a coroutine that does not yield, or code that holds the
// interpreter's lock. It is looked at when a call is late, at `now_ns`, and counts when it has lasted `least_ns`.
//
// The culprit of an event loop is the call that is stepping. Of threads it is the one whose CPU time grows between two looks,
// `apart_ns` apart: `cpu_before` and `cpu_now` map the threads of running calls to their CPU time then and now. Threads that
// wait for the interpreter's lock wake up to ask for it, and use a little too.
Stall FindStall(const BoardSnapshot& board, const std::vector<RunningCall>& calls, int64_t now_ns, int64_t least_ns,
                const std::map<int64_t, int64_t>& cpu_before, const std::map<int64_t, int64_t>& cpu_now, int64_t apart_ns = 0);

}  // namespace rewardloop::workers
