#include "math/numeric/integral.h"

#include <algorithm>

namespace rewardloop::math {
namespace {

struct Integrand {
  const Expr* body;
  int64_t variable;
  const BallContext* context;
  const Binding* bindings;
  BallInfo* info;
  bool hopeless = false;  // some point has no value at any precision
};

// Arb's callback: the integrand at z; with order 1 an infinite ball unless it is analytic on all of
// z.
int EvaluateIntegrand(acb_ptr out, const acb_t z, void* param, slong order, slong prec) {
  Integrand& f = *static_cast<Integrand*>(param);
  // Arb has no way to give up: after the first hopeless point, or without fuel, it gets its answers
  // for nothing.
  if (f.hopeless || !f.context->fuel.Spend(kQuadratureStepCost)) {
    acb_indeterminate(out);
    return 0;
  }
  Ball at, value;
  acb_set(at.get(), z);
  const BallBinding binding{f.variable, &at, f.context->balls};
  const BallContext context{
      f.context->options,        f.context->fuel, prec,
      f.context->odd_real_roots, &binding,        f.context->analytic || order > 0};
  const BallStatus status = EvaluateBall(f.body, context, f.bindings, &value, f.info);
  if (status == BallStatus::kOk) {
    acb_set(out, value.get());
  } else {
    // Not so on the wide balls of order 1, where a value may just be too large.
    f.hopeless = order == 0 && status != BallStatus::kUndecided;
    acb_indeterminate(out);
  }
  return 0;
}

}  // namespace

BallStatus EvaluateIntegral(const Expr* e, const BallContext& context, const Binding* bindings,
                            Ball* out, BallInfo* info) {
  if (e->child_count != 4 || e->child[1]->kind != Kind::kSymbol) return BallStatus::kUnsupported;
  Ball lower, upper;
  BallStatus status = EvaluateBall(e->child[2], context, bindings, &lower, info);
  if (status == BallStatus::kOk)
    status = EvaluateBall(e->child[3], context, bindings, &upper, info);
  if (status != BallStatus::kOk) return status;
  BallInfo ignored;  // values at complex nodes say nothing about the size of the result
  Integrand integrand{e->child[0], e->child[1]->number, &context, bindings, &ignored};
  // Where the integrand has no value in the middle, there is no point in looking further.
  Ball middle, value;
  acb_add(middle.get(), lower.get(), upper.get(), context.prec);
  acb_mul_2exp_si(middle.get(), middle.get(), -1);
  EvaluateIntegrand(value.get(), middle.get(), &integrand, 0, kPrecisionMin);
  if (!value.IsFinite()) return context.fuel.empty() ? BallStatus::kFuel : BallStatus::kUnsupported;
  acb_calc_integrate_opt_t options;
  acb_calc_integrate_opt_init(options);
  options->eval_limit = kIntegrandEvaluationsMax;
  options->deg_limit = kQuadratureDegreeMax;
  // Nodes and weights are computed, and kept, for each degree and precision.
  const slong prec = std::min(context.prec, kIntegralPrecisionMax);
  if (!context.fuel.Spend(kQuadratureDegreeMax * 20 * prec)) return BallStatus::kFuel;
  mag_t tolerance;
  mag_init(tolerance);
  mag_set_ui_2exp_si(tolerance, 1, -prec);
  acb_calc_integrate(out->get(), EvaluateIntegrand, &integrand, lower.get(), upper.get(), prec,
                     tolerance, options, prec);
  mag_clear(tolerance);
  if (context.fuel.empty()) return BallStatus::kFuel;
  return out->IsFinite() ? BallStatus::kOk : BallStatus::kUnsupported;
}

}  // namespace rewardloop::math
