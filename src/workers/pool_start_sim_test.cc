// How workers start, fail to, and are started again; in virtual time.
#include <gtest/gtest.h>

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

TEST(PoolStartSim, FunctionThatCannotBeLoadedIsOneErrorBeforeAnythingRuns) {
  HostScript script;
  script.start_failure = [](int) { return "no module named reward"; };
  PoolUnderTest test({.workers = 4}, script);
  const Result<FunctionInfo> info = test.pool->Start();
  ASSERT_FALSE(info.ok());
  EXPECT_EQ(info.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(info.status().message(), "'f.py:fn' cannot be used: no module named reward");
  EXPECT_EQ(info.status().hint(), "fix it");
  test.simulator->RunFor(10 * kSecond);
  EXPECT_LE(test.host->workers().size(), 5u);
  EXPECT_EQ(test.host->alive(), 0);
  const OutcomePtr call = test.Call("call");
  test.simulator->RunFor(0);
  EXPECT_EQ(call->reply.kind, Kind::kBroken);
}

TEST(PoolStartSim, DeathDuringTheImportSaysHow) {
  HostScript script;
  script.start_failure = [](int) { return "die"; };
  PoolUnderTest test({.workers = 1}, script);
  const Result<FunctionInfo> info = test.pool->Start();
  ASSERT_FALSE(info.ok());
  EXPECT_NE(info.status().message().find("was killed by signal 11 before it had loaded"), std::string::npos)
      << info.status().message();
}

TEST(PoolStartSim, ImportThatHangsEndsAtItsTimeout) {
  HostScript script;
  script.start_failure = [](int) { return "hang"; };
  PoolUnderTest test({.workers = 1, .import_timeout_ns = 5 * kSecond}, script);
  const Result<FunctionInfo> info = test.pool->Start();
  ASSERT_FALSE(info.ok());
  EXPECT_NE(info.status().message().find("longer than 5 s"), std::string::npos) << info.status().message();
  EXPECT_LE(test.Now(), 5 * kSecond + 100 * kMillisecond);
  test.simulator->RunFor(kSecond);
  EXPECT_EQ(test.host->alive(), 0);
}

// Workers after the first `good` ones fail; calls "die".
HostScript FailsAfter(int good, std::string how) {
  HostScript script;
  script.start_failure = [good, how](int number) { return number > good ? how : ""; };
  script.call = [](const std::string& json, int) {
    return Script{.run_ns = 10 * kMillisecond, .end = Starts(json, "die") ? Script::End::kDie : Script::End::kReturn};
  };
  return script;
}

TEST(PoolStartSim, RestartsBackOffAndGiveUp) {
  PoolUnderTest test({.workers = 1}, FailsAfter(2, "the disk is gone"));
  ASSERT_TRUE(test.pool->Start().ok());
  test.simulator->RunFor(100 * kMillisecond);
  const int64_t start_ns = test.Now();
  const OutcomePtr die = test.Call("die", kNoDeadline);
  const OutcomePtr other = test.Call("call", kNoDeadline);
  test.simulator->RunFor(60 * kSecond);
  // Both calls were lost with the first worker; one of them took the spare, dead or free again, and the other as well.
  EXPECT_EQ(die->answers, 1);
  EXPECT_EQ(other->answers, 1);
  EXPECT_TRUE(die->reply.kind == Kind::kPoison) << static_cast<int>(die->reply.kind);
  // Both warm workers are dead, and starts failed kMaxStartFailures times, with 100, 200, 400 and 800 ms between them.
  const OutcomePtr late = test.Call("call2");
  test.simulator->RunFor(0);
  EXPECT_EQ(late->reply.kind, Kind::kBroken);
  EXPECT_NE(late->reply.text.find("the disk is gone"), std::string::npos) << late->reply.text;
  EXPECT_NE(late->reply.text.find("5 starts in a row"), std::string::npos) << late->reply.text;
  EXPECT_LE(test.host->workers().size(), 2u + 2 * WorkerPool::kMaxStartFailures);
  EXPECT_GE(test.host->workers().back()->ended_ns() - start_ns, 700 * kMillisecond);
  EXPECT_EQ(test.host->alive(), 0);
}

TEST(PoolStartSim, CallsThatWaitForAWorkerEndWhenNoneCanBeStarted) {
  HostScript script = FailsAfter(2, "die");
  PoolUnderTest test({.workers = 1, .threads = 4}, script);
  ASSERT_TRUE(test.pool->Start().ok());
  test.simulator->RunFor(100 * kMillisecond);
  const auto dies = test.Calls("die", 4);
  test.simulator->RunFor(60 * kSecond);
  for (const OutcomePtr& call : dies) {
    ASSERT_EQ(call->answers, 1);
    EXPECT_TRUE(call->reply.kind == Kind::kBroken || call->reply.kind == Kind::kPoison);
  }
}

TEST(PoolStartSim, CallLostWithTheLastWorkerOfABrokenPoolEnds) {
  // The spare dies, no start succeeds, the other worker retires with a call that has no limit and is killed in the end.
  HostScript script = FailsAfter(2, "the disk is gone");
  script.dies_idle_ns = kSecond;
  script.call = [](const std::string& json, int) { return Script{.run_ns = Starts(json, "hang") ? kNoDeadline : 60 * kSecond}; };
  PoolUnderTest test({.workers = 1, .threads = 4}, script);
  ASSERT_TRUE(test.pool->Start().ok());
  test.simulator->RunFor(100 * kMillisecond);
  const OutcomePtr hang = test.Call("hang", 10 * kSecond);
  const OutcomePtr slow = test.Call("call");
  test.simulator->RunFor(300 * kSecond);
  EXPECT_EQ(hang->reply.kind, Kind::kTimeout);
  ASSERT_EQ(slow->answers, 1);
  EXPECT_EQ(slow->reply.kind, Kind::kBroken);
}

TEST(PoolStartSim, TransientFailureIsOvercome) {
  HostScript script = FailsAfter(2, "");
  script.start_failure = [](int number) { return number == 3 || number == 4 ? "die" : ""; };
  PoolUnderTest test({.workers = 1}, script);
  ASSERT_TRUE(test.pool->Start().ok());
  test.simulator->RunFor(100 * kMillisecond);
  const OutcomePtr die = test.Call("die");
  test.simulator->RunFor(10 * kSecond);
  EXPECT_EQ(die->reply.kind, Kind::kPoison);
  const OutcomePtr healthy = test.Call("call");
  test.simulator->RunFor(10 * kSecond);
  EXPECT_EQ(healthy->reply.kind, Kind::kVerdicts);
  EXPECT_EQ(test.host->alive(), 2);
}

// A worker that is ready and then dies by itself, without a call, must not be replaced as fast as it dies.
TEST(PoolStartSim, WorkersThatDieIdleAreStartedAgainWithPauses) {
  PoolUnderTest test({.workers = 1});
  test.host->script().dies_idle_ns = 10 * kMillisecond;
  ASSERT_TRUE(test.pool->Start().ok());
  test.simulator->RunFor(100 * kMillisecond);
  const auto before = static_cast<int>(test.host->workers().size());
  test.simulator->RunFor(60 * kSecond);
  EXPECT_LE(static_cast<int>(test.host->workers().size()) - before, 80);
}

}  // namespace
}  // namespace rewardloop::workers
