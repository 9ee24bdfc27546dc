// Exact rational numbers: 64-bit inline, GMP above that, never larger than kExactBitsMax bits a
// part.
//
// Every operation that can grow takes a Fuel and returns false, leaving *out unspecified, when the
// result would break the size cap or the budget (then fuel.empty()). Sizes are estimated before
// anything is computed. `out` may be an operand. Thread-compatible: const use from many threads is
// safe.
#pragma once

#include <gmp.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "math/fuel.h"

namespace rewardloop::math {

inline constexpr int64_t kExactBitsMax = int64_t{1} << 17;
inline constexpr int64_t kExactFactorialMax = 10'000;

class Rational {
 public:
  Rational() = default;
  Rational(int64_t value) : num_(value) {}  // NOLINT: integers are rationals
  Rational(const Rational& other) : num_(other.num_), den_(other.den_) {
    if (other.big_) CopyBig(other);
  }
  Rational(Rational&& other) noexcept
      : num_(other.num_), den_(other.den_), big_(std::exchange(other.big_, nullptr)) {}
  Rational& operator=(const Rational& other) {
    if (this != &other) *this = Rational(other);
    return *this;
  }
  Rational& operator=(Rational&& other) noexcept {
    std::swap(num_, other.num_);
    std::swap(den_, other.den_);
    std::swap(big_, other.big_);
    return *this;
  }
  ~Rational() {
    if (big_) FreeBig();
  }

  // num/den in lowest terms; den must not be zero.
  static Rational Of(int64_t num, int64_t den);
  // As Of() for values known to be in lowest terms with den > 0.
  static Rational Reduced(int64_t num, int64_t den) {
    Rational r(num);
    r.den_ = den;
    return r;
  }
  // Takes the value out of `q` (canonicalised, then small when it fits).
  static Rational Take(mpq_t q);
  static Rational TakeReduced(mpq_t q);  // of a canonical q

  bool is_small() const { return big_ == nullptr; }
  int64_t small_num() const { return num_; }
  int64_t small_den() const { return den_; }
  mpq_srcptr big() const { return big_; }
  // Writes the value into an initialised mpq.
  void Get(mpq_t q) const;

  int sign() const { return big_ ? mpq_sgn(big_) : (num_ > 0) - (num_ < 0); }
  bool is_zero() const { return !big_ && num_ == 0; }
  bool is_one() const { return !big_ && num_ == 1 && den_ == 1; }
  bool is_integer() const { return big_ ? mpz_cmp_ui(mpq_denref(big_), 1) == 0 : den_ == 1; }
  // Bits of the numerator's absolute value, of the denominator (0 has 0 bits).
  int64_t num_bits() const;
  int64_t den_bits() const;
  int64_t bits() const { return num_bits() > den_bits() ? num_bits() : den_bits(); }
  // True and *out set when the value is an integer that fits.
  bool ToInt64(int64_t* out) const {
    if (big_ || den_ != 1) return false;
    *out = num_;
    return true;
  }
  Rational Numerator() const;
  Rational Denominator() const;

  bool operator==(const Rational& other) const {
    if (big_ || other.big_) return big_ && other.big_ && mpq_equal(big_, other.big_);
    return num_ == other.num_ && den_ == other.den_;
  }
  // -1, 0, 1.
  static int Compare(const Rational& a, const Rational& b);

  // "-3/4", "7"; at most about 40,000 characters.
  std::string ToString() const;
  // Equal values have equal hashes.
  uint64_t Hash() const;

 private:
  void CopyBig(const Rational& other);
  void FreeBig();

  int64_t num_ = 0;
  int64_t den_ = 1;
  mpq_ptr big_ = nullptr;  // owned; when set, num_ and den_ mean nothing
};

[[nodiscard]] bool Add(const Rational& a, const Rational& b, Fuel& fuel, Rational* out);
[[nodiscard]] bool Sub(const Rational& a, const Rational& b, Fuel& fuel, Rational* out);
[[nodiscard]] bool Mul(const Rational& a, const Rational& b, Fuel& fuel, Rational* out);
// b must not be zero.
[[nodiscard]] bool Div(const Rational& a, const Rational& b, Fuel& fuel, Rational* out);
// a^n; a zero base with a negative exponent is the caller's to exclude. 0^0 is 1.
[[nodiscard]] bool PowInt(const Rational& a, int64_t n, Fuel& fuel, Rational* out);
bool IsOddInteger(const Rational& a);
Rational Neg(const Rational& a);
Rational Abs(const Rational& a);
Rational Floor(const Rational& a);
Rational Ceil(const Rational& a);
// Nearest integer, halves away from zero.
Rational Round(const Rational& a);
// The real n-th root when it is rational: true and *out set. n >= 1; a negative `a` needs an odd n.
[[nodiscard]] bool ExactRoot(const Rational& a, int64_t n, Fuel& fuel, Rational* out);
// n! for 0 <= n <= kExactFactorialMax; larger: false.
[[nodiscard]] bool Factorial(int64_t n, Fuel& fuel, Rational* out);
[[nodiscard]] bool DoubleFactorial(int64_t n, Fuel& fuel, Rational* out);
// n over k for an integer k >= 0 and any integer n.
[[nodiscard]] bool Binomial(const Rational& n, int64_t k, Fuel& fuel, Rational* out);
// Of integers; false on a non-integer too.
[[nodiscard]] bool Gcd(const Rational& a, const Rational& b, Fuel& fuel, Rational* out);
[[nodiscard]] bool Lcm(const Rational& a, const Rational& b, Fuel& fuel, Rational* out);
// a - b*floor(a/b), b != 0.
[[nodiscard]] bool Mod(const Rational& a, const Rational& b, Fuel& fuel, Rational* out);
// base^exponent mod m for integers, exponent >= 0, m > 0.
[[nodiscard]] bool PowMod(const Rational& base, const Rational& exponent, const Rational& m,
                          Fuel& fuel, Rational* out);

// Reads ASCII digits "123", "12.5", ".5", "3." in `base` (2..36, letters either case), times
// base^exponent. False on anything else, and on a value above the cap.
[[nodiscard]] bool ParseNumber(std::string_view text, int base, int64_t exponent, Fuel& fuel,
                               Rational* out);

}  // namespace rewardloop::math
