#include "math/numeric/exact.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace rewardloop::math {
namespace {

static_assert(sizeof(long) == sizeof(int64_t),
              "GMP's long interface carries the 64-bit values here");

// Cost of a product in fuel: schoolbook for short operands, about n^1.5 above, as GMP's.
int64_t MulCost(int64_t bits_a, int64_t bits_b) {
  const int64_t long_limbs = std::max(bits_a, bits_b) / 64 + 1;
  const int64_t short_limbs = std::min(bits_a, bits_b) / 64 + 1;
  if (short_limbs <= 32) return 8 + long_limbs * short_limbs / 2;
  const int half_log = (65 - __builtin_clzll(static_cast<uint64_t>(short_limbs))) / 2;
  return 8 + 3 * (long_limbs << half_log);
}

// Reduces a quotient of 128-bit integers; false when it does not fit into 64 bits a part.
bool FitSmall(__int128 num, __int128 den, Rational* out) {
  unsigned __int128 a = num < 0 ? -static_cast<unsigned __int128>(num) : num;
  unsigned __int128 b = den;
  constexpr unsigned __int128 k64 = ~uint64_t{0};
  while (b > k64) {
    const unsigned __int128 r = a % b;
    a = b;
    b = r;
  }
  if (b != 0) {
    uint64_t y = static_cast<uint64_t>(b);
    uint64_t x = static_cast<uint64_t>(a % y);
    if (x == 0) {
      a = y;
    } else {
      a = std::gcd(x, y);
    }
  }
  const __int128 g = static_cast<__int128>(a);
  num /= g;
  den /= g;
  if (num > INT64_MAX || num < -INT64_MAX || den > INT64_MAX) return false;
  *out = Rational::Reduced(static_cast<int64_t>(num), static_cast<int64_t>(den));
  return true;
}

// Big steps are refused, not started, when they would take most of what is left: other methods may
// need less.
bool Pay(Fuel& fuel, int64_t cost) { return cost <= fuel.left() / 2 + 64 && fuel.Spend(cost); }

class Mpq {
 public:
  Mpq() { mpq_init(q_); }
  explicit Mpq(const Rational& r) {
    mpq_init(q_);
    r.Get(q_);
  }
  ~Mpq() { mpq_clear(q_); }
  Mpq(const Mpq&) = delete;
  Mpq& operator=(const Mpq&) = delete;
  operator mpq_ptr() { return q_; }  // NOLINT: a drop-in for mpq_t
  mpz_ptr num() { return mpq_numref(q_); }
  mpz_ptr den() { return mpq_denref(q_); }

 private:
  mpq_t q_;
};

bool FitsCap(const Rational& r) { return r.bits() <= kExactBitsMax; }

}  // namespace

Rational Rational::Of(int64_t num, int64_t den) {
  Rational r;
  const bool negative = (num < 0) != (den < 0);
  uint64_t n = num < 0 ? -static_cast<uint64_t>(num) : num;
  uint64_t d = den < 0 ? -static_cast<uint64_t>(den) : den;
  const uint64_t g = std::gcd(n, d);
  n /= g;
  d /= g;
  if (n > INT64_MAX || d > INT64_MAX) {  // only INT64_MIN gets here
    Mpq q;
    mpz_set_ui(q.num(), n);
    mpz_set_ui(q.den(), d);
    if (negative) mpz_neg(q.num(), q.num());
    return Take(q);
  }
  r.num_ = negative ? -static_cast<int64_t>(n) : static_cast<int64_t>(n);
  r.den_ = static_cast<int64_t>(d);
  return r;
}

Rational Rational::Take(mpq_t q) {
  mpq_canonicalize(q);
  return TakeReduced(q);
}

Rational Rational::TakeReduced(mpq_t q) {
  Rational r;
  if (mpz_fits_slong_p(mpq_numref(q)) && mpz_fits_slong_p(mpq_denref(q)) &&
      mpz_get_si(mpq_numref(q)) != INT64_MIN) {
    r.num_ = mpz_get_si(mpq_numref(q));
    r.den_ = mpz_get_si(mpq_denref(q));
    return r;
  }
  r.big_ = new __mpq_struct;
  mpq_init(r.big_);
  mpq_swap(r.big_, q);
  return r;
}

