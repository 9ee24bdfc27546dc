// What the parity scorers say beside the score: arguments, extracted answer, reason, explanation.
// Their scores are held by verl_parity_test.cc.
#include <gtest/gtest.h>

#include "rewardloop/registry.h"

namespace rewardloop {
namespace {

RewardItem Item(std::optional<std::string> response, Json truth, Json extra_info = {}) {
  RewardItem item;
  item.outputs.emplace_back();
  item.outputs.back().text = std::move(response);
  item.ground_truth = std::move(truth);
  item.extra_info = std::move(extra_info);
  return item;
}

Verdict Score(std::string_view name, const RewardItem& item, const Json& args = {},
              std::vector<ExplainStep>* explanation = nullptr) {
  const auto scorer = ScorerRegistry::WithBuiltins().Make(name, args);
  EXPECT_TRUE(scorer.ok()) << scorer.status().ToString();
  if (!scorer.ok()) return {};
  ScoreContext context(nullptr, kNoDeadline, {}, 0);
  context.explanation = explanation;
  return (*scorer)->Score(item, context);
}

Status MakeStatus(std::string_view name, const Json& args) {
  return ScorerRegistry::WithBuiltins().Make(name, args).status();
}

TEST(VerlScorers, UnknownArgumentsAndChoicesSuggest) {
  const Status typo = MakeStatus("verl/gsm8k", Json::MakeObject({{"format_scor", 1}}));
  EXPECT_EQ(typo.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(typo.ToString().find("format_score"), std::string::npos) << typo.ToString();
  EXPECT_FALSE(MakeStatus("verl/gsm8k", Json::MakeObject({{"method", "loose"}})).ok());
  EXPECT_FALSE(MakeStatus("verl/math_reward", Json::MakeObject({{"score", 1}})).ok());
  EXPECT_TRUE(MakeStatus("verl/rlla", Json::MakeObject({{"step", 17}})).ok());
}

TEST(VerlScorers, Gsm8kSaysWhatItFoundWhere) {
  std::vector<ExplainStep> steps;
  const RewardItem item = Item("so\n#### 1,000", "1000");
  const Verdict verdict = Score("verl/gsm8k", item, {}, &steps);
  EXPECT_EQ(verdict.score, 1);
  EXPECT_EQ(verdict.extracted, "1000");
  EXPECT_EQ(verdict.reason, "equal_string");
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].stage, "extract");
  EXPECT_EQ(item.Response()->substr(steps[0].begin, steps[0].end - steps[0].begin), "1,000");
  EXPECT_EQ(steps[1].stage, "compare");
}

TEST(VerlScorers, Gsm8kScoresAreArguments) {
  const Json args = Json::MakeObject({{"format_score", 0.1}, {"score", 2}});
  EXPECT_EQ(Score("verl/gsm8k", Item("#### 5", "5"), args).score, 2);
  EXPECT_EQ(Score("verl/gsm8k", Item("#### 6", "5"), args).score, 0.1);
  EXPECT_EQ(Score("verl/gsm8k", Item("6", "5"), args).score,
            0);  // no answer: not even the format score
  EXPECT_EQ(Score("verl/gsm8k", Item("#### 5", 5)).score, 0);  // the number 5 is not the text "5"
}

TEST(VerlScorers, NullResponseIsWhatTheOriginMakesOfIt) {
  EXPECT_EQ(Score("verl/gsm8k", Item(std::nullopt, "5")).error->message,
            "TypeError: object of type 'NoneType' has no len()");
  EXPECT_EQ(Score("verl/math_reward", Item(std::nullopt, "5")).score, 0);
  EXPECT_EQ(Score("verl/math_dapo", Item(std::nullopt, "5")).error->message,
            "TypeError: 'NoneType' object is not subscriptable");
  EXPECT_EQ(Score("verl/search_r1_em", Item(std::nullopt, "5")).error->message,
            "TypeError: expected string or bytes-like object, got 'NoneType'");
}

TEST(VerlScorers, MathDapoKeepsAccAndPred) {
  const Verdict wrong = Score("verl/math_dapo", Item("no idea", "5"));
  EXPECT_EQ(wrong.score, -1);
  EXPECT_EQ(wrong.extra.Dump(), R"({"acc":false,"pred":"[INVALID]"})");
  EXPECT_EQ(wrong.reason, "no_answer");
  EXPECT_EQ(wrong.extracted, std::nullopt);
  const Verdict null_truth = Score("verl/math_dapo", Item("no box", Json()),
                                   Json::MakeObject({{"strict_box_verify", true}}));
  EXPECT_EQ(null_truth.extra.Dump(), R"({"acc":true,"pred":null})");
}

TEST(VerlScorers, MathDapoPauseTokens) {
  const auto score = [](Json index, const char* response) {
    return Score("verl/math_dapo", Item(response, "5"),
                 Json::MakeObject({{"pause_tokens_index", std::move(index)}}));
  };
  EXPECT_EQ(score(Json::MakeArray({1, 2, 3}), "\\boxed{5}").error->message, "AssertionError: ");
  EXPECT_EQ(score(Json::MakeArray({1, 2, 3}), "Answer: 5").score, 1);  // the box is never looked at
  EXPECT_EQ(score(Json::MakeArray({0, 0, 0, 101}), "\\boxed{5}").score, -1);  // from character 1 on
  EXPECT_EQ(score(Json::MakeArray({0, 0, 0, 1.5}), "x").error->message.substr(0, 9), "TypeError");
}

TEST(VerlScorers, SearchR1) {
  const Json target = Json::MakeObject({{"target", Json::MakeArray({"Paris"})}});
  EXPECT_EQ(
      Score("verl/search_r1_em", Item("<answer>x</answer> <answer> The Paris. </answer>", target))
          .extracted,
      "The Paris.");
  std::string guessing = "<answer>Paris</answer>";
  for (int i = 0; i < 10; ++i) guessing += "</answer>";
  EXPECT_EQ(Score("verl/search_r1_em", Item(guessing, target)).score, 0.25);
  EXPECT_EQ(Score("verl/search_r1_em", Item(guessing, target)).reason, "too_many_tags");
  EXPECT_EQ(Score("verl/search_r1_subem", Item(guessing, target)).score, 1);
  EXPECT_EQ(
      Score("verl/search_r1_em", Item("<answer>x</answer>", Json::MakeObject())).error->message,
      "KeyError: 'target'");
  EXPECT_EQ(Score("verl/search_r1_em", Item("no tags", 5)).score, 0);
}

TEST(VerlScorers, RllaHasComponents) {
  const Json extra = Json::MakeObject({{"experiment_name", "my-qwen-run"}});
  const std::string call =
      "<tool_call>\n{\"name\": \"get\", \"parameters\": {\"x\": 1}}\n</tool_call>";
  const std::string response = "<|im_start|>assistant\n<think>t</think>\n" + call + "<|im_end|>";
  const Verdict perfect = Score("verl/rlla", Item(response, "<think>w</think>\n" + call, extra));
  EXPECT_EQ(perfect.score, 4);
  EXPECT_EQ(perfect.extra.Dump(), R"({"format_reward":1.0,"accuracy_reward":3.0})");
  ASSERT_EQ(perfect.components.size(), 2u);
  EXPECT_EQ(perfect.components[1].name, "accuracy_reward");
  // One of one value wrong: names 1 + parameter names 1 of 3 possible, 6 * 2/3 - 3.
  std::string wrong = response;
  wrong.replace(wrong.find(": 1}"), 4, ": 2}");
  EXPECT_EQ(Score("verl/rlla", Item(wrong, "<think>w</think>\n" + call, extra)).score, 2);
  EXPECT_EQ(Score("verl/rlla", Item(response, call, Json::MakeObject())).error->message,
            "NotImplementedError: Unknown model name: ");
  EXPECT_EQ(Score("verl/rlla", Item(response, call)).error->message,
            "AttributeError: 'NoneType' object has no attribute 'get'");
}

TEST(VerlScorers, HugeAndBrokenResponsesAreOnlyText) {
  std::string huge;
  for (int i = 0; i < 500'000; ++i) huge += "\\boxed{<answer>\xFF\xED\xA0\x80#### ";
  huge += '\0';
  const Json target = Json::MakeObject({{"target", "x"}});
  const Json qwen = Json::MakeObject({{"experiment_name", "qwen"}});
  for (const char* name : {"verl/gsm8k", "verl/math_reward", "verl/math_dapo"}) {
    EXPECT_EQ(Score(name, Item(huge, "5")).status, ItemStatus::kScored) << name;
  }
  EXPECT_EQ(Score("verl/search_r1_em", Item(huge, target)).status, ItemStatus::kScored);
  EXPECT_EQ(Score("verl/rlla", Item(huge, "5", qwen)).status, ItemStatus::kScored);
}

}  // namespace
}  // namespace rewardloop
