#include "math/numeric/exact_eval.h"

#include <algorithm>

#include "math/numeric/lazy_integer.h"

namespace rewardloop::math {
namespace {

ExactStatus Failure(const Fuel& fuel) {
  return fuel.empty() ? ExactStatus::kFuel : ExactStatus::kTooBig;
}
ExactStatus Check(bool ok, const Fuel& fuel) { return ok ? ExactStatus::kOk : Failure(fuel); }

class Evaluator {
 public:
  Evaluator(const ExactContext& context) : context_(context), fuel_(context.fuel) {}  // NOLINT

  ExactStatus Eval(const Expr* e, const Binding* env, Rational* out, int depth);
  ExactStatus Bounds(const Expr* e, const Binding* env, int64_t* lower, int64_t* upper, int depth);
  ExactStatus Power(const Rational& base, const Rational& exponent, bool odd_real_roots,
                    Rational* out);

 private:
  ExactStatus EvalNumber(const Expr* e, Rational* out) {
    return Check(ParseNumber(e->text, 10, e->number, fuel_, out), fuel_);
  }
  ExactStatus EvalQuotientOrPower(const Expr* e, const Binding* env, Rational* out, int depth);
  ExactStatus EvalRoot(const Expr* e, const Binding* env, Rational* out, int depth);
  ExactStatus EvalSumOrProduct(const Expr* e, const Binding* env, Rational* out, int depth);
  ExactStatus EvalFunction(const Expr* e, const Binding* env, Rational* out, int depth);
  ExactStatus EvalUnary(Function fn, const Rational& x, Rational* out);
  ExactStatus EvalHugeMod(const Expr* e, const Binding* env, Rational* out, int depth);
  ExactStatus EvalBinary(Function fn, const Rational& x, const Rational& y, Rational* out);
  ExactStatus EvalMany(const Expr* e, const Binding* env, Rational* out, int depth);
  ExactStatus EvalFactorial(const Rational& x, bool twice, Rational* out);

