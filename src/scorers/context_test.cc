#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <map>
#include <semaphore>
#include <thread>

#include "rewardloop/scorer.h"

namespace rewardloop {
namespace {

// Runs tasks on the test's thread; time is set by hand.
class ManualExecutor : public Executor, public Clock {
 public:
  Clock& clock() override { return *this; }
  int64_t NowNs() const override { return now_ns_; }
  void Post(Task task) override { ready_.push_back(std::move(task)); }
  TimerId PostAt(int64_t deadline_ns, Task task) override {
    timers_.emplace(++next_timer_, std::make_pair(deadline_ns, std::move(task)));
    return next_timer_;
  }
  bool CancelTimer(TimerId id) override { return timers_.erase(id) > 0; }
  bool WaitUntil(std::unique_lock<std::mutex>&, WaitPoint&, const std::function<bool()>&,
                 int64_t) override {
    return false;
  }
  int concurrency() const override { return 1; }

  void AdvanceTo(int64_t now_ns) {
    now_ns_ = now_ns;
    for (auto it = timers_.begin(); it != timers_.end();) {
      if (it->second.first > now_ns) {
        ++it;
        continue;
      }
      ready_.push_back(std::move(it->second.second));
      it = timers_.erase(it);
    }
    while (!ready_.empty()) {
      Task task = std::move(ready_.front());
      ready_.pop_front();
      task();
    }
  }
  size_t timers() const { return timers_.size(); }

 private:
  int64_t now_ns_ = 1000;
  TimerId next_timer_ = 0;
  std::map<TimerId, std::pair<int64_t, Task>> timers_;
  std::deque<Task> ready_;
};

// Two threads: one runs tasks, the other ends timers at once, so that timer and stop request
// collide.
class RacingExecutor : public Executor {
 public:
  Clock& clock() override { return Clock::Real(); }
  void Post(Task task) override { Push(&tasks_, std::move(task)); }
  TimerId PostAt(int64_t, Task task) override {
    Push(&timers_, std::move(task));
    return 1;
  }
  bool CancelTimer(TimerId) override { return false; }  // always too late: the hardest case
  bool WaitUntil(std::unique_lock<std::mutex>&, WaitPoint&, const std::function<bool()>&,
                 int64_t) override {
    return false;
  }
  int concurrency() const override { return 2; }
  ~RacingExecutor() override {
    Push(&tasks_, nullptr);
    Push(&timers_, nullptr);
  }

