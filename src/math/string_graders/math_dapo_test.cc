#include "math/string_graders/math_dapo.h"

#include <gtest/gtest.h>

#include <chrono>

#include "math/string_graders/minerva.h"

namespace rewardloop::string_graders {
namespace {

std::string Line(std::string_view response) {
  return ExtractMinerva(response).answer.value_or("(none)");
}

TEST(Minerva, AnswerLine) {
  EXPECT_EQ(Line("Answer: 5"), "5");
  EXPECT_EQ(Line("ANSWER\n:\n\n 5 cm\nmore"), "5 cm");
  EXPECT_EQ(Line("Answer: 1\nanswer: 2"), "2");
  EXPECT_EQ(Line("Answer: answer: 3"), "answer: 3");  // the first match takes the whole line
  EXPECT_EQ(Line("An\u017Fwer: 4"), "4");             // long s folds to s
  EXPECT_EQ(Line("Answer 5"), "(none)");
}

TEST(Minerva, BackTracksIntoTrailingSpace) {
  EXPECT_EQ(Line("Answer:   "), " ");
  EXPECT_EQ(Line("Answer: \t\n\n"), "\t");
  EXPECT_EQ(Line("Answer:\n\n"), "(none)");
}

TEST(Minerva, Normalises) {
  EXPECT_EQ(NormalizeMinerva("x = 5"), "5");
  EXPECT_EQ(NormalizeMinerva("1,000"), "1000");
  EXPECT_EQ(NormalizeMinerva("1,000.5"), "1,000.5");
  EXPECT_EQ(NormalizeMinerva("banana split"), "banansplit");  // "a " goes inside words too
  EXPECT_EQ(NormalizeMinerva("the value $5$ of $6$"), "5");
  EXPECT_EQ(NormalizeMinerva("$5$\n$6$"), "5\n6");
  EXPECT_EQ(NormalizeMinerva("5 \\text{apples}"), "5apples");
  EXPECT_EQ(NormalizeMinerva("\\frac12"), "\\frac{1}{2}");
  EXPECT_EQ(NormalizeMinerva("\\sqrt2"), "\\sqrt{2}");
  EXPECT_EQ(NormalizeMinerva("6 \\boxed{5}"), "65");
  EXPECT_EQ(NormalizeMinerva("12 square meters"), "12");
  EXPECT_EQ(NormalizeMinerva("\u00B2,\u00B3"),
            "\u00B2\u00B3");  // superscripts are digits to Python
  EXPECT_EQ(NormalizeMinerva("5."), "5.");
}

TEST(MathDapo, AnswerLineIsFinal) {
  const MathDapoVerdict verdict = GradeMathDapo("Answer: 6 or \\boxed{5}", "5");
  EXPECT_FALSE(verdict.verdict.correct);
  EXPECT_FALSE(verdict.used_box);
}

TEST(MathDapo, FallsBackToTheBoxAsItStands) {
  EXPECT_TRUE(GradeMathDapo("\\boxed{5}", "5").verdict.correct);
  EXPECT_FALSE(GradeMathDapo("\\boxed{ 5}", "5").verdict.correct);
  EXPECT_TRUE(GradeMathDapo("Answer: [INVALID]\n\\boxed{5}", "5").used_box);
  EXPECT_EQ(GradeMathDapo("nothing", "5").pred, "[INVALID]");
}

TEST(MathDapo, StrictBoxWindow) {
  MathDapoOptions options;
  options.strict_box_verify = true;
  EXPECT_EQ(GradeMathDapo("Answer: 5", "5", options).pred, std::nullopt);
  EXPECT_TRUE(GradeMathDapo("Answer: 5", std::nullopt, options).verdict.correct);  // None == None
  const std::string late = "\\boxed{5}" + std::string(92, 'x');
  EXPECT_FALSE(
      GradeMathDapo(late, "5", options).verdict.correct);  // one character outside the last 100
  options.box_window_start = 0;
  const MathDapoVerdict verdict = GradeMathDapo(late, "5", options);
  EXPECT_TRUE(verdict.verdict.correct);
  EXPECT_EQ(verdict.verdict.extracted.begin, 7);
}

TEST(MathDapo, SpanCountsFromTheStartOfTheResponse) {
  const std::string response = std::string(500, 'x') + "\\boxed{5}";
  EXPECT_EQ(GradeMathDapo(response, "5").verdict.extracted.begin, 507);
}

// The origin's expressions take quadratic time here: 4 s for 16,000 characters.
TEST(MathDapo, LongGoldTakesLinearTime) {
  std::string gold;
  for (int i = 0; i < 100'000; ++i) gold += "\\text{\\boxed{$\\";
  const auto begin = std::chrono::steady_clock::now();
  NormalizeMinerva(gold);
  NormalizeMinerva(std::string(1'000'000, '5'));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

}  // namespace
}  // namespace rewardloop::string_graders
