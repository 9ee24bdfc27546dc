// Function nodes of EvaluateBall().
#include "math/numeric/ball_evaluator.h"
#include "math/numeric/ball_functions.h"
#include "math/numeric/tree.h"

namespace rewardloop::math {
namespace {

// Is fn analytic on the whole of *x?
bool IsAnalyticOn(Function fn, const Ball* x) {
  RealBall bound;
  switch (fn) {
    case Function::kSin:
    case Function::kCos:
    case Function::kTan:
    case Function::kCot:
    case Function::kSec:
    case Function::kCsc:
    case Function::kSinh:
    case Function::kCosh:
    case Function::kTanh:
    case Function::kCoth:
    case Function::kSech:
    case Function::kCsch:
    case Function::kExp:
    case Function::kLn:
    case Function::kLog:
    case Function::kGamma:
      return true;  // poles and the logarithm's cut make these undecided by themselves
    case Function::kArctan:
    case Function::kArsinh:
      arb_abs(bound, x->im());
      break;
    case Function::kArcsin:
    case Function::kArccos:
    case Function::kArtanh:
      arb_abs(bound, x->re());
      break;
    default:
      return x->IsReal() && acb_is_exact(x->get());
  }
  arb_sub_si(bound, bound, 1, 64);
  return arb_is_negative(bound);
}

}  // namespace

BallStatus BallEvaluator::EvalMinMax(const Expr* e, const Binding* env, Ball* out, int depth) {
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
    if (!x.IsReal()) return x.IsNonReal() ? BallStatus::kUndefined : BallStatus::kUndecided;
  }
  if (status != BallStatus::kOk || out->IsReal()) return status;
  return out->IsNonReal() ? BallStatus::kUndefined : BallStatus::kUndecided;
}

BallStatus BallEvaluator::EvalBinomial(const Expr* e, const Binding* env, Ball* out, int depth) {
  constexpr int64_t kFallingFactorsMax = 2000;
  Ball n;
  BallStatus status = Eval(e->child[0], env, &n, depth + 1);
  if (status != BallStatus::kOk) return status;
  Rational k;
  int64_t count;
  if (EvaluateExact(e->child[1], exact_, env, &k, depth + 1) == ExactStatus::kOk &&
      k.ToInt64(&count) && count <= kFallingFactorsMax) {
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

BallStatus BallEvaluator::EvalTwo(Function fn, const Expr* e, const Binding* env, Ball* out,
                                  int depth) {
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
      if (status == BallStatus::kOk)
        status = Refine(BallLog(y, prec_, &y), e->child[1], env, depth);
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
      if (!x.IsReal() || !y.IsReal()) return BallStatus::kUndecided;
      if (arb_contains_zero(x.re()) && !arb_is_positive(y.re()) && !arb_is_zero(x.re()))
        return BallStatus::kUndecided;
      arb_atan2(out->re(), x.re(), y.re(), prec_);
      out->MakeReal();
      return BallStatus::kOk;
    }
    default:
      return BallStatus::kUnsupported;
  }
}

// Floor or ceiling of a closed value that balls cannot tell from an integer: is it that integer?
BallStatus BallEvaluator::EvalJump(const Expr* argument, const Binding* env, Ball* out) {
  constexpr slong kJumpPrecisionMin = 128;
  if (env != nullptr || context_.balls != nullptr || prec_ < kJumpPrecisionMin)
    return BallStatus::kUndecided;
  BallInfo ignored;
  Ball x;
  if (EvaluateBall(argument, context_, nullptr, &x, &ignored) != BallStatus::kOk)
    return BallStatus::kUndecided;
  fmpz_t n;
  fmpz_init(n);
  Rational integer;
  const bool unique = x.IsReal() && arb_get_unique_fmpz(n, x.re()) != 0 && !COEFF_IS_MPZ(*n);
  if (unique) integer = Rational(static_cast<int64_t>(fmpz_get_si(n)));
  fmpz_clear(n);
  if (!unique || Compare(argument, NumberTree(integer).get(), context_.options, fuel_).equality !=
                     Equality::kEqual) {
    return fuel_.empty() ? BallStatus::kFuel : BallStatus::kUndecided;
  }
  out->Set(integer, prec_);
  return BallStatus::kOk;
}

BallStatus BallEvaluator::EvalFunction(const Expr* e, const Binding* env, Ball* out, int depth) {
  if (e->child_count == 0) return BallStatus::kUnsupported;
  if (context_.analytic && e->child_count > 1 && e->fn != Function::kLogBase &&
      e->fn != Function::kBinomial) {
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
    case Function::kLogBase:
    case Function::kMod:
    case Function::kAtan2:
      return EvalTwo(e->fn, e, env, out, depth);
    case Function::kFloor:
    case Function::kCeil:
    case Function::kGamma: {
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
    if (bits > 4)
      info_->scale_bits =
          bits > 40 ? kScaleMax : std::min(kScaleMax, info_->scale_bits + (int64_t{3} << bits));
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
  const bool wants_real =
      e->fn == Function::kFloor || e->fn == Function::kCeil || e->fn == Function::kSign;
  if (status == BallStatus::kUndefined && e->fn != Function::kLog && e->fn != Function::kLn &&
      !wants_real) {
    // Only functions with a pole at zero are undefined there.
    Rational value;
    if (EvaluateExact(e, exact_, env, &value, depth) != ExactStatus::kUndefined)
      return BallStatus::kUndecided;
  }
  if (status == BallStatus::kOk) Note(*out);
  return status;
}

}  // namespace rewardloop::math
