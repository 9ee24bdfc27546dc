#include "math/units.h"

#include <numeric>
#include <optional>

namespace rewardloop::math {
namespace {

// other: 1 angle in degrees, 2 amount ("units"), 3 temperature, 4 electric and derived units by canonical name only
constexpr Unit kUnits[] = {
    {"mm", "mm", 1, 0, 0, 0, 1, 1000}, {"millimeter", "mm", 1, 0, 0, 0, 1, 1000}, {"millimetre", "mm", 1, 0, 0, 0, 1, 1000},
    {"cm", "cm", 1, 0, 0, 0, 1, 100}, {"centimeter", "cm", 1, 0, 0, 0, 1, 100}, {"centimetre", "cm", 1, 0, 0, 0, 1, 100},
    {"dm", "dm", 1, 0, 0, 0, 1, 10}, {"m", "m", 1, 0, 0, 0, 1, 1}, {"meter", "m", 1, 0, 0, 0, 1, 1}, {"metre", "m", 1, 0, 0, 0, 1, 1},
    {"km", "km", 1, 0, 0, 0, 1000, 1}, {"kilometer", "km", 1, 0, 0, 0, 1000, 1}, {"kilometre", "km", 1, 0, 0, 0, 1000, 1},
    {"in", "in", 1, 0, 0, 0, 127, 5000}, {"inch", "in", 1, 0, 0, 0, 127, 5000}, {"inche", "in", 1, 0, 0, 0, 127, 5000},
    {"ft", "ft", 1, 0, 0, 0, 381, 1250}, {"foot", "ft", 1, 0, 0, 0, 381, 1250}, {"feet", "ft", 1, 0, 0, 0, 381, 1250},
    {"yd", "yd", 1, 0, 0, 0, 1143, 1250}, {"yard", "yd", 1, 0, 0, 0, 1143, 1250},
    {"mi", "mi", 1, 0, 0, 0, 201168, 125}, {"mile", "mi", 1, 0, 0, 0, 201168, 125},
    {"mg", "mg", 0, 1, 0, 0, 1, 1000000}, {"g", "g", 0, 1, 0, 0, 1, 1000}, {"gram", "g", 0, 1, 0, 0, 1, 1000},
    {"gm", "g", 0, 1, 0, 0, 1, 1000}, {"kg", "kg", 0, 1, 0, 0, 1, 1}, {"kilogram", "kg", 0, 1, 0, 0, 1, 1},
    {"lb", "lb", 0, 1, 0, 0, 45359237, 100000000}, {"pound", "lb", 0, 1, 0, 0, 45359237, 100000000},
    {"oz", "oz", 0, 1, 0, 0, 45359237, 1600000000}, {"ounce", "oz", 0, 1, 0, 0, 45359237, 1600000000},
    {"ton", "t", 0, 1, 0, 0, 1000, 1}, {"tonne", "t", 0, 1, 0, 0, 1000, 1},
    {"ms", "ms", 0, 0, 1, 0, 1, 1000}, {"s", "s", 0, 0, 1, 0, 1, 1}, {"sec", "s", 0, 0, 1, 0, 1, 1}, {"second", "s", 0, 0, 1, 0, 1, 1},
    {"min", "min", 0, 0, 1, 0, 60, 1}, {"minute", "min", 0, 0, 1, 0, 60, 1}, {"mins", "min", 0, 0, 1, 0, 60, 1},
    {"h", "h", 0, 0, 1, 0, 3600, 1}, {"hr", "h", 0, 0, 1, 0, 3600, 1}, {"hour", "h", 0, 0, 1, 0, 3600, 1},
    {"day", "day", 0, 0, 1, 0, 86400, 1}, {"week", "week", 0, 0, 1, 0, 604800, 1},
    {"month", "month", 0, 0, 1, 5, 1, 1}, {"year", "year", 0, 0, 1, 6, 1, 1}, {"yr", "year", 0, 0, 1, 6, 1, 1},
    {"l", "L", 3, 0, 0, 0, 1, 1000}, {"L", "L", 3, 0, 0, 0, 1, 1000}, {"liter", "L", 3, 0, 0, 0, 1, 1000}, {"litre", "L", 3, 0, 0, 0, 1, 1000},
    {"ml", "mL", 3, 0, 0, 0, 1, 1000000}, {"mL", "mL", 3, 0, 0, 0, 1, 1000000}, {"milliliter", "mL", 3, 0, 0, 0, 1, 1000000},
    {"cc", "mL", 3, 0, 0, 0, 1, 1000000}, {"millilitre", "mL", 3, 0, 0, 0, 1, 1000000},
    {"mph", "mi/h", 1, 0, -1, 0, 1397, 3125}, {"kmh", "km/h", 1, 0, -1, 0, 5, 18}, {"kph", "km/h", 1, 0, -1, 0, 5, 18},
    {"N", "N", 1, 1, -2, 0, 1, 1}, {"newton", "N", 1, 1, -2, 0, 1, 1}, {"J", "J", 2, 1, -2, 0, 1, 1}, {"joule", "J", 2, 1, -2, 0, 1, 1},
    {"W", "W", 2, 1, -3, 0, 1, 1}, {"watt", "W", 2, 1, -3, 0, 1, 1}, {"kw", "kW", 2, 1, -3, 0, 1000, 1}, {"kW", "kW", 2, 1, -3, 0, 1000, 1},
    {"Pa", "Pa", -1, 1, -2, 0, 1, 1}, {"Hz", "Hz", 0, 0, -1, 0, 1, 1},
    {"rad", "rad", 0, 0, 0, 0, 1, 1}, {"radian", "rad", 0, 0, 0, 0, 1, 1},
    {"unit", "unit", 0, 0, 0, 0, 1, 1},
    {"acre", "acre", 0, 0, 0, 8, 1, 1}, {"gallon", "gal", 0, 0, 0, 9, 1, 1}, {"gal", "gal", 0, 0, 0, 9, 1, 1}, {"mole", "mol", 0, 0, 0, 10, 1, 1}, {"mol", "mol", 0, 0, 0, 10, 1, 1},
};

struct Currency { std::string_view name, code; };
constexpr Currency kCurrencies[] = {{"dollar", "usd"}, {"dollars", "usd"}, {"usd", "usd"}, {"cent", "cent"}, {"cents", "cent"},
                                    {"yuan", "cny"}, {"rmb", "cny"}, {"euro", "eur"}, {"euros", "eur"}, {"rupee", "inr"},
                                    {"rupees", "inr"}, {"yen", "jpy"}, {"元", "cny"}, {"美元", "usd"}};

struct Measure {
  int length = 0, mass = 0, time = 0, other = 0;
  __int128 num = 1, den = 1;
};

bool Apply(const Unit& unit, int power, Measure* measure) {
  measure->length += unit.length * power;
  measure->mass += unit.mass * power;
  measure->time += unit.time * power;
  measure->other = measure->other * 31 + unit.other * power;
  for (int i = 0; i < (power < 0 ? -power : power); ++i) {
    measure->num *= power > 0 ? unit.factor_num : unit.factor_den;
    measure->den *= power > 0 ? unit.factor_den : unit.factor_num;
    __int128 a = measure->num, b = measure->den;
    while (b) { const __int128 r = a % b; a = b; b = r; }
    measure->num /= a;
    measure->den /= a;
    if (measure->num > (__int128{1} << 62) || measure->den > (__int128{1} << 62)) return false;
  }
  return true;
}

std::optional<Measure> Read(std::string_view text) {
  Measure measure;
  int sign = 1;
  size_t i = 0;
  while (i < text.size()) {
    if (text[i] == '/') { sign = -1; ++i; continue; }
    if (text[i] == '*' || text[i] == ' ') { ++i; continue; }
    size_t j = i;
    while (j < text.size() && text[j] != '/' && text[j] != '*' && text[j] != '^' && text[j] != ' ') ++j;
    const Unit* unit = nullptr;
    for (const Unit& candidate : kUnits) if (candidate.canonical == text.substr(i, j - i)) { unit = &candidate; break; }
    if (!unit) return std::nullopt;
    int power = 1;
    if (j < text.size() && text[j] == '^') {
      ++j;
      const bool negative = j < text.size() && text[j] == '-';
      if (negative) ++j;
      power = j < text.size() ? text[j] - '0' : 1;
      if (power < 0 || power > 6) return std::nullopt;
      if (negative) power = -power;
      ++j;
    }
    if (!Apply(*unit, power * sign, &measure)) return std::nullopt;
    i = j;
  }
  return measure;
}

}  // namespace

const Unit* FindUnit(std::string_view word) {
  while (!word.empty() && (word.back() == '.' || word.back() == ',')) word.remove_suffix(1);
  if (word.empty()) return nullptr;
  const auto find = [](std::string_view name) -> const Unit* {
    for (const Unit& unit : kUnits) if (unit.name == name) return &unit;
    return nullptr;
  };
  if (const Unit* unit = find(word)) return unit;
  if (word.size() > 2 && word.back() == 's') {
    if (const Unit* unit = find(word.substr(0, word.size() - 1))) return unit;
  }
  char lower[24];
  if (word.size() < 3 || word.size() > sizeof lower) return nullptr;
  for (size_t i = 0; i < word.size(); ++i) lower[i] = word[i] >= 'A' && word[i] <= 'Z' ? static_cast<char>(word[i] + 32) : word[i];
  std::string_view folded(lower, word.size());
  if (folded == word) return nullptr;
  if (const Unit* unit = find(folded)) return unit;
  if (folded.back() == 's') return find(folded.substr(0, folded.size() - 1));
  return nullptr;
}

bool FindCurrency(std::string_view word, std::string_view* code) {
  for (const Currency& currency : kCurrencies) {
    if (currency.name == word) { *code = currency.code; return true; }
  }
  return false;
}

bool UnitRatio(std::string_view a, std::string_view b, int64_t* num, int64_t* den) {
  const auto left = Read(a), right = Read(b);
  if (!left || !right) {
    *num = *den = 1;
    return a == b;
  }
  if (left->length != right->length || left->mass != right->mass || left->time != right->time || left->other != right->other) return false;
  // num / den = (left.num / left.den) / (right.num / right.den), reduced before it is multiplied out.
  int64_t n1 = static_cast<int64_t>(left->num), d1 = static_cast<int64_t>(left->den);
  int64_t n2 = static_cast<int64_t>(right->den), d2 = static_cast<int64_t>(right->num);
  int64_t g = std::gcd(n1, d2); n1 /= g; d2 /= g;
  g = std::gcd(n2, d1); n2 /= g; d1 /= g;
  const __int128 n = static_cast<__int128>(n1) * n2, d = static_cast<__int128>(d1) * d2;
  if (n > INT64_MAX || d > INT64_MAX) return false;
  *num = static_cast<int64_t>(n);
  *den = static_cast<int64_t>(d);
  return true;
}

}  // namespace rewardloop::math