void Rational::Get(mpq_t q) const {
  if (big_) {
    mpq_set(q, big_);
  } else {
    mpz_set_si(mpq_numref(q), num_);
    mpz_set_si(mpq_denref(q), den_);
  }
}

void Rational::CopyBig(const Rational& other) {
  big_ = new __mpq_struct;
  mpq_init(big_);
  mpq_set(big_, other.big_);
}

void Rational::FreeBig() {
  mpq_clear(big_);
  delete big_;
}

int64_t Rational::num_bits() const {
  if (big_) return mpz_sgn(mpq_numref(big_)) == 0 ? 0 : mpz_sizeinbase(mpq_numref(big_), 2);
  const uint64_t n = num_ < 0 ? -static_cast<uint64_t>(num_) : num_;
  return n == 0 ? 0 : 64 - __builtin_clzll(n);
}

int64_t Rational::den_bits() const {
  if (big_) return mpz_sizeinbase(mpq_denref(big_), 2);
  return 64 - __builtin_clzll(static_cast<uint64_t>(den_));
}

Rational Rational::Numerator() const {
  if (!big_) return Rational(num_);
  Mpq q;
  mpz_set(q.num(), mpq_numref(big_));
  mpz_set_ui(q.den(), 1);
  return Take(q);
}

Rational Rational::Denominator() const {
  if (!big_) return Rational(den_);
  Mpq q;
  mpz_set(q.num(), mpq_denref(big_));
  mpz_set_ui(q.den(), 1);
  return Take(q);
}

int Rational::Compare(const Rational& a, const Rational& b) {
  if (!a.big_ && !b.big_) {
    const __int128 l = static_cast<__int128>(a.num_) * b.den_;
    const __int128 r = static_cast<__int128>(b.num_) * a.den_;
    return (l > r) - (l < r);
  }
  if (a.sign() != b.sign()) return a.sign() < b.sign() ? -1 : 1;
  Mpq x(a), y(b);
  const int c = mpq_cmp(x, y);
  return (c > 0) - (c < 0);
}

std::string Rational::ToString() const {
  if (!big_)
    return den_ == 1 ? std::to_string(num_) : std::to_string(num_) + "/" + std::to_string(den_);
  const size_t size =
      mpz_sizeinbase(mpq_numref(big_), 10) + mpz_sizeinbase(mpq_denref(big_), 10) + 3;
  std::string text(size, '\0');
  mpq_get_str(text.data(), 10, big_);
  text.resize(std::strlen(text.c_str()));
  return text;
}

uint64_t Rational::Hash() const {
  uint64_t h = 0x9E3779B97F4A7C15u;
  const auto mix = [&h](uint64_t v) {
    h ^= v + 0x9E3779B97F4A7C15u + (h << 6) + (h >> 2);
    h *= 0xBF58476D1CE4E5B9u;
    h ^= h >> 29;
  };
  if (!big_) {
    mix(static_cast<uint64_t>(num_));
    mix(static_cast<uint64_t>(den_));
    return h;
  }
  mix(static_cast<uint64_t>(mpq_sgn(big_)) + 7);
  for (size_t i = 0; i < mpz_size(mpq_numref(big_)); ++i) mix(mpz_getlimbn(mpq_numref(big_), i));
  mix(0x5851F42D4C957F2Du);
  for (size_t i = 0; i < mpz_size(mpq_denref(big_)); ++i) mix(mpz_getlimbn(mpq_denref(big_), i));
  return h;
}

// ---- Arithmetic
// ---------------------------------------------------------------------------------------------------

namespace {

bool BigAddSub(const Rational& a, const Rational& b, bool subtract, Fuel& fuel, Rational* out) {
  const int64_t bits = std::max(a.num_bits() + b.den_bits(), b.num_bits() + a.den_bits()) + 1;
  const int64_t den = a.den_bits() + b.den_bits();
  if (bits > 2 * kExactBitsMax || den > 2 * kExactBitsMax) return false;
  const bool integers = a.is_integer() && b.is_integer();
  if (!Pay(fuel, integers ? 20 + bits / 64 : 20 + 4 * MulCost(bits, den))) return false;
  Mpq x(a), y(b);
  if (subtract) {
    mpq_sub(x, x, y);
  } else {
    mpq_add(x, x, y);
  }
  *out = Rational::TakeReduced(x);
  return FitsCap(*out);
}

bool BigMulDiv(const Rational& a, const Rational& b, bool divide, Fuel& fuel, Rational* out) {
  const int64_t bn = divide ? b.den_bits() : b.num_bits();
  const int64_t bd = divide ? b.num_bits() : b.den_bits();
  const int64_t num = a.num_bits() + bn;
  const int64_t den = a.den_bits() + bd;
  if (num > 2 * kExactBitsMax || den > 2 * kExactBitsMax) return false;
  if (!Pay(fuel, 20 + 2 * MulCost(a.bits(), b.bits()))) return false;
  Mpq x(a), y(b);
  if (divide) {
    mpq_div(x, x, y);
  } else {
    mpq_mul(x, x, y);
  }
  *out = Rational::TakeReduced(x);
  return FitsCap(*out);
}

}  // namespace

