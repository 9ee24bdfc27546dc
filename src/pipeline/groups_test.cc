// Groups, sessions and steps: when a group is closed, what it holds, and which mistakes are named.
#include <gtest/gtest.h>

#include "pipeline/testing.h"
#include "rewardloop/simulator.h"

namespace rewardloop {
namespace {

using testing::kSecond;
using testing::MakeItem;

RewardItem Member(std::string id, std::string group, std::optional<int64_t> size = std::nullopt) {
  RewardItem item = MakeItem(std::move(id));
  item.group_id = std::move(group);
  item.group_size = size;
  return item;
}

struct Bench {
  std::unique_ptr<Simulator> simulator = Simulator::Make();
  std::shared_ptr<testing::TimerScorer> scorer = std::make_shared<testing::TimerScorer>();
  std::unique_ptr<AsyncRewardPipeline> pipeline;

  explicit Bench(PipelineOptions options = {}) {
    pipeline = testing::MakePipeline(Engine::MakeOn(simulator.get()), std::make_shared<testing::ScorerManager>(scorer),
                                     std::move(options));
  }
};

TEST(Groups, WithoutSizeAGroupClosesWithItsSubmitAndItsIdIsNotUsedTwice) {
  Bench setup;
  ASSERT_TRUE(setup.pipeline->Submit({Member("a", "g"), Member("b", "g")}).ok());
  const auto again = setup.pipeline->Submit({Member("c", "g")});
  EXPECT_EQ(again.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(again.status().message().find("submit 1"), std::string::npos);
  EXPECT_NE(again.status().message().find("submit 2"), std::string::npos);
  EXPECT_EQ((*setup.pipeline->NextGroup())->results.size(), 2u);
  const auto after = setup.pipeline->Submit({Member("c", "g")});  // delivered since: still remembered
  EXPECT_NE(after.status().message().find("submit 1"), std::string::npos);
}

TEST(Groups, ExplicitGroupingWaitsForCloseGroup) {
  Bench setup({.grouping = Grouping::kExplicit});
  ASSERT_TRUE(setup.pipeline->Submit({Member("a", "g")}).ok());
  ASSERT_TRUE(setup.pipeline->Submit({Member("b", "g")}).ok());
  setup.simulator->RunUntilIdle();
  EXPECT_EQ(setup.pipeline->NextGroup(0, kSecond).status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(setup.pipeline->CloseGroup("nobody").code(), StatusCode::kNotFound);
  ASSERT_TRUE(setup.pipeline->CloseGroup("g").ok());
  const auto group = setup.pipeline->NextGroup();
  EXPECT_TRUE((*group)->complete);
  EXPECT_EQ((*group)->results.size(), 2u);
}

TEST(Groups, TooManyMembersAndContradictingSizesAreNamed) {
  Bench setup;
  EXPECT_NE(setup.pipeline->Submit({Member("a", "g", 1), Member("b", "g", 1)}).status().message().find("'b'"),
            std::string::npos);
  EXPECT_NE(setup.pipeline->Submit({Member("a", "g", 3), Member("b", "g", 2)}).status().message().find("says that group 'g'"),
            std::string::npos);
  EXPECT_EQ(setup.pipeline->backlog_items(), 0);  // all or nothing
  EXPECT_FALSE(setup.pipeline->NextGroup()->has_value());
}

TEST(Groups, DeadlineDeliversWhatThereIsAndNamesTheMissing) {
  Bench setup({.group_deadline_ns = 5 * kSecond});
  setup.scorer->delay = [](const RewardItem& item) { return item.item_id == "slow" ? 60 * kSecond : kSecond; };
  const auto handle = *setup.pipeline->Submit({Member("quick", "g", 3), Member("slow", "g", 3)});
  const auto group = setup.pipeline->NextGroup();
  EXPECT_EQ(setup.simulator->clock().NowNs(), 5 * kSecond);
  EXPECT_FALSE((*group)->complete);
  EXPECT_EQ((*group)->expected, 3);
  EXPECT_EQ((*group)->results.size(), 1u);
  EXPECT_EQ((*group)->missing, (std::vector<std::string>{"slow"}));
  EXPECT_EQ(setup.pipeline->Collect(handle)->results.size(), 2u);  // the other view still gets all
}

TEST(Groups, EndOfStepClosesOpenGroupsAsTheyAre) {
  Bench setup;
  const int64_t step = setup.pipeline->BeginStep();
  ASSERT_TRUE(setup.pipeline->Submit({Member("a", "g", 2)}, step).ok());
  ASSERT_TRUE(setup.pipeline->EndStep(step).ok());
  const auto group = setup.pipeline->NextGroup(step);
  EXPECT_FALSE((*group)->complete);
  EXPECT_EQ((*group)->results.size(), 1u);
  EXPECT_FALSE(setup.pipeline->NextGroup(step)->has_value());
  EXPECT_EQ(setup.pipeline->Submit({MakeItem("late")}, step).status().code(), StatusCode::kFailedPrecondition);
}

TEST(Groups, OverlappingStepsKeepTheirGroupsApart) {
  Bench setup;
  const int64_t first = setup.pipeline->BeginStep(), second = setup.pipeline->BeginStep();
  ASSERT_TRUE(setup.pipeline->Submit({Member("a", "g")}, first).ok());
  ASSERT_TRUE(setup.pipeline->Submit({Member("a", "g")}, second).ok());
  ASSERT_TRUE(setup.pipeline->SamplingDone(first).ok());
  ASSERT_TRUE(setup.pipeline->SamplingDone(second).ok());
  EXPECT_EQ((*setup.pipeline->NextGroup(second))->step, second);
  EXPECT_FALSE(setup.pipeline->NextGroup(second)->has_value());
  EXPECT_EQ((*setup.pipeline->NextGroup(first))->results.at(0).step, first);
  EXPECT_EQ(setup.pipeline->NextGroup(99).status().code(), StatusCode::kNotFound);
}

TEST(Groups, GroupIsDeliveredWhenItsHandleWasDropped) {
  Bench setup;
  const auto handle = *setup.pipeline->Submit({Member("a", "g"), MakeItem("alone")});
  setup.pipeline->Drop(handle);
  const auto group = setup.pipeline->NextGroup();
  EXPECT_EQ((*group)->results.at(0).score, 1.0);
  EXPECT_EQ(setup.scorer->calls(), 1);  // "alone" can reach nobody: it was cancelled before its start
  EXPECT_EQ(setup.pipeline->uncollected_items(), 0);
}

TEST(Sessions, LastRowIsJudgedAndTheOthersGetItsResult) {
  Bench setup;
  setup.scorer->verdict = [](const RewardItem& item, int) {
    Verdict verdict = Verdict::Scored(item.item_id == "turn-2" ? 0.75 : -1);
    verdict.extra = Json::MakeObject({{"judged", Json(item.item_id)}});
    return verdict;
  };
  std::vector<RewardItem> items;
  for (const int index : {1, 2, 0}) {
    RewardItem item = Member("turn-" + std::to_string(index), "g", 1);  // one trajectory, three rows
    item.session_id = "s";
    item.index = index;
    items.push_back(std::move(item));
  }
  const auto handle = *setup.pipeline->Submit(std::move(items));
  const auto results = setup.pipeline->Collect(handle)->results;
  for (const RewardResult& result : results) {
    EXPECT_EQ(result.score, 0.75);
    EXPECT_EQ(result.extra.Find("judged")->AsString(), "turn-2");
  }
  EXPECT_EQ(results[0].item_id, "turn-1");
  EXPECT_EQ(setup.scorer->calls(), 1);
  EXPECT_EQ((*setup.pipeline->NextGroup())->results.size(), 1u);
}

TEST(Sessions, RowsOfASessionInTwoSubmitsAreAnError) {
  Bench setup;
  RewardItem first = MakeItem("a"), second = MakeItem("b");
  first.session_id = second.session_id = "s";
  ASSERT_TRUE(setup.pipeline->Submit({first}).ok());
  const auto refused = setup.pipeline->Submit({second});
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("session 's'"), std::string::npos);
}

TEST(Intake, DuplicateIdNamesBothItems) {
  Bench setup;
  const auto refused = setup.pipeline->Submit({MakeItem("a"), MakeItem("b"), MakeItem("a")});
  EXPECT_EQ(refused.status().message(), "duplicate item_id 'a': items 0 and 2 of this submit");
}

TEST(Intake, EmptySubmitHasAnEmptyResult) {
  Bench setup;
  const auto handle = setup.pipeline->Submit({});
  ASSERT_TRUE(handle.ok());
  EXPECT_TRUE(setup.pipeline->Ready(*handle));
  EXPECT_EQ(setup.pipeline->Collect(*handle)->results.size(), 0u);
}

TEST(Collected, ExtraKeysAreTheUnionInOneStableOrder) {
  Bench setup;
  setup.scorer->verdict = [](const RewardItem& item, int) {
    Verdict verdict = Verdict::Scored(1);
    if (item.item_id == "a") verdict.extra = Json::MakeObject({{"x", Json(1)}, {"y", Json(2)}});
    if (item.item_id == "c") verdict.extra = Json::MakeObject({{"z", Json(3)}, {"x", Json(4)}});
    return verdict;
  };
  const auto handle = *setup.pipeline->Submit({MakeItem("a"), MakeItem("b"), MakeItem("c")});
  const auto results = setup.pipeline->Collect(handle)->results;
  EXPECT_EQ(results[0].extra.Dump(), R"({"x":1,"y":2,"z":null})");
  EXPECT_EQ(results[1].extra.Dump(), R"({"x":null,"y":null,"z":null})");
  EXPECT_EQ(results[2].extra.Dump(), R"({"x":4,"y":null,"z":3})");
}

}  // namespace
}  // namespace rewardloop
