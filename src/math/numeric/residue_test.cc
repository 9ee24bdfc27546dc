#include "math/numeric/residue.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rewardloop::math {
namespace {

TEST(Residue, PrimesFactorAsClaimed) {
  // 2^61-2 and 2^61-12952 are smooth; Fermat's test with the full factorisation proves both primes
  // (Lucas).
  constexpr uint64_t kFactors[2][14] = {{2, 3, 5, 7, 11, 13, 31, 41, 61, 151, 331, 1321},
                                        {2, 5, 7, 17, 109, 227, 353, 1063, 2087}};
  for (int lane = 0; lane < 2; ++lane) {
    const uint64_t p = kPrimes[lane];
    uint64_t rest = p - 1;
    for (uint64_t f : kFactors[lane]) {
      while (f != 0 && rest % f == 0) rest /= f;
    }
    EXPECT_EQ(rest, 1u);
    // Some g has order p - 1 exactly.
    uint64_t g = 2;
    for (bool generator = false; !generator; ++g) {
      ASSERT_LT(g, 1000u);
      generator = PowModU64(g, p - 1, p) == 1;
      for (uint64_t f : kFactors[lane]) {
        if (f != 0 && PowModU64(g, (p - 1) / f, p) == 1) generator = false;
      }
    }
  }
}

TEST(Residue, Carmichael) {
  EXPECT_EQ(Carmichael(1), 1u);
  EXPECT_EQ(Carmichael(8), 2u);
  EXPECT_EQ(Carmichael(10), 4u);
  EXPECT_EQ(Carmichael(561), 80u);
  EXPECT_EQ(Carmichael(1000), 100u);
  EXPECT_EQ(Carmichael(kPrimes[0]), kPrimes[0] - 1);
  EXPECT_EQ(Carmichael(kPrimes[0] - 1), 6600u);
}

TEST(Residue, ReducesTheLargestProduct) {
  using F = Field<0>;
  using G = Field<1>;
  EXPECT_EQ(F::Mul(F::kP - 1, F::kP - 1), 1u);
  EXPECT_EQ(G::Mul(G::kP - 1, G::kP - 1), 1u);
  EXPECT_EQ(G::FromU64(~uint64_t{0}), ~uint64_t{0} % G::kP);
  EXPECT_EQ(F::FromU64(~uint64_t{0}), ~uint64_t{0} % F::kP);
  EXPECT_EQ(F::Pow(3, F::kP - 1), 1u);
  EXPECT_EQ(G::Pow(3, G::kP - 1), 1u);
}

TEST(Residue, FactorialTableAgreesWithMultiplication) {
  uint64_t a = 1, b = 1;
  for (uint64_t n = 1; n <= static_cast<uint64_t>(kResidueFactorialMax); ++n) {
    a = static_cast<unsigned __int128>(a) * n % kPrimes[0];
    b = static_cast<unsigned __int128>(b) * n % kPrimes[1];
    if (n % 50'000 == 7 || n % kFactorialStride <= 1) {
      const Residue r = FactorialResidue(static_cast<int64_t>(n));
      ASSERT_EQ(r.num[0], a) << n;
      ASSERT_EQ(r.num[1], b) << n;
    }
  }
  const Residue six = FactorialResidue(3);
  EXPECT_EQ(six.num[0], 6u);
}

RC_GTEST_PROP(ResidueProperty, MultipliesLikeTheDefinition, (uint64_t a, uint64_t b)) {
  const auto check = [&](auto field) {
    using F = decltype(field);
    const uint64_t x = a % F::kP, y = b % F::kP;
    RC_ASSERT(F::Mul(x, y) == static_cast<uint64_t>(static_cast<unsigned __int128>(x) * y % F::kP));
    RC_ASSERT(F::Add(x, y) == (x + y) % F::kP);
    RC_ASSERT(F::Add(F::Sub(x, y), y) == x);
  };
  check(Field<0>{});
  check(Field<1>{});
}

RC_GTEST_PROP(ResidueProperty, FractionsAddLikeRationals,
              (int32_t a, int32_t b, int32_t c, int32_t d)) {
  RC_PRE(b != 0 && d != 0);
  const auto frac = [](int64_t n, int64_t m) {
    return Residue::Integer(n) * Residue::Integer(m).Inverted();
  };
  // a/b + c/d - (ad + cb)/(bd) = 0; the 64-bit products fit.
  const Residue sum = frac(a, b) + frac(c, d);
  const Residue bd = Residue::Integer(b) * Residue::Integer(d);
  const Residue direct = (Residue::Integer(int64_t{a}) * Residue::Integer(d) +
                          Residue::Integer(int64_t{c}) * Residue::Integer(b)) *
                         bd.Inverted();
  RC_ASSERT((sum - direct).IsZero());
  uint64_t x[2], y[2];
  sum.Normal(x);
  direct.Normal(y);
  RC_ASSERT(x[0] == y[0] && x[1] == y[1]);
}

}  // namespace
}  // namespace rewardloop::math