 private:
  struct Queue {
    std::mutex mutex;
    std::deque<Task> tasks;
    std::counting_semaphore<> count{0};
  };
  static void Push(Queue* queue, Task task) {
    {
      std::lock_guard<std::mutex> lock(queue->mutex);
      queue->tasks.push_back(std::move(task));
    }
    queue->count.release();
  }
  static void Run(Queue* queue) {
    for (;;) {
      queue->count.acquire();
      Task task;
      {
        std::lock_guard<std::mutex> lock(queue->mutex);
        task = std::move(queue->tasks.front());
        queue->tasks.pop_front();
      }
      if (!task) return;
      task();
    }
  }
  Queue tasks_, timers_;
  std::jthread task_thread_{[this] { Run(&tasks_); }};
  std::jthread timer_thread_{[this] { Run(&timers_); }};
};

struct Outcome {
  bool done = false;
  bool elapsed = false;
};

void StartSleep(ScoreContext* context, int64_t duration_ns, Outcome* outcome) {
  Spawn(context->Sleep(duration_ns), [outcome](std::optional<bool> elapsed, std::exception_ptr) {
    outcome->done = true;
    outcome->elapsed = *elapsed;
  });
}

TEST(Sleep, EndsWhenTheTimeHasPassedAndNotBefore) {
  ManualExecutor executor;
  ScoreContext context(&executor, kNoDeadline, {}, 0);
  Outcome outcome;
  StartSleep(&context, 500, &outcome);
  executor.AdvanceTo(1499);
  EXPECT_FALSE(outcome.done);
  executor.AdvanceTo(1500);
  EXPECT_TRUE(outcome.done);
  EXPECT_TRUE(outcome.elapsed);
}

TEST(Sleep, StopRequestEndsItThroughTheExecutorAndFreesTheTimer) {
  ManualExecutor executor;
  std::stop_source stop;
  ScoreContext context(&executor, kNoDeadline, stop.get_token(), 0);
  Outcome outcome;
  StartSleep(&context, 500, &outcome);
  stop.request_stop();
  EXPECT_FALSE(outcome.done) << "must not run inside request_stop";
  executor.AdvanceTo(1000);
  EXPECT_TRUE(outcome.done);
  EXPECT_FALSE(outcome.elapsed);
  EXPECT_EQ(executor.timers(), 0u);
}

TEST(Sleep, ReturnsAtOnceWithoutExecutorAfterStopAndForNothing) {
  ScoreContext bare(nullptr, kNoDeadline, {}, 0);
  Outcome outcome;
  StartSleep(&bare, 500, &outcome);
  EXPECT_TRUE(outcome.done);
  EXPECT_FALSE(outcome.elapsed);

  ManualExecutor executor;
  std::stop_source stop;
  ScoreContext context(&executor, kNoDeadline, stop.get_token(), 0);
  outcome = {};
  StartSleep(&context, 0, &outcome);
  EXPECT_TRUE(outcome.done);
  EXPECT_TRUE(outcome.elapsed);
  stop.request_stop();
  outcome = {};
  StartSleep(&context, 500, &outcome);
  EXPECT_TRUE(outcome.done);
  EXPECT_FALSE(outcome.elapsed);
  EXPECT_EQ(executor.timers(), 0u);
}

TEST(Sleep, LongestDurationDoesNotOverflow) {
  ManualExecutor executor;
  std::stop_source stop;
  ScoreContext context(&executor, kNoDeadline, stop.get_token(), 0);
  Outcome outcome;
  StartSleep(&context, kNoDeadline, &outcome);
  executor.AdvanceTo(kNoDeadline - 1);
  EXPECT_FALSE(outcome.done);
  stop.request_stop();
  executor.AdvanceTo(kNoDeadline - 1);
  EXPECT_TRUE(outcome.done);
}

TEST(Sleep, FrameDestroyedInItsSleepIsNotResumed) {
  ManualExecutor executor;
  std::stop_source stop;
  ScoreContext context(&executor, kNoDeadline, stop.get_token(), 0);
  {
    Task<bool> sleep = context.Sleep(500);
    auto awaiter = std::move(sleep).operator co_await();
    awaiter.await_suspend(std::noop_coroutine()).resume();
    EXPECT_EQ(executor.timers(), 1u);
  }
  EXPECT_EQ(executor.timers(), 0u);
  stop.request_stop();
  executor.AdvanceTo(10'000);
}

// Meant for ThreadSanitizer: timer, stop request and the end of the coroutine collide in every
// order.
TEST(Sleep, TimerAndStopRequestRaceOnce) {
  RacingExecutor executor;
  for (int i = 0; i < 2000; ++i) {
    std::stop_source stop;
    std::atomic<int> ends{0};
    std::binary_semaphore ended{0};
    ScoreContext context(&executor, kNoDeadline, stop.get_token(), 0);
    executor.Post([&] {
      Spawn(context.Sleep(1), [&](std::optional<bool>, std::exception_ptr) {
        ends.fetch_add(1);
        ended.release();
      });
    });
    if (i % 3 != 0) std::this_thread::yield();
    stop.request_stop();
    ended.acquire();
    ASSERT_EQ(ends.load(), 1);
  }
}

class Fixed : public Scorer {
 public:
  Verdict Score(const RewardItem& item, ScoreContext&) const override {
    if (item.item_id == "throws") throw std::runtime_error("broken");
    return Verdict::Scored(0.5, "fixed");
  }
};

TEST(ScoreAsync, DefaultGivesWhatScoreGives) {
  Fixed scorer;
  RewardItem item;
  ScoreContext context(nullptr, kNoDeadline, {}, 0);
  std::optional<Verdict> verdict;
  Spawn(scorer.ScoreAsync(item, context),
        [&](std::optional<Verdict> result, std::exception_ptr) { verdict = std::move(result); });
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->score, 0.5);
  item.item_id = "throws";
  std::exception_ptr thrown;
  Spawn(scorer.ScoreAsync(item, context),
        [&](std::optional<Verdict>, std::exception_ptr exception) { thrown = exception; });
  EXPECT_TRUE(thrown);
}

}  // namespace
}  // namespace rewardloop
