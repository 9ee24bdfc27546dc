#include "rewardloop/simulator.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rewardloop {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(Simulator, TimeMovesOnlyToTheNextTimer) {
  const auto simulator = Simulator::Make();
  std::vector<int64_t> times;
  const auto note = [&] { times.push_back(simulator->clock().NowNs()); };
  simulator->PostAt(5 * kSecond, note);
  simulator->PostAt(2 * kSecond, [&] {
    note();
    simulator->Post(note);
  });
  simulator->RunUntilIdle();
  EXPECT_EQ(times, (std::vector<int64_t>{2 * kSecond, 2 * kSecond, 5 * kSecond}));
}

TEST(Simulator, CancelledTimerNeverRuns) {
  const auto simulator = Simulator::Make();
  bool ran = false;
  const auto id = simulator->PostAt(kSecond, [&] { ran = true; });
  EXPECT_TRUE(simulator->CancelTimer(id));
  EXPECT_FALSE(simulator->CancelTimer(id));
  simulator->RunUntilIdle();
  EXPECT_FALSE(ran);
  EXPECT_EQ(simulator->clock().NowNs(), 0);
}

TEST(Simulator, WaitRunsTasksUntilReadyOrDeadline) {
  const auto simulator = Simulator::Make();
  std::mutex mutex;
  WaitPoint point;
  bool ready = false;
  simulator->PostAt(3 * kSecond, [&] { ready = true; });
  std::unique_lock<std::mutex> lock(mutex);
  EXPECT_FALSE(simulator->WaitUntil(lock, point, [&] { return ready; }, 2 * kSecond));
  EXPECT_EQ(simulator->clock().NowNs(), 2 * kSecond);
  EXPECT_TRUE(simulator->WaitUntil(lock, point, [&] { return ready; }, kNoDeadline));
  EXPECT_EQ(simulator->clock().NowNs(), 3 * kSecond);
}

std::string OrderWithSeed(uint64_t seed) {
  const auto simulator = Simulator::Make({.seed = seed});
  std::string order;
  for (char c = 'a'; c <= 'z'; ++c) simulator->Post([&order, c] { order.push_back(c); });
  simulator->RunUntilIdle();
  return order;
}

TEST(Simulator, OneSeedIsOneScheduleAndSeedsDiffer) {
  EXPECT_EQ(OrderWithSeed(1), OrderWithSeed(1));
  EXPECT_NE(OrderWithSeed(1), OrderWithSeed(2));
  EXPECT_EQ(OrderWithSeed(3).size(), 26u);
}

TEST(SimulatorDeathTest, WaitThatNothingCanEndAborts) {
  const auto simulator = Simulator::Make();
  std::mutex mutex;
  WaitPoint point;
  EXPECT_DEATH(
      {
        std::unique_lock<std::mutex> lock(mutex);
        simulator->WaitUntil(lock, point, [] { return false; }, kNoDeadline);
      },
      "deadlock");
}

}  // namespace
}  // namespace rewardloop
