// Sums, products and series of EvaluateBall().
#include "math/numeric/ball_evaluator.h"
#include "math/numeric/tree.h"

namespace rewardloop::math {

// The term of a sum or product at an index. Terms are cheaper exactly, as long as they stay rational.
BallStatus BallEvaluator::EvalTerm(const Expr* e, const Binding& binding, bool* rational, Ball* out,
                                   int depth) {
  Rational value;
  if (*rational) {
    *rational =
        EvaluateExact(e->child[0], exact_, &binding, &value, depth + 1) == ExactStatus::kOk;
  }
  if (*rational) {
    out->Set(value, prec_);
  } else if (const BallStatus status = Eval(e->child[0], &binding, out, depth + 1);
             status != BallStatus::kOk) {
    return status;
  }
  return fuel_.Spend(40 + prec_ / 8) ? BallStatus::kOk : BallStatus::kFuel;
}

// A series whose terms shrink at least geometrically: added up until the terms are below the
// precision. The tail is bounded by the ratio seen over the last kRatioTerms terms.
BallStatus BallEvaluator::EvalSeries(const Expr* e, const Binding* env, Ball* out, int depth) {
  constexpr int kRatioTerms = 16;
  Rational low;
  int64_t lower;
  const ExactStatus exact = EvaluateExact(e->child[2], exact_, env, &low, depth + 1);
  if (exact != ExactStatus::kOk || !low.ToInt64(&lower) || lower > INT64_MAX - kSeriesTermsMax)
    return Unsupported();
  Ball total, term;
  total.Set(0);
  const int64_t scale_before = info_->scale_bits;
  bool rational = env == nullptr && context_.balls == nullptr;
  int shrinking = 0;
  int64_t last = kScaleMax;  // exponent of the term kRatioTerms ago
  for (int64_t k = lower; k < lower + kSeriesTermsMax; ++k) {
    const Rational index(k);
    const Binding binding{e->child[1]->number, &index, env};
    if (const BallStatus status = EvalTerm(e, binding, &rational, &term, depth);
        status != BallStatus::kOk)
      return status;
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

BallStatus BallEvaluator::EvalSum(const Expr* e, const Binding* env, Ball* out, int depth) {
  if (IsInfiniteSum(e)) return EvalSeries(e, env, out, depth);
  int64_t lower, upper;
  const ExactStatus exact = EvaluateBounds(e, exact_, env, &lower, &upper, depth);
  if (exact != ExactStatus::kOk)
    return exact == ExactStatus::kUndefined ? BallStatus::kUndefined : Unsupported();
  const bool sum = e->kind == Kind::kSum;
  bool rational = context_.balls == nullptr;
  Ball total, term;
  total.Set(sum ? 0 : 1);
  for (int64_t k = lower; k <= upper; ++k) {
    const Rational index(k);
    const Binding binding{e->child[1]->number, &index, env};
    if (const BallStatus status = EvalTerm(e, binding, &rational, &term, depth);
        status != BallStatus::kOk)
      return status;
    if (sum) {
      acb_add(total.get(), total.get(), term.get(), prec_);
    } else {
      acb_mul(total.get(), total.get(), term.get(), prec_);
    }
  }
  *out = std::move(total);
  return BallStatus::kOk;
}

}  // namespace rewardloop::math
