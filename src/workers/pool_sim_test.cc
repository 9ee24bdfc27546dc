// WorkerPool in virtual time: dispatch, time-outs, blame, deaths, cancellation.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

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

// Deadlines are looked at this often at the latest.
constexpr int64_t kTick = 50 * kMillisecond;

// Calls whose names begin with "hang" never end; all others take `healthy_ns`.
HostScript Hanging(Script hang, int64_t healthy_ns = 100 * kMillisecond) {
  HostScript script;
  hang.run_ns = kNoDeadline;
  script.call = [hang, healthy_ns](const std::string& json, int) {
    return Starts(json, "hang") ? hang : Script{.run_ns = healthy_ns};
  };
  return script;
}

HostScript Async(HostScript script) {
  script.is_async = true;
  return script;
}

TEST(PoolSim, StartTellsWhatTheFirstWorkerSaidAndWarmsTheOthers) {
  PoolUnderTest test({.workers = 2});
  const Result<FunctionInfo> info = test.pool->Start();
  ASSERT_TRUE(info.ok()) << info.status().ToString();
  EXPECT_EQ(info->form, "item");
  EXPECT_EQ(info->file, "f.py");
  EXPECT_EQ(info->digest, "d");
  EXPECT_EQ(test.Now(), 10 * kMillisecond);
  test.simulator->RunFor(kSecond);
  EXPECT_EQ(test.host->workers().size(), 3u) << "two and a spare";
}

TEST(PoolSim, ThreadsOfBlockingCallsAreSpreadAndOneSpareStaysIdle) {
  HostScript script;
  script.call = [](const std::string&, int) { return Script{.run_ns = kSecond}; };
  PoolUnderTest test({.workers = 2, .threads = 4}, script);
  ASSERT_TRUE(test.pool->Start().ok());
  test.simulator->RunFor(100 * kMillisecond);
  const int64_t start_ns = test.Now();
  const auto calls = test.Calls("call", 10);
  test.simulator->RunFor(kSecond / 2);
  std::vector<size_t> running = test.host->running();
  std::sort(running.begin(), running.end());
  EXPECT_EQ(running, (std::vector<size_t>{0, 4, 4}));
  test.simulator->RunFor(10 * kSecond);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(calls[i]->done());
    EXPECT_EQ(calls[i]->reply.kind, Kind::kVerdicts);
    EXPECT_EQ(calls[i]->reply.text, "call" + std::to_string(i));
    EXPECT_EQ(calls[i]->starts, 1);
    EXPECT_EQ(calls[i]->done_ns - start_ns, i < 8 ? kSecond : 2 * kSecond);
  }
}

TEST(PoolSim, AsyncCallsShareMaxConcurrent) {
  HostScript script;
  script.is_async = true;
  script.call = [](const std::string&, int) { return Script{.run_ns = kSecond}; };
  PoolUnderTest test({.workers = 2, .max_concurrent = 256}, script);
  ASSERT_TRUE(test.pool->Start().ok());
  test.simulator->RunFor(100 * kMillisecond);
  const int64_t start_ns = test.Now();
  const auto calls = test.Calls("call", 257);
  test.simulator->RunFor(kSecond / 2);
  std::vector<size_t> running = test.host->running();
  std::sort(running.begin(), running.end());
  EXPECT_EQ(running, (std::vector<size_t>{0, 128, 128}));
  test.simulator->RunFor(10 * kSecond);
  for (int i = 0; i < 257; ++i) EXPECT_EQ(calls[i]->done_ns - start_ns, i < 256 ? kSecond : 2 * kSecond) << i;
}

TEST(PoolSim, FewCallsAreSpreadOverWorkersToo) {
  HostScript script = Async({});
  script.call = [](const std::string&, int) { return Script{.run_ns = kSecond}; };
  PoolUnderTest test({.workers = 2, .max_concurrent = 256}, script);
  ASSERT_TRUE(test.pool->Start().ok());
  test.simulator->RunFor(100 * kMillisecond);
  test.Calls("call", 16);
  test.simulator->RunFor(kSecond / 2);
  std::vector<size_t> running = test.host->running();
  std::sort(running.begin(), running.end());
  EXPECT_EQ(running, (std::vector<size_t>{0, 8, 8}));
}

