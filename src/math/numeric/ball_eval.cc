#include "math/numeric/ball_eval.h"

#include <algorithm>

#include "math/numeric/ball_functions.h"
#include "math/numeric/integral.h"
#include "math/numeric/residue_eval.h"
#include "math/numeric/tree.h"

namespace rewardloop::math {
namespace {

class Evaluator {
 public:
  Evaluator(const BallContext& context, BallInfo* info)
      : context_(context),
        fuel_(context.fuel),
        prec_(context.prec),
        exact_{context.options, context.fuel, context.odd_real_roots},
        info_(info) {}

  BallStatus Eval(const Expr* e, const Binding* env, Ball* out, int depth);

 private:
  BallStatus Spend(int64_t units) { return fuel_.Spend(units) ? BallStatus::kOk : BallStatus::kFuel; }
  BallStatus Unsupported() const { return fuel_.empty() ? BallStatus::kFuel : BallStatus::kUnsupported; }
  BallStatus EvalConstant(const Expr* e, Ball* out);
  BallStatus EvalAddMul(const Expr* e, const Binding* env, Ball* out, int depth);
  BallStatus EvalDivide(const Expr* e, const Binding* env, Ball* out, int depth);
  BallStatus EvalPower(const Expr* e, const Binding* env, Ball* out, int depth);
  BallStatus RationalPower(const Ball& base, const Rational& exponent, bool odd_real, Ball* out);
  BallStatus EvalFunction(const Expr* e, const Binding* env, Ball* out, int depth);
  BallStatus EvalTwo(Function fn, const Expr* e, const Binding* env, Ball* out, int depth);
  BallStatus EvalMinMax(const Expr* e, const Binding* env, Ball* out, int depth);
  BallStatus EvalBinomial(const Expr* e, const Binding* env, Ball* out, int depth);
  BallStatus EvalSeries(const Expr* e, const Binding* env, Ball* out, int depth);
  BallStatus EvalSum(const Expr* e, const Binding* env, Ball* out, int depth);
  BallStatus EvalCall(const Expr* e, const Binding* env, Ball* out);
  BallStatus EvalJump(const Expr* argument, const Binding* env, Ball* out);
  // Replaces an undecided division or logarithm by "undefined" where the argument is exactly zero.
  BallStatus Refine(BallStatus status, const Expr* argument, const Binding* env, int depth);
  void Note(const Ball& x) {
    int64_t scale = 0;
    if (x.IsReal()) {
      scale = Scale(x.re());
    } else if (!x.ContainsZero()) {
      scale = std::max(UpperExponent(x.re()), UpperExponent(x.im()));
      scale = scale < 0 ? -scale : scale;
    }
    if (scale > 64) info_->scale_bits = std::min(kScaleMax, info_->scale_bits + scale);
  }