bool Add(const Rational& a, const Rational& b, Fuel& fuel, Rational* out) {
  if (a.is_small() && b.is_small()) {
    if (!fuel.Spend(4)) return false;
    const int64_t ad = a.small_den(), bd = b.small_den();
    if (ad == 1 && bd == 1) {
      int64_t sum;
      if (!__builtin_add_overflow(a.small_num(), b.small_num(), &sum) && sum != INT64_MIN) {
        *out = Rational(sum);
        return true;
      }
    } else {
      __int128 l = static_cast<__int128>(a.small_num()) * bd;
      __int128 r = static_cast<__int128>(b.small_num()) * ad;
      __int128 sum;
      if (!__builtin_add_overflow(l, r, &sum) &&
          FitSmall(sum, static_cast<__int128>(ad) * bd, out)) {
        return true;
      }
    }
  }
  return BigAddSub(a, b, false, fuel, out);
}

bool Sub(const Rational& a, const Rational& b, Fuel& fuel, Rational* out) {
  if (b.is_small()) return Add(a, Neg(b), fuel, out);
  return BigAddSub(a, b, true, fuel, out);
}

bool Mul(const Rational& a, const Rational& b, Fuel& fuel, Rational* out) {
  if (a.is_small() && b.is_small()) {
    if (!fuel.Spend(4)) return false;
    if (FitSmall(static_cast<__int128>(a.small_num()) * b.small_num(),
                 static_cast<__int128>(a.small_den()) * b.small_den(), out)) {
      return true;
    }
  }
  return BigMulDiv(a, b, false, fuel, out);
}

bool Div(const Rational& a, const Rational& b, Fuel& fuel, Rational* out) {
  if (a.is_small() && b.is_small()) {
    if (!fuel.Spend(4)) return false;
    __int128 num = static_cast<__int128>(a.small_num()) * b.small_den();
    __int128 den = static_cast<__int128>(a.small_den()) * b.small_num();
    if (den < 0) {
      num = -num;
      den = -den;
    }
    if (FitSmall(num, den, out)) return true;
  }
  return BigMulDiv(a, b, true, fuel, out);
}

bool PowInt(const Rational& a, int64_t n, Fuel& fuel, Rational* out) {
  if (n == 0 || a.is_one()) {
    *out = Rational(1);
    return true;
  }
  if (n == 1) {
    *out = a;
    return true;
  }
  if (a.is_zero()) {
    *out = Rational(0);
    return n > 0;
  }
  if (a == Rational(-1)) {
    *out = Rational(n % 2 == 0 ? 1 : -1);
    return true;
  }
  const uint64_t e = n < 0 ? -static_cast<uint64_t>(n) : n;
  // (bits - 1) * e is a lower bound of the result's size.
  if (static_cast<unsigned __int128>(a.bits() - 1) * e > static_cast<uint64_t>(kExactBitsMax))
    return false;
  const int64_t bits = a.bits() * static_cast<int64_t>(e);
  if (!Pay(fuel, 20 + MulCost(bits / 2, bits / 2))) return false;
  Mpq q(a);
  mpz_pow_ui(q.num(), q.num(), e);
  mpz_pow_ui(q.den(), q.den(), e);
  if (n < 0) mpq_inv(q, q);
  *out = Rational::TakeReduced(q);
  return FitsCap(*out);
}

bool IsOddInteger(const Rational& a) {
  if (!a.is_integer()) return false;
  return a.is_small() ? a.small_num() % 2 != 0 : mpz_odd_p(mpq_numref(a.big())) != 0;
}

