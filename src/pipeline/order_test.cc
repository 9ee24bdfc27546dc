// Results in input order, groups as they complete, each item once.
#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "pipeline/testing.h"
#include "rewardloop/simulator.h"

namespace rewardloop {
namespace {

using testing::kSecond;
using testing::MakeItem;

// Delay and score from the item's id, so that every order of completion occurs and every result can be checked.
std::shared_ptr<testing::TimerScorer> RandomDelays(uint64_t seed) {
  auto scorer = std::make_shared<testing::TimerScorer>();
  scorer->delay = [seed](const RewardItem& item) {
    return static_cast<int64_t>(SplitMix64(seed ^ Mix64(std::stoull(item.item_id))).Below(5 * kSecond));
  };
  scorer->verdict = [](const RewardItem& item, int) { return Verdict::Scored(std::stod(item.item_id)); };
  return scorer;
}

TEST(Order, InputOrderUnderThousandCompletionOrdersOfTwoInterleavedBatches) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const auto simulator = Simulator::Make({.seed = seed});
    const auto pipeline = testing::MakePipeline(Engine::MakeOn(simulator.get()),
                                                std::make_shared<testing::ScorerManager>(RandomDelays(seed)),
                                                {.max_concurrent = 5});
    std::vector<RewardItem> even, odd;
    for (int i = 0; i < 20; ++i) (i % 2 == 0 ? even : odd).push_back(MakeItem(std::to_string(i)));
    const auto first = *pipeline->Submit(std::move(even));
    const auto second = *pipeline->Submit(std::move(odd));
    const auto odd_results = pipeline->Collect(second)->results;
    const auto even_results = pipeline->Collect(first)->results;
    ASSERT_EQ(even_results.size(), 10u);
    ASSERT_EQ(odd_results.size(), 10u);
    for (int i = 0; i < 10; ++i) {
      ASSERT_EQ(even_results[i].item_id, std::to_string(2 * i)) << "seed " << seed;
      ASSERT_EQ(even_results[i].score, 2 * i);
      ASSERT_EQ(odd_results[i].item_id, std::to_string(2 * i + 1)) << "seed " << seed;
      ASSERT_EQ(odd_results[i].score, 2 * i + 1);
    }
  }
}

TEST(Order, StreamDeliversEachItemOnceInOrderOfCompletion) {
  const auto simulator = Simulator::Make();
  const auto pipeline = testing::MakePipeline(Engine::MakeOn(simulator.get()),
                                              std::make_shared<testing::ScorerManager>(RandomDelays(7)));
  std::vector<RewardItem> items;
  for (int i = 0; i < 50; ++i) items.push_back(MakeItem(std::to_string(i)));
  const auto handle = *pipeline->Submit(std::move(items));
  std::set<std::string> seen;
  int64_t last_ns = 0;
  while (true) {
    const auto next = pipeline->Next(handle);
    ASSERT_TRUE(next.ok());
    if (!next->has_value()) break;
    EXPECT_TRUE(seen.insert((*next)->item_id).second);
    EXPECT_GE((*next)->timing.finished_ns, last_ns);
    EXPECT_EQ(simulator->clock().NowNs(), (*next)->timing.finished_ns);  // delivered when it ended, not later
    last_ns = (*next)->timing.finished_ns;
  }
  EXPECT_EQ(seen.size(), 50u);
  EXPECT_EQ(pipeline->Next(handle).status().code(), StatusCode::kNotFound);
}

TEST(Order, GroupComesAsSoonAsItsLastItemEnded) {
  for (const bool per_item : {true, false}) {
    const auto simulator = Simulator::Make();
    auto scorer = std::make_shared<testing::TimerScorer>();
    scorer->delay = [](const RewardItem& item) { return std::stoll(item.item_id) * kSecond; };
    const auto pipeline =
        testing::MakePipeline(Engine::MakeOn(simulator.get()), std::make_shared<testing::ScorerManager>(scorer));
    // Group "late" ends at 9 s, "early" at 3 s.
    std::vector<RewardItem> items;
    for (const auto& [id, group] :
         std::vector<std::pair<std::string, std::string>>{{"1", "late"}, {"2", "early"}, {"9", "late"}, {"3", "early"}}) {
      RewardItem item = MakeItem(id);
      item.group_id = group;
      item.group_size = 2;
      items.push_back(std::move(item));
    }
    if (per_item) {
      for (RewardItem& item : items) ASSERT_TRUE(pipeline->Submit({std::move(item)}).ok());
    } else {
      ASSERT_TRUE(pipeline->Submit(std::move(items)).ok());
    }
    const auto early = pipeline->NextGroup();
    EXPECT_EQ((*early)->group_id, "early");
    EXPECT_EQ(simulator->clock().NowNs(), 3 * kSecond);
    EXPECT_EQ((*early)->results.at(0).item_id, "2");
    EXPECT_EQ((*early)->results.at(1).item_id, "3");
    const auto late = pipeline->NextGroup();
    EXPECT_EQ((*late)->group_id, "late");
    EXPECT_EQ(simulator->clock().NowNs(), 9 * kSecond);
    EXPECT_FALSE(pipeline->NextGroup()->has_value());
  }
}

TEST(Order, ReorderByIdNamesMissingDoubledAndUnknownIds) {
  const std::vector<RewardItem> items = {MakeItem("a"), MakeItem("b")};
  const auto result = [](std::string id) {
    RewardResult made;
    made.item_id = std::move(id);
    return made;
  };
  const auto ordered = ReorderById(items, {result("b"), result("a")});
  EXPECT_EQ(ordered->at(0).item_id, "a");
  EXPECT_EQ(ordered->at(1).item_id, "b");
  EXPECT_NE(ReorderById(items, {result("b")}).status().message().find("'a'"), std::string::npos);
  EXPECT_NE(ReorderById(items, {result("b"), result("b")}).status().message().find("two results for item_id 'b'"),
            std::string::npos);
  EXPECT_NE(ReorderById(items, {result("c")}).status().message().find("unknown item_id 'c'"), std::string::npos);
}

}  // namespace
}  // namespace rewardloop
