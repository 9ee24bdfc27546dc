#include "math/numeric/closed.h"

#include <algorithm>

#include "math/numeric/lazy_integer.h"
#include "math/numeric/separation.h"

namespace rewardloop::math {
namespace {

// Agreement asked of numbers that no bound covers, on top of what the literals and the intermediate
// scales call for.
constexpr int64_t kAgreementBits = 256;
// Quadrature pays for every bit; what literals call for is added all the same.
constexpr int64_t kIntegralAgreementBits = 80;

// How many bits below `scale` the radius of the difference is, given that it contains zero.
int64_t AgreementBits(const Ball& difference, const Ball& a, const Ball& b) {
  const auto radius = [](arb_srcptr x) {
    mag_t m;
    mag_init(m);
    arb_get_mag(m, x);
    int64_t e = -kScaleMax;
    if (!mag_is_zero(m))
      e = COEFF_IS_MPZ(*MAG_EXPREF(m)) ? (fmpz_sgn(MAG_EXPREF(m)) > 0 ? kScaleMax : -kScaleMax)
                                       : *MAG_EXPREF(m);
    mag_clear(m);
    return e;
  };
  int64_t error = std::max(radius(difference.re()), radius(difference.im()));
  // Relative to the larger value where it is known not to be zero, absolute otherwise.
  int64_t scale = 0;
  if (!a.ContainsZero() && !b.ContainsZero()) {
    const int64_t top = std::max(UpperExponent(a.re()), UpperExponent(a.im()));
    if (top > -kScaleMax && top < kScaleMax) scale = top;
  }
  return scale - error;
}

// One side is undefined: that differs from a value, and from nothing else.
Equality OneUndefined(BallStatus a, BallStatus b) {
  return a == BallStatus::kOk || b == BallStatus::kOk ? Equality::kDifferent : Equality::kUnknown;
}

}  // namespace

NumericResult CompareClosed(const Expr* a, const Expr* b, bool odd_real_roots,
                            const NumericOptions& options, Fuel& fuel) {
  std::optional<int64_t> separation;
  bool asked_separation = false;
  TreeFacts facts;
  CollectFacts(a, &facts);
  CollectFacts(b, &facts);
  for (slong prec = kPrecisionMin; prec <= kPrecisionMax; prec *= 2) {
    const BallContext context{options, fuel, prec, odd_real_roots};
    Ball x, y;
    BallInfo info;
    const BallStatus sx = EvaluateBall(a, context, nullptr, &x, &info);
    const BallStatus sy =
        sx == BallStatus::kFuel ? sx : EvaluateBall(b, context, nullptr, &y, &info);
    if (sx == BallStatus::kFuel || sy == BallStatus::kFuel)
      return {Equality::kLimit, Method::kBall};
    if (sx == BallStatus::kUndefined || sy == BallStatus::kUndefined)
      return {OneUndefined(sx, sy), Method::kUndefined};
    if (sx == BallStatus::kUnsupported || sy == BallStatus::kUnsupported)
      return {Equality::kUnknown, Method::kBall};
    if (sx == BallStatus::kUndecided || sy == BallStatus::kUndecided) {
      if (prec >= 1024)
        return {Equality::kUnknown, Method::kBall};  // a pole or a jump, exactly hit
      continue;
    }
    Ball difference;
    acb_sub(difference.get(), x.get(), y.get(), prec);
    if (!difference.IsFinite()) return {Equality::kUnknown, Method::kBall};
    if (!difference.ContainsZero()) return {Equality::kDifferent, Method::kBall};
    if (prec < 128) continue;
    if (!asked_separation) {
      asked_separation = true;
      separation = SeparationBits(a, b, {options, fuel, odd_real_roots});
      if (fuel.empty()) return {Equality::kLimit, Method::kBall};
    }
    const int64_t error = -std::max(UpperExponent(difference.re()), UpperExponent(difference.im()));
    if (separation && error >= *separation) return {Equality::kEqual, Method::kSeparation};
    const int64_t literal = facts.integral ? kIntegralAgreementBits + facts.literal_bits
                                           : kAgreementBits + 4 * facts.literal_bits;
    const int64_t needed = literal + 2 * std::min(kScaleMax / 4, info.scale_bits);
    if (AgreementBits(difference, x, y) >= needed) return {Equality::kEqual, Method::kBall};
    // Straight to the precision that can decide.
    const int64_t target = std::min(needed, separation.value_or(needed)) + 64;
    if (target > 2 * kPrecisionMax) return {Equality::kUnknown, Method::kBall};
    while (prec * 2 < target && prec * 2 < kPrecisionMax) prec *= 2;
  }
  return {Equality::kUnknown, Method::kBall};
}

int BallSign(const Expr* a, const Expr* b, bool odd_real_roots, slong prec_max,
             const NumericOptions& options, Fuel& fuel) {
  for (slong prec = kPrecisionMin; prec <= prec_max; prec *= 2) {
    const BallContext context{options, fuel, prec, odd_real_roots};
    Ball x, y;
    BallInfo info;
    const BallStatus sx = EvaluateBall(a, context, nullptr, &x, &info);
    const BallStatus sy = EvaluateBall(b, context, nullptr, &y, &info);
    if (sx == BallStatus::kUndecided || sy == BallStatus::kUndecided) continue;
    if (sx != BallStatus::kOk || sy != BallStatus::kOk) return 0;
    acb_sub(x.get(), x.get(), y.get(), prec);
    if (!arb_contains_zero(x.im())) return 0;
    if (x.IsReal() && arb_is_positive(x.re())) return 1;
    if (x.IsReal() && arb_is_negative(x.re())) return -1;
  }
  return 0;
}

// Same residues: equal unless the moduli are divisors of the difference. Magnitudes, or the
// exponents of equal bases, must agree as well before that is believed.
NumericResult CompareHuge(const Expr* a, const Expr* b, const NumericOptions& options, Fuel& fuel,
                          int depth) {
  if (SameTree(a, b)) return {Equality::kEqual, Method::kStructure};
  if (depth < 16 && a->kind == Kind::kPow && b->kind == Kind::kPow) {
    // b1^e1 = b2^e2 with b2 = b1^r: the exponents decide.
    const ExactContext exact{options, fuel};
    Rational base_a, base_b, r;
    if (EvaluateExact(a->child[0], exact, nullptr, &base_a) == ExactStatus::kOk &&
        EvaluateExact(b->child[0], exact, nullptr, &base_b) == ExactStatus::kOk &&
        base_a.sign() > 0 && base_b.sign() > 0 && !base_a.is_one() && !base_b.is_one() &&
        ExactLog(base_a, base_b, fuel, &r) == ExactStatus::kOk) {
      const NumberTree factor(r);
      const StackExpr exponent(Kind::kMul, factor.get(), b->child[1]);
      const Expr* other = r.is_one() ? b->child[1] : &exponent.node;
      return {Compare(a->child[1], other, options, fuel).equality, Method::kLazyPower};
    }
  }
  const BallContext context{options, fuel, 512};
  Ball x, y;
  BallInfo info;
  if (EvaluateBall(a, context, nullptr, &x, &info) != BallStatus::kOk ||
      EvaluateBall(b, context, nullptr, &y, &info) != BallStatus::kOk) {
    return {fuel.empty() ? Equality::kLimit : Equality::kUnknown, Method::kLazyPower};
  }
  if (!acb_overlaps(x.get(), y.get())) return {Equality::kDifferent, Method::kBall};
  constexpr slong kAccurateBits = 96;
  if (acb_rel_accuracy_bits(x.get()) < kAccurateBits ||
      acb_rel_accuracy_bits(y.get()) < kAccurateBits) {
    return {Equality::kUnknown, Method::kLazyPower};
  }
  return {Equality::kEqual, Method::kLazyPower};
}

}  // namespace rewardloop::math
