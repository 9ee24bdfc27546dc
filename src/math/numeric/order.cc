// Order, rounding and tolerances of closed reals.
#include "math/numeric/closed.h"
#include "math/numeric/exact_eval.h"
#include "math/numeric/lazy_integer.h"
#include "math/numeric/numeric.h"
#include "math/numeric/tree.h"

namespace rewardloop::math {
namespace {

// +1 / -1 for a bare infinity, 0 otherwise.
int InfinitySign(const Expr* e) {
  int sign = 1;
  while (e->kind == Kind::kNeg) {
    sign = -sign;
    e = e->child[0];
  }
  return e->kind == Kind::kConstant && e->fn == Function::kInfinity ? sign : 0;
}

Order FromSign(int sign) {
  return sign < 0 ? Order::kLess : sign > 0 ? Order::kGreater : Order::kEqual;
}

bool IsClosed(const Expr* e) { return FreeSymbols(e).empty(); }

// x <= bound?
Equality AtMost(const Expr* x, const Rational& bound, const NumericOptions& options, Fuel& fuel) {
  const NumberTree tree(bound);
  switch (CompareOrder(x, tree.get(), options, fuel)) {
    case Order::kLess:
    case Order::kEqual:
      return Equality::kEqual;
    case Order::kGreater:
      return Equality::kDifferent;
    case Order::kUnknown:
      break;
  }
  return fuel.empty() ? Equality::kLimit : Equality::kUnknown;
}

Equality AtLeast(const Expr* x, const Rational& bound, const NumericOptions& options, Fuel& fuel) {
  const StackExpr negated(Kind::kNeg, x);
  return AtMost(&negated.node, Neg(bound), options, fuel);
}

// 10^-digits
bool Unit(int digits, Fuel& fuel, Rational* out) {
  return PowInt(Rational(10), -static_cast<int64_t>(digits), fuel, out);
}

}  // namespace

Order CompareOrder(const Expr* a, const Expr* b, const NumericOptions& options, Fuel& fuel) {
  const int ia = InfinitySign(a), ib = InfinitySign(b);
  if (ia != 0 || ib != 0) {
    // Whatever else the other side is, it has to be a real number.
    if (ia != 0 && ib != 0) return FromSign(ia - ib);
    const Expr* finite = ia != 0 ? b : a;
    if (!IsClosed(finite)) return Order::kUnknown;
    Rational value;
    const ExactStatus status = EvaluateExact(finite, {options, fuel}, nullptr, &value);
    if (status != ExactStatus::kOk && status != ExactStatus::kTooBig) {
      Ball x;
      BallInfo info;
      const BallStatus ball = EvaluateBall(finite, {options, fuel, 128}, nullptr, &x, &info);
      if (ball != BallStatus::kOk || !x.IsReal()) return Order::kUnknown;
    }
    return FromSign(ia != 0 ? ia : -ib);
  }
  const ExactContext exact{options, fuel};
  Rational x, y;
  const ExactStatus sa = EvaluateExact(a, exact, nullptr, &x);
  const ExactStatus sb = EvaluateExact(b, exact, nullptr, &y);
  if (sa == ExactStatus::kOk && sb == ExactStatus::kOk) return FromSign(Rational::Compare(x, y));
  if (fuel.empty() || sa == ExactStatus::kUndefined || sb == ExactStatus::kUndefined)
    return Order::kUnknown;
  TreeFacts facts;
  CollectFacts(a, &facts);
  CollectFacts(b, &facts);
  if (facts.unscalar || facts.infinity || !IsClosed(a) || !IsClosed(b)) return Order::kUnknown;
  // Equality first: balls of equal numbers would climb the whole ladder.
  const int quick = BallSign(a, b, !facts.imaginary, kPrecisionMin * 2, options, fuel);
  if (quick != 0) return FromSign(quick);
  const NumericResult same = Compare(a, b, options, fuel);
  if (same.equality == Equality::kEqual) return Order::kEqual;
  if (same.equality != Equality::kDifferent) return Order::kUnknown;
  const int sign = BallSign(a, b, !facts.imaginary, kPrecisionMax, options, fuel);
  return sign == 0 ? Order::kUnknown : FromSign(sign);
}

Equality RoundsTo(const Expr* exact, const Rational& decimal, int fraction_digits,
                  const NumericOptions& options, Fuel& fuel) {
  Rational unit;
  if (!Unit(fraction_digits, fuel, &unit) || !Div(unit, Rational(2), fuel, &unit))
    return Equality::kUnknown;
  return WithinTolerance(exact, NumberTree(decimal).get(), unit, options, fuel);
}

Equality TruncatesTo(const Expr* exact, const Rational& decimal, int fraction_digits,
                     const NumericOptions& options, Fuel& fuel) {
  // decimal <= exact < decimal + unit for a positive number, mirrored for a negative one.
  Rational unit, top;
  if (!Unit(fraction_digits, fuel, &unit)) return Equality::kUnknown;
  if (decimal.sign() < 0) {
    const StackExpr negated(Kind::kNeg, exact);
    return TruncatesTo(&negated.node, Neg(decimal), fraction_digits, options, fuel);
  }
  if (!Add(decimal, unit, fuel, &top)) return Equality::kUnknown;
  const NumberTree low(decimal), high(top);
  const Order at_low = CompareOrder(exact, low.get(), options, fuel);
  if (at_low == Order::kUnknown) return fuel.empty() ? Equality::kLimit : Equality::kUnknown;
  if (at_low == Order::kLess) return Equality::kDifferent;
  const Order at_high = CompareOrder(exact, high.get(), options, fuel);
  if (at_high == Order::kUnknown) return fuel.empty() ? Equality::kLimit : Equality::kUnknown;
  return at_high == Order::kLess ? Equality::kEqual : Equality::kDifferent;
}

Equality WithinTolerance(const Expr* a, const Expr* b, const Rational& tolerance,
                         const NumericOptions& options, Fuel& fuel) {
  Rational x, y, gap;
  const ExactContext exact{options, fuel};
  if (EvaluateExact(a, exact, nullptr, &x) == ExactStatus::kOk &&
      EvaluateExact(b, exact, nullptr, &y) == ExactStatus::kOk && Sub(x, y, fuel, &gap)) {
    return Rational::Compare(Abs(gap), tolerance) <= 0 ? Equality::kEqual : Equality::kDifferent;
  }
  const StackExpr negated(Kind::kNeg, b);
  const StackExpr difference(Kind::kAdd, a, &negated.node);
  TreeFacts facts;
  CollectFacts(&difference.node, &facts);
  if (!facts.imaginary) {
    const Equality high = AtMost(&difference.node, tolerance, options, fuel);
    return high == Equality::kEqual ? AtLeast(&difference.node, Neg(tolerance), options, fuel)
                                    : high;
  }
  StackExpr modulus(Kind::kFunction, &difference.node);
  modulus.node.fn = Function::kAbs;
  return AtMost(&modulus.node, tolerance, options, fuel);
}

Equality WithinRelative(const Expr* a, const Expr* b, const Rational& tolerance,
                        const NumericOptions& options, Fuel& fuel) {
  // |a - b| <= t |b| is |a - b| - t |b| <= 0.
  const NumberTree t(tolerance);
  const StackExpr negated(Kind::kNeg, b);
  const StackExpr difference(Kind::kAdd, a, &negated.node);
  StackExpr gap(Kind::kFunction, &difference.node), size(Kind::kFunction, b);
  gap.node.fn = size.node.fn = Function::kAbs;
  const StackExpr allowed(Kind::kMul, t.get(), &size.node);
  switch (CompareOrder(&gap.node, &allowed.node, options, fuel)) {
    case Order::kLess:
    case Order::kEqual:
      return Equality::kEqual;
    case Order::kGreater:
      return Equality::kDifferent;
    case Order::kUnknown:
      break;
  }
  return fuel.empty() ? Equality::kLimit : Equality::kUnknown;
}

std::optional<Rational> EvaluateRational(const Expr* e, Fuel& fuel, const NumericOptions& options) {
  Rational value;
  if (EvaluateExact(e, {options, fuel}, nullptr, &value) != ExactStatus::kOk) return std::nullopt;
  return value;
}

std::optional<uint64_t> ValueKey(const Expr* e, Fuel& fuel, const NumericOptions& options) {
  const std::optional<Rational> value = EvaluateRational(e, fuel, options);
  if (!value) return std::nullopt;
  return value->Hash();
}

bool ApproximateForDisplay(const Expr* e, const NumericOptions& options, Fuel& fuel, double* re,
                           double* im) {
  Ball x;
  BallInfo info;
  TreeFacts facts;
  CollectFacts(e, &facts);
  if (EvaluateBall(e, {options, fuel, 128, !facts.imaginary}, nullptr, &x, &info) !=
      BallStatus::kOk)
    return false;
  if (UpperExponent(x.re()) > 1000 || UpperExponent(x.im()) > 1000) return false;
  *re = arf_get_d(arb_midref(x.re()), ARF_RND_NEAR);
  *im = arf_get_d(arb_midref(x.im()), ARF_RND_NEAR);
  return true;
}

}  // namespace rewardloop::math
