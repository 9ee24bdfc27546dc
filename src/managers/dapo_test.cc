#include <gtest/gtest.h>

#include "managers/test_managers.h"

namespace rewardloop {
namespace {

// Raw reward 1, or what the item's text says.
ManagerSpec::Deps RawOne() {
  ManagerSpec::Deps deps;
  deps.scorers = Always([](const RewardItem&) { return Verdict::Scored(1); });
  return deps;
}

constexpr char kRecipe[] = R"({"max_resp_len": 20480, "overlong_buffer": {"enable": true, "len": 4096, "penalty_factor": 1.0}})";

// By hand: expected length 20480 - 4096 = 16384; penalty = min(-(n - 16384) / 4096 * 1, 0).
TEST(DapoManager, SoftOverlongPenaltyReferenceVectors) {
  const auto manager = MakeManager("dapo", kRecipe, RawOne());
  const struct {
    int64_t length;
    double penalty;
  } kCases[] = {{0, 0},          {1, 0},           {16383, 0},          {16384, 0},
                {16385, -1.0 / 4096}, {17408, -0.25}, {18432, -0.5},      {20479, -4095.0 / 4096},
                {20480, -1},     {20481, -4097.0 / 4096},  // at the limit the whole factor, beyond it goes on
                {24576, -2},     {36864, -5}};
  for (const auto& c : kCases) {
    Runner runner;
    const Verdict verdict = runner.Run(*manager, Item("a", "x", c.length));
    ASSERT_EQ(verdict.status, ItemStatus::kScored) << c.length;
    EXPECT_EQ(verdict.score, 1 + c.penalty) << c.length;
    EXPECT_EQ(ComponentOf(verdict, "score"), 1) << c.length;
    EXPECT_EQ(ComponentOf(verdict, "overlong_reward"), c.penalty) << c.length;
    EXPECT_TRUE(verdict.extra.is_null());
  }
}

TEST(DapoManager, PenaltyFactorScalesTheSlope) {
  const auto manager =
      MakeManager("dapo", R"({"max_resp_len": 100, "overlong_buffer": {"len": 50, "penalty_factor": 0.5}})", RawOne());
  Runner runner;
  // 80 tokens: 30 beyond the expected 50; -30 / 50 * 0.5.
  EXPECT_EQ(ComponentOf(runner.Run(*manager, Item("a", "x", 80)), "overlong_reward"), -0.3);
  EXPECT_EQ(runner.Run(*manager, Item("a", "x", 100)).score, 0.5);
}

TEST(DapoManager, LogAddsTheExtraKeysOfVerl) {
  const auto manager =
      MakeManager("dapo", R"({"max_resp_len": 100, "overlong_buffer": {"len": 50, "log": true}})", RawOne());
  Runner runner;
  EXPECT_EQ(runner.Run(*manager, Item("a", "x", 75)).extra.Dump(), R"({"overlong_reward":-0.5,"overlong":true})");
  EXPECT_EQ(runner.Run(*manager, Item("a", "x", 50)).extra.Dump(), R"({"overlong_reward":0.0,"overlong":false})");
}

TEST(DapoManager, LengthIsTheSumOfAllOutputsFromTheData) {
  const auto manager = MakeManager("dapo", R"({"max_resp_len": 10, "overlong_buffer": {"len": 5}})", RawOne());
  RewardItem item = Item("a", "x", 3);
  item.outputs.emplace_back().token_ids = {7, 8, 9, 10};  // 3 + 4 = 7 tokens, 2 too many
  Runner runner;
  EXPECT_EQ(runner.Run(*manager, item).score, 1 - 0.4);
  item.outputs.back().num_tokens = 2;  // what is said wins over what can be counted
  EXPECT_EQ(runner.Run(*manager, item).score, 1);
}

TEST(DapoManager, MissingLengthIsUnscorableNeverGuessed) {
  const auto manager = MakeManager("dapo", kRecipe, RawOne());
  Runner runner;
  const Verdict verdict = runner.Run(*manager, Item("row-7", std::string(100'000, 'x')));
  EXPECT_EQ(verdict.status, ItemStatus::kUnscorable);
  EXPECT_EQ(ErrorClass(verdict), "no_length");
  EXPECT_NE(verdict.error->message.find("row-7"), std::string::npos);

  RewardItem half = Item("a", "x", 3);
  half.outputs.emplace_back().text = "y";
  EXPECT_EQ(ErrorClass(runner.Run(*manager, half)), "no_length");
  RewardItem none;
  EXPECT_EQ(ErrorClass(runner.Run(*manager, none)), "no_length");
}

TEST(DapoManager, WithoutABufferTheRawRewardStands) {
  for (const char* args : {"{}", R"({"overlong_buffer": null, "max_resp_len": 3})",
                           R"({"overlong_buffer": {"enable": false, "len": 0}})"}) {
    const auto manager = MakeManager("dapo", args, RawOne());
    Runner runner;
    const Verdict verdict = runner.Run(*manager, Item("a", "x"));  // no length needed
    EXPECT_EQ(verdict.score, 1) << args;
    EXPECT_EQ(ComponentOf(verdict, "score"), 1) << args;
  }
}

TEST(DapoManager, NoRawVerdictNoReward) {
  ManagerSpec::Deps deps;
  deps.scorers = Always([](const RewardItem&) { return Verdict::Unscorable("no_ground_truth", "none"); });
  const auto manager = MakeManager("dapo", kRecipe, deps);
  Runner runner;
  const Verdict verdict = runner.Run(*manager, Item("a", "x", 20480));
  EXPECT_EQ(verdict.status, ItemStatus::kUnscorable);
  EXPECT_EQ(ErrorClass(verdict), "no_ground_truth");
  EXPECT_TRUE(verdict.components.empty());
}

TEST(DapoManager, ChecksItsArgumentsAtConstruction) {
  const struct {
    const char* args;
    const char* message;
  } kCases[] = {
      {R"({"overlong_buffer": {"len": 10}})", "needs max_resp_len"},
      {R"({"overlong_buffer": {"penalty_factor": 1}, "max_resp_len": 10})", "needs len"},
      {R"({"overlong_buffer": {"len": 0}, "max_resp_len": 10})", "greater than 0, got 0"},
      {R"({"overlong_buffer": {"len": -3}, "max_resp_len": 10})", "greater than 0, got -3"},
      {R"({"overlong_buffer": {"len": 11}, "max_resp_len": 10})", "max_resp_len (10) must be at least"},
      {R"({"overlong_buffer": {"len": 5, "penalty_factor": -1}, "max_resp_len": 10})", "must not be negative, got -1.0"},
      {R"({"overlong_buffer": {"length": 11}, "max_resp_len": 10})", "no argument 'length'"},
      {R"({"max_response_len": 10})", "no argument 'max_response_len'"},
      {R"({"manager": "naiv"})", "no manager is named 'naiv'"},
  };
  for (const auto& c : kCases) {
    const Status status = WhyNot("dapo", c.args, RawOne());
    EXPECT_FALSE(status.ok()) << c.args;
    EXPECT_NE(status.message().find(c.message), std::string::npos) << status.ToString();
    EXPECT_NE(status.message().find("dapo"), std::string::npos) << status.ToString();
  }
  EXPECT_NE(WhyNot("dapo", R"({"max_response_len": 10})", RawOne()).hint().find("max_resp_len"), std::string::npos);
}

TEST(DapoManager, PunishesTheBatchOfAnInnerManager) {
  const auto manager = MakeManager(
      "dapo", R"({"max_resp_len": 10, "overlong_buffer": {"len": 5}, "manager": "batch", "manager_args": {"max_batch": 3}})",
      RawOne());
  EXPECT_EQ(manager->granularity(), Granularity::kBatch);
  EXPECT_EQ(manager->max_batch(), 3u);
  Runner runner;
  const auto verdicts = runner.RunMany(*manager, {Item("a", "x", 5), Item("b", "x"), Item("c", "x", 10)});
  ASSERT_EQ(verdicts.size(), 3u);
  EXPECT_EQ(verdicts[0].score, 1);
  EXPECT_EQ(ErrorClass(verdicts[1]), "no_length");
  EXPECT_EQ(verdicts[2].score, 0);
}

}  // namespace
}  // namespace rewardloop
