#include "math/numeric/ball.h"

#include <algorithm>

namespace rewardloop::math {
namespace {

struct FlintThread {
  // FLINT keeps constants and free lists per thread; nobody else releases them.
  ~FlintThread() { flint_cleanup(); }
  bool alive = true;
};

int64_t ClampExponent(const fmpz_t e) {
  if (COEFF_IS_MPZ(*e)) return fmpz_sgn(e) > 0 ? kScaleMax : -kScaleMax;
  return std::clamp<int64_t>(*e, -kScaleMax, kScaleMax);
}

}  // namespace

void KeepFlintThreadLocal() {
  thread_local FlintThread thread;
  // Reading the object is what makes the compiler construct it in this thread.
  static_cast<void>(*const_cast<volatile bool*>(&thread.alive));
}

void SetRational(arb_t out, const Rational& x, slong prec) {
  if (x.is_small()) {
    arb_set_si(out, x.small_num());
    if (x.small_den() != 1) arb_div_si(out, out, x.small_den(), prec);
    return;
  }
  fmpz_t num, den;
  fmpz_init(num);
  fmpz_init(den);
  fmpz_set_mpz(num, mpq_numref(x.big()));
  fmpz_set_mpz(den, mpq_denref(x.big()));
  arb_fmpz_div_fmpz(out, num, den, prec);
  fmpz_clear(num);
  fmpz_clear(den);
}

void Ball::Set(const Rational& x, slong prec) {
  SetRational(re(), x, prec);
  arb_zero(im());
}

int64_t UpperExponent(arb_srcptr x) {
  if (!arb_is_finite(x)) return kScaleMax;
  if (arb_is_zero(x)) return -kScaleMax;
  mag_t m;
  mag_init(m);
  arb_get_mag(m, x);
  const int64_t e = ClampExponent(MAG_EXPREF(m));
  mag_clear(m);
  return e;
}

int64_t Scale(arb_srcptr x) {
  if (!arb_is_finite(x)) return kScaleMax;
  if (arb_contains_zero(x)) return 0;
  const int64_t e = ClampExponent(ARF_EXPREF(arb_midref(x)));
  return std::min(kScaleMax, (e < 0 ? -e : e) + 1);
}

}  // namespace rewardloop::math
