// The walk of EvaluateBall(); included by ball_eval*.cc only.
#pragma once

#include <algorithm>

#include "math/numeric/ball_eval.h"

namespace rewardloop::math {

class BallEvaluator {
 public:
  BallEvaluator(const BallContext& context, BallInfo* info)
      : context_(context),
        fuel_(context.fuel),
        prec_(context.prec),
        exact_{context.options, context.fuel, context.odd_real_roots},
        info_(info) {}

  BallStatus Eval(const Expr* e, const Binding* env, Ball* out, int depth);

 private:
  BallStatus Spend(int64_t units) {
    return fuel_.Spend(units) ? BallStatus::kOk : BallStatus::kFuel;
  }
  BallStatus Unsupported() const {
    return fuel_.empty() ? BallStatus::kFuel : BallStatus::kUnsupported;
  }
  BallStatus EvalNumber(const Expr* e, Ball* out);
  BallStatus EvalRoot(const Expr* e, const Binding* env, Ball* out, int depth);
  BallStatus EvalFactorial(const Expr* e, const Binding* env, Ball* out, int depth);
  BallStatus EvalScaled(const Expr* e, const Binding* env, Ball* out, int depth);
  BallStatus EvalConstant(const Expr* e, Ball* out);
  BallStatus EvalAddMul(const Expr* e, const Binding* env, Ball* out, int depth);
  BallStatus EvalDivide(const Expr* e, const Binding* env, Ball* out, int depth);
  BallStatus EvalPower(const Expr* e, const Binding* env, Ball* out, int depth);
  BallStatus RationalPower(const Ball& base, const Rational& exponent, bool odd_real, Ball* out);
  BallStatus EvalFunction(const Expr* e, const Binding* env, Ball* out, int depth);
  BallStatus EvalTwo(Function fn, const Expr* e, const Binding* env, Ball* out, int depth);
  BallStatus EvalMinMax(const Expr* e, const Binding* env, Ball* out, int depth);
  BallStatus EvalBinomial(const Expr* e, const Binding* env, Ball* out, int depth);
  BallStatus EvalTerm(const Expr* e, const Binding& binding, bool* rational, Ball* out, int depth);
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

}  // namespace rewardloop::math
