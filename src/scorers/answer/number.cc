#include "scorers/answer/number.h"

#include <numeric>

#include "scorers/answer/number_parts.h"

namespace rewardloop::answer {

Number MakeFraction(uint64_t numerator, uint64_t denominator) {
  const uint64_t divisor = std::gcd(numerator, denominator);
  numerator /= divisor;
  denominator /= divisor;
  Number number;
  number.mantissa = numerator;
  number.denominator = denominator;
  if (denominator == 1) {
    while (number.mantissa != 0 && number.mantissa % 10 == 0) {
      number.mantissa /= 10;
      --number.scale;
    }
  }
  return number;
}

namespace {

// A decimal as numerator/denominator of 64 bits; false when it needs more.
bool AsFraction(const Number& number, uint64_t* numerator, uint64_t* denominator) {
  if (!number.digits.empty() || number.scale > 18 || number.scale < -18) return false;
  *numerator = number.mantissa;
  *denominator = number.denominator;
  if (number.scale >= 0) {
    const uint64_t power = PowerOfTen(number.scale);
    const Wide product = Wide{*denominator} * power;
    if (product > UINT64_MAX) return false;
    *denominator = static_cast<uint64_t>(product);
    return true;
  }
  const Wide product = Wide{*numerator} * PowerOfTen(-number.scale);
  if (product > UINT64_MAX) return false;
  *numerator = static_cast<uint64_t>(product);
  return true;
}

Number Hundredth(Number number) {
  if (IsZero(number)) return number;
  if (number.denominator == 1) {
    number.scale += 2;
    return number;
  }
  const Wide denominator = Wide{number.denominator} * 100;
  if (denominator > UINT64_MAX) return number;
  Number divided = MakeFraction(number.mantissa, static_cast<uint64_t>(denominator));
  divided.negative = number.negative;
  return divided;
}

bool BelowOne(const Number& number) {
  if (number.denominator != 1) return number.mantissa < number.denominator;
  const int64_t digits = static_cast<int64_t>(
      number.digits.empty() ? std::to_string(number.mantissa).size() : number.digits.size());
  return !IsZero(number) && digits <= number.scale;
}

}  // namespace

bool SameFigure(const Number& a, const Number& b) {
  if (a.negative != b.negative) return false;
  if ((a.denominator == 1) == (b.denominator == 1)) {
    return a.mantissa == b.mantissa && a.denominator == b.denominator && a.scale == b.scale &&
           a.digits == b.digits;
  }
  uint64_t a_num, a_den, b_num, b_den;
  return AsFraction(a, &a_num, &a_den) && AsFraction(b, &b_num, &b_den) &&
         Wide{a_num} * b_den == Wide{b_num} * a_den;
}

bool SameAnswer(const Number& gold, const Number& answer) {
  if (gold.percent == answer.percent) return SameFigure(gold, answer);
  if (gold.percent) return SameFigure(gold, answer) || SameFigure(Hundredth(gold), answer);
  if (SameFigure(gold, Hundredth(answer))) return true;
  return !BelowOne(gold) && SameFigure(gold, answer);
}

}  // namespace rewardloop::answer
