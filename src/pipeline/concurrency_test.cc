// Law 2: how many run at once is a matter of resources, never of how items were submitted. In virtual time, so exact.
#include <gtest/gtest.h>

#include "pipeline/testing.h"
#include "rewardloop/simulator.h"

namespace rewardloop {
namespace {

using testing::kSecond;
using testing::MakeItem;

struct Bench {
  std::unique_ptr<Simulator> simulator = Simulator::Make({.concurrency = 2});
  std::shared_ptr<testing::TimerScorer> scorer = std::make_shared<testing::TimerScorer>();
  std::unique_ptr<AsyncRewardPipeline> pipeline;

  explicit Bench(PipelineOptions options = {}) {
    pipeline = testing::MakePipeline(Engine::MakeOn(simulator.get()), std::make_shared<testing::ScorerManager>(scorer),
                                     std::move(options));
  }
  int64_t now() const { return simulator->clock().NowNs(); }
};

std::vector<RewardItem> Items(int count) {
  std::vector<RewardItem> items;
  for (int i = 0; i < count; ++i) items.push_back(MakeItem("item-" + std::to_string(i)));
  return items;
}

TEST(Concurrency, SixteenSubmitsOfOneItemTakeOneSecond) {
  Bench setup;
  std::vector<BatchHandle> handles;
  for (RewardItem& item : Items(16)) handles.push_back(setup.pipeline->Submit({std::move(item)}).value());
  for (const BatchHandle& handle : handles) {
    const auto collected = setup.pipeline->Collect(handle);
    ASSERT_TRUE(collected.ok());
    EXPECT_EQ(collected->results.at(0).score, 1.0);
  }
  EXPECT_EQ(setup.now(), kSecond);
}

TEST(Concurrency, OneSubmitOfSixteenItemsTakesOneSecond) {
  Bench setup;
  const auto handle = setup.pipeline->Submit(Items(16));
  EXPECT_EQ(setup.pipeline->Collect(*handle)->results.size(), 16u);
  EXPECT_EQ(setup.now(), kSecond);
}

TEST(Concurrency, ThousandSecondsOfWorkWith256InFlightTakeFourSeconds) {
  Bench setup({.max_concurrent = 256});
  const auto handle = setup.pipeline->Submit(Items(1000));
  EXPECT_TRUE(setup.pipeline->Collect(*handle)->status.ok());
  EXPECT_EQ(setup.now(), 4 * kSecond);  // ceil(1000 / 256)
  EXPECT_EQ(setup.scorer->max_running(), 256);
}

TEST(Concurrency, SubmitsOfEverySizeEndAtTheSameTime) {
  for (const int size : {1, 3, 8, 50, 100}) {
    Bench setup({.max_concurrent = 7});
    auto items = Items(100);
    std::vector<BatchHandle> handles;
    for (int begin = 0; begin < 100; begin += size) {
      const int end = std::min(begin + size, 100);
      handles.push_back(*setup.pipeline->Submit({std::make_move_iterator(items.begin() + begin),
                                                 std::make_move_iterator(items.begin() + end)}));
    }
    for (const BatchHandle& handle : handles) ASSERT_TRUE(setup.pipeline->Collect(handle).ok());
    EXPECT_EQ(setup.now(), 15 * kSecond) << "submits of " << size;  // ceil(100 / 7)
    EXPECT_EQ(setup.scorer->max_running(), 7);
  }
}

TEST(Concurrency, GroupsSubmittedMemberByMemberAllEnd) {
  // 2,400 items in groups of 8 with 64 in flight, for a manager that wants whole groups: waiting members hold no slot.
  class GroupManager final : public RewardManager {
   public:
    Granularity granularity() const override { return Granularity::kGroup; }
    Task<std::vector<Verdict>> RunMany(std::vector<const RewardItem*> items, ScoreContext& context) const override {
      EXPECT_EQ(items.size(), 8u);
      co_await context.Sleep(kSecond);
      co_return std::vector<Verdict>(items.size(), Verdict::Scored(0.5));
    }
  };
  for (const int64_t backlog : {int64_t{4096}, int64_t{5}}) {
    const auto simulator = Simulator::Make();
    PipelineOptions options;
    options.max_concurrent = 64;
    options.group_size = 8;
    options.backlog_items = backlog;  // smaller than a group: siblings still get in
    const auto pipeline =
        testing::MakePipeline(Engine::MakeOn(simulator.get()), std::make_shared<GroupManager>(), options);
    std::vector<BatchHandle> handles;
    for (int member = 0; member < 8; ++member) {
      for (int group = 0; group < 300; ++group) {
        RewardItem item = MakeItem(std::to_string(group) + "/" + std::to_string(member));
        item.group_id = "g" + std::to_string(group);
        const auto handle = pipeline->Submit({std::move(item)});
        ASSERT_TRUE(handle.ok()) << handle.status().ToString();
        handles.push_back(*handle);
      }
    }
    int groups = 0;
    while (true) {
      const auto group = pipeline->NextGroup();
      ASSERT_TRUE(group.ok());
      if (!group->has_value()) break;
      EXPECT_TRUE((*group)->complete);
      EXPECT_EQ((*group)->results.size(), 8u);
      ++groups;
    }
    EXPECT_EQ(groups, 300);
    for (const BatchHandle& handle : handles) EXPECT_EQ(pipeline->Collect(handle)->results.at(0).score, 0.5);
    EXPECT_EQ(pipeline->uncollected_items(), 0);
  }
}

}  // namespace
}  // namespace rewardloop
