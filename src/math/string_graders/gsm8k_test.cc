#include "math/string_graders/gsm8k.h"

#include <gtest/gtest.h>

namespace rewardloop::string_graders {
namespace {

std::string Strict(std::string_view response) {
  return ExtractGsm8k(response, Gsm8kMethod::kStrict).answer.value_or("(none)");
}
std::string Flexible(std::string_view response) {
  return ExtractGsm8k(response, Gsm8kMethod::kFlexible).answer.value_or("(none)");
}

TEST(Gsm8kStrict, WantsOneSpaceAfterFourHashes) {
  EXPECT_EQ(Strict("so 36 * 2 = 72\n#### 72"), "72");
  EXPECT_EQ(Strict("####72"), "(none)");
  EXPECT_EQ(Strict("####  72"), "(none)");
  EXPECT_EQ(Strict("#### $72"), "(none)");
  EXPECT_EQ(Strict("##### 72"), "72");
}

TEST(Gsm8kStrict, TakesTheLastAndDeletesCommasOnly) {
  EXPECT_EQ(Strict("#### 1 #### 2,500.00 #### x"), "2500.00");
  EXPECT_EQ(Strict("#### -5."), "-5.");
  EXPECT_EQ(Strict("#### ,"), "");
  EXPECT_EQ(Strict("#### -"), "(none)");
}

TEST(Gsm8kFlexible, TakesTheLastRunThatIsNoLoneDot) {
  EXPECT_EQ(Flexible("first 3, then 4."), "4.");
  EXPECT_EQ(Flexible("7 apples . and . done ."), "7");
  EXPECT_EQ(Flexible("wait . ."), ".");
  EXPECT_EQ(Flexible("5-3"), "-3");
  EXPECT_EQ(Flexible("1,000"), "1,000");
  EXPECT_EQ(Flexible("none"), "(none)");
}

TEST(Gsm8k, SeesTheLast300CharactersNotBytes) {
  std::string accents;
  for (int i = 0; i < 293; ++i) accents += "\u00E9";
  EXPECT_EQ(Strict("#### 72" + accents), "72");  // 7 + 293 = 300 characters
  EXPECT_EQ(Strict("#### 72" + accents + "\u00E9"), "(none)");
}

TEST(Gsm8k, SpanIsWhereTheNumberStands) {
  const std::string response = std::string(400, 'x') + " #### 1,000";
  const Extraction found = ExtractGsm8k(response, Gsm8kMethod::kStrict);
  EXPECT_EQ(response.substr(found.begin, found.end - found.begin), "1,000");
}

TEST(Gsm8k, GoldIsNotNormalised) {
  EXPECT_TRUE(GradeGsm8k("#### 1,000", "1000", Gsm8kMethod::kStrict).correct);
  EXPECT_FALSE(GradeGsm8k("#### 1,000", "1,000", Gsm8kMethod::kStrict).correct);
  EXPECT_EQ(GradeGsm8k("#### 72.0", "72", Gsm8kMethod::kStrict).reason, "not_equal");
  EXPECT_EQ(GradeGsm8k("?", "72", Gsm8kMethod::kStrict).reason, "no_answer");
}

}  // namespace
}  // namespace rewardloop::string_graders