  const ExactContext& context_;
  Fuel& fuel_;
};

ExactStatus Evaluator::Eval(const Expr* e, const Binding* env, Rational* out, int depth) {
  if (!fuel_.Spend(2)) return ExactStatus::kFuel;
  if (depth > kEvalDepthMax) return ExactStatus::kTooBig;
  switch (e->kind) {
    case Kind::kNumber:
      return EvalNumber(e, out);
    case Kind::kBaseNumber:
      return Check(ParseNumber(e->text, static_cast<int>(e->number), 0, fuel_, out), fuel_);
    case Kind::kSymbol: {
      const Rational* value = FindBinding(env, e->number);
      if (value == nullptr) return ExactStatus::kInexact;
      *out = *value;
      return ExactStatus::kOk;
    }
    case Kind::kNeg: {
      const ExactStatus status = Eval(e->child[0], env, out, depth + 1);
      if (status == ExactStatus::kOk) *out = Neg(*out);
      return status;
    }
    case Kind::kAdd:
    case Kind::kMul: {
      ExactStatus status = Eval(e->child[0], env, out, depth + 1);
      for (uint32_t i = 1; i < e->child_count && status == ExactStatus::kOk; ++i) {
        Rational term;
        status = Eval(e->child[i], env, &term, depth + 1);
        if (status != ExactStatus::kOk) break;
        status =
            Check(e->kind == Kind::kAdd ? Add(*out, term, fuel_, out) : Mul(*out, term, fuel_, out),
                  fuel_);
      }
      return status;
    }
    case Kind::kDiv:
    case Kind::kPow:
      return EvalQuotientOrPower(e, env, out, depth);
    case Kind::kSqrt:
    case Kind::kRoot:
      return EvalRoot(e, env, out, depth);
    case Kind::kFactorial:
    case Kind::kDoubleFactorial: {
      Rational x;
      const ExactStatus status = Eval(e->child[0], env, &x, depth + 1);
      if (status != ExactStatus::kOk) return status;
      return EvalFactorial(x, e->kind == Kind::kDoubleFactorial, out);
    }
    case Kind::kPercent: {
      const ExactStatus status = Eval(e->child[0], env, out, depth + 1);
      if (status != ExactStatus::kOk) return status;
      return Check(Div(*out, Rational(100), fuel_, out), fuel_);
    }
    case Kind::kDegree: {
      const ExactStatus status = Eval(e->child[0], env, out, depth + 1);
      return status == ExactStatus::kOk && !out->is_zero() ? ExactStatus::kInexact : status;
    }
    case Kind::kSum:
    case Kind::kProduct:
      return EvalSumOrProduct(e, env, out, depth);
    case Kind::kFunction:
      return EvalFunction(e, env, out, depth);
    default:
      return ExactStatus::kInexact;
  }
}

ExactStatus Evaluator::EvalQuotientOrPower(const Expr* e, const Binding* env, Rational* out,
                                           int depth) {
  Rational x, y;
  ExactStatus status = Eval(e->child[0], env, &x, depth + 1);
  if (status != ExactStatus::kOk) return status;
  status = Eval(e->child[1], env, &y, depth + 1);
  if (status != ExactStatus::kOk) return status;
  if (e->kind == Kind::kPow) return Power(x, y, context_.odd_real_roots, out);
  if (y.is_zero()) return ExactStatus::kUndefined;
  return Check(Div(x, y, fuel_, out), fuel_);
}

ExactStatus Evaluator::EvalRoot(const Expr* e, const Binding* env, Rational* out, int depth) {
  Rational x, index(2);
  ExactStatus status = Eval(e->child[0], env, &x, depth + 1);
  if (status == ExactStatus::kOk && e->kind == Kind::kRoot)
    status = Eval(e->child[1], env, &index, depth + 1);
  if (status != ExactStatus::kOk) return status;
  if (index.is_zero()) return ExactStatus::kUndefined;
  if (!Div(Rational(1), index, fuel_, &index)) return Failure(fuel_);
  return Power(x, index, /*odd_real_roots=*/true, out);
}

ExactStatus Evaluator::Power(const Rational& base, const Rational& exponent, bool odd_real_roots,
                             Rational* out) {
  if (base.is_zero()) {
    if (exponent.sign() <= 0) return ExactStatus::kUndefined;
    *out = Rational(0);
    return ExactStatus::kOk;
  }
  if (exponent.is_zero() || base.is_one()) {
    *out = Rational(1);
    return ExactStatus::kOk;
  }
  if (exponent.is_integer()) {
    if (base == Rational(-1)) {
      Rational half;
      if (!Mod(exponent, Rational(2), fuel_, &half)) return Failure(fuel_);
      *out = Rational(half.is_zero() ? 1 : -1);
      return ExactStatus::kOk;
    }
    int64_t n;
    if (!exponent.ToInt64(&n)) return ExactStatus::kTooBig;
    return Check(PowInt(base, n, fuel_, out), fuel_);
  }
  int64_t p, q;
  if (!exponent.Denominator().ToInt64(&q)) return ExactStatus::kInexact;
  if (base.sign() < 0 && (q % 2 == 0 || !odd_real_roots)) return ExactStatus::kInexact;
  Rational root;
  if (!ExactRoot(base, q, fuel_, &root))
    return fuel_.empty() ? ExactStatus::kFuel : ExactStatus::kInexact;
  if (!exponent.Numerator().ToInt64(&p)) return ExactStatus::kTooBig;
  return Check(PowInt(root, p, fuel_, out), fuel_);
}

ExactStatus Evaluator::EvalFactorial(const Rational& x, bool twice, Rational* out) {
  if (!x.is_integer()) return ExactStatus::kInexact;
  if (x.sign() < 0 && !(twice && x == Rational(-1))) return ExactStatus::kUndefined;
  int64_t n;
  if (!x.ToInt64(&n)) return ExactStatus::kTooBig;
  return Check(twice ? DoubleFactorial(n, fuel_, out) : Factorial(n, fuel_, out), fuel_);
}

ExactStatus Evaluator::Bounds(const Expr* e, const Binding* env, int64_t* lower, int64_t* upper,
                              int depth) {
  if (e->child_count != 4 || e->child[1]->kind != Kind::kSymbol) return ExactStatus::kInexact;
  Rational low, high;
  ExactStatus status = Eval(e->child[2], env, &low, depth + 1);
  if (status == ExactStatus::kOk) status = Eval(e->child[3], env, &high, depth + 1);
  if (status != ExactStatus::kOk) return status;
  if (!low.is_integer() || !high.is_integer()) return ExactStatus::kInexact;
  if (!low.ToInt64(lower) || !high.ToInt64(upper)) return ExactStatus::kTooBig;
  // Far enough from the ends of the type that an index can step past the upper bound.
  constexpr int64_t kBoundMax = int64_t{1} << 62;
  if (*lower < -kBoundMax || *lower > kBoundMax || *upper < -kBoundMax || *upper > kBoundMax) {
    return ExactStatus::kTooBig;
  }
  int64_t span;
  if (__builtin_sub_overflow(*upper, *lower, &span) || span >= kSumTermsMax)
    return ExactStatus::kTooBig;
  return ExactStatus::kOk;
}

ExactStatus Evaluator::EvalSumOrProduct(const Expr* e, const Binding* env, Rational* out,
                                        int depth) {
  int64_t lower, upper;
  ExactStatus status = Bounds(e, env, &lower, &upper, depth);
  if (status != ExactStatus::kOk) return status;
  const bool sum = e->kind == Kind::kSum;
  *out = Rational(sum ? 0 : 1);
  // Long exact sums grow long denominators; balls add them up for less.
  const int64_t reserve = fuel_.left() / 4 * 3;
  for (int64_t k = lower; k <= upper; ++k) {
    if (fuel_.left() < reserve) return ExactStatus::kTooBig;
    const Rational index(k);
    const Binding binding{e->child[1]->number, &index, env};
    Rational term;
    status = Eval(e->child[0], &binding, &term, depth + 1);
    if (status != ExactStatus::kOk) return status;
    if (!(sum ? Add(*out, term, fuel_, out) : Mul(*out, term, fuel_, out))) return Failure(fuel_);
  }
  return ExactStatus::kOk;
}

ExactStatus Evaluator::EvalUnary(Function fn, const Rational& x, Rational* out) {
  switch (fn) {
    case Function::kAbs:
      *out = Abs(x);
      return ExactStatus::kOk;
    case Function::kFloor:
      *out = Floor(x);
      return ExactStatus::kOk;
    case Function::kCeil:
      *out = Ceil(x);
      return ExactStatus::kOk;
    case Function::kSign:
      *out = Rational(x.sign());
      return ExactStatus::kOk;
    case Function::kRe:
    case Function::kConj:
      *out = x;
      return ExactStatus::kOk;
    case Function::kIm:
      *out = Rational(0);
      return ExactStatus::kOk;
    case Function::kGamma: {
      if (!x.is_integer()) return ExactStatus::kInexact;
      if (x.sign() <= 0) return ExactStatus::kUndefined;
      Rational n;
      if (!Sub(x, Rational(1), fuel_, &n)) return Failure(fuel_);
      return EvalFactorial(n, false, out);
    }
    case Function::kLn:
    case Function::kLog:
      if (x.is_zero()) return ExactStatus::kUndefined;
      if (x.is_one()) {
        *out = Rational(0);
        return ExactStatus::kOk;
      }
      if (fn == Function::kLog && context_.options.log_base10 && x.sign() > 0) {
        return ExactLog(Rational(10), x, fuel_, out);
      }
      return ExactStatus::kInexact;
    case Function::kSin:
    case Function::kTan:
    case Function::kArcsin:
    case Function::kArctan:
    case Function::kSinh:
    case Function::kTanh:
    case Function::kArsinh:
    case Function::kArtanh:
      *out = Rational(0);
      return x.is_zero() ? ExactStatus::kOk : ExactStatus::kInexact;
    case Function::kCos:
    case Function::kSec:
    case Function::kCosh:
    case Function::kSech:
    case Function::kExp:
      *out = Rational(1);
      return x.is_zero() ? ExactStatus::kOk : ExactStatus::kInexact;
    case Function::kCot:
    case Function::kCsc:
    case Function::kCoth:
    case Function::kCsch:
    case Function::kArsech:
    case Function::kArcsch:
    case Function::kArcsec:
    case Function::kArccsc:
      return x.is_zero() ? ExactStatus::kUndefined : ExactStatus::kInexact;
    default:
      return ExactStatus::kInexact;
  }
}

ExactStatus Evaluator::EvalBinary(Function fn, const Rational& x, const Rational& y,
                                  Rational* out) {
  switch (fn) {
    case Function::kLogBase:
      if (x.is_zero() || y.is_zero() || x.is_one()) return ExactStatus::kUndefined;
      if (x.sign() < 0 || y.sign() < 0) return ExactStatus::kInexact;
      return ExactLog(x, y, fuel_, out);
    case Function::kBinomial: {
      if (!y.is_integer() || !x.is_integer()) return ExactStatus::kInexact;
      int64_t k;
      if (!y.ToInt64(&k)) {  // C(n, k) = C(n, n - k) for huge k
        Rational rest;
        if (!Sub(x, y, fuel_, &rest) || !rest.ToInt64(&k)) return Failure(fuel_);
      }
      return Check(Binomial(x, k, fuel_, out), fuel_);
    }
    case Function::kMod:
      if (y.is_zero()) return ExactStatus::kUndefined;
      return Check(Mod(x, y, fuel_, out), fuel_);
    default:
      return ExactStatus::kInexact;
  }
}

ExactStatus Evaluator::EvalMany(const Expr* e, const Binding* env, Rational* out, int depth) {
  ExactStatus status = Eval(e->child[0], env, out, depth + 1);
  const bool gcd = e->fn == Function::kGcd, lcm = e->fn == Function::kLcm;
  if (status == ExactStatus::kOk && (gcd || lcm)) {
    if (!out->is_integer()) return ExactStatus::kInexact;
    *out = Abs(*out);
  }
  for (uint32_t i = 1; i < e->child_count && status == ExactStatus::kOk; ++i) {
    Rational x;
    status = Eval(e->child[i], env, &x, depth + 1);
    if (status != ExactStatus::kOk) return status;
    if (gcd || lcm) {
      if (!x.is_integer()) return ExactStatus::kInexact;
      status = Check(gcd ? Gcd(*out, x, fuel_, out) : Lcm(*out, x, fuel_, out), fuel_);
    } else if ((Rational::Compare(x, *out) > 0) == (e->fn == Function::kMax)) {
      *out = x;
    }
  }
  return status;
}

// a mod m for an `a` that is too large to write down and an m that fits.
ExactStatus Evaluator::EvalHugeMod(const Expr* e, const Binding* env, Rational* out, int depth) {
  Rational modulus;
  const ExactStatus status = Eval(e->child[1], env, &modulus, depth + 1);
  if (status != ExactStatus::kOk) return status;
  int64_t m;
  uint64_t residue;
  if (!modulus.ToInt64(&m) || m <= 0 || m > (int64_t{1} << 61)) return ExactStatus::kTooBig;
  if (!EvaluateModulo(e->child[0], static_cast<uint64_t>(m), context_, env, &residue, depth + 1))
    return Failure(fuel_);
  *out = Rational(static_cast<int64_t>(residue));
  return ExactStatus::kOk;
}

ExactStatus Evaluator::EvalFunction(const Expr* e, const Binding* env, Rational* out, int depth) {
  switch (e->fn) {
    case Function::kGcd:
    case Function::kLcm:
    case Function::kMax:
    case Function::kMin:
      return e->child_count == 0 ? ExactStatus::kInexact : EvalMany(e, env, out, depth);
    default:
      break;
  }
  if (e->child_count == 0 || e->child_count > 2) return ExactStatus::kInexact;
  Rational x;
  ExactStatus status = Eval(e->child[0], env, &x, depth + 1);
  if (status == ExactStatus::kTooBig && e->fn == Function::kMod && e->child_count == 2) {
    return EvalHugeMod(e, env, out, depth);
  }
  if (status != ExactStatus::kOk) return status;
  if (e->child_count == 1) return EvalUnary(e->fn, x, out);
  Rational y;
  status = Eval(e->child[1], env, &y, depth + 1);
  if (status != ExactStatus::kOk) return status;
  return EvalBinary(e->fn, x, y, out);
}

// About log2 of x > 0: within 1 of it.
int64_t Magnitude(const Rational& x) { return x.num_bits() - x.den_bits(); }

}  // namespace

const Rational* FindBinding(const Binding* bindings, int64_t symbol) {
  for (; bindings != nullptr; bindings = bindings->next) {
    if (bindings->symbol == symbol) return bindings->value;
  }
  return nullptr;
}

ExactStatus EvaluateExact(const Expr* e, const ExactContext& context, const Binding* bindings,
                          Rational* out, int depth) {
  return Evaluator(context).Eval(e, bindings, out, depth);
}

ExactStatus EvaluateBounds(const Expr* e, const ExactContext& context, const Binding* bindings,
                           int64_t* lower, int64_t* upper, int depth) {
  return Evaluator(context).Bounds(e, bindings, lower, upper, depth);
}

ExactStatus ExactPower(const Rational& base, const Rational& exponent, const ExactContext& context,
                       Rational* out) {
  return Evaluator(context).Power(base, exponent, context.odd_real_roots, out);
}

ExactStatus ExactLog(const Rational& base, const Rational& x, Fuel& fuel, Rational* out) {
  // Both above 1: log_(1/b) = -log_b.
  const Rational one(1);
  const bool negative = (Rational::Compare(base, one) < 0) != (Rational::Compare(x, one) < 0);
  Rational b = base, y = x;
  if (Rational::Compare(b, one) < 0 && !Div(one, b, fuel, &b)) return Failure(fuel);
  if (Rational::Compare(y, one) < 0 && !Div(one, y, fuel, &y)) return Failure(fuel);
  // Euclid's algorithm in the multiplicative group: the log is rational exactly when both are
  // powers of one number, and then every remainder is one too, so remainders never get longer than
  // the operands. The quotients are the continued fraction of the log.
  constexpr int kStepsMax = 4096;
  const int64_t bits_max = std::max(b.bits(), y.bits());
  Rational p0(0), p1(1), q0(1), q1(0);  // convergents of log_b(y)
  for (int steps = 0; !b.is_one();) {
    int64_t quotient = 0;
    while (Rational::Compare(y, b) >= 0) {
      if (++steps > kStepsMax) return ExactStatus::kInexact;
      const int64_t k = std::max<int64_t>(1, (Magnitude(y) - 1) / (Magnitude(b) + 1));
      Rational power;
      if (!PowInt(b, k, fuel, &power) || !Div(y, power, fuel, &y)) return Failure(fuel);
      if (y.bits() > bits_max) return ExactStatus::kInexact;
      quotient += k;
    }
    const Rational a(quotient);
    Rational p, q;
    if (!Mul(a, p1, fuel, &p) || !Add(p, p0, fuel, &p) || !Mul(a, q1, fuel, &q) ||
        !Add(q, q0, fuel, &q)) {
      return Failure(fuel);
    }
    p0 = p1, p1 = p, q0 = q1, q1 = q;
    if (++steps > kStepsMax) return ExactStatus::kInexact;
    std::swap(b, y);
  }
  if (!Div(p1, q1, fuel, out)) return Failure(fuel);
  if (negative) *out = Neg(*out);
  return ExactStatus::kOk;
}

}  // namespace rewardloop::math
