// Complex balls over Arb: a value that is certainly inside, with reality tracked exactly.
#pragma once

#include "math/numeric/exact.h"
#include "math/numeric/flint_headers.h"

namespace rewardloop::math {

// Sets up FLINT's caches of this thread to be freed when the thread ends. Called by every Ball.
void KeepFlintThreadLocal();

class Ball {
 public:
  Ball() {
    KeepFlintThreadLocal();
    acb_init(value_);
  }
  ~Ball() { acb_clear(value_); }
  Ball(const Ball& other) {
    acb_init(value_);
    acb_set(value_, other.value_);
  }
  Ball& operator=(const Ball& other) {
    acb_set(value_, other.value_);
    return *this;
  }
  Ball(Ball&& other) noexcept {
    acb_init(value_);
    acb_swap(value_, other.value_);
  }
  Ball& operator=(Ball&& other) noexcept {
    acb_swap(value_, other.value_);
    return *this;
  }

  acb_ptr get() { return value_; }
  acb_srcptr get() const { return value_; }
  arb_ptr re() { return acb_realref(value_); }
  arb_srcptr re() const { return acb_realref(value_); }
  arb_ptr im() { return acb_imagref(value_); }
  arb_srcptr im() const { return acb_imagref(value_); }

  // Certainly real: the imaginary part is exactly zero.
  bool IsReal() const { return arb_is_zero(im()); }
  // Certainly not real.
  bool IsNonReal() const { return !arb_contains_zero(im()); }
  bool IsFinite() const { return acb_is_finite(value_); }
  bool ContainsZero() const { return acb_contains_zero(value_); }
  void MakeReal() { arb_zero(im()); }

  void Set(const Rational& x, slong prec);
  void Set(int64_t x) { acb_set_si(value_, x); }

 private:
  acb_t value_;
};

class RealBall {
 public:
  RealBall() { arb_init(value_); }
  ~RealBall() { arb_clear(value_); }
  RealBall(const RealBall&) = delete;
  RealBall& operator=(const RealBall&) = delete;
  operator arb_ptr() { return value_; }           // NOLINT: a drop-in for arb_t
  operator arb_srcptr() const { return value_; }  // NOLINT

 private:
  arb_t value_;
};

void SetRational(arb_t out, const Rational& x, slong prec);

// Upper bound of |log2 |x|| for a ball without zero: how far x is from 1 in scale. 0 when zero is
// inside, kScaleMax when even the exponent is huge.
inline constexpr int64_t kScaleMax = int64_t{1} << 60;
int64_t Scale(arb_srcptr x);
// e with |x| <= 2^e for every x in the ball; -kScaleMax for exact zero, kScaleMax when not finite
// or beyond.
int64_t UpperExponent(arb_srcptr x);

}  // namespace rewardloop::math
