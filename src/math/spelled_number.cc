#include "math/spelled_number.h"

#include <optional>

#include "math/builder.h"

namespace rewardloop::math {
namespace {

struct Name { std::string_view name; int64_t value; };

constexpr Name kSmall[] = {{"zero", 0}, {"one", 1}, {"two", 2}, {"three", 3}, {"four", 4}, {"five", 5}, {"six", 6}, {"seven", 7},
                           {"eight", 8}, {"nine", 9}, {"ten", 10}, {"eleven", 11}, {"twelve", 12}, {"thirteen", 13}, {"fourteen", 14},
                           {"fifteen", 15}, {"sixteen", 16}, {"seventeen", 17}, {"eighteen", 18}, {"nineteen", 19}, {"twenty", 20},
                           {"thirty", 30}, {"forty", 40}, {"fifty", 50}, {"sixty", 60}, {"seventy", 70}, {"eighty", 80}, {"ninety", 90}};
constexpr Name kLarge[] = {{"thousand", 1000}, {"million", 1'000'000}, {"billion", 1'000'000'000}, {"trillion", 1'000'000'000'000}};
constexpr Name kParts[] = {{"half", 2}, {"halves", 2}, {"third", 3}, {"thirds", 3}, {"quarter", 4}, {"quarters", 4}, {"fourth", 4},
                           {"fourths", 4}, {"fifth", 5}, {"fifths", 5}, {"sixth", 6}, {"sixths", 6}, {"seventh", 7}, {"sevenths", 7},
                           {"eighth", 8}, {"eighths", 8}, {"ninth", 9}, {"ninths", 9}, {"tenth", 10}, {"tenths", 10}};
constexpr Name kChinese[] = {{"零", 0}, {"〇", 0}, {"一", 1}, {"二", 2}, {"两", 2}, {"三", 3}, {"四", 4}, {"五", 5}, {"六", 6}, {"七", 7}, {"八", 8}, {"九", 9}};
constexpr Name kChineseScale[] = {{"十", 10}, {"百", 100}, {"千", 1000}, {"万", 10'000}, {"亿", 100'000'000}};

template <size_t N>
std::optional<int64_t> Find(const Name (&table)[N], std::string_view word) {
  for (const Name& name : table) if (name.name == word) return name.value;
  return std::nullopt;
}

std::optional<int64_t> Chinese(std::string_view text) {
  if (text.size() % 3 || text.empty() || text.size() > 60) return std::nullopt;
  int64_t total = 0, section = 0, digit = -1;
  for (size_t i = 0; i < text.size(); i += 3) {
    const std::string_view c = text.substr(i, 3);
    if (auto value = Find(kChinese, c)) { digit = *value; continue; }
    const auto scale = Find(kChineseScale, c);
    if (!scale) return std::nullopt;
    if (*scale >= 10'000) {
      section = (section + (digit > 0 ? digit : 0)) * *scale;
      total += section;
      section = 0;
    } else {
      section += (digit < 0 ? 1 : digit) * *scale;
    }
    digit = -1;
    if (total > 1'000'000'000'000'000) return std::nullopt;
  }
  return total + section + (digit > 0 ? digit : 0);
}

}  // namespace

const Expr* SpelledNumber(std::string_view words, Arena* arena) {
  Builder build(arena, 8);
  if (const auto value = Chinese(words)) return build.Integer(*value);
  int64_t total = 0, group = 0, denominator = 0;
  bool any = false, minus = false;
  int64_t last = -1;  // last small number, to refuse "five two"
  while (!words.empty()) {
    const size_t end = words.find_first_of(" -");
    const std::string_view word = words.substr(0, end);
    words.remove_prefix(end == words.npos ? words.size() : end + 1);
    if (word.empty()) continue;
    if (word == "minus" || word == "negative") {
      if (any || minus) return nullptr;
      minus = true;
    } else if (word == "and") {
      if (!any) return nullptr;
    } else if (const auto small = Find(kSmall, word)) {
      const bool joins = last < 0 || (last >= 20 && *small < 10 && *small > 0);
      if (!joins || denominator) return nullptr;
      group += *small;
      last = *small;
      any = true;
    } else if (word == "hundred") {
      if (!any || group == 0 || group > 99) return nullptr;
      group *= 100;
      last = -1;
    } else if (const auto large = Find(kLarge, word)) {
      if (!any || group == 0) return nullptr;
      total += group * *large;
      group = 0;
      last = -1;
    } else if (const auto part = Find(kParts, word)) {
      if (!any || denominator) return nullptr;
      denominator = *part;
    } else {
      return nullptr;
    }
  }
  if (!any) return nullptr;
  const int64_t value = (total + group) * (minus ? -1 : 1);
  const Expr* number = build.Integer(value);
  if (!denominator) return number;
  return build.Make(Kind::kDiv, {number, build.Integer(denominator)});
}

}  // namespace rewardloop::math
