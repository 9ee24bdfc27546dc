#include "async/thread_executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace rewardloop {
namespace {

// Counts down and lets one thread wait for zero, through the executor's own wait.
class Latch {
 public:
  Latch(Executor& executor, int count) : executor_(executor), count_(count) {}
  void CountDown() {
    std::lock_guard<std::mutex> lock(mutex_);
    --count_;
    point_.NotifyAll();
  }
  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    executor_.WaitUntil(lock, point_, [&] { return count_ == 0; }, kNoDeadline);
  }

 private:
  Executor& executor_;
  std::mutex mutex_;
  WaitPoint point_;
  int count_;
};

TEST(ThreadExecutor, RunsTasksOfManyThreads) {
  ThreadExecutor executor(2);
  Latch latch(executor, 8 * 500);
  std::atomic<int> sum = 0;
  std::vector<std::thread> posters;
  for (int t = 0; t < 8; ++t) {
    posters.emplace_back([&] {
      for (int i = 1; i <= 500; ++i) {
        executor.Post([&, i] {
          sum += i;
          latch.CountDown();
        });
      }
    });
  }
  for (std::thread& poster : posters) poster.join();
  latch.Wait();
  EXPECT_EQ(sum, 8 * 500 * 501 / 2);
}

TEST(ThreadExecutor, TimersRunInOrderOfDeadlineWhileEveryWorkerIsBusy) {
  ThreadExecutor executor(1);
  Latch blocked(executor, 1), timers(executor, 2), finished(executor, 1);
  executor.Post([&] {
    blocked.Wait();
    finished.CountDown();
  });
  std::vector<int> order;
  const int64_t now_ns = executor.clock().NowNs();
  executor.PostAt(now_ns + 2'000'000, [&] {
    order.push_back(2);
    timers.CountDown();
  });
  executor.PostAt(now_ns + 1'000'000, [&] {
    order.push_back(1);
    timers.CountDown();
  });
  timers.Wait();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  blocked.CountDown();
  finished.Wait();
}

TEST(ThreadExecutor, CancelledTimerIsGone) {
  ThreadExecutor executor(1);
  const auto id = executor.PostAt(DeadlineAfter(executor.clock().NowNs(), SecondsToNs(3600)), [] { FAIL(); });
  EXPECT_TRUE(executor.CancelTimer(id));
  EXPECT_FALSE(executor.CancelTimer(id));
}

TEST(ThreadExecutor, WaitEndsAtItsDeadline) {
  ThreadExecutor executor(1);
  std::mutex mutex;
  WaitPoint point;
  std::unique_lock<std::mutex> lock(mutex);
  EXPECT_FALSE(executor.WaitUntil(lock, point, [] { return false; }, executor.clock().NowNs() + 1'000'000));
}

TEST(ThreadExecutor, ReplacedThreadTakesOverTheQueue) {
  ThreadExecutor executor(1);
  Latch stuck(executor, 1), ran(executor, 1), returned(executor, 1);
  executor.Post([&] {
    stuck.Wait();
    returned.CountDown();
  });
  executor.Post([&] { ran.CountDown(); });
  executor.ReplaceThread();
  ran.Wait();
  stuck.CountDown();
  returned.Wait();
  executor.RetireThread();
  Latch after(executor, 1);
  executor.Post([&] { after.CountDown(); });
  after.Wait();
}

TEST(ThreadExecutor, LastOwnerMayBeOneOfItsOwnThreads) {
  auto executor = std::make_shared<ThreadExecutor>(2);
  std::atomic<bool> ran = false;
  ThreadExecutor other(1);
  Latch latch(other, 1);
  executor->Post([owner = executor, &ran, &latch]() mutable {
    while (owner.use_count() > 1) std::this_thread::yield();
    owner.reset();
    ran = true;
    latch.CountDown();
  });
  executor.reset();
  latch.Wait();
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace rewardloop
