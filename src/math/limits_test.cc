// Inputs that stop other verifiers: each ends within its limits, fast, in bounded memory.
#include <sys/resource.h>
#include <time.h>

#include <string>

#include <gtest/gtest.h>

#include "base/sanitizers.h"
#include "rewardloop/math.h"

namespace rewardloop::math {
namespace {

double CpuMilliseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

#if REWARDLOOP_SANITIZED
constexpr double kMillisecondsMax = 20'000;  // intercepted string searches of 10 MB: only that it ends
#else
constexpr double kMillisecondsMax = 20;
#endif

std::string Repeat(std::string_view piece, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += piece;
  return out;
}

MathVerdict Timed(std::string_view gold, const std::string& completion) {
  const Options options;
  const CompiledGold compiled(gold, options);
  Verify(compiled, "\\boxed{1}");  // warm: first use of a thread's caches is no part of a verdict
  const double begin = CpuMilliseconds();
  const MathVerdict verdict = Verify(compiled, completion);
  const double spent = CpuMilliseconds() - begin;
  EXPECT_LE(spent, kMillisecondsMax) << completion.substr(0, 60) << " (" << completion.size() << " bytes)";
  EXPECT_LE(verdict.fuel_used, 2'000'000);
  return verdict;
}

TEST(MathLimits, DeepNesting) {
  for (const auto& [open, close] : {std::pair{"(", ")"}, {"\\sqrt{", "}"}, {"{", "}"}, {"\\frac{1}{", "}"}, {"\\left[", "\\right]"}, {"-", ""}, {"\\{", "\\}"}, {"|", "|"},
                                    {"\\int_-", ""}, {"[[1],", "]"}, {"C(1,", ")"}, {"cis ", ""}, {"<1,", ">"}, {"1 million ", ""}}) {
    const std::string answer = Repeat(open, 100'000) + "1" + Repeat(close, 100'000);
    EXPECT_NE(Timed("5", "\\boxed{" + answer + "}").outcome, Outcome::kEqual);
    const std::string shorter = Repeat(open, 5'000) + "1" + Repeat(close, 5'000);
    EXPECT_NE(Timed("5", "\\boxed{" + shorter + "}").outcome, Outcome::kEqual);
  }
}

TEST(MathLimits, HugeAnswers) {
  EXPECT_NE(Timed("5", "\\boxed{" + std::string(10'000'000, '7') + "}").outcome, Outcome::kEqual);
  EXPECT_NE(Timed("5", std::string(10'000'000, 'x')).outcome, Outcome::kEqual);
  EXPECT_NE(Timed("5", Repeat("the answer is ", 700'000)).outcome, Outcome::kEqual);
  EXPECT_NE(Timed("5", Repeat("\\boxed{", 1'000'000)).outcome, Outcome::kEqual);
  EXPECT_NE(Timed("5", Repeat("$ ", 1'000'000)).outcome, Outcome::kEqual);
  EXPECT_NE(Timed("5", Repeat("#### ", 1'000'000)).outcome, Outcome::kEqual);
  EXPECT_NE(Timed("5", Repeat("<answer>", 1'000'000)).outcome, Outcome::kEqual);
  EXPECT_NE(Timed("5", Repeat("a1 ", 1'000'000)).outcome, Outcome::kEqual);
  EXPECT_NE(Timed("A", Repeat("b ", 1'000'000)).outcome, Outcome::kEqual);
}

TEST(MathLimits, ManyParts) {
  EXPECT_NE(Timed("5", "\\boxed{" + Repeat("\\frac{1}{2}+", 100'000) + "1}").outcome, Outcome::kEqual);
  EXPECT_NE(Timed("5", "\\boxed{" + Repeat("\\text{", 5'000) + "}").outcome, Outcome::kEqual);
  EXPECT_NE(Timed("5", "\\boxed{" + Repeat("\\begin{", 8'000) + "}").outcome, Outcome::kEqual);
  EXPECT_NE(Timed("5", "\\boxed{" + Repeat("\\\\[", 8'000) + "}").outcome, Outcome::kEqual);
  EXPECT_NE(Timed("1,2,3", "\\boxed{" + Repeat("\\sqrt{2},", 3'000) + "1}").outcome, Outcome::kEqual);
  EXPECT_NE(Timed("5", "\\boxed{9" + Repeat("!", 4'000) + "}").outcome, Outcome::kEqual);
  EXPECT_NE(Timed("5", "\\boxed{1" + Repeat("/1", 4'000) + "}").outcome, Outcome::kEqual);
  EXPECT_NE(Timed("5", "\\boxed{2" + Repeat("^2", 4'000) + "}").outcome, Outcome::kEqual);
  EXPECT_NE(Timed("5", "\\boxed{x" + Repeat("\\pm 1", 2'000) + "}").outcome, Outcome::kEqual);
  EXPECT_NE(Timed("5", "\\boxed{(0,1)" + Repeat("\\cup(0,1)", 1'000) + "}").outcome, Outcome::kEqual);
  EXPECT_EQ(Timed("3000", "\\boxed{1" + Repeat("+1", 2'999) + "}").outcome, Outcome::kEqual);
}

TEST(MathLimits, LargeSetsOfInexactElements) {
  std::string roots, reversed, other, tuples, reversed_tuples, polynomials, reversed_polynomials;
  for (int i = 0; i < 200; ++i) {
    const auto item = [](std::string* out, const std::string& piece) { *out += (out->empty() ? "" : ", ") + piece; };
    const std::string up = std::to_string(1002 + i), down = std::to_string(1201 - i);
    item(&roots, "\\sqrt{" + up + "}");
    item(&reversed, "\\sqrt{" + down + "}");
    item(&other, "\\sqrt{" + std::to_string(3002 + i) + "}");
    item(&tuples, "(" + up + ",\\sqrt{" + up + "})");
    item(&reversed_tuples, "(" + down + ",\\sqrt{" + down + "})");
    item(&polynomials, "x^2+" + up + "x");
    item(&reversed_polynomials, "x^2+" + down + "x");
  }
  EXPECT_EQ(Timed(roots, "\\boxed{" + reversed + "}").outcome, Outcome::kEqual);
  EXPECT_EQ(Timed(roots, "\\boxed{" + other + "}").outcome, Outcome::kDifferent);
  EXPECT_EQ(Timed(tuples, "\\boxed{" + reversed_tuples + "}").outcome, Outcome::kEqual);
  Timed(polynomials, "\\boxed{" + reversed_polynomials + "}");
  Timed(Repeat("(0,1)\\cup", 60) + "(2,3)", "\\boxed{" + Repeat("(2,3)\\cup", 60) + "(0,1)}");
  Timed("5", "\\boxed{" + Repeat("(x+1)", 2'000) + "}");
  Timed("x", "\\boxed{" + Repeat("(x+1)", 2'000) + "}");
  Timed("x", "\\boxed{" + Repeat("\\sin(", 190) + "x" + Repeat(")", 190) + "}");
}

TEST(MathLimits, HugeNumbers) {
  for (const char* answer : {"10^{10^{10}}", "9!!!!", "9**9**9**9", "2003^{2002^{2001}}", "10^{10^{10^{10}}}", "(10^{10})!", "e^{e^{e^{e^{e}}}}", "\\sin(10^{10^{10}})",
                             "\\binom{10^{10}}{10^5}", "\\sum_{k=1}^{10^{10}} k", "\\prod_{k=1}^{10^9} k", "\\int_0^{10^{10}} \\sin(x^{100}) dx", "7^{7^{7^7}}-7^{7^{7^7}}", "1e999999999", "10^{-10^{10}}",
                             "\\sqrt[10^{10}]{2}", "\\log_{2^5}(\\log_{2^5}(\\log_{2^5}(2^{2^{100}})))", "\\frac{5^{(5^{(5^{(5^5)})}-4)}-5}{16}", "x^{10^{10}}-x^{10^{10}}+5x", "\\lfloor 10^{10^{10}}/3\\rfloor"}) {
    EXPECT_NE(Timed("5", std::string("\\boxed{") + answer + "}").outcome, Outcome::kEqual) << answer;
    Timed(answer, "\\boxed{5}");
    Timed(answer, std::string("\\boxed{") + answer + "+1}");
  }
  EXPECT_EQ(Timed("10^{10^{10}}", "\\boxed{10^{10^{10}}}").outcome, Outcome::kEqual);
}

TEST(MathLimits, LimitOfThePredictionScoresZeroAndLimitOfTheGoldIsUnscorable) {
  const std::string deep = Repeat("(", 3'000) + "1" + Repeat(")", 3'000);
  const MathVerdict prediction = Verify("5", "\\boxed{" + deep + "}");
  EXPECT_EQ(prediction.outcome, Outcome::kLimit);
  EXPECT_TRUE(prediction.scored());
  EXPECT_EQ(prediction.score, 0);
  EXPECT_EQ(prediction.reason.substr(0, 6), "limit_");
  const MathVerdict gold = Verify(deep, "\\boxed{5}");
  EXPECT_EQ(gold.outcome, Outcome::kBadGold);
  EXPECT_FALSE(gold.scored());
}

TEST(MathLimits, MemoryStaysBounded) {
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  const std::string long_answer = "\\boxed{" + Repeat("\\frac{1}{2},", 5'000) + "1}";
  for (int i = 0; i < 50; ++i) Verify("1,2,3", long_answer);
  getrusage(RUSAGE_SELF, &after);
#if !REWARDLOOP_SANITIZED
  EXPECT_LE(after.ru_maxrss - before.ru_maxrss, 64 * 1024);  // KiB
#endif
}

}  // namespace
}  // namespace rewardloop::math
