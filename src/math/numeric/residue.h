// Arithmetic modulo two 61-bit primes at once, values kept as fractions so that nothing is ever
// inverted.
//
// p - 1 is smooth for both primes, so the Carmichael chain p - 1, lambda(p - 1), lambda(lambda(p -
// 1)), ... that reduces the exponents of a power tower reaches 1 after a few steps.
#pragma once

#include <cstdint>

namespace rewardloop::math {

inline constexpr uint64_t kPrimes[2] = {(uint64_t{1} << 61) - 1, (uint64_t{1} << 61) - 12951};

template <int kLane>
struct Field {
  static constexpr uint64_t kP = kPrimes[kLane];
  static constexpr uint64_t kC = (uint64_t{1} << 61) - kP;  // 2^61 mod p

  static uint64_t Reduce(unsigned __int128 x) {  // x < 2^123
    constexpr uint64_t kMask = (uint64_t{1} << 61) - 1;
    x = (x >> 61) * kC + (static_cast<uint64_t>(x) & kMask);
    uint64_t r = static_cast<uint64_t>(x >> 61) * kC + (static_cast<uint64_t>(x) & kMask);
    if (r >= kP) r -= kP;
    return r;
  }
  static uint64_t FromU64(uint64_t x) { return Reduce(x); }
  static uint64_t Mul(uint64_t a, uint64_t b) {
    return Reduce(static_cast<unsigned __int128>(a) * b);
  }
  static uint64_t Add(uint64_t a, uint64_t b) {
    const uint64_t r = a + b;
    return r >= kP ? r - kP : r;
  }
  static uint64_t Neg(uint64_t a) { return a == 0 ? 0 : kP - a; }
  static uint64_t Sub(uint64_t a, uint64_t b) { return Add(a, Neg(b)); }
  static uint64_t Pow(uint64_t a, uint64_t e) {
    uint64_t r = 1;
    for (; e != 0; e >>= 1) {
      if (e & 1) r = Mul(r, a);
      a = Mul(a, a);
    }
    return r;
  }
};

// num/den modulo both primes. A zero den means a division by zero, in that lane.
struct Residue {
  uint64_t num[2];
  uint64_t den[2];

  static Residue Integer(int64_t n) {
    const uint64_t a = n < 0 ? -static_cast<uint64_t>(n) : n;
    Residue r{{Field<0>::FromU64(a), Field<1>::FromU64(a)}, {1, 1}};
    if (n < 0) r = r.Negated();
    return r;
  }
  static Residue Values(uint64_t a, uint64_t b) {
    return {{Field<0>::FromU64(a), Field<1>::FromU64(b)}, {1, 1}};
  }

  Residue Negated() const {
    return {{Field<0>::Neg(num[0]), Field<1>::Neg(num[1])}, {den[0], den[1]}};
  }
  Residue Inverted() const { return {{den[0], den[1]}, {num[0], num[1]}}; }
  // In both lanes: proves nothing less than "zero with an error below 2^-100 at a random point".
  bool IsZero() const { return num[0] == 0 && num[1] == 0; }
  bool IsNonzeroSomewhere() const { return num[0] != 0 || num[1] != 0; }
  bool IsUsable() const { return den[0] != 0 && den[1] != 0; }
  // The value itself, the same for equal fractions; den must not be zero. Costs an inversion.
  void Normal(uint64_t out[2]) const {
    out[0] = den[0] == 1 ? num[0] : Field<0>::Mul(num[0], Field<0>::Pow(den[0], Field<0>::kP - 2));
    out[1] = den[1] == 1 ? num[1] : Field<1>::Mul(num[1], Field<1>::Pow(den[1], Field<1>::kP - 2));
  }
};

inline Residue operator+(const Residue& a, const Residue& b) {
  using F = Field<0>;
  using G = Field<1>;
  if (a.den[0] == 1 && b.den[0] == 1 && a.den[1] == 1 && b.den[1] == 1) {
    return {{F::Add(a.num[0], b.num[0]), G::Add(a.num[1], b.num[1])}, {1, 1}};
  }
  return {{F::Add(F::Mul(a.num[0], b.den[0]), F::Mul(b.num[0], a.den[0])),
           G::Add(G::Mul(a.num[1], b.den[1]), G::Mul(b.num[1], a.den[1]))},
          {F::Mul(a.den[0], b.den[0]), G::Mul(a.den[1], b.den[1])}};
}
inline Residue operator-(const Residue& a, const Residue& b) { return a + b.Negated(); }
inline Residue operator*(const Residue& a, const Residue& b) {
  return {{Field<0>::Mul(a.num[0], b.num[0]), Field<1>::Mul(a.num[1], b.num[1])},
          {Field<0>::Mul(a.den[0], b.den[0]), Field<1>::Mul(a.den[1], b.den[1])}};
}
inline Residue PowResidue(const Residue& a, uint64_t e) {
  return {{Field<0>::Pow(a.num[0], e), Field<1>::Pow(a.num[1], e)},
          {Field<0>::Pow(a.den[0], e), Field<1>::Pow(a.den[1], e)}};
}

// Mixes a 64-bit value; the generator of every seeded point.
inline uint64_t Mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// Carmichael's lambda(m), m >= 1.
uint64_t Carmichael(uint64_t m);
// a^e mod m for any m >= 1.
uint64_t PowModU64(uint64_t a, uint64_t e, uint64_t m);

inline constexpr int64_t kResidueFactorialMax = 1'000'000;
// n! modulo both primes, 0 <= n <= kResidueFactorialMax. Costs at most kFactorialStride
// multiplications a prime.
inline constexpr int64_t kFactorialStride = 1 << 15;
Residue FactorialResidue(int64_t n);

}  // namespace rewardloop::math
