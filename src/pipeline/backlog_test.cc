// Bounds: the backlog in items and bytes with its three policies, and results that nobody collects.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "pipeline/testing.h"
#include "rewardloop/simulator.h"

namespace rewardloop {
namespace {

using testing::kSecond;
using testing::MakeItem;

std::vector<RewardItem> Items(int count, const std::string& prefix = "") {
  std::vector<RewardItem> items;
  for (int i = 0; i < count; ++i) items.push_back(MakeItem(prefix + std::to_string(i)));
  return items;
}

struct Bench {
  std::unique_ptr<Simulator> simulator = Simulator::Make();
  std::shared_ptr<testing::TimerScorer> scorer = std::make_shared<testing::TimerScorer>();
  std::shared_ptr<Engine> engine = Engine::MakeOn(simulator.get());
  std::unique_ptr<AsyncRewardPipeline> pipeline;

  explicit Bench(PipelineOptions options) {
    pipeline = testing::MakePipeline(engine, std::make_shared<testing::ScorerManager>(scorer), std::move(options));
  }
  int64_t now() const { return simulator->clock().NowNs(); }
};

TEST(Backlog, BlockWaitsForRoomAndLosesNothing) {
  Bench setup({.backlog_items = 4, .max_concurrent = 2});
  const auto first = *setup.pipeline->Submit(Items(4, "a"));
  EXPECT_EQ(setup.now(), 0);
  const auto second = *setup.pipeline->Submit(Items(3, "b"));
  // Its last item enters once 3 of 7 have ended: two at 1 s, two at 2 s.
  EXPECT_EQ(setup.now(), 2 * kSecond);
  EXPECT_LE(setup.pipeline->backlog_items(), 4);
  EXPECT_EQ(setup.pipeline->Collect(first)->results.size(), 4u);  // submit consumed nobody's results
  const auto results = setup.pipeline->Collect(second)->results;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(results[i].item_id, "b" + std::to_string(i));
  EXPECT_EQ(setup.engine->metrics().Snapshot().backlog_items_max, 4);
}

TEST(Backlog, SubmitLargerThanTheBacklogEntersInParts) {
  Bench setup({.backlog_items = 4, .max_concurrent = 4});
  const auto handle = *setup.pipeline->Submit(Items(41));
  EXPECT_EQ(setup.pipeline->Collect(handle)->results.size(), 41u);
  EXPECT_EQ(setup.now(), 11 * kSecond);
}

TEST(Backlog, CountsBytesToo) {
  RewardItem big = MakeItem("big", std::string(1000, 'x'));
  const int64_t bytes = static_cast<int64_t>(big.ByteSize());
  Bench setup({.backlog_bytes = 2 * bytes});
  ASSERT_TRUE(setup.pipeline->Submit({big}).ok());
  big.item_id = "two";
  ASSERT_TRUE(setup.pipeline->Submit({big}).ok());
  EXPECT_EQ(setup.now(), 0);
  big.item_id = "3rd";
  ASSERT_TRUE(setup.pipeline->Submit({big}).ok());
  EXPECT_EQ(setup.now(), kSecond);
  EXPECT_LE(setup.pipeline->backlog_bytes(), 2 * bytes);
}

TEST(Backlog, ItemLargerThanAllBytesEntersAlone) {
  Bench setup({.backlog_bytes = 10});
  const auto handle = setup.pipeline->Submit(Items(2));
  EXPECT_TRUE(setup.pipeline->Collect(*handle)->status.ok());
  EXPECT_EQ(setup.now(), 2 * kSecond);
  EXPECT_EQ(setup.scorer->max_running(), 1);
}

TEST(Backlog, DropOldestRejectsItemsThatHaveNotStartedAndNamesThem) {
  Bench setup({.backlog_items = 4, .overflow = Overflow::kDropOldest, .max_concurrent = 1});
  const auto first = *setup.pipeline->Submit(Items(4, "a"));
  setup.simulator->RunFor(kSecond / 2);  // a0 runs
  const auto second = *setup.pipeline->Submit(Items(2, "b"));
  EXPECT_EQ(setup.now(), kSecond / 2);  // nobody waited
  const auto collected = setup.pipeline->Collect(first);
  const auto& results = collected->results;
  EXPECT_EQ(results[0].status, ItemStatus::kScored);
  for (const int i : {1, 2}) {
    EXPECT_EQ(results[i].status, ItemStatus::kRejected);
    EXPECT_EQ(results[i].error->error_class, "dropped");
    EXPECT_FALSE(results[i].score);
  }
  EXPECT_EQ(results[3].status, ItemStatus::kScored);
  EXPECT_TRUE(setup.pipeline->Collect(second)->status.ok());
}

TEST(Backlog, RejectRefusesWhatDoesNotFit) {
  Bench setup({.backlog_items = 4, .overflow = Overflow::kReject});
  const auto handle = *setup.pipeline->Submit(Items(6));
  const auto results = setup.pipeline->Collect(handle)->results;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(results[i].status, ItemStatus::kScored);
  for (int i = 4; i < 6; ++i) {
    EXPECT_EQ(results[i].status, ItemStatus::kRejected);
    EXPECT_EQ(results[i].error->error_class, "backlog_full");
  }
}

TEST(Backlog, InterruptedSubmitIsWithdrawn) {
  Bench setup({.backlog_items = 1, .max_concurrent = 1});
  const auto first = *setup.pipeline->Submit(Items(1, "a"));
  int asked = 0;
  const auto second = setup.pipeline->Submit(Items(2, "b"), 0, [&] { return ++asked == 3; });
  EXPECT_EQ(second.status().code(), StatusCode::kCancelled);
  EXPECT_EQ(setup.now(), 150'000'000);
  EXPECT_TRUE(setup.pipeline->Collect(first)->status.ok());
  EXPECT_EQ(setup.pipeline->backlog_items(), 0);
  EXPECT_EQ(setup.pipeline->uncollected_items(), 0);
}

TEST(Uncollected, SubmitPastTheBoundSaysCollectFirstAndDoesNotBlock) {
  Bench setup({.uncollected_items = 10});
  const auto first = *setup.pipeline->Submit(Items(10));
  setup.simulator->RunUntilIdle();
  const int64_t now_ns = setup.now();
  const auto refused = setup.pipeline->Submit(Items(1, "b"));
  EXPECT_EQ(refused.status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(refused.status().hint(), "collect first");
  EXPECT_EQ(setup.now(), now_ns);
  EXPECT_TRUE(setup.pipeline->Collect(first).ok());
  EXPECT_TRUE(setup.pipeline->Submit(Items(1, "b")).ok());
}

TEST(Uncollected, BytesHaveABoundToo) {
  Bench setup({.uncollected_bytes = 1});
  ASSERT_TRUE(setup.pipeline->Submit(Items(1)).ok());
  setup.simulator->RunUntilIdle();
  EXPECT_EQ(setup.pipeline->Submit(Items(1, "b")).status().code(), StatusCode::kResourceExhausted);
}

TEST(Uncollected, GroupsThatNobodyTakesAreDroppedAndSaidSo) {
  Bench setup({.uncollected_items = 10});
  for (int round = 0; round < 30; ++round) {
    auto items = Items(2, std::to_string(round) + "-");
    for (RewardItem& item : items) item.group_id = "g" + std::to_string(round);
    ASSERT_TRUE(setup.pipeline->Collect(*setup.pipeline->Submit(std::move(items))).ok());
  }
  // 60 collected rows may keep 10 for groups: 5 groups, the newest.
  EXPECT_EQ(setup.engine->metrics().Snapshot().groups_dropped, 25);
  const auto lost = setup.pipeline->NextGroup();
  EXPECT_EQ(lost.status().code(), StatusCode::kDataLoss);
  EXPECT_NE(lost.status().message().find("25 groups"), std::string::npos);
  for (int round = 25; round < 30; ++round) {
    EXPECT_EQ((*setup.pipeline->NextGroup())->group_id, "g" + std::to_string(round));
  }
  EXPECT_FALSE(setup.pipeline->NextGroup()->has_value());
}

TEST(Uncollected, HandlesWhoseItemsWentWithGroupsAreForgottenInTime) {
  Bench setup({.uncollected_items = 10});
  std::vector<BatchHandle> handles;
  for (int round = 0; round < 30; ++round) {
    auto items = Items(2, std::to_string(round) + "-");
    for (RewardItem& item : items) item.group_id = "g" + std::to_string(round);
    handles.push_back(*setup.pipeline->Submit(std::move(items)));
    ASSERT_TRUE((*setup.pipeline->NextGroup()).has_value());
  }
  EXPECT_EQ(setup.pipeline->Collect(handles.front()).status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(setup.pipeline->Collect(handles.back()).ok());
}

TEST(Threads, SixteenSubmittersOfTwoPipelinesLoseNothing) {
  const auto engine = Engine::Make({.threads = 2});
  auto scorer = std::make_shared<testing::FunctionScorer>([](const RewardItem& item) {
    return Verdict::Scored(static_cast<double>(item.item_id.size()));
  });
  auto manager = std::make_shared<testing::ScorerManager>(scorer);
  std::vector<std::unique_ptr<AsyncRewardPipeline>> pipelines;
  for (int i = 0; i < 2; ++i) pipelines.push_back(testing::MakePipeline(engine, manager, {.backlog_items = 32}));
  std::atomic<int> delivered = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      AsyncRewardPipeline& pipeline = *pipelines[t % 2];
      for (int round = 0; round < 50; ++round) {
        const auto handle = pipeline.Submit(Items(1 + round % 7, std::to_string(t) + "." + std::to_string(round) + "."));
        ASSERT_TRUE(handle.ok());
        const auto collected = pipeline.Collect(*handle);
        ASSERT_TRUE(collected.ok() && collected->status.ok());
        for (const RewardResult& result : collected->results) {
          ASSERT_EQ(result.score, static_cast<double>(result.item_id.size()));
          ++delivered;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int expected = 0;
  for (int round = 0; round < 50; ++round) expected += 1 + round % 7;
  EXPECT_EQ(delivered, 16 * expected);
  EXPECT_EQ(pipelines[0]->backlog_items(), 0);
  EXPECT_EQ(pipelines[0]->uncollected_items(), 0);
}

}  // namespace
}  // namespace rewardloop
