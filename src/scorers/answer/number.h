// Exact numbers as people and models write them: 1,234.50  -3/4  2 1/2  $5  50%  1.5e3  \frac{1}{2}
// 5 million.
//
// Nothing is rounded: decimals are compared digit by digit, fractions by their reduced terms.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rewardloop::answer {

// A decimal is mantissa * 10^-scale without trailing zeros in the mantissa, so equal values have
// equal fields. Zero has no sign and scale 0. A fraction is reduced and has a denominator above 1.
struct Number {
  bool negative = false;
  bool percent = false;  // a percent sign was written; the fields hold the figure before it
  uint64_t mantissa = 0;
  uint64_t denominator = 1;
  int64_t scale = 0;
  std::string digits;  // the mantissa where it has more than 18 digits (then `mantissa` is 0)
};

// Same value; percent signs are not looked at.
bool SameFigure(const Number& a, const Number& b);
// Same answer: same figure, or one side's figure with a percent sign is worth the other side's
// number. A gold below 1 without a percent sign asks for the worth: 0.5 takes 50% and not 0.5%.
bool SameAnswer(const Number& gold, const Number& answer);

enum class ParseStatus : uint8_t {
  kNone,  // no number begins here
  kNumber,
  kExpression,  // a number that is a part of something else: 5x, 3*4, 12:30, 5-10
  kLimit,       // more digits or a larger exponent than kMaxDigits, kMaxExponent
};

struct ParsedNumber {
  ParseStatus status = ParseStatus::kNone;
  Number number;
  size_t begin = 0;  // sign and currency included
  size_t end = 0;    // percent sign and scale word included
};

inline constexpr size_t kMaxDigits = 4'000;
inline constexpr int64_t kMaxExponent = 1'000'000;

// Reads the number that begins at text[pos] (a sign or a currency sign may come first).
ParsedNumber ParseNumber(std::string_view text, size_t pos);

}  // namespace rewardloop::answer
