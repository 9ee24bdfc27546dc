// ThreadExecutor: the real Executor, a pool of threads and one timer thread.
#pragma once

#include <memory>

#include "rewardloop/executor.h"

namespace rewardloop {

// Thread-safe. Its destructor drops what is still queued and joins the threads; on a thread of its own it lets that one go.
class ThreadExecutor : public Executor {
 public:
  explicit ThreadExecutor(int threads);
  ~ThreadExecutor() override;

  Clock& clock() override { return Clock::Real(); }
  void Post(Task task) override;
  TimerId PostAt(int64_t deadline_ns, Task task) override;
  bool CancelTimer(TimerId id) override;
  bool WaitUntil(std::unique_lock<std::mutex>& lock, WaitPoint& point, const std::function<bool()>& ready,
                 int64_t deadline_ns) override;
  bool Linger(const std::function<bool()>& ready) override;
  int concurrency() const override;
  void ReplaceThread() override;
  void RetireThread() override;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the threads, so that a thread let go does not outlive it
};

}  // namespace rewardloop
