#include "math/numeric/residue.h"

#include <numeric>

#include "math/numeric/flint_headers.h"

namespace rewardloop::math {
namespace {

constexpr uint64_t kFactorials[][2] = {
#include "math/numeric/residue_factorials.inc"
};

}  // namespace

uint64_t PowModU64(uint64_t a, uint64_t e, uint64_t m) {
  if (m == 1) return 0;
  unsigned __int128 r = 1, b = a % m;
  for (; e != 0; e >>= 1) {
    if (e & 1) r = r * b % m;
    b = b * b % m;
  }
  return static_cast<uint64_t>(r);
}

uint64_t Carmichael(uint64_t m) {
  if (m <= 2) return 1;
  n_factor_t factors;
  n_factor_init(&factors);
  n_factor(&factors, m, 1);
  uint64_t lambda = 1;
  for (int i = 0; i < factors.num; ++i) {
    const uint64_t p = factors.p[i];
    uint64_t part = p - 1;
    if (p == 2) {
      part = factors.exp[i] <= 2 ? uint64_t{1} << (factors.exp[i] - 1)
                                 : uint64_t{1} << (factors.exp[i] - 2);
    } else {
      for (unsigned k = 1; k < static_cast<unsigned>(factors.exp[i]); ++k) part *= p;
    }
    lambda = lambda / std::gcd(lambda, part) * part;
  }
  return lambda;
}

Residue FactorialResidue(int64_t n) {
  const int64_t start = n / kFactorialStride;
  uint64_t a = kFactorials[start][0], b = kFactorials[start][1];
  for (int64_t k = start * kFactorialStride + 1; k <= n; ++k) {
    a = Field<0>::Mul(a, k);
    b = Field<1>::Mul(b, k);
  }
  return {{a, b}, {1, 1}};
}

}  // namespace rewardloop::math
