// Pieces that parsing and comparing numbers share. Internal to number.cc and parse_number.cc.
#pragma once

#include "scorers/answer/number.h"

namespace rewardloop::answer {

using Wide = unsigned __int128;
constexpr size_t kSmallDigits = 18;  // always fit into 64 bits

inline uint64_t SmallValue(std::string_view digits) {
  uint64_t value = 0;
  for (char c : digits) value = value * 10 + static_cast<uint64_t>(c - '0');
  return value;
}

// `exponent` up to 19.
inline uint64_t PowerOfTen(int64_t exponent) {
  uint64_t power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
}

// Collects digits and normalises them. Keeps the usual number on the stack.
class DigitBuffer {
 public:
  void Append(char digit) {
    if (count_ == 0 && digit == '0') return;  // leading zeros carry no value
    if (count_ < kSmallDigits) {
      small_[count_] = digit;
    } else {
      if (count_ == kSmallDigits) large_.assign(small_, kSmallDigits);
      if (count_ <= kMaxDigits) large_.push_back(digit);
    }
    ++count_;
  }
  bool too_long() const { return count_ > kMaxDigits; }

  // Value of the digits times 10^-scale.
  Number Finish(int64_t scale) const {
    std::string_view digits = count_ <= kSmallDigits ? std::string_view(small_, count_) : large_;
    while (!digits.empty() && digits.back() == '0') {
      digits.remove_suffix(1);
      --scale;
    }
    Number number;
    if (digits.empty()) return number;
    number.scale = scale;
    if (digits.size() <= kSmallDigits) {
      number.mantissa = SmallValue(digits);
    } else {
      number.digits = std::string(digits);
    }
    return number;
  }

 private:
  char small_[kSmallDigits];
  size_t count_ = 0;
  std::string large_;
};

inline bool IsZero(const Number& number) { return number.mantissa == 0 && number.digits.empty(); }

// Reduces numerator/denominator; a decimal when the denominator goes away. `denominator` is not 0.
Number MakeFraction(uint64_t numerator, uint64_t denominator);

}  // namespace rewardloop::answer
