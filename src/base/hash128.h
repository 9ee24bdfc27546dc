// Hash128: 128 bits of what was scored, for digests and duplicate tables. Not cryptographic.
//
// Two lanes of the multiply-and-fold step known from wyhash and MUM; the value is part of stored output, so it must not
// change between versions.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "rewardloop/result.h"

namespace rewardloop {

// Not thread-safe.
class Hash128 {
 public:
  // Adds `bytes` and its length, so that ("ab","c") and ("a","bc") differ.
  void Add(std::string_view bytes) {
    const char* p = bytes.data();
    size_t left = bytes.size();
    uint64_t a = a_, b = b_;
    while (left >= 32) {
      a = Fold(Read(p) ^ kSecret0, Read(p + 8) ^ a);
      b = Fold(Read(p + 16) ^ kSecret1, Read(p + 24) ^ b);
      p += 32;
      left -= 32;
    }
    char tail[32] = {};
    if (left > 0) std::memcpy(tail, p, left);
    a = Fold(Read(tail) ^ kSecret0, Read(tail + 8) ^ a);
    b = Fold(Read(tail + 16) ^ kSecret1, Read(tail + 24) ^ b);
    a_ = Fold(a ^ bytes.size(), kSecret2);
    b_ = Fold(b ^ bytes.size(), kSecret3);
  }
  void Add(uint64_t number) {
    a_ = Fold(a_ ^ number, kSecret2);
    b_ = Fold(b_ ^ number, kSecret3);
  }
  Digest Finish() const { return {Fold(a_ ^ kSecret1, b_ ^ kSecret2), Fold(b_ ^ kSecret0, a_ ^ kSecret3)}; }

 private:
  static constexpr uint64_t kSecret0 = 0xA0761D6478BD642Fu;
  static constexpr uint64_t kSecret1 = 0xE7037ED1A0B428DBu;
  static constexpr uint64_t kSecret2 = 0x8EBC6AF09C88C6E3u;
  static constexpr uint64_t kSecret3 = 0x589965CC75374CC3u;

  static uint64_t Read(const char* p) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    return word;
  }
  static uint64_t Fold(uint64_t x, uint64_t y) {
    const unsigned __int128 product = static_cast<unsigned __int128>(x) * y;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }

  uint64_t a_ = 0x243F6A8885A308D3u;
  uint64_t b_ = 0x13198A2E03707344u;
};

}  // namespace rewardloop
