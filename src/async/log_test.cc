#include "rewardloop/log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "async/thread_executor.h"
#include "rewardloop/simulator.h"

namespace rewardloop {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

struct Bench {
  Bench()
      : simulator(Simulator::Make({.shuffle = false})), log(Log::Make(simulator.get(), [this](const LogRecord& record) {
          records.push_back(record);
          times.push_back(simulator->clock().NowNs());
        })) {}
  void Say(const std::string& key, const std::string& text) { log->Write(LogLevel::kWarning, key, text); }
  std::vector<std::string> Texts() const {
    std::vector<std::string> texts;
    for (const LogRecord& record : records) texts.push_back(LogText(record));
    return texts;
  }

  std::unique_ptr<Simulator> simulator;
  std::vector<LogRecord> records;
  std::vector<int64_t> times;
  std::unique_ptr<Log> log;
};

TEST(Log, SinkRunsOnTheExecutorAndNeverInsideWrite) {
  Bench bench;
  bench.Say("a", "first");
  EXPECT_TRUE(bench.records.empty());
  bench.simulator->RunUntilIdle();
  ASSERT_EQ(bench.records.size(), 1u);
  EXPECT_EQ(bench.records[0].level, LogLevel::kWarning);
  EXPECT_EQ(bench.records[0].text, "first");
  EXPECT_EQ(bench.records[0].repeats, 1);
  EXPECT_EQ(bench.times[0], 0);
}

TEST(Log, RepetitionsBecomeOneRecordEachFiveSeconds) {
  Bench bench;
  // One a second: at 0 s the first; at 5 s those of 1 to 5 s, at 10 s those of 6 to 9 s.
  for (int second = 0; second < 10; ++second) {
    bench.Say("a", "at " + std::to_string(second));
    bench.simulator->RunFor(kSecond);
  }
  EXPECT_EQ(bench.Texts(), (std::vector<std::string>{"at 0", "at 4 (4 times)", "at 9 (5 times)"}));
  EXPECT_EQ(bench.times, (std::vector<int64_t>{0, 5 * kSecond, 10 * kSecond}));
}

TEST(Log, SameKeyAfterAPauseIsSaidAtOnce) {
  Bench bench;
  bench.Say("a", "one");
  bench.simulator->RunFor(5 * kSecond);
  bench.Say("a", "two");
  bench.simulator->RunFor(0);
  EXPECT_EQ(bench.Texts(), (std::vector<std::string>{"one", "two"}));
}

TEST(Log, KeysAreCountedApart) {
  Bench bench;
  for (int i = 0; i < 3; ++i) {
    bench.Say("a", "a");
    bench.Say("b", "b");
  }
  bench.simulator->RunUntilIdle();
  EXPECT_EQ(bench.Texts(), (std::vector<std::string>{"a", "b", "a (2 times)", "b (2 times)"}));
}

TEST(Log, FlushAndDestructionHandOverWhatWasCounted) {
  Bench bench;
  for (int i = 0; i < 3; ++i) bench.Say("a", "a");
  bench.log->Flush();
  EXPECT_EQ(bench.Texts(), (std::vector<std::string>{"a", "a (2 times)"}));
  bench.Say("a", "a");
  bench.log.reset();
  EXPECT_EQ(bench.Texts(), (std::vector<std::string>{"a", "a (2 times)", "a"}));
  bench.simulator->RunUntilIdle();  // what was posted finds no log any more
  EXPECT_EQ(bench.records.size(), 3u);
}

TEST(Log, NumberOfKeysIsBounded) {
  Bench bench;
  for (size_t i = 0; i < Log::kMaxKeys + 50; ++i) bench.Say("key " + std::to_string(i), "text");
  bench.log->Flush();
  // Each of the first 1,024 once; the 50 others are one message, said once and then 49 times.
  ASSERT_EQ(bench.records.size(), Log::kMaxKeys + 2);
  EXPECT_EQ(bench.Texts().back(), "more than 1024 different messages within 5 s; the others are only counted (49 times)");
  // Once these are old, new ones are told apart again.
  bench.simulator->RunFor(6 * kSecond);
  bench.Say("fresh", "fresh");
  bench.log->Flush();
  EXPECT_EQ(bench.Texts().back(), "fresh");
}

// An executor that never gets round to what is posted, with a clock that is set by hand.
class StuckExecutor final : public Executor, public Clock {
 public:
  int64_t now_ns = 0;
  int64_t NowNs() const override { return now_ns; }
  Clock& clock() override { return *this; }
  void Post(Task) override {}
  TimerId PostAt(int64_t, Task) override { return 0; }
  bool CancelTimer(TimerId) override { return false; }
  bool WaitUntil(std::unique_lock<std::mutex>&, WaitPoint&, const std::function<bool()>&, int64_t) override { return false; }
  int concurrency() const override { return 1; }
};

TEST(Log, WaitingRecordsAreBoundedAndTheRestIsCounted) {
  StuckExecutor executor;
  std::vector<LogRecord> records;
  const auto log = Log::Make(&executor, [&](const LogRecord& record) { records.push_back(record); });
  // Six times 1,024 messages that were never said before, so far apart that each is due at once: 4,096 fit.
  for (int round = 0; round < 6; ++round) {
    for (size_t i = 0; i < Log::kMaxKeys; ++i) log->Write(LogLevel::kInfo, std::to_string(round * 10000 + i), "text");
    executor.now_ns += 6 * kSecond;
  }
  log->Flush();
  ASSERT_EQ(records.size(), Log::kMaxWaiting + 1);
  EXPECT_EQ(records.back().repeats, 2048);
  EXPECT_EQ(LogText(records.back()), "messages were lost: more came than could be written (2048 times)");
}

TEST(Log, LongTextsAreCutBetweenCharacters) {
  Bench bench;
  std::string text(Log::kMaxTextBytes - 1, 'x');
  text += "\u00e9\u00e9";  // the limit lies inside the first one
  bench.Say("a", text);
  bench.log->Flush();
  EXPECT_EQ(bench.records[0].text, std::string(Log::kMaxTextBytes - 1, 'x') + "...");
}

TEST(Log, WithoutASinkNothingIsKept) {
  const auto simulator = Simulator::Make({});
  const auto log = Log::Make(simulator.get(), nullptr);
  log->Write(LogLevel::kError, "a", "text");
  log->Flush();
  simulator->RunUntilIdle();
  EXPECT_EQ(simulator->clock().NowNs(), 0);
}

TEST(LogThreads, NothingIsLostAndTheSinkIsNeverCalledTwiceAtOnce) {
  ThreadExecutor executor(4);
  std::atomic<int> inside = 0;
  std::atomic<bool> overlapped = false;
  int64_t said = 0;  // the log serialises its sink
  auto log = Log::Make(&executor, [&](const LogRecord& record) {
    if (++inside != 1) overlapped = true;
    said += record.repeats;
    --inside;
  });
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&log, t] {
      for (int i = 0; i < 1000; ++i) {
        log->Write(LogLevel::kInfo, std::to_string(i % 7), "text");
        if (i % 100 == t) log->Flush();
      }
    });
  }
  threads.clear();
  log->Flush();
  EXPECT_EQ(said, 8000);
  EXPECT_FALSE(overlapped);
  log.reset();
}

}  // namespace
}  // namespace rewardloop
