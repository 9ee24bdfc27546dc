#include <gtest/gtest.h>

#include "managers/test_managers.h"

namespace rewardloop {
namespace {

// As the tool-calling reward of the GDPO recipe answers: dimensions in the extra info, their sum as the score.
ManagerSpec::Deps TwoDimensions() {
  ManagerSpec::Deps deps;
  deps.scorers = Always([](const RewardItem&) {
    Verdict verdict = Verdict::Scored(3.5);
    verdict.components.push_back({"brevity", 0.25});
    verdict.extra.Set("format_reward", 1);
    verdict.extra.Set("accuracy_reward", 2.5);
    verdict.extra.Set("pred", "42");
    verdict.extra.Set("ok", true);
    return verdict;
  });
  return deps;
}

std::string Components(const Verdict& verdict) {
  std::string text;
  for (const Component& component : verdict.components) {
    text += component.name + "=" + Json(component.value).Dump() + " ";
  }
  return text;
}

TEST(GdpoManager, EveryNumberTravelsAsAComponent) {
  Runner runner;
  const Verdict verdict = runner.Run(*MakeManager("gdpo", "{}", TwoDimensions()), Item("a"));
  EXPECT_EQ(verdict.score, 3.5);
  EXPECT_EQ(Components(verdict), "brevity=0.25 format_reward=1.0 accuracy_reward=2.5 ");
  EXPECT_EQ(verdict.extra.Find("pred")->AsString(), "42");  // the extra info stays
}

TEST(GdpoManager, KeysPickAndOrderTheDimensions) {
  Runner runner;
  const auto manager = MakeManager("gdpo", R"({"keys": ["accuracy_reward", "ok", "brevity", "score"]})", TwoDimensions());
  const Verdict verdict = runner.Run(*manager, Item("a"));
  EXPECT_EQ(verdict.score, 3.5);
  EXPECT_EQ(Components(verdict), "accuracy_reward=2.5 ok=1.0 brevity=0.25 score=3.5 ");
}

TEST(GdpoManager, MissingDimensionIsAnErrorThatNamesIt) {
  Runner runner;
  const Verdict verdict = runner.Run(*MakeManager("gdpo", R"({"keys": ["pred"]})", TwoDimensions()), Item("a"));
  EXPECT_EQ(verdict.status, ItemStatus::kError);
  EXPECT_EQ(ErrorClass(verdict), "missing_component");
  EXPECT_NE(verdict.error->message.find("'pred'"), std::string::npos);
}

TEST(GdpoManager, WeightsMakeTheScoreAndKeepTheRawOne) {
  Runner runner;
  const auto manager = MakeManager(
      "gdpo", R"({"keys": ["format_reward", "accuracy_reward"], "weights": [0.5, 2]})", TwoDimensions());
  const Verdict verdict = runner.Run(*manager, Item("a"));
  EXPECT_EQ(verdict.score, 5.5);  // 0.5 * 1 + 2 * 2.5
  EXPECT_EQ(Components(verdict), "format_reward=1.0 accuracy_reward=2.5 score=3.5 ");
}

TEST(GdpoManager, NoVerdictNoDimensions) {
  ManagerSpec::Deps deps;
  deps.scorers = Always([](const RewardItem&) {
    Verdict verdict = Verdict::Error("exception", "boom");
    verdict.extra.Set("n", 1);
    return verdict;
  });
  Runner runner;
  const Verdict verdict = runner.Run(*MakeManager("gdpo", R"({"keys": ["n"]})", deps), Item("a"));
  EXPECT_EQ(ErrorClass(verdict), "exception");
  EXPECT_TRUE(verdict.components.empty());
}

TEST(GdpoManager, ChecksItsArgumentsAtConstruction) {
  for (const char* args : {R"({"keys": []})", R"({"keys": [1]})", R"({"keys": ["a", "a"]})", R"({"weights": [1]})",
                           R"({"keys": ["a"], "weights": [1, 2]})", R"({"keys": ["a"], "weights": ["x"]})",
                           R"({"keys": "a"})", R"({"key": ["a"]})"}) {
    EXPECT_EQ(WhyNot("gdpo", args, TwoDimensions()).code(), StatusCode::kInvalidArgument) << args;
  }
}

}  // namespace
}  // namespace rewardloop