Rational Neg(const Rational& a) {
  if (a.is_small()) return Rational::Reduced(-a.small_num(), a.small_den());
  Mpq q(a);
  mpq_neg(q, q);
  return Rational::TakeReduced(q);
}

Rational Abs(const Rational& a) { return a.sign() < 0 ? Neg(a) : a; }

Rational Floor(const Rational& a) {
  if (a.is_integer()) return a;
  if (a.is_small()) {
    int64_t q = a.small_num() / a.small_den();
    if (a.small_num() < 0) --q;
    return Rational(q);
  }
  Mpq q(a);
  mpz_fdiv_q(q.num(), q.num(), q.den());
  mpz_set_ui(q.den(), 1);
  return Rational::Take(q);
}

Rational Ceil(const Rational& a) { return Neg(Floor(Neg(a))); }

Rational Round(const Rational& a) {
  Mpq q(Abs(a));
  mpz_mul_2exp(q.num(), q.num(), 1);
  mpz_add(q.num(), q.num(), q.den());
  mpz_mul_2exp(q.den(), q.den(), 1);
  mpz_fdiv_q(q.num(), q.num(), q.den());
  mpz_set_ui(q.den(), 1);
  if (a.sign() < 0) mpq_neg(q, q);
  return Rational::TakeReduced(q);
}

bool ExactRoot(const Rational& a, int64_t n, Fuel& fuel, Rational* out) {
  if (n < 1 || (a.sign() < 0 && n % 2 == 0)) return false;
  if (n == 1 || a.is_zero() || a.is_one() || a == Rational(-1)) {
    *out = a;
    return true;
  }
  if (n > a.bits()) return false;  // a value other than 0, 1, -1 has no root of that index
  if (!Pay(fuel, 60 + 4 * MulCost(a.bits(), a.bits()))) return false;
  Mpq q(a);
  if (!mpz_root(q.num(), q.num(), n) || !mpz_root(q.den(), q.den(), n)) return false;
  *out = Rational::Take(q);
  return true;
}

bool Factorial(int64_t n, Fuel& fuel, Rational* out) {
  if (n < 0 || n > kExactFactorialMax) return false;
  int64_t small = 1;
  if (n <= 20) {
    for (int64_t i = 2; i <= n; ++i) small *= i;
    *out = Rational(small);
    return fuel.Spend(20);
  }
  if (!Pay(fuel, 100 + n * n / 100)) return false;
  Mpq q;
  mpz_fac_ui(q.num(), n);
  *out = Rational::Take(q);
  return FitsCap(*out);
}

bool DoubleFactorial(int64_t n, Fuel& fuel, Rational* out) {
  if (n < -1 || n > kExactFactorialMax) return false;
  if (n <= 0) {
    *out = Rational(1);
    return true;
  }
  if (!Pay(fuel, 100 + n * n / 100)) return false;
  Mpq q;
  mpz_2fac_ui(q.num(), n);
  *out = Rational::Take(q);
  return FitsCap(*out);
}

bool Binomial(const Rational& n, int64_t k, Fuel& fuel, Rational* out) {
  if (!n.is_integer()) return false;
  if (k < 0) {
    *out = Rational(0);
    return true;
  }
  int64_t small;
  if (n.ToInt64(&small) && small >= 0) {
    if (k > small) {
      *out = Rational(0);
      return true;
    }
    k = std::min(k, small - k);
  }
  // The result has at most k * bits(n) bits, and at least k * (bits(n) - bits(k)).
  if (k > kExactBitsMax ||
      k * std::max<int64_t>(n.num_bits() - 64 + __builtin_clzll(k | 1), 0) > kExactBitsMax) {
    return false;
  }
  // C(n, k) <= 2^n bounds it as well.
  int64_t bits = k * n.num_bits();
  if (n.ToInt64(&small) && small >= 0) bits = std::min(bits, small);
  if (!Pay(fuel, 100 + k * (bits / 512 + 8))) return false;
  Mpq x(n);
  mpz_bin_ui(x.num(), x.num(), k);
  *out = Rational::Take(x);
  return FitsCap(*out);
}

bool Gcd(const Rational& a, const Rational& b, Fuel& fuel, Rational* out) {
  if (!a.is_integer() || !b.is_integer()) return false;
  if (!Pay(fuel, 30 + 4 * MulCost(a.num_bits(), b.num_bits()))) return false;
  Mpq x(a), y(b);
  mpz_gcd(x.num(), x.num(), y.num());
  *out = Rational::Take(x);
  return true;
}

