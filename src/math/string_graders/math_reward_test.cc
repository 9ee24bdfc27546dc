#include "math/string_graders/math_reward.h"

#include <gtest/gtest.h>

namespace rewardloop::string_graders {
namespace {

bool Equal(std::string_view answer, std::string_view gold) {
  return GradeMathReward("so \\boxed{" + std::string(answer) + "}.", gold).correct;
}

TEST(MathReward, TakesTheLastBalancedBox) {
  bool bad_box = false;
  EXPECT_EQ(ExtractHendrycks("\\boxed{1} \\boxed{\\frac{1}{2}}", &bad_box).answer, "\\frac{1}{2}");
  EXPECT_EQ(ExtractHendrycks("\\boxed{1", &bad_box).answer, std::nullopt);
  EXPECT_FALSE(bad_box);
}

TEST(MathReward, BoxWithASpaceWinsOverALaterBox) {
  bool bad_box = false;
  EXPECT_EQ(ExtractHendrycks("$\\boxed 5$ or \\boxed{6}", &bad_box).answer, "5");
}

TEST(MathReward, OriginFailsToOpenAnFbox) {
  EXPECT_EQ(GradeMathReward("\\fbox{5}", "5").reason, "bad_box");
}

TEST(MathReward, Normalises) {
  EXPECT_TRUE(Equal("1/2", "\\frac{1}{2}"));
  EXPECT_TRUE(Equal("\\dfrac12", "\\frac{1}{2}"));
  EXPECT_TRUE(Equal("0.5", "1/2"));
  EXPECT_TRUE(Equal("12\\text{ cm}", "12"));
  EXPECT_TRUE(Equal("x=5", "5"));
  EXPECT_TRUE(Equal("50\\%", "50"));
  EXPECT_TRUE(Equal("\\sqrt3", "\\sqrt{3}"));
  EXPECT_TRUE(Equal(".5", "0.5"));
}

TEST(MathReward, IsTextEqualityOtherwise) {
  EXPECT_FALSE(Equal("-1/2", "-\\frac{1}{2}"));
  EXPECT_FALSE(Equal("1,000", "1000"));
  EXPECT_FALSE(Equal("xyz=5", "5"));  // three characters before the sign stay
  EXPECT_FALSE(Equal("01/2", "\\frac{1}{2}"));
}

TEST(MathReward, RaisingNormalisationComparesTheTexts) {
  EXPECT_EQ(NormalizeHendrycks("2\\sqrt"), std::nullopt);
  EXPECT_EQ(NormalizeHendrycks("\\frac"), std::nullopt);
  EXPECT_EQ(NormalizeHendrycks("1\\text{ cm}2\\text{ m}"), std::nullopt);
  EXPECT_TRUE(Equal("2\\sqrt", "2\\sqrt"));
  EXPECT_FALSE(Equal("2 \\sqrt", "2\\sqrt"));
}

TEST(MathReward, LongIntegersAreNoFraction) {
  // CPython reads at most 4,300 digits.
  const std::string limit(4300, '7');
  EXPECT_EQ(NormalizeHendrycks(limit + "/3"), "\\frac{" + limit + "}{3}");
  EXPECT_EQ(NormalizeHendrycks(limit + "7/3"), limit + "7/3");
}

TEST(MathReward, GoldThatIsNoTextEqualsNothing) {
  EXPECT_EQ(GradeMathReward("\\boxed{5}", std::nullopt).reason, "not_equal");
}

}  // namespace
}  // namespace rewardloop::string_graders
