#include "math/string_graders/math_reward.h"

#include <vector>

#include "base/pystring.h"

namespace rewardloop::string_graders {
namespace {

constexpr std::string_view kBoxed = "\\boxed";
constexpr std::string_view kBoxedSpace = "\\boxed ";
constexpr std::string_view kBoxedBrace = "\\boxed{";
constexpr std::string_view kFbox = "\\fbox";
constexpr std::string_view kTextSpace = "\\text{ ";
// CPython's limit on the digits of an int that is read from text (sys.set_int_max_str_digits).
constexpr size_t kMaxIntDigits = 4300;

// Whether int() reads `text` and str() writes it back unchanged.
bool IsCanonicalInt(std::string_view text) {
  if (text == "0") return true;
  if (!text.empty() && text[0] == '-') text.remove_prefix(1);
  if (text.empty() || text.size() > kMaxIntDigits || text[0] == '0') return false;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return true;
}

// a/b to \frac{a}{b} for plain integers.
void FixSlash(std::string* text) {
  const std::vector<std::string_view> parts = py::Split(*text, "/");
  if (parts.size() != 2 || !IsCanonicalInt(parts[0]) || !IsCanonicalInt(parts[1])) return;
  *text = "\\frac{" + std::string(parts[0]) + "}{" + std::string(parts[1]) + "}";
}

// \sqrt3 to \sqrt{3}. False where \sqrt ends the text.
bool FixSqrt(std::string* text) {
  const std::vector<std::string_view> parts = py::Split(*text, "\\sqrt");
  std::string out(parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].empty()) return false;
    out += "\\sqrt";
    if (parts[i][0] == '{') {
      out += parts[i];
    } else {
      const size_t size = py::DecodeAt(parts[i], 0).size;
      out.append("{").append(parts[i].substr(0, size)).append("}").append(parts[i].substr(size));
    }
  }
  *text = std::move(out);
  return true;
}

// \frac12 and \frac1{2} to \frac{1}{2}. False where \frac ends the text or another \frac follows at
// once; one argument alone leaves the whole text as it is.
bool FixFracs(std::string* text) {
  const std::vector<std::string_view> parts = py::Split(*text, "\\frac");
  std::string out(parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    if (part.empty()) return false;
    out += "\\frac";
    if (part[0] == '{') {
      out += part;
      continue;
    }
    const size_t a = py::DecodeAt(part, 0).size;
    if (a == part.size()) return true;
    const size_t b = py::DecodeAt(part, a).size;
    out.append("{").append(part.substr(0, a)).append("}");
    if (part[a] == '{') {
      out += part.substr(a);
    } else {
      out.append("{").append(part.substr(a, b)).append("}").append(part.substr(a + b));
    }
  }
  *text = std::move(out);
  return true;
}

// Drops a left side of at most two characters, "x=".
void DropShortLeftSide(std::string* text) {
  const std::vector<std::string_view> sides = py::Split(*text, "=");
  if (sides.size() == 2 && py::Length(sides[0]) <= 2) *text = std::string(sides[1]);
}

struct Replacement {
  std::string_view from, to;
};
constexpr Replacement kBeforeUnits[] = {
    {"\n", ""},     {"\\!", ""},     {"\\\\", "\\"},    {"tfrac", "frac"}, {"dfrac", "frac"},
    {"\\left", ""}, {"\\right", ""}, {"^{\\circ}", ""}, {"^\\circ", ""},   {"\\$", ""},
};
constexpr Replacement kAfterUnits[] = {{"\\\\%", ""}, {"\\%", ""}, {" .", " 0."}, {"{.", "{0."}};

}  // namespace

Extraction ExtractHendrycks(std::string_view response, bool* bad_box) {
  *bad_box = false;
  if (py::Contains(response, kBoxedSpace)) {
    const std::string_view answer = py::BeforeFirst(py::AfterLast(response, kBoxedSpace), "$");
    return ExtractionOf(response, answer, std::string(answer));
  }
  size_t begin = response.rfind(kBoxed);
  if (begin == std::string_view::npos) begin = response.rfind(kFbox);
  if (begin == std::string_view::npos) return {};
  const size_t end = BalancedEnd(response, begin);
  if (end == std::string_view::npos) return {};
  const std::string_view box = response.substr(begin, end - begin);
  if (!box.starts_with(kBoxedBrace)) {
    *bad_box = true;
    return {};
  }
  const std::string_view answer =
      box.substr(kBoxedBrace.size(), box.size() - kBoxedBrace.size() - 1);
  return ExtractionOf(response, answer, std::string(answer));
}

std::optional<std::string> NormalizeHendrycks(std::string_view answer) {
  std::string text(answer);
  for (const Replacement& r : kBeforeUnits) py::Replace(&text, r.from, r.to);
  if (const size_t unit = text.find(kTextSpace); unit != std::string::npos) {
    if (py::Count(text, kTextSpace) != 1) return std::nullopt;
    text.resize(unit);
  }
  for (const Replacement& r : kAfterUnits) py::Replace(&text, r.from, r.to);
  if (text.empty()) return text;
  if (text[0] == '.') text.insert(0, "0");
  DropShortLeftSide(&text);
  if (!FixSqrt(&text)) return std::nullopt;
  py::Replace(&text, " ", "");
  if (!FixFracs(&text)) return std::nullopt;
  if (text == "0.5") text = "\\frac{1}{2}";
  FixSlash(&text);
  return text;
}

StringVerdict GradeMathReward(std::string_view response, std::optional<std::string_view> gold) {
  StringVerdict verdict;
  bool bad_box = false;
  verdict.extracted = ExtractHendrycks(response, &bad_box);
  if (!verdict.extracted.answer) {
    if (bad_box) verdict.reason = "bad_box";
    return verdict;
  }
  const std::string& answer = *verdict.extracted.answer;
  if (!gold) {
    verdict.answer_form = answer;
    verdict.reason = "not_equal";
    return verdict;
  }
  std::optional<std::string> answer_form = NormalizeHendrycks(answer);
  std::optional<std::string> gold_form = NormalizeHendrycks(*gold);
  if (answer_form && gold_form) {
    Compare(std::move(*answer_form), std::move(*gold_form), &verdict);
  } else {
    Compare(answer, std::string(*gold), &verdict);
  }
  return verdict;
}

}  // namespace rewardloop::string_graders
