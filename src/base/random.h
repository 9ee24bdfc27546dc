// Small deterministic generators: the same numbers on every machine, unlike the distributions of <random>.
#pragma once

#include <cstdint>

namespace rewardloop {

// One step of SplitMix64 (Steele, Lea, Flood 2014): a good mixer of 64 bits.
inline uint64_t Mix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// A sequence of 64-bit numbers from a seed. Not thread-safe.
class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    const uint64_t value = Mix64(state_);
    state_ += 0x9E3779B97F4A7C15u;
    return value;
  }
  // Uniform in [0, bound), bound > 0; the bias is below bound / 2^64.
  uint64_t Below(uint64_t bound) { return static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * bound) >> 64); }
  // Uniform in [0, 1).
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

}  // namespace rewardloop
