#include "scorers/testing_util.h"

namespace rewardloop {
namespace {

using testing_util::Judge;
using testing_util::MakeItem;
using testing_util::MakeScorer;
using testing_util::Summary;

Verdict Math(Json gold, std::string text, const Json& args = Json()) {
  return Judge(*MakeScorer("math", args), std::move(gold), std::move(text));
}

TEST(MathScorer, PaysEqualAnswers) {
  Verdict half = Math("1/2", "so \\boxed{0.5}");
  EXPECT_EQ(half.status, ItemStatus::kScored);
  EXPECT_EQ(half.score, 1.0);
  EXPECT_EQ(half.extracted, "0.5");
  EXPECT_FALSE(half.reason.empty());
  EXPECT_EQ(Math("1/2", "so \\boxed{0.6}").score, 0.0);
  EXPECT_EQ(Math(12, "\\boxed{12}").score, 1.0);
  EXPECT_EQ(Math(Json::MakeArray({"3", "4"}), "\\boxed{4}").score, 1.0);
  EXPECT_EQ(Math(Json::MakeArray({"3", "4"}), "\\boxed{5}").score, 0.0);
}

TEST(MathScorer, NothingToCompareIsAScoreOfZero) {
  Verdict none = Math("7", "I do not know.");
  EXPECT_EQ(none.status, ItemStatus::kScored);
  EXPECT_EQ(none.score, 0.0);
  EXPECT_FALSE(none.extracted);
  RewardItem item = MakeItem("7", "");
  item.outputs.back().text.reset();
  EXPECT_EQ(Summary(Judge(*MakeScorer("math"), item)), "scored 0.0 no_answer");
}

// A ground truth that cannot be read pays nobody and costs nobody.
TEST(MathScorer, UserReportUnusableGroundTruth) {
  for (const Json& gold : {Json(), Json(""), Json("  ")}) {
    EXPECT_EQ(Summary(Math(gold, "\\boxed{8}")), "unscorable no_ground_truth") << gold.Dump();
  }
  EXPECT_EQ(Summary(Math(true, "\\boxed{8}")), "unscorable bad_ground_truth");
  const Verdict broken = Math("\\frac{", "\\boxed{8}");
  EXPECT_FALSE(broken.status == ItemStatus::kScored && broken.score != 0) << Summary(broken);
  EXPECT_EQ(Math("8", "\\boxed{8}").score, 1.0);
}

// A long box is read as a whole.
TEST(MathScorer, UserReportLongBox) {
  std::string list;
  for (int i = 1; i <= 40; ++i) list += (i == 1 ? "" : ", ") + std::to_string(3 * i + 1);
  EXPECT_EQ(Math(list, "All of them: \\boxed{" + list + "}.").score, 1.0);
  EXPECT_EQ(Math(list, "All of them: \\boxed{" + list.substr(0, list.size() - 1) + "2}.").score,
            0.0);
}

TEST(MathScorer, ExplainsWithOffsets) {
  std::vector<ExplainStep> steps;
  Judge(*MakeScorer("math"), MakeItem("1/2", "so \\boxed{0.5}"), &steps);
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps[0].stage, "extract");
  EXPECT_EQ(steps[0].begin, 10);
  EXPECT_EQ(steps[0].end, 13);
}

TEST(MathScorer, ArgumentsReachTheVerifier) {
  EXPECT_EQ(Math("0.333", "\\boxed{1/3}").score, 1.0);
  EXPECT_EQ(Math("0.333", "\\boxed{1/3}", Json::MakeObject({{"profile", "strict"}})).score, 0.0);
  EXPECT_EQ(Math("0.333", "\\boxed{1/3}", Json::MakeObject({{"gold_precision", false}})).score,
            0.0);
  EXPECT_EQ(Math("1,000", "#### 1000", Json::MakeObject({{"profile", "math_dapo"}})).score, -1.0);
  const ScorerRegistry registry = ScorerRegistry::WithBuiltins();
  EXPECT_EQ(registry.Make("math", Json::MakeObject({{"profile", "strickt"}})).status().hint(),
            "did you mean 'strict'?");
  EXPECT_FALSE(registry.Make("math", Json::MakeObject({{"fuel", 0}})).ok());
  EXPECT_FALSE(
      registry.Make("math", Json::MakeObject({{"profile", "math_dapo"}, {"rounded_ok", true}}))
          .ok());
}

}  // namespace
}  // namespace rewardloop