TEST(PoolSim, LateThreadEndsAtItsDeadlineAndItsWorkerWhenTheOthersAreDone) {
  PoolUnderTest test({.workers = 1, .threads = 4}, Hanging({}, 3 * kSecond));
  ASSERT_TRUE(test.pool->Start().ok());
  test.simulator->RunFor(100 * kMillisecond);
  const int64_t start_ns = test.Now();
  const OutcomePtr hang = test.Call("hang", kSecond);
  const auto healthy = test.Calls("call", 3, 5 * kSecond);
  test.simulator->RunFor(1500 * kMillisecond);
  ASSERT_TRUE(hang->done());
  EXPECT_EQ(hang->reply.kind, Kind::kTimeout);
  EXPECT_GE(hang->done_ns, start_ns + kSecond);
  EXPECT_LE(hang->done_ns, start_ns + kSecond + kTick);
  const OutcomePtr next = test.Call("next");  // goes elsewhere
  test.simulator->RunFor(10 * kSecond);
  for (size_t i = 0; i < healthy.size(); ++i) {
    EXPECT_EQ(healthy[i]->reply.kind, Kind::kVerdicts);
    EXPECT_EQ(healthy[i]->done_ns, start_ns + 3 * kSecond);
    EXPECT_EQ(test.host->executions("call" + std::to_string(i)), 1);
  }
  EXPECT_EQ(next->reply.kind, Kind::kVerdicts);
  const auto& retired = *std::find_if(test.host->workers().begin(), test.host->workers().end(),
                                      [](const auto& worker) { return worker->has_run("hang"); });
  EXPECT_FALSE(retired->has_run("next")) << "it takes no new call";
  EXPECT_TRUE(retired->killed());
  EXPECT_LE(retired->ended_ns(), start_ns + 3 * kSecond + kTick);
  EXPECT_EQ(test.host->alive(), 2) << "replaced";
}

TEST(PoolSim, WorkerOfALateThreadEndsOneTimeoutLaterAtTheLatest) {
  PoolUnderTest test({.workers = 1, .threads = 4}, Hanging({}, 3 * kSecond));
  ASSERT_TRUE(test.pool->Start().ok());
  test.simulator->RunFor(100 * kMillisecond);
  const int64_t start_ns = test.Now();
  const OutcomePtr hang = test.Call("hang", kSecond);
  const OutcomePtr slow = test.Call("call");  // without limit
  test.simulator->RunFor(20 * kSecond);
  EXPECT_EQ(hang->reply.kind, Kind::kTimeout);
  EXPECT_EQ(slow->reply.kind, Kind::kVerdicts) << "runs again elsewhere";
  EXPECT_EQ(test.host->executions("call"), 2);
  EXPECT_LE(slow->done_ns, start_ns + 5 * kSecond + 3 * kTick);
}

TEST(PoolSim, StalledLoopCostsItsCulpritAndTheOthersRunAgain) {
  PoolUnderTest test({.workers = 1, .max_concurrent = 32}, Async(Hanging({.blocks = Script::Blocks::kLoop})));
  ASSERT_TRUE(test.pool->Start().ok());
  test.simulator->RunFor(100 * kMillisecond);
  const int64_t start_ns = test.Now();
  auto calls = test.Calls("call", 16, kSecond);
  const OutcomePtr hang = test.Call("hang", kSecond);
  const auto more = test.Calls("late", 15, kSecond);
  calls.insert(calls.end(), more.begin(), more.end());
  test.simulator->RunFor(30 * kSecond);
  EXPECT_EQ(hang->reply.kind, Kind::kTimeout);
  EXPECT_LE(hang->done_ns, start_ns + kSecond + kTick);
  for (const OutcomePtr& call : calls) {
    ASSERT_TRUE(call->done());
    EXPECT_EQ(call->reply.kind, Kind::kVerdicts);
    EXPECT_EQ(call->reply.text.substr(0, 4) == "call" || call->reply.text.substr(0, 4) == "late", true);
    EXPECT_LE(test.host->executions(call->reply.text), 2);
    EXPECT_LE(call->starts, 2);
  }
  EXPECT_EQ(test.host->executions("hang"), 1);
}

