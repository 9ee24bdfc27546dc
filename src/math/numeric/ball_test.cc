#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "math/numeric/ball_functions.h"
#include "math/numeric/numeric.h"
#include "math/numeric/separation.h"
#include "math/parser.h"

namespace rewardloop::math {
namespace {

// Does fn(num/den) lie within 10^-15 of the given digits (from tables), and is the ball that
// narrow?
void ExpectValue(Function fn, int64_t num, int64_t den, const char* digits) {
  for (slong prec : {64, 256, 1024}) {
    Ball x, y;
    x.Set(Rational::Of(num, den), prec);
    ASSERT_EQ(ApplyFunction(fn, x, prec, &y), BallStatus::kOk) << digits;
    RealBall want, gap;
    ASSERT_EQ(arb_set_str(want, digits, prec), 0);
    arb_sub(gap, want, y.re(), prec);
    arb_abs(gap, gap);
    EXPECT_TRUE(UpperExponent(gap) < -49) << digits;
    EXPECT_TRUE(y.IsReal());
  }
}

TEST(Ball, ElementaryFunctionsAtRationals) {
  ExpectValue(Function::kSin, 1, 1, "0.8414709848078965067");
  ExpectValue(Function::kCos, 1, 1, "0.5403023058681397174");
  ExpectValue(Function::kTan, 1, 1, "1.5574077246549022305");
  ExpectValue(Function::kCot, 1, 1, "0.6420926159343307031");
  ExpectValue(Function::kSec, 1, 1, "1.8508157176809256180");
  ExpectValue(Function::kCsc, 1, 1, "1.1883951057781212163");
  ExpectValue(Function::kArcsin, 1, 2, "0.5235987755982988731");
  ExpectValue(Function::kArccos, -1, 2, "2.0943951023931954923");
  ExpectValue(Function::kArctan, -1, 1, "-0.7853981633974483096");
  ExpectValue(Function::kArccot, -1, 1, "2.3561944901923449288");
  ExpectValue(Function::kArcsec, 2, 1, "1.0471975511965977462");
  ExpectValue(Function::kArccsc, 2, 1, "0.5235987755982988731");
  ExpectValue(Function::kSinh, 1, 1, "1.1752011936438014569");
  ExpectValue(Function::kCosh, 1, 1, "1.5430806348152437785");
  ExpectValue(Function::kTanh, 1, 1, "0.7615941559557648881");
  ExpectValue(Function::kArsinh, 1, 1, "0.8813735870195430253");
  ExpectValue(Function::kArcosh, 2, 1, "1.3169578969248167086");
  ExpectValue(Function::kArtanh, 1, 2, "0.5493061443340548457");
  ExpectValue(Function::kExp, 1, 1, "2.7182818284590452354");
  ExpectValue(Function::kLn, 2, 1, "0.6931471805599453094");
  ExpectValue(Function::kGamma, 1, 2, "1.7724538509055160273");
  ExpectValue(Function::kAbs, -3, 2, "1.5");
  ExpectValue(Function::kSign, -3, 2, "-1");
  ExpectValue(Function::kFloor, -3, 2, "-2");
  ExpectValue(Function::kCeil, -3, 2, "-1");
}

TEST(Ball, PolesAndBranchPoints) {
  Ball x, y;
  x.Set(0);
  EXPECT_EQ(ApplyFunction(Function::kLn, x, 64, &y), BallStatus::kUndefined);
  EXPECT_EQ(ApplyFunction(Function::kCot, x, 64, &y), BallStatus::kUndefined);
  EXPECT_EQ(BallDivide(x, x, 64, &y), BallStatus::kUndefined);
  EXPECT_EQ(BallPowInt(x, 0, 64, &y), BallStatus::kUndefined);
  x.Set(-3);
  EXPECT_EQ(BallFactorial(x, 64, &y), BallStatus::kUndefined);
  ASSERT_EQ(BallLog(x, 64, &y), BallStatus::kOk);  // ln 3 + i pi
  EXPECT_TRUE(y.IsNonReal());
  x.Set(0);
  mag_set_ui_2exp_si(arb_radref(x.re()), 1, -10);  // zero, give or take 2^-10
  EXPECT_EQ(BallDivide(y, x, 64, &y), BallStatus::kUndecided);
  EXPECT_EQ(ApplyFunction(Function::kSign, x, 64, &y), BallStatus::kUndecided);
  EXPECT_EQ(ApplyFunction(Function::kFloor, x, 64, &y), BallStatus::kUndecided);
  ASSERT_EQ(BallRoot(x, 2, false, 64, &y),
            BallStatus::kOk);  // a wide ball that holds both branches
  EXPECT_FALSE(y.IsReal());
  EXPECT_TRUE(y.ContainsZero());
}

TEST(Ball, OddRootsOfNegativeReals) {
  Ball x, y;
  x.Set(-8);
  ASSERT_EQ(BallRoot(x, 3, true, 128, &y), BallStatus::kOk);
  EXPECT_TRUE(y.IsReal());
  EXPECT_TRUE(arb_contains_si(y.re(), -2));
  ASSERT_EQ(BallRoot(x, 3, false, 128, &y), BallStatus::kOk);  // 1 + sqrt(3) i
  EXPECT_TRUE(arb_contains_si(y.re(), 1));
  EXPECT_TRUE(y.IsNonReal());
}

TEST(Separation, BoundsHoldForKnownDistances) {
  Arena arena(1 << 20);
  Fuel fuel;
  const auto parse = [&](std::string_view text) { return Parse(text, {}, &arena).root; };
  const auto bits = [&](std::string_view a, std::string_view b) {
    return SeparationBits(parse(a), parse(b), {NumericOptions{}, fuel});
  };
  // 1/p - 1/q for neighbours is about 2^-40 with these: the bound must not claim less than that is
  // zero.
  EXPECT_GE(bits("\\frac{1}{1048573}", "\\frac{1}{1048571}").value(), 39);
  EXPECT_GE(bits("\\sqrt{1000001}", "1000").value(), 11);       // 5e-4 apart
  EXPECT_GE(bits("\\sqrt2", "\\frac{1393}{985}").value(), 21);  // 3.6e-7 apart
  EXPECT_GE(bits("\\sqrt{10}+\\sqrt{17}", "\\sqrt5+\\sqrt{26}").value(), 5);
  EXPECT_LE(bits("\\sqrt2+\\sqrt3", "\\sqrt{5+2\\sqrt6}").value(), 200);
  EXPECT_TRUE(bits("\\cos 20^\\circ", "\\frac12").has_value());
  EXPECT_TRUE(bits("(1+i)^8", "16").has_value());
  EXPECT_FALSE(bits("\\pi", "3").has_value());
  EXPECT_FALSE(bits("2^{\\sqrt2}", "3").has_value());
  EXPECT_FALSE(bits("\\sqrt[4097]{2}", "1").has_value());  // beyond the degree cap
  // The same radical counts once.
  EXPECT_EQ(bits("\\sqrt2+\\sqrt2", "0"), bits("\\sqrt2+2^{1/2}", "0"));
}

TEST(Separation, MultiplesOfPi) {
  Arena arena(1 << 20);
  Fuel fuel;
  const auto multiple = [&](std::string_view text) {
    const auto r = MultipleOfPi(Parse(text, {}, &arena).root, {NumericOptions{}, fuel});
    return r ? r->ToString() : "none";
  };
  EXPECT_EQ(multiple("\\frac{2\\pi}{7}"), "2/7");
  EXPECT_EQ(multiple("20^\\circ"), "1/9");
  EXPECT_EQ(multiple("-\\pi+\\frac{\\pi}{3}"), "-2/3");
  EXPECT_EQ(multiple("0"), "0");
  EXPECT_EQ(multiple("2\\cdot 3"), "none");
  EXPECT_EQ(multiple("\\pi\\pi"), "none");
  EXPECT_EQ(multiple("\\pi+1"), "none");
}

// Threads share trees and nothing else: every verdict and its fuel are those of a single thread.
TEST(Numeric, SameVerdictsOnSixteenThreads) {
  Arena arena(1 << 20);
  const auto parse = [&](std::string_view text) { return Parse(text, {}, &arena).root; };
  const std::vector<std::pair<const Expr*, const Expr*>> pairs = {
      {parse("\\sqrt2+\\sqrt3"), parse("\\sqrt{5+2\\sqrt6}")},
      {parse("\\sin^2 x+\\cos^2 x"), parse("1")},
      {parse("\\Gamma(\\frac13)\\Gamma(\\frac23)"), parse("\\frac{2\\pi}{\\sqrt3}")},
      {parse("10^{10^{10}}"), parse("10^{10^{10}}+1")},
      {parse("\\pi+10^{-100}"), parse("\\pi")},
      {parse("\\sum_{k=1}^{n} k^2"), parse("\\frac{n(n+1)(2n+1)}{6}")},
  };
  const auto run = [&] {
    std::vector<int64_t> trace;
    for (const auto& [a, b] : pairs) {
      Fuel fuel;
      trace.push_back(static_cast<int64_t>(Compare(a, b, {}, fuel).equality));
      trace.push_back(fuel.used());
    }
    return trace;
  };
  const std::vector<int64_t> alone = run();
  std::vector<std::vector<int64_t>> traces(16);
  std::vector<std::thread> threads;
  for (auto& trace : traces) threads.emplace_back([&trace, &run] { trace = run(); });
  for (std::thread& t : threads) t.join();
  for (const auto& trace : traces) EXPECT_EQ(trace, alone);
}

}  // namespace
}  // namespace rewardloop::math
