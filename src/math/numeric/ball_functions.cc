#include "math/numeric/ball_functions.h"

#include <algorithm>

namespace rewardloop::math {
namespace {

// Exponents of exp() above this would give numbers whose own exponent no longer fits comfortably.
constexpr int64_t kExpArgumentBitsMax = 50;
// Gamma's cost grows steeply with precision, and its Bernoulli cache with it.
constexpr slong kGammaPrecisionMax = 1024;
constexpr int64_t kGammaArgumentBitsMax = 40;

BallStatus Finished(Ball* out) {
  return out->IsFinite() ? BallStatus::kOk : BallStatus::kUndecided;
}

// An argument that ought to be real.
BallStatus NotReal(const Ball& x) {
  return x.IsNonReal() ? BallStatus::kUndefined : BallStatus::kUndecided;
}

bool IsExactZero(const Ball& x) { return acb_is_zero(x.get()); }

// [0, max |x|]^(1/index) in both parts: what a root can be when the sign of x is not known.
void WideRoot(const Ball& x, uint64_t index, slong prec, Ball* out) {
  RealBall bound;
  arf_t top;
  arf_init(top);
  arb_get_abs_ubound_arf(top, x.re(), prec);
  arb_set_arf(bound, top);
  arf_clear(top);
  arb_root_ui(bound, bound, index, 64);
  mag_t m;
  mag_init(m);
  arb_get_mag(m, bound);
  acb_zero(out->get());
  mag_set(arb_radref(out->re()), m);
  mag_set(arb_radref(out->im()), m);
  mag_clear(m);
}

using RealFunction = void (*)(arb_t, const arb_t, slong);
using ComplexFunction = void (*)(acb_t, const acb_t, slong);

BallStatus Apply(RealFunction real, ComplexFunction complex, const Ball& x, slong prec, Ball* out) {
  if (x.IsReal()) {
    real(out->re(), x.re(), prec);
    out->MakeReal();
  } else {
    complex(out->get(), x.get(), prec);
  }
  return Finished(out);
}

// A function that is real on [low, high] only (null: unbounded), complex outside.
BallStatus ApplyOn(RealFunction real, ComplexFunction complex, int low, bool has_low, int high,
                   bool has_high, const Ball& x, slong prec, Ball* out) {
  if (x.IsReal()) {
    RealBall shifted;
    bool inside = true, outside = false;
    if (has_low) {
      arb_sub_si(shifted, x.re(), low, prec);
      inside = inside && arb_is_nonnegative(shifted);
      outside = outside || arb_is_negative(shifted);
    }
    if (has_high) {
      arb_sub_si(shifted, x.re(), high, prec);
      inside = inside && arb_is_nonpositive(shifted);
      outside = outside || arb_is_positive(shifted);
    }
    if (inside) return Apply(real, complex, x, prec, out);
    if (!outside) return BallStatus::kUndecided;
  }
  complex(out->get(), x.get(), prec);
  return Finished(out);
}

BallStatus Reciprocal(BallStatus status, slong prec, Ball* out) {
  if (status != BallStatus::kOk) return status;
  Ball one;
  one.Set(1);
  return BallDivide(one, *out, prec, out);
}

// fn(1/x)
BallStatus OfReciprocal(Function fn, const Ball& x, slong prec, Ball* out) {
  Ball one;
  one.Set(1);
  const BallStatus status = BallDivide(one, x, prec, out);
  return status == BallStatus::kOk ? ApplyFunction(fn, *out, prec, out) : status;
}

BallStatus Sign(const Ball& x, Ball* out) {
  if (!x.IsReal()) return NotReal(x);
  if (!arb_is_zero(x.re()) && arb_contains_zero(x.re())) return BallStatus::kUndecided;
  out->Set(arb_is_zero(x.re()) ? 0 : arb_is_positive(x.re()) ? 1 : -1);
  return BallStatus::kOk;
}

BallStatus Arccot(const Ball& x, slong prec, Ball* out) {
  if (!x.IsReal()) return OfReciprocal(Function::kArctan, x, prec, out);
  RealBall half_pi;
  arb_const_pi(half_pi, prec);
  arb_mul_2exp_si(half_pi, half_pi, -1);
  arb_atan(out->re(), x.re(), prec);
  arb_sub(out->re(), half_pi, out->re(), prec);
  out->MakeReal();
  return Finished(out);
}

}  // namespace

int64_t FunctionCost(slong prec) { return 300 + 2 * prec + prec * prec / 400; }
int64_t GammaCost(slong prec) {
  prec = std::min(prec, kGammaPrecisionMax);
  return 4000 + 20 * prec + prec * prec / 8;
}

BallStatus BallDivide(const Ball& x, const Ball& y, slong prec, Ball* out) {
  if (IsExactZero(y)) return BallStatus::kUndefined;
  if (y.ContainsZero()) return BallStatus::kUndecided;
  if (x.IsReal() && y.IsReal()) {
    arb_div(out->re(), x.re(), y.re(), prec);
    out->MakeReal();
  } else {
    acb_div(out->get(), x.get(), y.get(), prec);
  }
  return Finished(out);
}

BallStatus BallLog(const Ball& x, slong prec, Ball* out) {
  if (IsExactZero(x)) return BallStatus::kUndefined;
  if (x.ContainsZero()) return BallStatus::kUndecided;
  if (x.IsReal() && arb_is_positive(x.re())) {
    arb_log(out->re(), x.re(), prec);
    out->MakeReal();
  } else {
    // On the negative axis without an exact imaginary part the branch is open.
    if (!x.IsReal() && arb_contains_zero(x.im()) && !arb_is_positive(x.re()))
      return BallStatus::kUndecided;
    acb_log(out->get(), x.get(), prec);
  }
  return Finished(out);
}

BallStatus BallExp(const Ball& x, slong prec, Ball* out) {
  if (UpperExponent(x.re()) > kExpArgumentBitsMax) return BallStatus::kUnsupported;
  return Apply(arb_exp, acb_exp, x, prec, out);
}

BallStatus BallRoot(const Ball& x, uint64_t index, bool real_odd, slong prec, Ball* out) {
  if (index == 1) {
    *out = x;
    return BallStatus::kOk;
  }
  if (x.IsReal()) {
    if (arb_is_nonnegative(x.re())) {
      arb_root_ui(out->re(), x.re(), index, prec);
      out->MakeReal();
      return Finished(out);
    }
    const bool negative = arb_is_nonpositive(x.re());
    if (real_odd && index % 2 == 1) {
      if (negative) {
        arb_neg(out->re(), x.re());
        arb_root_ui(out->re(), out->re(), index, prec);
        arb_neg(out->re(), out->re());
        out->MakeReal();
        return Finished(out);
      }
      WideRoot(x, index, prec, out);
      out->MakeReal();
      return Finished(out);
    }
    if (negative && index == 2) {
      RealBall y;
      arb_neg(y, x.re());
      arb_sqrt(out->im(), y, prec);
      arb_zero(out->re());
      return Finished(out);
    }
    if (!negative) {
      WideRoot(x, index, prec, out);
      return Finished(out);
    }
  } else if (x.ContainsZero() || (arb_contains_zero(x.im()) && !arb_is_positive(x.re()))) {
    return BallStatus::kUndecided;
  }
  acb_root_ui(out->get(), x.get(), index, prec);
  return Finished(out);
}

BallStatus BallPowInt(const Ball& x, int64_t n, slong prec, Ball* out) {
  if (n <= 0) {
    if (IsExactZero(x)) return BallStatus::kUndefined;
    if (x.ContainsZero()) return BallStatus::kUndecided;
  }
  fmpz_t e;
  fmpz_init_set_si(e, n);
  if (x.IsReal()) {
    arb_pow_fmpz(out->re(), x.re(), e, prec);
    out->MakeReal();
  } else {
    acb_pow_fmpz(out->get(), x.get(), e, prec);
  }
  fmpz_clear(e);
  return Finished(out);
}

BallStatus BallPower(const Ball& x, const Ball& y, slong prec, Ball* out) {
  if (IsExactZero(x)) {
    if (arb_is_positive(y.re())) {
      out->Set(0);
      return BallStatus::kOk;
    }
    return arb_is_nonpositive(y.re()) ? BallStatus::kUndefined : BallStatus::kUndecided;
  }
  Ball log;
  const BallStatus status = BallLog(x, prec, &log);
  if (status != BallStatus::kOk) return status;
  acb_mul(log.get(), log.get(), y.get(), prec);
  return BallExp(log, prec, out);
}

BallStatus BallFactorial(const Ball& x, slong prec, Ball* out) {
  if (UpperExponent(x.re()) > kGammaArgumentBitsMax ||
      UpperExponent(x.im()) > kGammaArgumentBitsMax) {
    return BallStatus::kUnsupported;
  }
  prec = std::min(prec, kGammaPrecisionMax);
  Ball y;
  acb_add_si(y.get(), x.get(), 1, prec);
  if (y.IsReal() && arb_is_exact(y.re()) && arb_is_int(y.re()) && arb_is_nonpositive(y.re())) {
    return BallStatus::kUndefined;
  }
  return Apply(arb_gamma, acb_gamma, y, prec, out);
}

BallStatus BallFloor(const Ball& x, bool ceiling, slong prec, Ball* out) {
  if (!x.IsReal()) return NotReal(x);
  if (UpperExponent(x.re()) > prec) return BallStatus::kUndecided;
  if (ceiling) {
    arb_ceil(out->re(), x.re(), prec);
  } else {
    arb_floor(out->re(), x.re(), prec);
  }
  out->MakeReal();
  return arb_is_exact(out->re()) ? BallStatus::kOk : BallStatus::kUndecided;
}

BallStatus ApplyFunction(Function fn, const Ball& x, slong prec, Ball* out) {
  // sin and friends of a huge argument are [-1, 1] to Arb; the hyperbolic ones are exponentials.
  switch (fn) {
    case Function::kSin:
    case Function::kCos:
    case Function::kTan:
    case Function::kCot:
    case Function::kSec:
    case Function::kCsc:
      if (UpperExponent(x.im()) > kExpArgumentBitsMax) return BallStatus::kUnsupported;
      break;
    case Function::kSinh:
    case Function::kCosh:
    case Function::kTanh:
    case Function::kCoth:
    case Function::kSech:
    case Function::kCsch:
      if (UpperExponent(x.re()) > kExpArgumentBitsMax) return BallStatus::kUnsupported;
      break;
    default:
      break;
  }
  switch (fn) {
    case Function::kSin:
      return Apply(arb_sin, acb_sin, x, prec, out);
    case Function::kCos:
      return Apply(arb_cos, acb_cos, x, prec, out);
    case Function::kTan:
      return Apply(arb_tan, acb_tan, x, prec, out);
    case Function::kCot:
      if (IsExactZero(x)) return BallStatus::kUndefined;
      return Apply(arb_cot, acb_cot, x, prec, out);
    case Function::kSec:
      return Reciprocal(ApplyFunction(Function::kCos, x, prec, out), prec, out);
    case Function::kCsc:
      return Reciprocal(ApplyFunction(Function::kSin, x, prec, out), prec, out);
    case Function::kSinh:
      return Apply(arb_sinh, acb_sinh, x, prec, out);
    case Function::kCosh:
      return Apply(arb_cosh, acb_cosh, x, prec, out);
    case Function::kTanh:
      return Apply(arb_tanh, acb_tanh, x, prec, out);
    case Function::kCoth:
      return Reciprocal(ApplyFunction(Function::kTanh, x, prec, out), prec, out);
    case Function::kSech:
      return Reciprocal(ApplyFunction(Function::kCosh, x, prec, out), prec, out);
    case Function::kCsch:
      return Reciprocal(ApplyFunction(Function::kSinh, x, prec, out), prec, out);
    case Function::kArcsin:
      return ApplyOn(arb_asin, acb_asin, -1, true, 1, true, x, prec, out);
    case Function::kArccos:
      return ApplyOn(arb_acos, acb_acos, -1, true, 1, true, x, prec, out);
    case Function::kArctan:
      return Apply(arb_atan, acb_atan, x, prec, out);
    case Function::kArccot:
      return Arccot(x, prec, out);
    case Function::kArcsec:
      return OfReciprocal(Function::kArccos, x, prec, out);
    case Function::kArccsc:
      return OfReciprocal(Function::kArcsin, x, prec, out);
    case Function::kArsinh:
      return Apply(arb_asinh, acb_asinh, x, prec, out);
    case Function::kArcosh:
      return ApplyOn(arb_acosh, acb_acosh, 1, true, 0, false, x, prec, out);
    case Function::kArtanh:
      return ApplyOn(arb_atanh, acb_atanh, -1, true, 1, true, x, prec, out);
    case Function::kArcoth:
      return OfReciprocal(Function::kArtanh, x, prec, out);
    case Function::kArsech:
      return OfReciprocal(Function::kArcosh, x, prec, out);
    case Function::kArcsch:
      return OfReciprocal(Function::kArsinh, x, prec, out);
    case Function::kExp:
      return BallExp(x, prec, out);
    case Function::kLn:
      return BallLog(x, prec, out);
    case Function::kAbs:
      acb_abs(out->re(), x.get(), prec);
      out->MakeReal();
      return Finished(out);
    case Function::kFloor:
    case Function::kCeil:
      return BallFloor(x, fn == Function::kCeil, prec, out);
    case Function::kSign:
      return Sign(x, out);
    case Function::kGamma: {
      Ball y;
      acb_sub_si(y.get(), x.get(), 1, prec);
      return BallFactorial(y, prec, out);
    }
    case Function::kRe:
    case Function::kIm:
      if (fn == Function::kIm)
        arb_set(out->re(), x.im());
      else
        arb_set(out->re(), x.re());
      out->MakeReal();
      return BallStatus::kOk;
    case Function::kConj:
      acb_conj(out->get(), x.get());
      return BallStatus::kOk;
    case Function::kArg: {
      if (IsExactZero(x)) return BallStatus::kUndefined;
      if (x.ContainsZero()) return BallStatus::kUndecided;
      if (!x.IsReal() && arb_contains_zero(x.im()) && !arb_is_positive(x.re()))
        return BallStatus::kUndecided;
      RealBall arg;
      acb_arg(arg, x.get(), prec);
      arb_set(out->re(), arg);
      out->MakeReal();
      return Finished(out);
    }
    default:
      return BallStatus::kUnsupported;
  }
}

}  // namespace rewardloop::math
