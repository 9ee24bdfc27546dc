#include "scorers/answer/read_number.h"

#include <algorithm>

#include "scorers/answer/ascii.h"

namespace rewardloop::answer {
namespace {

// How far a declared answer may explain itself before its number comes, and how often it may say
// "=".
constexpr size_t kMaxIntroBytes = 64;
constexpr int kMaxEquals = 8;
// The last number is sought in so many bytes before the last digit.
constexpr size_t kMaxTailBytes = 256;

// Skips marks and words that introduce a number and change nothing.
size_t SkipIntro(std::string_view text, size_t pos, size_t end) {
  static constexpr std::string_view kMarks[] = {
      "\\boxed{",     "\\fbox{",     "\\text{", "\\mathbf{", "\\textbf{", "\\mathrm{",
      "\\(",          "\\[",         "\\,",     "\\;",       "\\approx",  "\\displaystyle",
      "\xE2\x89\x88", "\xE2\x80\x9C"};
  static constexpr std::string_view kWords[] = {
      "the", "final",         "answer", "is",   "total",   "therefore", "thus",
      "so",  "approximately", "about",  "only", "exactly", "roughly",   "equals"};
  for (bool moved = true; moved && pos < end;) {
    moved = false;
    const char c = text[pos];
    if (IsSpace(c) || std::string_view("*_`\"':([{~").find(c) != std::string_view::npos ||
        (c == '$' && pos + 1 < end && (text[pos + 1] == '\\' || text[pos + 1] == '$') &&
         !StartsWith(text, pos + 1, "\\$"))) {
      ++pos;
      moved = true;
      continue;
    }
    if (c == '\\' || (c & 0x80)) {
      for (std::string_view mark : kMarks) {
        if (StartsWith(text, pos, mark)) {
          pos += mark.size();
          moved = true;
          break;
        }
      }
    }
    if (!IsLetter(c)) continue;
    for (std::string_view word : kWords) {
      if (WordAt(text, pos, word)) {
        pos += word.size();
        moved = true;
        break;
      }
    }
  }
  return std::min(pos, end);
}

bool NumberBegins(std::string_view text, size_t pos, size_t end) {
  pos = SkipIntro(text, pos, end);
  const ParseStatus status = ParseNumber(text.substr(0, end), pos).status;
  return status != ParseStatus::kNone;
}

// Behind the number: does a second one follow that is meant as well?
bool SecondNumberFollows(std::string_view text, size_t pos, size_t end) {
  while (pos < end && (IsSpace(text[pos]) ||
                       std::string_view("*$)}]\"'`").find(text[pos]) != std::string_view::npos))
    ++pos;
  for (std::string_view mark : {",", ";", "/", "&", "~", "\xE2\x80\x93"}) {
    if (StartsWith(text, pos, mark)) return NumberBegins(text, pos + mark.size(), end);
  }
  for (std::string_view word : {"and", "to", "through", "or"}) {
    if (pos < end && WordAt(text, pos, word) && NumberBegins(text, pos + word.size(), end))
      return true;
  }
  // "5 apples or 6 apples"
  end = std::min(end, pos + kMaxTailBytes);
  for (; pos < end; ++pos) {
    if (IsBlank(text[pos]) && pos + 1 < end && WordAt(text, pos + 1, "or")) {
      return NumberBegins(text, pos + 3, end);
    }
  }
  return false;
}

ReadStatus StatusOf(ParseStatus status) {
  switch (status) {
    case ParseStatus::kNone:
      return ReadStatus::kNone;
    case ParseStatus::kNumber:
      return ReadStatus::kNumber;
    case ParseStatus::kExpression:
      return ReadStatus::kExpression;
    case ParseStatus::kLimit:
      return ReadStatus::kLimit;
  }
  return ReadStatus::kNone;
}

ReadNumber Taken(ParsedNumber parsed) {
  ReadNumber read;
  read.status = StatusOf(parsed.status);
  read.number = std::move(parsed.number);
  read.where = {parsed.begin, parsed.end};
  return read;
}

}  // namespace

ReadNumber ReadDeclaredNumber(std::string_view text, Range within) {
  const std::string_view view = text.substr(0, within.end);
  ReadNumber read;
  size_t pos = within.begin;
  for (int equals = 0; equals <= kMaxEquals; ++equals) {
    pos = SkipIntro(view, pos, within.end);
    read = Taken(ParseNumber(view, pos));
    if (read.status == ReadStatus::kNumber || read.status == ReadStatus::kLimit) break;
    // "x = 5" and "3 + 4 = 7" state what stands behind the sign of equality.
    const size_t from = read.status == ReadStatus::kNone ? pos : read.where.end;
    const size_t equal = NextByte(view, '=', from, std::min(within.end, from + kMaxIntroBytes));
    if (equal == kNotFound) return read;
    pos = equal + 1;
  }
  if (read.status == ReadStatus::kNumber && SecondNumberFollows(view, read.where.end, within.end)) {
    read.status = ReadStatus::kSeveral;
  }
  return read;
}

namespace {

// Digits glued to a word, an index or an exponent are no number of their own.
bool Glued(std::string_view text, size_t pos) {
  if (pos == 0) return false;
  const char before = text[pos - 1];
  if (IsLetter(before) || before == '_' || before == '^') return true;
  return before == '{' && pos >= 2 && (text[pos - 2] == '^' || text[pos - 2] == '_');
}

// May the number at `pos` begin with the sign that stands before it? "10-5" has none.
bool SignAllowed(std::string_view text, size_t pos) {
  if (pos == 0) return true;
  const char before = text[pos - 1];
  return IsSpace(before) ||
         std::string_view("([{=:$*,;<>\"'`").find(before) != std::string_view::npos;
}

bool MayBegin(std::string_view text, size_t pos) {
  const char c = text[pos];
  if (IsDigit(c)) return !Glued(text, pos);
  if (c == '.')
    return pos + 1 < text.size() && IsDigit(text[pos + 1]) && (pos == 0 || IsSpace(text[pos - 1]));
  if (c == '-' || StartsWith(text, pos, "\xE2\x88\x92")) return SignAllowed(text, pos);
  return c == '$' || StartsWith(text, pos, "\\frac") || StartsWith(text, pos, "\\dfrac") ||
         StartsWith(text, pos, "\\tfrac") || StartsWith(text, pos, "\xC2\xBC") ||
         StartsWith(text, pos, "\xC2\xBD") || StartsWith(text, pos, "\xC2\xBE");
}

}  // namespace

ReadNumber ReadLastNumber(std::string_view text, Range within) {
  size_t last = within.end;
  while (last > within.begin && !IsDigit(text[last - 1])) --last;
  if (last == within.begin) return {};
  size_t pos = std::max(within.begin, last > kMaxTailBytes ? last - kMaxTailBytes : 0);
  if (const size_t newline = LastByte(text, '\n', pos, last); newline != kNotFound)
    pos = newline + 1;
  // A cut within a number must not make a shorter one.
  if (pos > within.begin && text[pos - 1] != '\n') {
    while (pos < last && !IsSpace(text[pos])) ++pos;
  }
  const std::string_view view = text.substr(0, LineEnd(text, last, within.end));
  ReadNumber read;
  while (pos < last) {
    if (!MayBegin(view, pos)) {
      ++pos;
      continue;
    }
    ParsedNumber parsed = ParseNumber(view, pos);
    if (parsed.status == ParseStatus::kNone || parsed.end <= pos) {
      ++pos;
      continue;
    }
    pos = parsed.end;
    read = Taken(std::move(parsed));
  }
  return read;
}

ReadNumber ReadWholeNumber(std::string_view text) {
  const std::string_view trimmed = Trimmed(text);
  const size_t begin = static_cast<size_t>(trimmed.data() - text.data());
  Range within{begin, begin + trimmed.size()};
  const std::string_view view = text.substr(0, within.end);
  within.begin = SkipIntro(view, within.begin, within.end);
  ReadNumber read = Taken(ParseNumber(view, within.begin));
  if (read.status != ReadStatus::kNumber) return read;
  for (size_t i = read.where.end; i < within.end; ++i) {
    if (!IsSpace(view[i]) &&
        std::string_view("*$)}].`\"'\\").find(view[i]) == std::string_view::npos) {
      read.status = ReadStatus::kExpression;
      break;
    }
  }
  return read;
}

}  // namespace rewardloop::answer