TEST(PoolSim, InterruptedStepLetsTheOthersGoOn) {
  PoolUnderTest test({.workers = 1, .max_concurrent = 32},
                     Async(Hanging({.blocks = Script::Blocks::kLoop, .interruptible = true})));
  ASSERT_TRUE(test.pool->Start().ok());
  test.simulator->RunFor(100 * kMillisecond);
  const int64_t start_ns = test.Now();
  const auto calls = test.Calls("call", 16, kSecond);
  const OutcomePtr hang = test.Call("hang", kSecond);
  const auto more = test.Calls("late", 15, kSecond);
  test.simulator->RunFor(30 * kSecond);
  EXPECT_EQ(hang->reply.kind, Kind::kTimeout);
  EXPECT_GE(hang->done_ns, start_ns + kSecond);
  EXPECT_LE(hang->done_ns, start_ns + kSecond + kTick);
  for (const auto& some : {calls, more}) {
    for (const OutcomePtr& call : some) {
      ASSERT_TRUE(call->done());
      EXPECT_EQ(call->reply.kind, Kind::kVerdicts);
      EXPECT_EQ(call->starts, 1);
      EXPECT_LE(call->done_ns, start_ns + kSecond + 300 * kMillisecond) << "what they waited for the culprit is not their time";
    }
  }
  EXPECT_EQ(test.host->workers().size(), 2u) << "no worker was killed";
}

TEST(PoolSim, LockHeldByAThreadWhoseCpuGrowsIsItsFault) {
  PoolUnderTest test({.workers = 1, .threads = 8}, Hanging({.blocks = Script::Blocks::kLock}));
  ASSERT_TRUE(test.pool->Start().ok());
  test.simulator->RunFor(100 * kMillisecond);
  const int64_t start_ns = test.Now();
  const auto before = test.Calls("call", 4, kSecond);
  const OutcomePtr hang = test.Call("hang", kSecond);
  const auto after = test.Calls("late", 3, kSecond);
  test.simulator->RunFor(10 * kSecond);
  EXPECT_EQ(hang->reply.kind, Kind::kTimeout);
  EXPECT_LE(hang->done_ns, start_ns + kSecond + 3 * kTick);
  EXPECT_EQ(test.host->executions("hang"), 1);
  for (const auto& calls : {before, after}) {
    for (const OutcomePtr& call : calls) {
      EXPECT_EQ(call->reply.kind, Kind::kVerdicts);
      EXPECT_LE(test.host->executions(call->reply.text), 2);
    }
  }
}

TEST(PoolSim, LockHeldByNobodyKnowsWhomMakesAllRunAgainAlone) {
  PoolUnderTest test({.workers = 1, .threads = 8}, Hanging({.blocks = Script::Blocks::kLock, .burns_cpu = false}));
  ASSERT_TRUE(test.pool->Start().ok());
  test.simulator->RunFor(100 * kMillisecond);
  const int64_t start_ns = test.Now();
  const auto calls = test.Calls("call", 4, kSecond);
  const OutcomePtr hang = test.Call("hang", kSecond);
  test.simulator->RunFor(10 * kSecond);
  EXPECT_EQ(hang->reply.kind, Kind::kTimeout);
  EXPECT_EQ(test.host->executions("hang"), 2);
  EXPECT_LE(hang->done_ns, start_ns + 3 * kSecond) << "once with others, once alone";
  for (const OutcomePtr& call : calls) {
    EXPECT_EQ(call->reply.kind, Kind::kVerdicts);
    EXPECT_EQ(test.host->executions(call->reply.text), 2);
  }
}

