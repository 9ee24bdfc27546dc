#include "math/numeric/ball_eval.h"

#include "math/numeric/ball_evaluator.h"
#include "math/numeric/ball_functions.h"
#include "math/numeric/integral.h"
#include "math/numeric/residue_eval.h"

namespace rewardloop::math {

// Decimal exponents may be beyond what is exact; a ball takes them up to 10^6.
BallStatus BallEvaluator::EvalNumber(const Expr* e, Ball* out) {
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

BallStatus BallEvaluator::EvalConstant(const Expr* e, Ball* out) {
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

BallStatus BallEvaluator::EvalAddMul(const Expr* e, const Binding* env, Ball* out, int depth) {
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

BallStatus BallEvaluator::Refine(BallStatus status, const Expr* argument, const Binding* env,
                                 int depth) {
  if (status != BallStatus::kUndecided) return status;
  Rational value;
  const ExactStatus exact = EvaluateExact(argument, exact_, env, &value, depth + 1);
  if (exact == ExactStatus::kUndefined || (exact == ExactStatus::kOk && value.is_zero()))
    return BallStatus::kUndefined;
  return status;
}

BallStatus BallEvaluator::EvalDivide(const Expr* e, const Binding* env, Ball* out, int depth) {
  BallStatus status = Eval(e->child[0], env, out, depth + 1);
  if (status != BallStatus::kOk) return status;
  Ball y;
  status = Eval(e->child[1], env, &y, depth + 1);
  if (status != BallStatus::kOk) return status;
  status = Refine(BallDivide(*out, y, prec_, out), e->child[1], env, depth);
  if (status == BallStatus::kOk) Note(*out);
  return status;
}

BallStatus BallEvaluator::RationalPower(const Ball& base, const Rational& exponent, bool odd_real,
                                        Ball* out) {
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
      if (status == BallStatus::kOk && IsOddInteger(exponent.Numerator()))
        acb_neg(out->get(), out->get());
      return status;
    }
  }
  return BallPower(base, y, prec_, out);
}

BallStatus BallEvaluator::EvalPower(const Expr* e, const Binding* env, Ball* out, int depth) {
  const Expr* exponent_tree = e->child[1];
  const bool natural = e->child[0]->kind == Kind::kConstant && e->child[0]->fn == Function::kE;
  Rational exponent;
  const ExactStatus exact = EvaluateExact(exponent_tree, exact_, env, &exponent, depth + 1);
  if (exact == ExactStatus::kFuel) return BallStatus::kFuel;
  if (exact == ExactStatus::kUndefined) return BallStatus::kUndefined;
  int64_t n;
  const bool integer = exact == ExactStatus::kOk && exponent.ToInt64(&n);
  const int64_t cost =
      integer ? (40 + prec_ / 8) * (exponent.num_bits() + 1) : 2 * FunctionCost(prec_);
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

BallStatus BallEvaluator::EvalRoot(const Expr* e, const Binding* env, Ball* out, int depth) {
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

BallStatus BallEvaluator::EvalFactorial(const Expr* e, const Binding* env, Ball* out, int depth) {
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

BallStatus BallEvaluator::EvalScaled(const Expr* e, const Binding* env, Ball* out, int depth) {
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

// An undefined function has a value drawn from its name and the values of its arguments.
BallStatus BallEvaluator::EvalCall(const Expr* e, const Binding* env, Ball* out) {
  Residue value;
  ResidueInfo info;
  const ResidueContext context{context_.options, fuel_, context_.options.seed,
                               context_.odd_real_roots};
  const ResidueStatus status = EvaluateResidue(e, context, env, &value, &info);
  if (status == ResidueStatus::kUndefined) return BallStatus::kUndefined;
  if (status != ResidueStatus::kOk || info.symbols) return Unsupported();
  out->Set(Rational::Of(static_cast<int64_t>(value.num[0] >> 10), int64_t{1} << 46), prec_);
  return BallStatus::kOk;
}

BallStatus BallEvaluator::Eval(const Expr* e, const Binding* env, Ball* out, int depth) {
  if (depth > kEvalDepthMax) return BallStatus::kUnsupported;
  if (!fuel_.Spend(60 + prec_ / 8)) return BallStatus::kFuel;
  switch (e->kind) {
    case Kind::kNumber:
      return EvalNumber(e, out);
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
    case Kind::kRoot:
      return EvalRoot(e, env, out, depth);
    case Kind::kFactorial:
    case Kind::kDoubleFactorial:
      return EvalFactorial(e, env, out, depth);
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
    case Kind::kDegree:
      return EvalScaled(e, env, out, depth);
    default:
      return BallStatus::kUnsupported;
  }
}

BallStatus EvaluateBall(const Expr* e, const BallContext& context, const Binding* bindings,
                        Ball* out, BallInfo* info) {
  return BallEvaluator(context, info).Eval(e, bindings, out, 0);
}

}  // namespace rewardloop::math
