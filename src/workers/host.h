// WorkerHost: starts worker processes. The real one goes through the launcher (launcher_host.h); tests script their own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rewardloop/status.h"

namespace rewardloop::workers {

// What one slot of a worker's board says. Times are nanoseconds of the monotonic clock.
struct BoardSlot {
  uint64_t call = 0;        // 0: nothing runs
  int64_t started_ns = 0;   // when it began to run
  int64_t thread = 0;       // kernel id of the thread that runs it
};

// What a worker has written into shared memory about itself.
struct BoardSnapshot {
  int64_t heartbeat_ns = 0;  // when any of its Python threads last could run
  uint64_t loop_call = 0;    // async functions: the call whose coroutine is stepping now; 0: none
  int64_t loop_since_ns = 0;
  std::vector<BoardSlot> slots;
};

// A worker process. Thread-safe; no method blocks.
class WorkerProcess {
 public:
  virtual ~WorkerProcess() = default;

  // Hands over whole frames (frames.h), in order.
  virtual void Send(std::string frames) = 0;
  // SIGKILL, to it and to everything that it started.
  virtual void Kill() = 0;
  // Raises an exception in the coroutine of `call`, when that is the one that steps now. Does nothing to code that holds the
  // interpreter's lock; the board tells whether it helped.
  virtual void Interrupt(uint64_t call) = 0;
  virtual BoardSnapshot ReadBoard() const = 0;
  // CPU time that one of its threads has used; -1 when that cannot be told.
  virtual int64_t ThreadCpuNs(int64_t thread) const = 0;
};

// Called from the host's thread, never from within a call to the host or the process. `on_exit` comes once and last.
struct WorkerEvents {
  std::function<void(uint8_t kind, std::string_view body)> on_frame;
  std::function<void(const std::string& how)> on_exit;  // "was killed by signal 9", "ended with exit code 1"
};

class WorkerHost {
 public:
  virtual ~WorkerHost() = default;

  // Starts a worker with a board of `slots` slots. Null after Close().
  virtual std::shared_ptr<WorkerProcess> Start(int slots, WorkerEvents events) = 0;
  // Ends all workers and everything below them; no event comes after it returned. Blocks for as long as that takes, at
  // most kCloseSeconds. Idempotent. Must not be called from an event.
  virtual void Close() = 0;
};

}  // namespace rewardloop::workers