TEST(PoolSim, DeathRunsItsCallsAgainAloneAndTheSecondIsPoison) {
  HostScript script;
  script.call = [](const std::string& json, int) {
    if (Starts(json, "die")) return Script{.run_ns = 50 * kMillisecond, .end = Script::End::kDie};
    return Script{.run_ns = 100 * kMillisecond};
  };
  PoolUnderTest test({.workers = 1, .threads = 8}, script);
  ASSERT_TRUE(test.pool->Start().ok());
  test.simulator->RunFor(100 * kMillisecond);
  const int64_t start_ns = test.Now();
  const OutcomePtr die = test.Call("die", kSecond);
  const auto healthy = test.Calls("call", 7, kSecond);
  test.simulator->RunFor(50 * kMillisecond);
  EXPECT_EQ(test.host->executions("die") + test.host->executions("call0"), 3)
      << "the first of them runs again at once, on the spare that was warm";
  test.simulator->RunFor(10 * kSecond);
  EXPECT_EQ(die->reply.kind, Kind::kPoison);
  EXPECT_NE(die->reply.text.find("was killed by signal 9"), std::string::npos) << die->reply.text;
  EXPECT_EQ(die->starts, 2);
  EXPECT_EQ(test.host->executions("die"), 2);
  EXPECT_LE(die->done_ns, start_ns + kSecond);
  for (const OutcomePtr& call : healthy) {
    EXPECT_EQ(call->reply.kind, Kind::kVerdicts);
    EXPECT_EQ(test.host->executions(call->reply.text), 2);
  }
}

TEST(PoolSim, TornReplyEndsItsWorkerAndItsAuthorInTheEnd) {
  HostScript script;
  script.call = [](const std::string& json, int) {
    return Script{.run_ns = 50 * kMillisecond, .end = Starts(json, "tear") ? Script::End::kTear : Script::End::kReturn};
  };
  PoolUnderTest test({.workers = 1, .threads = 8}, script);
  ASSERT_TRUE(test.pool->Start().ok());
  test.simulator->RunFor(100 * kMillisecond);
  const OutcomePtr tear = test.Call("tear", kSecond);
  const OutcomePtr other = test.Call("call", kSecond);
  test.simulator->RunFor(10 * kSecond);
  ASSERT_TRUE(tear->done()) << "ran " << test.host->executions("tear") << " times";
  EXPECT_EQ(tear->reply.kind, Kind::kPoison);
  EXPECT_EQ(test.host->executions("tear"), 2);
  EXPECT_EQ(other->reply.kind, Kind::kVerdicts);
}

TEST(PoolSim, CancelledCallsEndAtOnceQueuedOrRunning) {
  PoolUnderTest test({.workers = 1, .threads = 1}, Hanging({}));
  ASSERT_TRUE(test.pool->Start().ok());
  test.simulator->RunFor(100 * kMillisecond);
  const int64_t start_ns = test.Now();
  const OutcomePtr running = test.Call("hang", kNoDeadline);
  const OutcomePtr queued = test.Call("call0");
  const OutcomePtr waits = test.Call("call1");
  test.simulator->RunFor(10 * kMillisecond);
  queued->stop.request_stop();
  running->stop.request_stop();
  test.simulator->RunFor(0);
  EXPECT_EQ(queued->reply.kind, Kind::kCancelled);
  EXPECT_EQ(running->reply.kind, Kind::kCancelled);
  EXPECT_EQ(running->done_ns, start_ns + 10 * kMillisecond);
  test.simulator->RunFor(10 * kSecond);
  EXPECT_EQ(test.host->executions("call0"), 0);
  EXPECT_EQ(waits->reply.kind, Kind::kVerdicts);
  EXPECT_EQ(test.host->alive(), 2) << "the thread that nobody waits for cost its worker";
}

TEST(PoolSim, CallThatWasStoppedBeforehandNeverRuns) {
  PoolUnderTest test({.workers = 1});
  ASSERT_TRUE(test.pool->Start().ok());
  auto outcome = std::make_shared<testing::Outcome>();
  outcome->stop.request_stop();
  Spawn(test.pool->Call({.payload = "call"}, {}, outcome->stop.get_token(), nullptr),
        [outcome](std::optional<CallReply> reply, const std::exception_ptr&) {
          ++outcome->answers;
          outcome->reply = *reply;
        });
  test.simulator->RunFor(kSecond);
  EXPECT_TRUE(outcome->done());
  EXPECT_EQ(outcome->reply.kind, Kind::kCancelled);
  EXPECT_EQ(test.host->executions("call"), 0);
}

