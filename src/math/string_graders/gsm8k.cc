#include "math/string_graders/gsm8k.h"

#include <string>

#include "base/pystring.h"

namespace rewardloop::string_graders {
namespace {

constexpr size_t kTailChars = 300;
constexpr std::string_view kMark = "#### ";

bool IsNumberChar(char c) { return (c >= '0' && c <= '9') || c == '.' || c == ','; }

Extraction ExtractStrict(std::string_view response, std::string_view tail) {
  for (size_t mark = tail.rfind(kMark); mark != std::string_view::npos;
       mark = mark == 0 ? std::string_view::npos : tail.rfind(kMark, mark - 1)) {
    const size_t begin = mark + kMark.size();
    size_t digits = begin;
    if (digits < tail.size() && tail[digits] == '-') ++digits;
    size_t end = digits;
    while (end < tail.size() && IsNumberChar(tail[end])) ++end;
    if (end == digits) continue;
    const std::string_view number = tail.substr(begin, end - begin);
    std::string answer(number);
    py::Replace(&answer, ",", "");
    return ExtractionOf(response, number, std::move(answer));
  }
  return {};
}

Extraction ExtractFlexible(std::string_view response, std::string_view tail) {
  std::string_view number;
  for (size_t end = tail.size(); end > 0;) {
    if (!IsNumberChar(tail[end - 1])) {
      --end;
      continue;
    }
    size_t begin = end;
    while (begin > 0 && IsNumberChar(tail[begin - 1])) --begin;
    if (begin > 0 && tail[begin - 1] == '-') --begin;
    number = tail.substr(begin, end - begin);
    // A lone dot is an answer only where there is nothing else.
    if (number != ".") break;
    end = begin;
  }
  if (number.empty()) return {};
  return ExtractionOf(response, number, std::string(number));
}

}  // namespace

Extraction ExtractGsm8k(std::string_view response, Gsm8kMethod method) {
  const std::string_view tail = py::LastChars(response, kTailChars);
  return method == Gsm8kMethod::kStrict ? ExtractStrict(response, tail)
                                        : ExtractFlexible(response, tail);
}

StringVerdict GradeGsm8k(std::string_view response, std::string_view gold, Gsm8kMethod method) {
  StringVerdict verdict;
  verdict.extracted = ExtractGsm8k(response, method);
  if (verdict.extracted.answer) Compare(*verdict.extracted.answer, std::string(gold), &verdict);
  return verdict;
}

}  // namespace rewardloop::string_graders