bool Lcm(const Rational& a, const Rational& b, Fuel& fuel, Rational* out) {
  if (!a.is_integer() || !b.is_integer()) return false;
  if (!Pay(fuel, 30 + 5 * MulCost(a.num_bits(), b.num_bits()))) return false;
  Mpq x(a), y(b);
  mpz_lcm(x.num(), x.num(), y.num());
  *out = Rational::Take(x);
  return FitsCap(*out);
}

bool Mod(const Rational& a, const Rational& b, Fuel& fuel, Rational* out) {
  Rational q;
  if (!Div(a, b, fuel, &q)) return false;
  q = Floor(q);
  return Mul(q, b, fuel, &q) && Sub(a, q, fuel, out);
}

bool PowMod(const Rational& base, const Rational& exponent, const Rational& m, Fuel& fuel,
            Rational* out) {
  if (!base.is_integer() || !exponent.is_integer() || !m.is_integer()) return false;
  if (exponent.sign() < 0 || m.sign() <= 0) return false;
  if (!Pay(fuel, 100 + (exponent.num_bits() + 1) * 3 * MulCost(m.num_bits(), m.num_bits()) +
                     MulCost(base.num_bits(), m.num_bits()))) {
    return false;
  }
  Mpq b(base), e(exponent), n(m);
  mpz_powm(b.num(), b.num(), e.num(), n.num());
  mpz_set_ui(b.den(), 1);
  *out = Rational::Take(b);
  return true;
}

// ---- Reading
// ------------------------------------------------------------------------------------------------------

namespace {

int DigitValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  return 99;
}

// digits (no point) as an integer.
bool ReadDigits(std::string_view digits, int base, Fuel& fuel, Rational* out) {
  if (digits.size() <= 11 || (base <= 10 && digits.size() <= 18)) {
    int64_t value = 0;
    for (char c : digits) value = value * base + DigitValue(c);
    *out = Rational(value);
    return true;
  }
  const int64_t bits = static_cast<int64_t>(digits.size()) * 6;
  if (static_cast<int64_t>(digits.size()) > kExactBitsMax / 3 ||
      !Pay(fuel, 50 + MulCost(bits, bits)))
    return false;
  const std::string text(digits);  // GMP wants a terminated string
  Mpq q;
  if (mpz_set_str(q.num(), text.c_str(), base) != 0) return false;
  *out = Rational::Take(q);
  return FitsCap(*out);
}

}  // namespace

bool ParseNumber(std::string_view text, int base, int64_t exponent, Fuel& fuel, Rational* out) {
  if (base < 2 || base > 36) return false;
  if (base == 10 && exponent == 0 && text.size() <= 18 &&
      !text.empty()) {  // nearly every number there is
    int64_t value = 0;
    size_t i = 0;
    for (; i < text.size() && static_cast<unsigned char>(text[i] - '0') < 10; ++i)
      value = value * 10 + (text[i] - '0');
    if (i == text.size()) {
      *out = Rational(value);
      return fuel.Spend(2);
    }
  }
  const size_t point = text.find('.');
  size_t digit_count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == point) continue;
    if (DigitValue(text[i]) >= base) return false;
    ++digit_count;
  }
  if (digit_count == 0 || !fuel.Spend(2 + static_cast<int64_t>(text.size()))) return false;
  if (point == std::string_view::npos) {
    if (!ReadDigits(text, base, fuel, out)) return false;
  } else {
    const std::string joined = std::string(text.substr(0, point)).append(text.substr(point + 1));
    if (!ReadDigits(joined, base, fuel, out)) return false;
    exponent -= static_cast<int64_t>(text.size() - point - 1);
  }
  if (exponent == 0 || out->is_zero()) return true;
  // Small powers of ten without GMP.
  if (base == 10 && exponent > -19 && exponent < 19) {
    int64_t scale = 1;
    for (int64_t i = exponent < 0 ? -exponent : exponent; i > 0; --i) scale *= 10;
    return exponent > 0 ? Mul(*out, Rational(scale), fuel, out)
                        : Div(*out, Rational(scale), fuel, out);
  }
  Rational scale;
  return PowInt(Rational(base), exponent, fuel, &scale) && Mul(*out, scale, fuel, out);
}

}  // namespace rewardloop::math
