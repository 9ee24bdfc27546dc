#include "scorers/answer/region.h"

#include <algorithm>

#include "scorers/answer/ascii.h"

namespace rewardloop::answer {

std::optional<Range> OutsideThinking(std::string_view text) {
  constexpr std::string_view kOpen = "<think>", kClose = "</think>";
  Range range{0, text.size()};
  if (const size_t close = LastMarker(text, kClose, 0, text.size()); close != kNotFound) {
    range.begin = close + kClose.size();
  }
  if (const size_t open = text.find(kOpen, range.begin); open != kNotFound) {
    // A thought that is opened and never closed hides all that follows it.
    if (Trimmed(text.substr(range.begin, open - range.begin)).empty()) return std::nullopt;
    range.end = open;
  }
  return range;
}

std::optional<Range> LastAnswerTag(std::string_view text, Range within) {
  constexpr std::string_view kOpen = "<answer>", kClose = "</answer>";
  const size_t open = LastMarker(text, kOpen, within.begin, within.end);
  if (open == kNotFound) return std::nullopt;
  const size_t begin = open + kOpen.size();
  const size_t close = text.substr(0, within.end).find(kClose, begin);
  return Range{begin, close == kNotFound ? within.end : close};
}

namespace {

// End of the group that opened just before `pos`, or kNotFound.
size_t GroupEnd(std::string_view text, size_t pos, size_t end) {
  int depth = 1;
  end = std::min(end, pos + kMaxAnswerBytes);
  for (; pos < end; ++pos) {
    const char c = text[pos];
    if (c == '\\') {
      ++pos;  // \{ and \} are no braces of the group
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return pos;
    }
  }
  return kNotFound;
}

// Position behind "boxed{" at text[pos], or kNotFound.
size_t BoxInside(std::string_view text, size_t pos, size_t end) {
  for (std::string_view name : {"\\boxed", "\\fbox"}) {
    if (!StartsWith(text, pos, name)) continue;
    pos += name.size();
    while (pos < end && IsBlank(text[pos])) ++pos;
    if (pos < end && text[pos] == '{') return pos + 1;
    return kNotFound;
  }
  return kNotFound;
}

}  // namespace

std::optional<Range> LastBox(std::string_view text, Range within) {
  size_t limit = within.end;
  for (int boxes = 0; boxes < kMaxBoxes;) {
    const size_t at = LastByte(text, '\\', within.begin, limit);
    if (at == kNotFound) return std::nullopt;
    limit = at;
    const size_t begin = BoxInside(text, at, within.end);
    if (begin == kNotFound) continue;
    ++boxes;
    if (const size_t end = GroupEnd(text, begin, within.end); end != kNotFound)
      return Range{begin, end};
  }
  return std::nullopt;
}

namespace {

constexpr std::string_view kChineseAnswer = "\xE7\xAD\x94\xE6\xA1\x88";  // 答案

bool TakeAny(std::string_view text, size_t* pos, std::initializer_list<std::string_view> tokens) {
  for (std::string_view token : tokens) {
    if (StartsWithNoCase(text, *pos, token)) {
      *pos += token.size();
      return true;
    }
  }
  return false;
}

// Behind "is", ":" or "=" that makes `pos` (the end of the word "answer") an announcement, else
// kNotFound.
size_t AfterVerb(std::string_view text, size_t pos, size_t end) {
  text = text.substr(0, end);
  auto skip = [&] {
    while (pos < end && (IsBlank(text[pos]) || text[pos] == '*' || text[pos] == '_')) ++pos;
  };
  skip();
  // "answer to the question is", "answer (in dollars) is": up to a few words, on the same line.
  constexpr size_t kMaxGap = 80;
  if (pos < end && (WordAt(text, pos, "to") || WordAt(text, pos, "for") ||
                    WordAt(text, pos, "choice") || WordAt(text, pos, "option") ||
                    WordAt(text, pos, "of") || WordAt(text, pos, "in") || text[pos] == '(')) {
    const size_t stop = LineEnd(text, pos, std::min(end, pos + kMaxGap));
    size_t i = pos;
    while (i < stop && text[i] != ':' && text[i] != '.' &&
           !(IsBlank(text[i]) && WordAt(text, i + 1, "is")))
      ++i;
    if (i >= stop || text[i] == '.') return kNotFound;
    pos = i;
    skip();
  }
  bool announced = false;
  if (TakeAny(text, &pos,
              {"is", "would be", "will be", "should be", "must be", "was", "equals", "\xE6\x98\xAF",
               "\xE4\xB8\xBA"})) {
    if (pos < end && IsLetter(text[pos])) return kNotFound;
    announced = true;
    skip();
  }
  while (pos < end && TakeAny(text, &pos, {":", "=", "\xEF\xBC\x9A"})) {
    announced = true;
    skip();
  }
  return announced ? pos : kNotFound;
}

// Start of the line, behind blanks and Markdown marks.
bool AtLineStart(std::string_view text, size_t pos, size_t begin) {
  while (pos > begin && (IsBlank(text[pos - 1]) || text[pos - 1] == '*' || text[pos - 1] == '#'))
    --pos;
  return pos == begin || text[pos - 1] == '\n';
}

size_t AnnouncementAt(std::string_view text, size_t pos, Range within) {
  const char c = text[pos];
  if (c == kChineseAnswer[0]) {
    return StartsWith(text, pos, kChineseAnswer)
               ? AfterVerb(text, pos + kChineseAnswer.size(), within.end)
               : kNotFound;
  }
  if (Lower(c) != 'a') return kNotFound;
  if (StartsWithNoCase(text, pos, "answer") && (pos == within.begin || !IsLetter(text[pos - 1]))) {
    // "<answer>" is a tag, not a phrase; AfterVerb refuses its '>'.
    return AfterVerb(text, pos + 6, within.end);
  }
  if (c == 'A' && pos + 1 < within.end && text[pos + 1] == ':' &&
      AtLineStart(text, pos, within.begin))
    return pos + 2;
  return kNotFound;
}

}  // namespace

std::optional<Range> LastAnnounced(std::string_view text, Range within) {
  for (size_t pos = within.end; pos-- > within.begin;) {
    const char next = pos + 1 < within.end ? text[pos + 1] : '\0';
    if (next != 'n' && next != ':' && next != 'N' && text[pos] != kChineseAnswer[0]) continue;
    size_t begin = AnnouncementAt(text, pos, within);
    if (begin == kNotFound) continue;
    while (begin < within.end && IsSpace(text[begin])) ++begin;
    if (begin >= within.end) continue;
    return Range{begin, LineEnd(text, begin, std::min(within.end, begin + kMaxAnswerBytes))};
  }
  return std::nullopt;
}

size_t NewQuestion(std::string_view text, size_t begin, size_t end) {
  for (size_t line = begin; line < end;) {
    size_t pos = line;
    while (pos < end && (IsBlank(text[pos]) || text[pos] == '*' || text[pos] == '#')) ++pos;
    // Only a line start counts; `begin` itself lies within a line unless a newline precedes it.
    if (line == 0 || text[line - 1] == '\n') {
      TakeAny(text, &pos, {"new ", "next "});
      if (TakeAny(text, &pos,
                  {"question", "problem", "q", "\xE9\x97\xAE\xE9\xA2\x98",
                   "\xE9\xA2\x98\xE7\x9B\xAE"})) {
        while (pos < end && (IsBlank(text[pos]) || IsDigit(text[pos]) || text[pos] == '*')) ++pos;
        if (pos < end && TakeAny(text, &pos, {":", "\xEF\xBC\x9A"})) return line;
      }
    }
    line = LineEnd(text, line, end) + 1;
  }
  return kNotFound;
}

}  // namespace rewardloop::answer
