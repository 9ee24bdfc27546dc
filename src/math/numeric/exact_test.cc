#include "math/numeric/exact.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rewardloop::math {
namespace {

Rational Read(std::string_view text, int base = 10, int64_t exponent = 0) {
  Fuel fuel;
  Rational r;
  EXPECT_TRUE(ParseNumber(text, base, exponent, fuel, &r)) << text;
  return r;
}

TEST(Rational, ReadsNumbers) {
  EXPECT_EQ(Read("0").ToString(), "0");
  EXPECT_EQ(Read("12.50").ToString(), "25/2");
  EXPECT_EQ(Read(".5").ToString(), "1/2");
  EXPECT_EQ(Read("3.").ToString(), "3");
  EXPECT_EQ(Read("1011", 2).ToString(), "11");
  EXPECT_EQ(Read("zZ", 36).ToString(), "1295");
  EXPECT_EQ(Read("0.1", 2).ToString(), "1/2");
  EXPECT_EQ(Read("9223372036854775808").ToString(), "9223372036854775808");
  EXPECT_EQ(Read("123456789012345678901234567890").ToString(), "123456789012345678901234567890");
  EXPECT_EQ(Read("5", 10, -3).ToString(), "1/200");
  EXPECT_EQ(Read("5", 10, 30).ToString(), "5" + std::string(30, '0'));
  Fuel fuel;
  Rational r;
  for (std::string_view bad : {"", ".", "1.2.3", "-1", " 1", "1e5", "12a", "1_0", "+1"}) {
    EXPECT_FALSE(ParseNumber(bad, 10, 0, fuel, &r)) << bad;
  }
  EXPECT_FALSE(ParseNumber("2", 2, 0, fuel, &r));
  EXPECT_FALSE(ParseNumber("1", 10, 1'000'000, fuel, &r));  // 3.3 million bits
  EXPECT_FALSE(fuel.empty());
}

TEST(Rational, StaysInLowestTermsAcrossTheSmallBorder) {
  Fuel fuel;
  Rational big, r;
  ASSERT_TRUE(PowInt(Rational(2), 63, fuel, &big));
  EXPECT_FALSE(big.is_small());
  EXPECT_EQ(big.ToString(), "9223372036854775808");
  ASSERT_TRUE(Sub(big, Rational(1), fuel, &r));
  EXPECT_TRUE(r.is_small());
  EXPECT_EQ(r, Rational(INT64_MAX));
  ASSERT_TRUE(Neg(big).ToString() == "-9223372036854775808");
  ASSERT_TRUE(Div(big, big, fuel, &r));
  EXPECT_TRUE(r.is_one());
  EXPECT_EQ(Rational::Of(INT64_MIN, 2).ToString(), "-4611686018427387904");
  EXPECT_EQ(Rational::Of(INT64_MIN, -1).ToString(), "9223372036854775808");
  EXPECT_EQ(Rational::Of(6, -4).ToString(), "-3/2");
}

TEST(Rational, RefusesWhatIsTooLargeBeforeComputing) {
  Fuel fuel;
  Rational r;
  EXPECT_TRUE(PowInt(Rational(2), kExactBitsMax - 1, fuel, &r));
  EXPECT_EQ(r.bits(), kExactBitsMax);
  const int64_t used = fuel.used();
  EXPECT_FALSE(PowInt(Rational(10), 10'000'000'000, fuel, &r));
  EXPECT_FALSE(PowInt(Rational(3), INT64_MIN, fuel, &r));
  EXPECT_FALSE(PowInt(Rational::Of(1, 2), kExactBitsMax + 1, fuel, &r));
  EXPECT_FALSE(Factorial(kExactFactorialMax + 1, fuel, &r));
  EXPECT_FALSE(Binomial(Read("1" + std::string(40, '0')), 100'000, fuel, &r));
  EXPECT_LT(fuel.used() - used, 1000);
  EXPECT_TRUE(PowInt(Rational(1), INT64_MAX, fuel, &r) && r.is_one());
  EXPECT_TRUE(PowInt(Rational(-1), INT64_MAX, fuel, &r) && r == Rational(-1));
}

TEST(Rational, SpendsFuelOnBigWork) {
  Fuel fuel(20'000);
  Rational r(3);
  int steps = 0;
  while (steps < 40 && Mul(r, r, fuel, &r)) ++steps;
  EXPECT_LT(steps, 20);
}

TEST(Rational, Functions) {
  Fuel fuel;
  Rational r;
  EXPECT_EQ(Floor(Rational::Of(-7, 2)), Rational(-4));
  EXPECT_EQ(Ceil(Rational::Of(-7, 2)), Rational(-3));
  EXPECT_EQ(Round(Rational::Of(5, 2)), Rational(3));
  EXPECT_EQ(Round(Rational::Of(-5, 2)), Rational(-3));
  EXPECT_EQ(Round(Rational::Of(12, 5)), Rational(2));
  ASSERT_TRUE(ExactRoot(Rational::Of(-8, 27), 3, fuel, &r));
  EXPECT_EQ(r, Rational::Of(-2, 3));
  EXPECT_FALSE(ExactRoot(Rational(2), 2, fuel, &r));
  EXPECT_FALSE(ExactRoot(Rational(-4), 2, fuel, &r));
  ASSERT_TRUE(Factorial(25, fuel, &r));
  EXPECT_EQ(r.ToString(), "15511210043330985984000000");
  ASSERT_TRUE(DoubleFactorial(9, fuel, &r));
  EXPECT_EQ(r, Rational(945));
  ASSERT_TRUE(Binomial(Rational(100), 98, fuel, &r));
  EXPECT_EQ(r, Rational(4950));
  ASSERT_TRUE(Binomial(Rational(-2), 3, fuel, &r));  // (-2)(-3)(-4)/6
  EXPECT_EQ(r, Rational(-4));
  ASSERT_TRUE(Mod(Rational(-7), Rational(3), fuel, &r));
  EXPECT_EQ(r, Rational(2));
  ASSERT_TRUE(Gcd(Rational(84), Rational(-36), fuel, &r));
  EXPECT_EQ(r, Rational(12));
  ASSERT_TRUE(Lcm(Rational(4), Rational(6), fuel, &r));
  EXPECT_EQ(r, Rational(12));
  ASSERT_TRUE(PowMod(Rational(7), Read("1" + std::string(50, '0')), Rational(10), fuel, &r));
  EXPECT_EQ(r, Rational(1));  // 7^4 = 1 mod 10
}

// Small and big arithmetic agree: a*K op b*K over K^2 style detours through GMP give the same
// canonical value.
RC_GTEST_PROP(RationalProperty, FieldLaws, (int64_t an, int64_t bn, int64_t cn)) {
  Fuel fuel(1'000'000'000);
  const auto value = [](int64_t n) { return Rational::Of(n, (n & 0xFFFF) + 1); };
  const Rational a = value(an), b = value(bn), c = value(cn);
  Rational l, r, t;
  RC_ASSERT(Add(a, b, fuel, &l) && Add(b, a, fuel, &r));
  RC_ASSERT(l == r);
  RC_ASSERT(l.Hash() == r.Hash());
  RC_ASSERT(Mul(l, c, fuel, &l));  // (a + b) c
  RC_ASSERT(Mul(a, c, fuel, &r) && Mul(b, c, fuel, &t) && Add(r, t, fuel, &r));
  RC_ASSERT(l == r);
  RC_ASSERT(Sub(l, r, fuel, &t) && t.is_zero());
  if (!c.is_zero()) {
    RC_ASSERT(Div(l, c, fuel, &l) && Sub(l, b, fuel, &l));
    RC_ASSERT(l == a);
  }
  RC_ASSERT(Rational::Compare(a, b) == -Rational::Compare(b, a));
  RC_ASSERT(Rational::Compare(Floor(a), a) <= 0);
  RC_ASSERT(Read(Abs(a).Numerator().ToString()) == Abs(a).Numerator());
}

}  // namespace
}  // namespace rewardloop::math
