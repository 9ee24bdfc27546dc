// Executor: where work runs and how it waits. The real one is a thread pool with timers; the simulator's runs everything
// on the calling thread in virtual time.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

#include "rewardloop/clock.h"

namespace rewardloop {

// A place where threads wait for a condition guarded by a mutex. Notify with that mutex held or not.
// Thread-safe.
class REWARDLOOP_EXPORT WaitPoint {
 public:
  void NotifyAll() { condition_.notify_all(); }

 private:
  friend class ThreadExecutor;
  std::condition_variable condition_;
};

// Thread-safe: all methods may be called from any thread, from within tasks too.
class REWARDLOOP_EXPORT Executor {
 public:
  using Task = std::function<void()>;
  using TimerId = uint64_t;

  virtual ~Executor() = default;

  virtual Clock& clock() = 0;

  // Runs `task` soon on a worker. Never runs it inside this call. Tasks must not throw.
  virtual void Post(Task task) = 0;

  // Runs `task` at or after `deadline_ns`, on the timer thread: it must be quick and must not block, so that deadlines
  // hold while every worker is busy. A past deadline means soon.
  virtual TimerId PostAt(int64_t deadline_ns, Task task) = 0;
  // Stops a timer. False when it already ran, runs right now, or never existed; then `task` may still be running.
  virtual bool CancelTimer(TimerId id) = 0;

  // Blocks until `ready()` holds or `deadline_ns` has passed; returns ready(). `lock` is held when `ready` is evaluated
  // and on return. The simulator runs other tasks meanwhile. Must not be called from a task of this executor.
  virtual bool WaitUntil(std::unique_lock<std::mutex>& lock, WaitPoint& point, const std::function<bool()>& ready,
                         int64_t deadline_ns) = 0;

  // Which of `n` equally good things to do next: the first. The simulator draws, so that its seeds explore orders.
  virtual size_t Choose(size_t n) { return 0; }
  // For tasks: waits some microseconds for `ready`, which may be called often; false when it did not come to hold. Cheaper
  // than to end and be posted again when work comes in a trickle.
  virtual bool Linger(const std::function<bool()>& ready) { return false; }

  // Number of tasks that run at the same time.
  virtual int concurrency() const = 0;

  // A task overran its deadline and will perhaps never return: gives its place to a new worker, as long as fewer than
  // kMaxLostThreads are lost.
  static constexpr int kMaxLostThreads = 64;
  virtual void ReplaceThread() {}
  // That task came back after all: one worker too many ends.
  virtual void RetireThread() {}
};

}  // namespace rewardloop
