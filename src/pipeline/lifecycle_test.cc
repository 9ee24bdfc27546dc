// Time-outs of collect, cancellation, closing, hung C++ scorers.
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "pipeline/testing.h"
#include "rewardloop/simulator.h"

namespace rewardloop {
namespace {

using testing::kSecond;
using testing::MakeItem;

struct Bench {
  std::unique_ptr<Simulator> simulator = Simulator::Make();
  std::shared_ptr<testing::TimerScorer> scorer = std::make_shared<testing::TimerScorer>();
  std::shared_ptr<Engine> engine = Engine::MakeOn(simulator.get());
  std::unique_ptr<AsyncRewardPipeline> pipeline;

  explicit Bench(PipelineOptions options = {}) {
    pipeline = testing::MakePipeline(engine, std::make_shared<testing::ScorerManager>(scorer), std::move(options));
  }
  int64_t now() const { return simulator->clock().NowNs(); }
};

TEST(Collect, TimeOutLeavesTheHandleValid) {
  Bench setup;
  const auto handle = *setup.pipeline->Submit({MakeItem("a")});
  const auto early = setup.pipeline->Collect(handle, kSecond / 4);
  EXPECT_EQ(early.status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_NE(early.status().message().find("1 of 1 items"), std::string::npos);
  EXPECT_TRUE(setup.pipeline->Collect(handle)->status.ok());
}

TEST(Collect, DeliversOnce) {
  Bench setup;
  const auto handle = *setup.pipeline->Submit({MakeItem("a")});
  ASSERT_TRUE(setup.pipeline->Collect(handle).ok());
  EXPECT_EQ(setup.pipeline->Collect(handle).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(setup.pipeline->Collect({.submit = 77}).status().code(), StatusCode::kNotFound);
}

TEST(Collect, StreamedHandleCannotBeCollected) {
  Bench setup;
  const auto handle = *setup.pipeline->Submit({MakeItem("a"), MakeItem("b")});
  ASSERT_TRUE(setup.pipeline->Next(handle).ok());
  EXPECT_EQ(setup.pipeline->Collect(handle).status().code(), StatusCode::kFailedPrecondition);
}

TEST(Cancel, EndsWaitingAndRunningItemsAndFreesTheirSlots) {
  Bench setup({.max_concurrent = 2});
  const auto doomed = *setup.pipeline->Submit({MakeItem("a"), MakeItem("b"), MakeItem("c")});
  setup.simulator->RunFor(kSecond / 2);
  const auto other = *setup.pipeline->Submit({MakeItem("d")});
  ASSERT_TRUE(setup.pipeline->Cancel(doomed).ok());
  const auto results = setup.pipeline->Collect(doomed)->results;
  EXPECT_EQ(setup.now(), kSecond / 2);
  for (const RewardResult& result : results) {
    EXPECT_EQ(result.status, ItemStatus::kCancelled);
    EXPECT_FALSE(result.score);
  }
  EXPECT_TRUE(setup.pipeline->Collect(other)->status.ok());
  EXPECT_EQ(setup.now(), kSecond / 2 + kSecond);  // started at once: the cancelled work gave its place back
  EXPECT_EQ(setup.scorer->calls(), 3);            // "c" never ran
}

TEST(Cancel, ItemInItsRetryPauseEndsToo) {
  Bench setup({.max_attempts = 5, .retry_delay_ns = 100 * kSecond});
  setup.scorer->verdict = [](const RewardItem&, int) { return Verdict::Error("exception", "flaky", true); };
  const auto handle = *setup.pipeline->Submit({MakeItem("a")});
  setup.simulator->RunFor(2 * kSecond);
  ASSERT_TRUE(setup.pipeline->Cancel(handle).ok());
  EXPECT_EQ(setup.pipeline->Collect(handle)->results.at(0).status, ItemStatus::kCancelled);
  EXPECT_TRUE(setup.pipeline->Close(CloseMode::kDrain).ok());
  EXPECT_EQ(setup.now(), 2 * kSecond);
  EXPECT_EQ(setup.scorer->calls(), 1);
}

TEST(Drop, CancelsWhatNobodyCanCollectAndCountsIt) {
  Bench setup;
  const auto handle = *setup.pipeline->Submit({MakeItem("a"), MakeItem("b")});
  setup.pipeline->Drop(handle);
  EXPECT_EQ(setup.pipeline->backlog_items(), 0);
  EXPECT_EQ(setup.pipeline->uncollected_items(), 0);
  EXPECT_EQ(setup.engine->metrics().Snapshot().items_dropped_with_handle, 2);
  EXPECT_EQ(setup.pipeline->Collect(handle).status().code(), StatusCode::kNotFound);
}

TEST(Close, DrainFinishesEverythingAndResultsStayCollectable) {
  Bench setup;
  const auto handle = *setup.pipeline->Submit({MakeItem("a"), MakeItem("b")});
  ASSERT_TRUE(setup.pipeline->Close(CloseMode::kDrain).ok());
  EXPECT_EQ(setup.now(), kSecond);
  EXPECT_EQ(setup.pipeline->Submit({MakeItem("c")}).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(setup.pipeline->Collect(handle)->status.ok());
}

TEST(Close, CancelEndsEverythingAtOnce) {
  Bench setup;
  const auto handle = *setup.pipeline->Submit({MakeItem("a"), MakeItem("b")});
  setup.simulator->RunFor(kSecond / 2);
  ASSERT_TRUE(setup.pipeline->Close(CloseMode::kCancel).ok());
  EXPECT_EQ(setup.now(), kSecond / 2);
  EXPECT_EQ(setup.scorer->running(), 0);
  EXPECT_EQ(setup.pipeline->Collect(handle)->results.at(1).status, ItemStatus::kCancelled);
}

TEST(Close, DrainHasADeadline) {
  Bench setup;
  (void)setup.pipeline->Submit({MakeItem("a")});
  EXPECT_EQ(setup.pipeline->Close(CloseMode::kDrain, kSecond / 2).code(), StatusCode::kDeadlineExceeded);
}

TEST(WhenReady, IsCalledOnceAsSoonAsCollectWouldNotWait) {
  Bench setup;
  const auto handle = *setup.pipeline->Submit({MakeItem("a")});
  int called = 0;
  int64_t called_ns = 0;
  setup.pipeline->WhenReady(handle, [&] {
    ++called;
    called_ns = setup.now();
  });
  setup.simulator->RunUntilIdle();
  EXPECT_EQ(called, 1);
  EXPECT_EQ(called_ns, kSecond);
}

// A C++ scorer that hangs cannot be killed: its item ends as a time-out, the others go on with a new thread.
TEST(HungScorer, EndsAsTimeoutAndNobodyElseSuffers) {
  std::mutex mutex;
  std::condition_variable released_change;
  bool released = false;
  auto scorer = std::make_shared<testing::FunctionScorer>([&](const RewardItem& item) {
    if (item.item_id == "hang") {
      std::unique_lock<std::mutex> lock(mutex);
      released_change.wait(lock, [&] { return released; });
    }
    return Verdict::Scored(1);
  });
  const auto engine = Engine::Make({.threads = 1});
  auto pipeline = testing::MakePipeline(engine, std::make_shared<testing::ScorerManager>(scorer),
                                        {.on_error = *OnError::Parse("null"), .timeout_ns = 20'000'000});
  std::vector<RewardItem> items;
  for (int i = 0; i < 10; ++i) items.push_back(MakeItem(i == 5 ? "hang" : std::to_string(i)));
  const auto results = pipeline->Collect(*pipeline->Submit(std::move(items)))->results;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(results[i].status, i == 5 ? ItemStatus::kTimeout : ItemStatus::kScored) << i;
  }
  {
    std::lock_guard<std::mutex> lock(mutex);
    released = true;
  }
  released_change.notify_all();
  EXPECT_TRUE(pipeline->Close(CloseMode::kDrain).ok());
}

}  // namespace
}  // namespace rewardloop
