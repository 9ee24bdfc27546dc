#include "rewardloop/simulator.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "base/random.h"

namespace rewardloop {
namespace {

class VirtualClock final : public Clock {
 public:
  int64_t NowNs() const override { return now_ns; }
  int64_t now_ns = 0;
};

class SimulatorImpl final : public Simulator {
 public:
  explicit SimulatorImpl(const SimulatorOptions& options) : options_(options), random_(options.seed) {}

  Clock& clock() override { return clock_; }
  void Post(Task task) override { runnable_.push_back(std::move(task)); }

  TimerId PostAt(int64_t deadline_ns, Task task) override {
    if (deadline_ns == kNoDeadline) return 0;
    const TimerId id = next_timer_++;
    timers_.emplace(std::make_pair(deadline_ns, id), std::move(task));
    deadlines_.emplace(id, deadline_ns);
    return id;
  }

  bool CancelTimer(TimerId id) override {
    const auto deadline = deadlines_.find(id);
    if (deadline == deadlines_.end()) return false;
    const auto timer = timers_.find({deadline->second, id});
    const Task dropped = std::move(timer->second);
    timers_.erase(timer);
    deadlines_.erase(deadline);
    return true;
  }

  bool WaitUntil(std::unique_lock<std::mutex>& lock, WaitPoint& point, const std::function<bool()>& ready,
                 int64_t deadline_ns) override {
    while (!ready()) {
      if (clock_.now_ns >= deadline_ns) return false;
      lock.unlock();
      const bool ran = RunOne(deadline_ns);
      if (!ran && deadline_ns == kNoDeadline) {
        std::fprintf(stderr, "rewardloop simulator: a wait without deadline, and nothing left to run: a deadlock\n");
        std::abort();
      }
      if (!ran) clock_.now_ns = deadline_ns;
      lock.lock();
    }
    return true;
  }

  size_t Choose(size_t n) override { return options_.shuffle && n > 1 ? random_.Below(n) : 0; }

  int concurrency() const override { return options_.concurrency; }

  void RunUntilIdle() override {
    while (RunOne(kNoDeadline)) {
    }
  }

  void RunFor(int64_t duration_ns) override {
    const int64_t end_ns = clock_.now_ns + duration_ns;
    while (RunOne(end_ns)) {
    }
    clock_.now_ns = end_ns;
  }

 private:
  // Runs one runnable task or, when there is none, the first timer due by `limit_ns`. False when there is neither.
  bool RunOne(int64_t limit_ns) {
    if (!runnable_.empty()) {
      // Swapping the last one in is an order too: any order is legal where several tasks are runnable.
      const size_t pick = options_.shuffle ? random_.Below(runnable_.size()) : 0;
      Task task = std::move(runnable_[pick]);
      if (options_.shuffle) {
        runnable_[pick] = std::move(runnable_.back());
        runnable_.pop_back();
      } else {
        runnable_.erase(runnable_.begin());
      }
      task();
      return true;
    }
    if (timers_.empty() || timers_.begin()->first.first > limit_ns) return false;
    const auto first = timers_.begin();
    if (first->first.first > clock_.now_ns) clock_.now_ns = first->first.first;
    Task task = std::move(first->second);
    deadlines_.erase(first->first.second);
    timers_.erase(first);
    task();
    return true;
  }

  const SimulatorOptions options_;
  SplitMix64 random_;
  VirtualClock clock_;
  std::vector<Task> runnable_;
  std::map<std::pair<int64_t, TimerId>, Task> timers_;
  std::map<TimerId, int64_t> deadlines_;
  TimerId next_timer_ = 1;
};

}  // namespace

std::unique_ptr<Simulator> Simulator::Make(const SimulatorOptions& options) {
  return std::make_unique<SimulatorImpl>(options);
}

}  // namespace rewardloop
