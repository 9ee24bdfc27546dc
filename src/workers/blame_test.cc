#include "workers/blame.h"

#include <gtest/gtest.h>

namespace rewardloop::workers {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kNow = 1'000 * kMs;
constexpr int64_t kLeast = 100 * kMs;

// Calls 11, 12 and 13 in slots 0, 1 and 2, on threads 100, 101 and 102.
BoardSnapshot ThreeCalls() {
  BoardSnapshot board;
  board.heartbeat_ns = kNow - 10 * kMs;
  board.slots = {{11, 500 * kMs, 100}, {12, 600 * kMs, 101}, {13, 700 * kMs, 102}};
  return board;
}
const std::vector<RunningCall> kThree = {{11, 0, 400 * kMs}, {12, 1, 400 * kMs}, {13, 2, 400 * kMs}};

TEST(Blame, StartIsReadFromTheSlotOfThatCallOnly) {
  const BoardSnapshot board = ThreeCalls();
  EXPECT_EQ(StartedNs(board, {12, 1, 400 * kMs}), 600 * kMs);
  EXPECT_EQ(StartedNs(board, {14, 1, 400 * kMs}), 0) << "the slot still shows an earlier call";
  EXPECT_EQ(StartedNs(board, {14, 9, 400 * kMs}), 0);
}

TEST(Blame, WorkerThatBeatsIsNotStalled) {
  EXPECT_FALSE(FindStall(ThreeCalls(), kThree, kNow, kLeast, {}, {}).stalled);
  BoardSnapshot stepping = ThreeCalls();
  stepping.loop_call = 12;
  stepping.loop_since_ns = kNow - 99 * kMs;
  EXPECT_FALSE(FindStall(stepping, kThree, kNow, kLeast, {}, {}).stalled) << "a step that has not lasted long";
}

TEST(Blame, CoroutineThatDoesNotYieldIsTheCulpritThoughThreadsBeat) {
  BoardSnapshot board = ThreeCalls();
  board.loop_call = 12;
  board.loop_since_ns = kNow - kLeast;
  const Stall stall = FindStall(board, kThree, kNow, kLeast, {}, {});
  EXPECT_TRUE(stall.stalled);
  EXPECT_EQ(stall.culprit, 12u);
}

TEST(Blame, LockHeldWithinAStepIsThatStep) {
  BoardSnapshot board = ThreeCalls();
  board.heartbeat_ns = kNow - kLeast;
  board.loop_call = 13;
  board.loop_since_ns = kNow - kLeast + 1;
  EXPECT_EQ(FindStall(board, kThree, kNow, kLeast, {}, {}).culprit, 13u);
}

TEST(Blame, ThreadWhoseCpuTimeGrowsHoldsTheLock) {
  BoardSnapshot board = ThreeCalls();
  board.heartbeat_ns = kNow - kLeast;
  const std::map<int64_t, int64_t> before = {{100, 5 * kMs}, {101, 900 * kMs}, {102, 70 * kMs}};
  const std::map<int64_t, int64_t> now = {{100, 6 * kMs}, {101, 901 * kMs}, {102, 110 * kMs}};
  const Stall stall = FindStall(board, kThree, kNow, kLeast, before, now, 50 * kMs);
  EXPECT_TRUE(stall.stalled);
  EXPECT_EQ(stall.culprit, 13u) << "what it used before does not count";
}

TEST(Blame, NobodyIsBlamedForWakingUp) {
  BoardSnapshot board = ThreeCalls();
  board.heartbeat_ns = kNow - kLeast;
  const std::map<int64_t, int64_t> before = {{100, 5 * kMs}, {101, 5 * kMs}, {102, 5 * kMs}};
  const std::map<int64_t, int64_t> now = {{100, 5 * kMs}, {101, 6 * kMs}, {102, 5 * kMs}};
  const Stall stall = FindStall(board, kThree, kNow, kLeast, before, now, 50 * kMs);
  EXPECT_TRUE(stall.stalled);
  EXPECT_EQ(stall.culprit, 0u);
  EXPECT_EQ(FindStall(board, kThree, kNow, kLeast, {}, now).culprit, 0u) << "one look tells nothing";
  EXPECT_EQ(FindStall(board, kThree, kNow, kLeast, {{100, -1}}, {{100, -1}}).culprit, 0u) << "CPU time that cannot be read";
}

TEST(Blame, OnlyCallIsTheCulprit) {
  BoardSnapshot board = ThreeCalls();
  board.heartbeat_ns = kNow - kLeast;
  EXPECT_EQ(FindStall(board, {{12, 1, 400 * kMs}}, kNow, kLeast, {}, {}).culprit, 12u);
}

}  // namespace
}  // namespace rewardloop::workers