TEST(PoolSim, AsyncCallThatIsCancelledLeavesItsWorkerInUse) {
  PoolUnderTest test({.workers = 1, .max_concurrent = 8}, Async(Hanging({})));
  ASSERT_TRUE(test.pool->Start().ok());
  test.simulator->RunFor(100 * kMillisecond);
  const OutcomePtr late = test.Call("hang", kSecond);
  const OutcomePtr other = test.Call("call");
  test.simulator->RunFor(10 * kSecond);
  EXPECT_EQ(late->reply.kind, Kind::kTimeout);
  EXPECT_EQ(other->reply.kind, Kind::kVerdicts);
  EXPECT_EQ(test.host->workers().size(), 2u) << "no worker was replaced";
}

TEST(PoolSim, WorkerWhoseCallIgnoresCancellationIsGivenUp) {
  PoolUnderTest test({.workers = 1, .max_concurrent = 8}, Async(Hanging({.ignores_cancel = true}, 500 * kMillisecond)));
  ASSERT_TRUE(test.pool->Start().ok());
  test.simulator->RunFor(100 * kMillisecond);
  const int64_t start_ns = test.Now();
  const OutcomePtr late = test.Call("hang", kSecond);
  test.simulator->RunFor(1500 * kMillisecond);
  EXPECT_EQ(late->reply.kind, Kind::kTimeout);
  EXPECT_LE(late->done_ns, start_ns + kSecond + kTick);
  test.simulator->RunFor(10 * kSecond);
  EXPECT_EQ(test.host->workers().size(), 3u);
  EXPECT_EQ(test.host->alive(), 2);
}

TEST(PoolSim, QueueTimeoutCountsUntilTheStart) {
  HostScript script;
  script.call = [](const std::string&, int) { return Script{.run_ns = 3 * kSecond}; };
  PoolUnderTest test({.workers = 1, .threads = 1}, script);
  ASSERT_TRUE(test.pool->Start().ok());
  test.simulator->RunFor(100 * kMillisecond);
  const int64_t start_ns = test.Now();
  const OutcomePtr runs = test.Call("first", kNoDeadline, start_ns + kSecond);
  const OutcomePtr waits = test.Call("second", kNoDeadline, start_ns + kSecond);
  test.simulator->RunFor(10 * kSecond);
  EXPECT_EQ(runs->reply.kind, Kind::kVerdicts);
  EXPECT_EQ(waits->reply.kind, Kind::kQueueTimeout);
  EXPECT_GE(waits->done_ns, start_ns + kSecond);
  EXPECT_LE(waits->done_ns, start_ns + kSecond + kTick);
  EXPECT_EQ(test.host->executions("second"), 0);
}

TEST(PoolSim, ReplyAfterTheCallWasGivenUpIsDropped) {
  HostScript script;
  script.call = [](const std::string& json, int) { return Script{.run_ns = Starts(json, "late") ? 990 * kMillisecond : 1}; };
  int64_t latency_ns = 0;
  script.latency_ns = [&latency_ns] { return latency_ns; };
  PoolUnderTest test({.workers = 1, .threads = 2}, script);
  ASSERT_TRUE(test.pool->Start().ok());
  test.simulator->RunFor(100 * kMillisecond);
  latency_ns = 2 * kSecond;
  const OutcomePtr late = test.Call("late", 100 * kMillisecond);
  test.simulator->RunFor(kSecond);
  EXPECT_EQ(late->reply.kind, Kind::kTimeout);
  test.simulator->RunFor(10 * kSecond);
  EXPECT_EQ(late->answers, 1);
  EXPECT_EQ(late->reply.kind, Kind::kTimeout);
}

TEST(PoolSim, CloseEndsCallsInFlightAsCancelled) {
  PoolUnderTest test({.workers = 2, .threads = 2}, Hanging({}));
  ASSERT_TRUE(test.pool->Start().ok());
  test.simulator->RunFor(100 * kMillisecond);
  const auto calls = test.Calls("hang", 10);
  test.simulator->RunFor(kSecond);
  test.pool->Close();
  test.pool->Close();
  const OutcomePtr after = test.Call("call");
  test.simulator->RunFor(0);
  for (const OutcomePtr& call : calls) {
    EXPECT_EQ(call->answers, 1);
    EXPECT_EQ(call->reply.kind, Kind::kCancelled);
  }
  EXPECT_EQ(after->reply.kind, Kind::kCancelled);
  EXPECT_EQ(test.host->alive(), 0);
}

}  // namespace
}  // namespace rewardloop::workers