  const BallContext& context_;
  Fuel& fuel_;
  const slong prec_;
  ExactContext exact_;
  BallInfo* info_;
};

BallStatus Evaluator::EvalConstant(const Expr* e, Ball* out) {
  switch (e->fn) {
    case Function::kPi:
      arb_const_pi(out->re(), prec_);
      break;
    case Function::kE:
      arb_const_e(out->re(), prec_);
      break;
    case Function::kI:
      acb_onei(out->get());
      return BallStatus::kOk;
    default:
      return BallStatus::kUnsupported;
  }
  out->MakeReal();
  return Spend(prec_);
}

BallStatus Evaluator::EvalAddMul(const Expr* e, const Binding* env, Ball* out, int depth) {
  const bool add = e->kind == Kind::kAdd;
  BallStatus status = Eval(e->child[0], env, out, depth + 1);
  if (e->child_count == 1 || status != BallStatus::kOk) return status;
  Ball term;
  for (uint32_t i = 1; i < e->child_count; ++i) {
    status = Eval(e->child[i], env, &term, depth + 1);
    if (status != BallStatus::kOk) return status;
    if (out->IsReal() && term.IsReal()) {
      if (add) {
        arb_add(out->re(), out->re(), term.re(), prec_);
      } else {
        arb_mul(out->re(), out->re(), term.re(), prec_);
      }
    } else if (add) {
      acb_add(out->get(), out->get(), term.get(), prec_);
    } else {
      acb_mul(out->get(), out->get(), term.get(), prec_);
    }
  }
  if (!add) Note(*out);
  return out->IsFinite() ? BallStatus::kOk : BallStatus::kUndecided;
}

BallStatus Evaluator::Refine(BallStatus status, const Expr* argument, const Binding* env, int depth) {
  if (status != BallStatus::kUndecided) return status;
  Rational value;
  const ExactStatus exact = EvaluateExact(argument, exact_, env, &value, depth + 1);
  if (exact == ExactStatus::kUndefined || (exact == ExactStatus::kOk && value.is_zero())) return BallStatus::kUndefined;
  return status;
}

BallStatus Evaluator::EvalDivide(const Expr* e, const Binding* env, Ball* out, int depth) {
  BallStatus status = Eval(e->child[0], env, out, depth + 1);
  if (status != BallStatus::kOk) return status;
  Ball y;
  status = Eval(e->child[1], env, &y, depth + 1);
  if (status != BallStatus::kOk) return status;
  status = Refine(BallDivide(*out, y, prec_, out), e->child[1], env, depth);
  if (status == BallStatus::kOk) Note(*out);
  return status;
}

BallStatus Evaluator::RationalPower(const Ball& base, const Rational& exponent, bool odd_real, Ball* out) {
  constexpr int64_t kRootIndexMax = 1 << 16;
  int64_t p, q;
  const bool small = exponent.Numerator().ToInt64(&p) && exponent.Denominator().ToInt64(&q);
  if (small && q == 1) {
    const int64_t scale = std::max(UpperExponent(base.re()), UpperExponent(base.im()));
    if (scale < (1 << 30) && p < (int64_t{1} << 45) && p > -(int64_t{1} << 45)) {
      return BallPowInt(base, p, prec_, out);
    }
  }
  if (small && q <= kRootIndexMax && q != 1) {
    Ball root;
    const BallStatus status = BallRoot(base, q, odd_real, prec_, &root);
    return status == BallStatus::kOk ? BallPowInt(root, p, prec_, out) : status;
  }
  Ball y;
  y.Set(exponent, prec_);
  if (base.IsReal() && arb_is_negative(base.re())) {
    // A real power of a negative number: exp(y log |x|), with the sign that parity gives.
    if ((exponent.is_integer() || odd_real) && IsOddInteger(exponent.Denominator())) {
      Ball positive;
      arb_neg(positive.re(), base.re());
      const BallStatus status = BallPower(positive, y, prec_, out);
      if (status == BallStatus::kOk && IsOddInteger(exponent.Numerator())) acb_neg(out->get(), out->get());
      return status;
    }
  }
  return BallPower(base, y, prec_, out);
}

BallStatus Evaluator::EvalPower(const Expr* e, const Binding* env, Ball* out, int depth) {
  const Expr* exponent_tree = e->child[1];
  const bool natural = e->child[0]->kind == Kind::kConstant && e->child[0]->fn == Function::kE;
  Rational exponent;
  const ExactStatus exact = EvaluateExact(exponent_tree, exact_, env, &exponent, depth + 1);
  if (exact == ExactStatus::kFuel) return BallStatus::kFuel;
  if (exact == ExactStatus::kUndefined) return BallStatus::kUndefined;
  int64_t n;
  const bool integer = exact == ExactStatus::kOk && exponent.ToInt64(&n);
  const int64_t cost = integer ? (40 + prec_ / 8) * (exponent.num_bits() + 1) : 2 * FunctionCost(prec_);
  BallStatus status = Spend(cost);
  if (status != BallStatus::kOk) return status;
  if (natural && !(exact == ExactStatus::kOk && exponent.is_small())) {
    status = Eval(exponent_tree, env, out, depth + 1);
    if (status == BallStatus::kOk) status = BallExp(*out, prec_, out);
    if (status == BallStatus::kOk) Note(*out);
    return status;
  }
  Ball base;
  status = Eval(e->child[0], env, &base, depth + 1);
  if (status != BallStatus::kOk) return status;
  if (exact == ExactStatus::kOk) {
    status = RationalPower(base, exponent, context_.odd_real_roots, out);
    if (exponent.sign() <= 0) status = Refine(status, e->child[0], env, depth);
  } else {
    Ball y;
    status = Eval(exponent_tree, env, &y, depth + 1);
    if (status != BallStatus::kOk) return status;
    status = BallPower(base, y, prec_, out);
  }
  if (status == BallStatus::kOk) Note(*out);
  return status;
}

BallStatus Evaluator::EvalMinMax(const Expr* e, const Binding* env, Ball* out, int depth) {
  BallStatus status = Eval(e->child[0], env, out, depth + 1);
  for (uint32_t i = 1; i < e->child_count && status == BallStatus::kOk; ++i) {
    Ball x;
    status = Eval(e->child[i], env, &x, depth + 1);
    if (status != BallStatus::kOk) return status;
    if (e->fn == Function::kMax) {
      arb_max(out->re(), out->re(), x.re(), prec_);
    } else {
      arb_min(out->re(), out->re(), x.re(), prec_);
    }
    if (!x.IsReal()) return BallStatus::kUnsupported;
  }
  return status == BallStatus::kOk && !out->IsReal() ? BallStatus::kUnsupported : status;
}

BallStatus Evaluator::EvalBinomial(const Expr* e, const Binding* env, Ball* out, int depth) {
  constexpr int64_t kFallingFactorsMax = 2000;
  Ball n;
  BallStatus status = Eval(e->child[0], env, &n, depth + 1);
  if (status != BallStatus::kOk) return status;
  Rational k;
  int64_t count;
  if (EvaluateExact(e->child[1], exact_, env, &k, depth + 1) == ExactStatus::kOk && k.ToInt64(&count) &&
      count <= kFallingFactorsMax) {
    if (count < 0) {
      out->Set(0);
      return BallStatus::kOk;
    }
    if (status = Spend((count + 1) * (80 + prec_ / 4)); status != BallStatus::kOk) return status;
    Ball product, factor;
    product.Set(1);
    for (int64_t i = 0; i < count; ++i) {
      acb_sub_si(factor.get(), n.get(), i, prec_);
      acb_mul(product.get(), product.get(), factor.get(), prec_);
      acb_div_si(product.get(), product.get(), i + 1, prec_);
    }
    *out = product;
    return BallStatus::kOk;
  }
  if (status = Spend(3 * GammaCost(prec_)); status != BallStatus::kOk) return status;
  Ball b, rest, top;
  status = Eval(e->child[1], env, &b, depth + 1);
  if (status != BallStatus::kOk) return status;
  acb_sub(rest.get(), n.get(), b.get(), prec_);
  if ((status = BallFactorial(n, prec_, &top)) != BallStatus::kOk) return status;
  if ((status = BallFactorial(b, prec_, &b)) != BallStatus::kOk) return status;
  if ((status = BallFactorial(rest, prec_, &rest)) != BallStatus::kOk) return status;
  acb_mul(b.get(), b.get(), rest.get(), prec_);
  return BallDivide(top, b, prec_, out);
}

BallStatus Evaluator::EvalTwo(Function fn, const Expr* e, const Binding* env, Ball* out, int depth) {
  if (e->child_count != 2) return BallStatus::kUnsupported;
  Ball x, y;
  BallStatus status = Eval(e->child[0], env, &x, depth + 1);
  if (status == BallStatus::kOk) status = Eval(e->child[1], env, &y, depth + 1);
  if (status == BallStatus::kOk) status = Spend(2 * FunctionCost(prec_));
  if (status != BallStatus::kOk) return status;
  switch (fn) {
    case Function::kLogBase: {
      if (acb_is_one(x.get())) return BallStatus::kUndefined;
      status = Refine(BallLog(x, prec_, &x), e->child[0], env, depth);
      if (status == BallStatus::kOk) status = Refine(BallLog(y, prec_, &y), e->child[1], env, depth);
      return status == BallStatus::kOk ? BallDivide(y, x, prec_, out) : status;
    }
    case Function::kMod: {
      Ball q;
      status = Refine(BallDivide(x, y, prec_, &q), e->child[1], env, depth);
      if (status == BallStatus::kOk) status = BallFloor(q, false, prec_, &q);
      if (status != BallStatus::kOk) return status;
      acb_mul(q.get(), q.get(), y.get(), prec_);
      acb_sub(out->get(), x.get(), q.get(), prec_);
      return BallStatus::kOk;
    }
    case Function::kAtan2: {
      if (!x.IsReal() || !y.IsReal()) return BallStatus::kUnsupported;
      if (arb_contains_zero(x.re()) && !arb_is_positive(y.re()) && !arb_is_zero(x.re())) return BallStatus::kUndecided;
      arb_atan2(out->re(), x.re(), y.re(), prec_);
      out->MakeReal();
      return BallStatus::kOk;
    }
    default:
      return BallStatus::kUnsupported;
  }
}

// Floor or ceiling of a closed value that balls cannot tell from an integer: is it that integer?
BallStatus Evaluator::EvalJump(const Expr* argument, const Binding* env, Ball* out) {
  constexpr slong kJumpPrecisionMin = 128;
  if (env != nullptr || context_.balls != nullptr || prec_ < kJumpPrecisionMin) return BallStatus::kUndecided;
  BallInfo ignored;
  Ball x;
  if (EvaluateBall(argument, context_, nullptr, &x, &ignored) != BallStatus::kOk) return BallStatus::kUndecided;
  fmpz_t n;
  fmpz_init(n);
  Rational integer;
  const bool unique = x.IsReal() && arb_get_unique_fmpz(n, x.re()) != 0 && !COEFF_IS_MPZ(*n);
  if (unique) integer = Rational(static_cast<int64_t>(fmpz_get_si(n)));
  fmpz_clear(n);
  if (!unique || Compare(argument, NumberTree(integer).get(), context_.options, fuel_).equality != Equality::kEqual) {
    return fuel_.empty() ? BallStatus::kFuel : BallStatus::kUndecided;
  }
  out->Set(integer, prec_);
  return BallStatus::kOk;
}

// Is fn analytic on the whole of *x?
bool IsAnalyticOn(Function fn, const Ball* x) {
  RealBall bound;
  switch (fn) {
    case Function::kSin: case Function::kCos: case Function::kTan: case Function::kCot: case Function::kSec:
    case Function::kCsc: case Function::kSinh: case Function::kCosh: case Function::kTanh: case Function::kCoth:
    case Function::kSech: case Function::kCsch: case Function::kExp: case Function::kLn: case Function::kLog:
    case Function::kGamma:
      return true;  // poles and the logarithm's cut make these undecided by themselves
    case Function::kArctan: case Function::kArsinh:
      arb_abs(bound, x->im());
      break;
    case Function::kArcsin: case Function::kArccos: case Function::kArtanh:
      arb_abs(bound, x->re());
      break;
    default:
      return x->IsReal() && acb_is_exact(x->get());
  }
  arb_sub_si(bound, bound, 1, 64);
  return arb_is_negative(bound);
}

BallStatus Evaluator::EvalFunction(const Expr* e, const Binding* env, Ball* out, int depth) {
  if (e->child_count == 0) return BallStatus::kUnsupported;
  if (context_.analytic && e->child_count > 1 && e->fn != Function::kLogBase && e->fn != Function::kBinomial) {
    return BallStatus::kUnsupported;
  }
  switch (e->fn) {
    case Function::kGcd:
    case Function::kLcm: {
      Rational value;
      const ExactStatus exact = EvaluateExact(e, exact_, env, &value, depth);
      if (exact == ExactStatus::kUndefined) return BallStatus::kUndefined;
      if (exact != ExactStatus::kOk) return Unsupported();
      out->Set(value, prec_);
      return BallStatus::kOk;
    }
    case Function::kMax:
    case Function::kMin:
      return EvalMinMax(e, env, out, depth);
    case Function::kBinomial:
      return e->child_count == 2 ? EvalBinomial(e, env, out, depth) : BallStatus::kUnsupported;
    case Function::kLogBase: case Function::kMod: case Function::kAtan2:
      return EvalTwo(e->fn, e, env, out, depth);
    case Function::kFloor: case Function::kCeil: case Function::kGamma: {
      Rational value;  // jumps and poles want the exact argument
      const ExactStatus exact = EvaluateExact(e, exact_, env, &value, depth);
      if (exact == ExactStatus::kUndefined) return BallStatus::kUndefined;
      if (exact == ExactStatus::kOk) {
        out->Set(value, prec_);
        return BallStatus::kOk;
      }
      break;
    }
    default:
      break;
  }
  if (e->child_count != 1) return BallStatus::kUnsupported;
  BallStatus status = Eval(e->child[0], env, out, depth + 1);
  if (status != BallStatus::kOk) return status;
  status = Spend(e->fn == Function::kGamma ? GammaCost(prec_) : FunctionCost(prec_));
  if (status != BallStatus::kOk) return status;
  // tanh and coth come within 2^(-3|x|) of +-1 without any intermediate value showing it.
  if ((e->fn == Function::kTanh || e->fn == Function::kCoth) && out->IsReal()) {
    const int64_t bits = UpperExponent(out->re());
    if (bits > 4) info_->scale_bits = bits > 40 ? kScaleMax : std::min(kScaleMax, info_->scale_bits + (int64_t{3} << bits));
  }
  if (context_.analytic && !IsAnalyticOn(e->fn, out)) return BallStatus::kUndecided;
  if (e->fn == Function::kLog) {
    status = BallLog(*out, prec_, out);
    if (status == BallStatus::kOk && context_.options.log_base10) {
      RealBall ten;
      arb_const_log10(ten, prec_);
      acb_div_arb(out->get(), out->get(), ten, prec_);
    }
  } else {
    status = ApplyFunction(e->fn, *out, prec_, out);
  }
  if (status == BallStatus::kUndecided && (e->fn == Function::kFloor || e->fn == Function::kCeil)) {
    status = EvalJump(e->child[0], env, out);
  }
  status = Refine(status, e->child[0], env, depth);
  if (status == BallStatus::kUndefined && e->fn != Function::kLog && e->fn != Function::kLn) {
    // Only functions with a pole at zero are undefined there.
    Rational value;
    if (EvaluateExact(e, exact_, env, &value, depth) != ExactStatus::kUndefined) return BallStatus::kUndecided;
  }
  if (status == BallStatus::kOk) Note(*out);
  return status;
}

// A series whose terms shrink at least geometrically: added up until the terms are below the precision. The tail is bounded
// by the ratio seen over the last kRatioTerms terms.
BallStatus Evaluator::EvalSeries(const Expr* e, const Binding* env, Ball* out, int depth) {
  constexpr int kRatioTerms = 16;
  Rational low;
  int64_t lower;
  const ExactStatus exact = EvaluateExact(e->child[2], exact_, env, &low, depth + 1);
  if (exact != ExactStatus::kOk || !low.ToInt64(&lower) || lower > INT64_MAX - kSeriesTermsMax) return Unsupported();
  Ball total, term;
  total.Set(0);
  const int64_t scale_before = info_->scale_bits;
  bool rational = env == nullptr && context_.balls == nullptr;
  int shrinking = 0;
  int64_t last = kScaleMax;  // exponent of the term kRatioTerms ago
  for (int64_t k = lower; k < lower + kSeriesTermsMax; ++k) {
    const Rational index(k);
    const Binding binding{e->child[1]->number, &index, env};
    Rational value;
    if (rational) rational = EvaluateExact(e->child[0], exact_, &binding, &value, depth + 1) == ExactStatus::kOk;
    if (rational) {
      term.Set(value, prec_);
    } else if (const BallStatus status = Eval(e->child[0], &binding, &term, depth + 1); status != BallStatus::kOk) {
      return status;
    }
    if (!fuel_.Spend(40 + prec_ / 8)) return BallStatus::kFuel;
    acb_add(total.get(), total.get(), term.get(), prec_);
    const int64_t size = std::max(UpperExponent(term.re()), UpperExponent(term.im()));
    if (size <= -kScaleMax) continue;  // zero terms (odd powers only, say) say nothing
    // Four bits in kRatioTerms terms at least: a ratio below 0.85.
    if (++shrinking % kRatioTerms == 0) {
      if (size > last - 4) return BallStatus::kUndecided;
      if (size < -prec_ && size < last - 4) {
        mag_t tail;
        mag_init(tail);
        mag_set_ui_2exp_si(tail, 1, size + 6);
        acb_add_error_mag(total.get(), tail);
        mag_clear(tail);
        info_->scale_bits = scale_before;  // small terms are what a series is made of
        *out = std::move(total);
        return BallStatus::kOk;
      }
      last = size;
    }
  }
  return BallStatus::kUndecided;
}

BallStatus Evaluator::EvalSum(const Expr* e, const Binding* env, Ball* out, int depth) {
  if (IsInfiniteSum(e)) return EvalSeries(e, env, out, depth);
  int64_t lower, upper;
  const ExactStatus exact = EvaluateBounds(e, exact_, env, &lower, &upper, depth);
  if (exact != ExactStatus::kOk) return exact == ExactStatus::kUndefined ? BallStatus::kUndefined : Unsupported();
  const bool sum = e->kind == Kind::kSum;
  bool rational = context_.balls == nullptr;  // terms are cheaper exactly, as long as they stay rational
  Ball total, term;
  total.Set(sum ? 0 : 1);
  for (int64_t k = lower; k <= upper; ++k) {
    const Rational index(k);
    const Binding binding{e->child[1]->number, &index, env};
    Rational value;
    if (rational) rational = EvaluateExact(e->child[0], exact_, &binding, &value, depth + 1) == ExactStatus::kOk;
    if (rational) {
      term.Set(value, prec_);
    } else if (const BallStatus status = Eval(e->child[0], &binding, &term, depth + 1); status != BallStatus::kOk) {
      return status;
    }
    if (!fuel_.Spend(40 + prec_ / 8)) return BallStatus::kFuel;
    if (sum) {
      acb_add(total.get(), total.get(), term.get(), prec_);
    } else {
      acb_mul(total.get(), total.get(), term.get(), prec_);
    }
  }
  *out = std::move(total);
  return BallStatus::kOk;
}

// An undefined function has a value drawn from its name and the values of its arguments.
BallStatus Evaluator::EvalCall(const Expr* e, const Binding* env, Ball* out) {
  Residue value;
  ResidueInfo info;
  const ResidueContext context{context_.options, fuel_, context_.options.seed, context_.odd_real_roots};
  const ResidueStatus status = EvaluateResidue(e, context, env, &value, &info);
  if (status == ResidueStatus::kUndefined) return BallStatus::kUndefined;
  if (status != ResidueStatus::kOk || info.symbols) return Unsupported();
  out->Set(Rational::Of(static_cast<int64_t>(value.num[0] >> 10), int64_t{1} << 46), prec_);
  return BallStatus::kOk;
}

BallStatus Evaluator::Eval(const Expr* e, const Binding* env, Ball* out, int depth) {
  if (depth > kEvalDepthMax) return BallStatus::kUnsupported;
  if (!fuel_.Spend(60 + prec_ / 8)) return BallStatus::kFuel;
  switch (e->kind) {
    case Kind::kNumber: {
      // Decimal exponents may be beyond what is exact; a ball takes them up to 10^6.
      Rational digits;
      if (!ParseNumber(e->text, 10, 0, fuel_, &digits)) return Unsupported();
      out->Set(digits, prec_);
      if (e->number != 0 && !digits.is_zero()) {
        if (!fuel_.Spend(2000 + 5 * prec_)) return BallStatus::kFuel;
        RealBall ten;
        fmpz_t exponent;
        fmpz_init_set_si(exponent, e->number);
        arb_set_ui(ten, 10);
        arb_pow_fmpz(ten, ten, exponent, prec_ + 32);
        arb_mul(out->re(), out->re(), ten, prec_);
        fmpz_clear(exponent);
        Note(*out);
      }
      return BallStatus::kOk;
    }
    case Kind::kBaseNumber: {
      Rational value;
      if (EvaluateExact(e, exact_, env, &value, depth) != ExactStatus::kOk) return Unsupported();
      out->Set(value, prec_);
      return BallStatus::kOk;
    }
    case Kind::kConstant:
      return EvalConstant(e, out);
    case Kind::kSymbol: {
      for (const BallBinding* b = context_.balls; b != nullptr; b = b->next) {
        if (b->symbol != e->number) continue;
        *out = *b->value;
        return BallStatus::kOk;
      }
      const Rational* value = FindBinding(env, e->number);
      if (value == nullptr) return BallStatus::kUnsupported;
      out->Set(*value, prec_);
      return BallStatus::kOk;
    }
    case Kind::kAdd:
    case Kind::kMul:
      return EvalAddMul(e, env, out, depth);
    case Kind::kNeg: {
      const BallStatus status = Eval(e->child[0], env, out, depth + 1);
      if (status == BallStatus::kOk) acb_neg(out->get(), out->get());
      return status;
    }
    case Kind::kDiv:
      return EvalDivide(e, env, out, depth);
    case Kind::kPow:
      return EvalPower(e, env, out, depth);
    case Kind::kSqrt:
    case Kind::kRoot: {
      Rational index(2);
      int64_t n;
      if (e->kind == Kind::kRoot &&
          EvaluateExact(e->child[1], exact_, env, &index, depth + 1) != ExactStatus::kOk) {
        return Unsupported();
      }
      if (!index.ToInt64(&n) || n < 1 || n > (1 << 20)) return BallStatus::kUnsupported;
      BallStatus status = Eval(e->child[0], env, out, depth + 1);
      if (status == BallStatus::kOk) status = Spend(200 + prec_ / 2);
      return status == BallStatus::kOk ? BallRoot(*out, n, /*real_odd=*/true, prec_, out) : status;
    }
    case Kind::kFactorial:
    case Kind::kDoubleFactorial: {
      Rational value;
      const ExactStatus exact = EvaluateExact(e, exact_, env, &value, depth);
      if (exact == ExactStatus::kOk) {
        out->Set(value, prec_);
        Note(*out);
        return BallStatus::kOk;
      }
      if (exact == ExactStatus::kUndefined) return BallStatus::kUndefined;
      if (e->kind == Kind::kDoubleFactorial) return Unsupported();
      BallStatus status = Eval(e->child[0], env, out, depth + 1);
      if (status == BallStatus::kOk) status = Spend(GammaCost(prec_));
      if (status == BallStatus::kOk) status = BallFactorial(*out, prec_, out);
      if (status == BallStatus::kOk) Note(*out);
      return status;
    }
    case Kind::kFunction:
      return EvalFunction(e, env, out, depth);
    case Kind::kCall:
      return EvalCall(e, env, out);
    case Kind::kSum:
    case Kind::kProduct:
      return EvalSum(e, env, out, depth);
    case Kind::kIntegral:
      return EvaluateIntegral(e, context_, env, out, info_);
    case Kind::kPercent:
    case Kind::kDegree: {
      const BallStatus status = Eval(e->child[0], env, out, depth + 1);
      if (status != BallStatus::kOk) return status;
      if (e->kind == Kind::kDegree) {
        RealBall pi;
        arb_const_pi(pi, prec_);
        acb_mul_arb(out->get(), out->get(), pi, prec_);
      }
      acb_div_si(out->get(), out->get(), e->kind == Kind::kPercent ? 100 : 180, prec_);
      return BallStatus::kOk;
    }
    default:
      return BallStatus::kUnsupported;
  }
}

}  // namespace

BallStatus EvaluateBall(const Expr* e, const BallContext& context, const Binding* bindings, Ball* out, BallInfo* info) {
  return Evaluator(context, info).Eval(e, bindings, out, 0);
}

}  // namespace rewardloop::math
