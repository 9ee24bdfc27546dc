// Extraction, spans, explanation, golds that cannot be used, lists of golds, votes, profiles, cache.
#include <gtest/gtest.h>

#include "rewardloop/math.h"

namespace rewardloop::math {
namespace {

std::string Extracted(std::string_view completion) { return Extract(completion).text; }

TEST(MathExtract, TheLastBalancedBoxWins) {
  EXPECT_EQ(Extracted("\\boxed{1} was my first guess, but after some more thought about the second case, we see: \\boxed{\\frac{1}{2}} indeed"), "\\frac{1}{2}");
  EXPECT_EQ(Extracted("\\fbox{7}"), "7");
  EXPECT_EQ(Extracted("\\boxed{\\{1,2\\}}"), "\\{1,2\\}");
  EXPECT_EQ(Extracted("\\boxed{3} and a torn \\boxed{4"), "3");
}

TEST(MathExtract, ThinkingIsNeverRead) {
  EXPECT_EQ(Extracted("<think>\\boxed{1}</think> The answer is 2."), "2");
  EXPECT_EQ(Extract("<think>\\boxed{1} and so on").anchor, Anchor::kNone);
  Options whole;
  whole.think_end = "";
  EXPECT_EQ(Extract("<think>\\boxed{1}</think>", whole).text, "1");
}

TEST(MathExtract, Anchors) {
  EXPECT_EQ(Extract("x\n#### 72").anchor, Anchor::kHash);
  EXPECT_EQ(Extracted("x\n#### 72\n"), "72");
  EXPECT_EQ(Extracted("<answer> 42 </answer>"), "42");
  EXPECT_EQ(Extracted("Final Answer: The final answer is $28 \\%$. I hope it is correct."), "28 \\%");
  EXPECT_EQ(Extracted("so\nA: 26"), "26");
  EXPECT_EQ(Extracted("答案：3"), "3");
  EXPECT_EQ(Extract("First $x=1$, then $y=2$ follows.").anchor, Anchor::kFormula);
  EXPECT_EQ(Extracted("We need 3 more, so there are 12 of them."), "12");
  Options strict = Options::ForProfile(Profile::kStrict);
  EXPECT_EQ(Extract("We need 3 more, so there are 12 of them.", strict).anchor, Anchor::kNone);
}

TEST(MathExtract, SpanIsTheBytesOfTheAnswer) {
  const std::string text = "thus \\boxed{ 42 }.";
  const Extraction found = Extract(text);
  EXPECT_EQ(text.substr(static_cast<size_t>(found.span.begin), static_cast<size_t>(found.span.end - found.span.begin)), " 42 ");
  EXPECT_EQ(found.text, "42");
}

TEST(MathExtract, BoxesJoinOnlyForGoldsOfManyValues) {
  EXPECT_EQ(Verify("1,2", "\\boxed{1} and \\boxed{2}").outcome, Outcome::kEqual);
  EXPECT_EQ(Verify("2", "\\boxed{1} and \\boxed{2}").outcome, Outcome::kEqual);
  EXPECT_EQ(Verify("1", "\\boxed{1} and \\boxed{2}").outcome, Outcome::kDifferent);
}

TEST(MathGold, EmptyOrUnreadableNeverPays) {
  for (const char* gold : {"", "  ", "\\boxed{}", "?", "$$"}) {
    for (const char* completion : {"", "  ", "\\boxed{}", "?", "\\boxed{?}", "5"}) {
      const MathVerdict verdict = Verify(gold, completion);
      EXPECT_EQ(verdict.outcome, Outcome::kBadGold) << gold;
      EXPECT_EQ(verdict.score, 0);
      EXPECT_FALSE(verdict.reason.empty());
    }
  }
}

TEST(MathGold, AnyOfSeveral) {
  const std::vector<std::string> golds = {"", "\\frac12", "x=3"};
  const CompiledGold gold(golds, Options());
  EXPECT_TRUE(gold.usable());
  EXPECT_EQ(Verify(gold, "\\boxed{0.5}").outcome, Outcome::kEqual);
  EXPECT_EQ(Verify(gold, "\\boxed{3}").outcome, Outcome::kEqual);
  EXPECT_EQ(Verify(gold, "\\boxed{4}").outcome, Outcome::kDifferent);
}

TEST(MathGold, SolutionTextWithABox) {
  EXPECT_EQ(Verify("We add and get $\\boxed{14{,}916}$, which is our answer.", "\\boxed{14916}").outcome, Outcome::kEqual);
}

TEST(MathVerify, NoAnswer) {
  const MathVerdict verdict = Verify("5", "I do not know.");
  EXPECT_NE(verdict.outcome, Outcome::kEqual);
  EXPECT_EQ(Verify("5", "").outcome, Outcome::kNoAnswer);
  EXPECT_EQ(Verify("5", "\\boxed{}").outcome, Outcome::kNoAnswer);
  EXPECT_EQ(Verify("5", "").reason, "no_answer");
}

TEST(MathExplain, PrintsBothSides) {
  const CompiledGold gold("\\frac{1}{2}", Options());
  const Explanation explanation = Explain(gold, "so \\boxed{0.5}");
  EXPECT_EQ(explanation.verdict.outcome, Outcome::kEqual);
  EXPECT_EQ(explanation.extracted, "0.5");
  EXPECT_EQ(explanation.gold_form, "(1/2)");
  EXPECT_EQ(explanation.prediction_form, "0.5");
  EXPECT_EQ(explanation.gold_type, "rational");
  EXPECT_EQ(explanation.prediction_type, "decimal");
  EXPECT_EQ(explanation.verdict.rule, "exact");
}

TEST(MathBatch, SameAsOneByOne) {
  const std::vector<std::string_view> golds = {"1", "\\frac12", "\\frac12", "x"};
  const std::vector<std::string_view> completions = {"\\boxed{1}", "\\boxed{0.5}", "\\boxed{2}", "\\boxed{y}"};
  const auto verdicts = VerifyBatch(golds, completions, {}, 2);
  ASSERT_EQ(verdicts.size(), 4u);
  EXPECT_EQ(verdicts[0].outcome, Outcome::kEqual);
  EXPECT_EQ(verdicts[1].outcome, Outcome::kEqual);
  EXPECT_EQ(verdicts[2].outcome, Outcome::kDifferent);
  EXPECT_EQ(verdicts[3].outcome, Outcome::kDifferent);
  const std::vector<std::string_view> one = {"0.5"};
  EXPECT_EQ(VerifyBatch(one, completions)[1].outcome, Outcome::kEqual);
}

TEST(MathVote, MajorityByValue) {
  const std::vector<std::string_view> completions = {"\\boxed{0.5}", "\\boxed{\\frac12}", "\\boxed{3}", "nothing to see", "\\boxed{1/2}", "\\boxed{3}"};
  const VoteResult vote = Vote(completions);
  EXPECT_EQ(vote.class_of[0], 0);
  EXPECT_EQ(vote.class_of[1], 0);
  EXPECT_EQ(vote.class_of[4], 0);
  EXPECT_EQ(vote.class_of[2], vote.class_of[5]);
  EXPECT_EQ(vote.class_size[0], 3);
  EXPECT_EQ(vote.winner, 0);
  EXPECT_EQ(vote.representative, 0);
  EXPECT_EQ(Vote(std::vector<std::string_view>{"", "\\boxed{}"}).winner, -1);
}

TEST(MathProfiles, NamesRoundTrip) {
  for (const char* name : {"default", "strict", "math_verify", "math_reward", "math_dapo", "gsm8k_strict", "gsm8k_flexible", "minerva"}) {
    auto profile = ParseProfile(name);
    ASSERT_TRUE(profile.ok()) << name;
    EXPECT_EQ(ProfileName(*profile), name);
  }
  EXPECT_EQ(ParseProfile("nonsense").status().code(), StatusCode::kNotFound);
}

TEST(MathProfiles, StrictTakesExactValuesOnly) {
  const Options strict = Options::ForProfile(Profile::kStrict);
  EXPECT_EQ(Verify("33.3", "\\boxed{\\frac{100}{3}}", strict).outcome, Outcome::kDifferent);
  EXPECT_EQ(Verify("33.3", "\\boxed{\\frac{100}{3}}").outcome, Outcome::kEqual);
  EXPECT_EQ(Verify("5\\text{ cm}", "\\boxed{5}", strict).outcome, Outcome::kDifferent);
  EXPECT_EQ(Verify("(3,\\infty)", "\\boxed{x>3}", strict).outcome, Outcome::kDifferent);
  EXPECT_EQ(Verify("0.5", "\\boxed{\\frac12}", strict).outcome, Outcome::kEqual);
}

TEST(MathProfiles, StringGradersKeepTheirScores) {
  EXPECT_EQ(Verify("72", "#### 72", Options::ForProfile(Profile::kGsm8kStrict)).score, 1);
  EXPECT_EQ(Verify("18", "#### 18.0", Options::ForProfile(Profile::kGsm8kStrict)).score, 0);
  EXPECT_EQ(Verify("5", "Answer: 6", Options::ForProfile(Profile::kMathDapo)).score, -1);
  EXPECT_EQ(Verify("\\frac12", "\\boxed{1/2}", Options::ForProfile(Profile::kMathReward)).score, 1);
  EXPECT_EQ(Verify("\\frac{1}{2}", "\\boxed{\\frac{2}{4}}", Options::ForProfile(Profile::kMathReward)).score, 0);
}

TEST(MathCache, CompilesOnceAndForgetsOldGolds) {
  GoldCache cache(Options(), 4);
  const auto first = cache.Get("1");
  EXPECT_EQ(cache.Get("1"), first);
  for (int i = 0; i < 20; ++i) cache.Get(std::to_string(100 + i));
  EXPECT_NE(cache.Get("1"), first);
  EXPECT_EQ(Verify(*cache.Get("1"), "\\boxed{1}").outcome, Outcome::kEqual);
}

}  // namespace
}  // namespace rewardloop::math
