// WorkerPool under random latencies, deaths, hangs and cancellations: a seed is a schedule.
#include <gtest/gtest.h>

#include "base/random.h"
#include "workers/pool_testing.h"

namespace rewardloop::workers {
namespace {

using testing::HostScript;
using testing::kMillisecond;
using testing::kSecond;
using testing::OutcomePtr;
using testing::PoolUnderTest;
using testing::Script;
using testing::Starts;
using Kind = CallReply::Kind;

constexpr int kWorkers = 3;
constexpr int kThreads = 4;
constexpr int kCalls = 120;
constexpr int64_t kTimeout = kSecond;
// A healthy call alone takes at most this: it never deserves a time-out.
constexpr int64_t kLongestHealthy = 300 * kMillisecond;

// The fate of a call is part of its name: "healthy3", "hang17", ...
std::string DrawName(SplitMix64& draw, int i) {
  const uint64_t fate = draw.Below(100);
  const char* kind = "healthy";
  if (fate < 3) kind = "hang";
  else if (fate < 4) kind = "block";
  else if (fate < 5) kind = "spin";
  else if (fate < 6) kind = "hide";
  else if (fate < 9) kind = "die";
  else if (fate < 10) kind = "tear";
  else if (fate < 12) kind = "deaf";
  else if (fate < 16) kind = "once";
  return kind + std::to_string(i);
}

HostScript DrawScript(SplitMix64* draw, bool is_async) {
  HostScript script;
  script.is_async = is_async;
  script.load_ns = static_cast<int64_t>(draw->Below(200)) * kMillisecond;
  script.latency_ns = [draw] { return static_cast<int64_t>(draw->Below(3 * kMillisecond)); };
  script.call = [draw, is_async](const std::string& name, int execution) {
    const int64_t run_ns = 1 + static_cast<int64_t>(draw->Below(kLongestHealthy));
    if (Starts(name, "hang")) return Script{.run_ns = kNoDeadline};
    if (Starts(name, "deaf")) return Script{.run_ns = kNoDeadline, .ignores_cancel = true};
    if (Starts(name, "spin")) {
      return Script{.run_ns = kNoDeadline, .blocks = is_async ? Script::Blocks::kLoop : Script::Blocks::kNothing, .interruptible = true};
    }
    if (Starts(name, "block")) return Script{.run_ns = kNoDeadline, .blocks = Script::Blocks::kLock};
    if (Starts(name, "hide")) return Script{.run_ns = kNoDeadline, .blocks = Script::Blocks::kLock, .burns_cpu = false};
    if (Starts(name, "die") || (Starts(name, "once") && execution == 1)) return Script{.run_ns = run_ns, .end = Script::End::kDie};
    if (Starts(name, "tear")) return Script{.run_ns = run_ns, .end = Script::End::kTear};
    return Script{.run_ns = run_ns};
  };
  script.start_failure = [draw](int number) { return number > kWorkers + 1 && draw->Below(10) == 0 ? "die" : ""; };
  return script;
}

void CheckAnswer(const PoolUnderTest& test, const std::string& name, const testing::Outcome& call, bool is_async) {
  ASSERT_EQ(call.answers, 1) << name << " was lost or answered twice";
  if (call.stop.stop_requested() && call.reply.kind == Kind::kCancelled) return;
  // One that kills its worker has two deaths, after perhaps a run that another one ended.
  const int most = Starts(name, "die") || Starts(name, "tear") || Starts(name, "once") ? 3 : 2;
  EXPECT_LE(call.starts, most) << name;
  EXPECT_LE(test.host->executions(name), most) << name;
  if (Starts(name, "die") || Starts(name, "tear")) {
    EXPECT_TRUE(call.reply.kind == Kind::kPoison || call.reply.kind == Kind::kTimeout) << name;
  } else if (Starts(name, "once") && call.reply.kind == Kind::kPoison) {
    // Another's death was its first.
  } else if (Starts(name, "healthy") || Starts(name, "once")) {
    // Time that others kept its worker busy may make it late, never anything else.
    EXPECT_TRUE(call.reply.kind == Kind::kVerdicts || (is_async && call.reply.kind == Kind::kTimeout))
        << name << ": " << static_cast<int>(call.reply.kind) << " " << call.reply.text;
    if (call.reply.kind == Kind::kVerdicts) {
      EXPECT_EQ(call.reply.text, name);
    }
  } else {
    EXPECT_EQ(call.reply.kind, Kind::kTimeout) << name;
  }
}

size_t RunSeed(uint64_t seed, bool is_async) {
  SplitMix64 draw(seed);
  constexpr int64_t kInFlight = kWorkers * kThreads;
  PoolUnderTest test({.workers = kWorkers, .threads = kThreads, .max_concurrent = kInFlight}, DrawScript(&draw, is_async), seed);
  EXPECT_TRUE(test.pool->Start().ok());
  std::vector<std::pair<std::string, OutcomePtr>> calls;
  for (int i = 0; i < kCalls; ++i) {
    const std::string name = DrawName(draw, i);
    calls.emplace_back(name, test.Call(name, kTimeout));
    if (draw.Below(8) == 0) calls[draw.Below(calls.size())].second->stop.request_stop();
    if (draw.Below(3) == 0) test.simulator->RunFor(static_cast<int64_t>(draw.Below(100 * kMillisecond)));
  }
  test.simulator->RunFor(600 * kSecond);
  for (const auto& [name, call] : calls) CheckAnswer(test, name, *call, is_async);
  size_t most = 0;
  for (const auto& worker : test.host->workers()) most = std::max(most, worker->most_running());
  EXPECT_LE(most, static_cast<size_t>(kThreads)) << "the limit of a worker";
  EXPECT_EQ(test.host->alive(), kWorkers + 1) << "the pool is as it was";
  test.pool->Close();
  EXPECT_EQ(test.host->alive(), 0);
  return most;
}

TEST(PoolFuzzSim, Threads) {
  size_t most = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    most = std::max(most, RunSeed(seed, false));
  }
  EXPECT_EQ(most, static_cast<size_t>(kThreads)) << "the limit is used";
}

TEST(PoolFuzzSim, EventLoops) {
  size_t most = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    most = std::max(most, RunSeed(seed, true));
  }
  EXPECT_EQ(most, static_cast<size_t>(kThreads)) << "the limit is used";
}

}  // namespace
}  // namespace rewardloop::workers
