#include "base/pystring.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/utf8.h"

namespace rewardloop::py {
namespace {

struct CodePointRange {
  uint32_t first, last;
};
struct LowerRun {
  uint32_t first, last, stride;
  int32_t delta;
};

#include "base/pystring_tables.inc"

constexpr char32_t kCapitalSigma = 0x3A3, kSmallSigma = 0x3C3, kFinalSigma = 0x3C2;
constexpr char32_t kCapitalIWithDot = 0x130, kCombiningDot = 0x307;

// The entry whose [first, last] holds `c`, or null. Entries are sorted and disjoint.
template <typename Entry, size_t N>
const Entry* FindRange(const Entry (&table)[N], char32_t c) {
  const Entry* after =
      std::upper_bound(std::begin(table), std::end(table), c,
                       [](char32_t value, const Entry& entry) { return value < entry.first; });
  if (after == std::begin(table)) return nullptr;
  const Entry* entry = after - 1;
  return c <= entry->last ? entry : nullptr;
}

bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

char32_t LowerOf(char32_t c) {
  if (c < 0x80) return c >= U'A' && c <= U'Z' ? c + 32 : c;
  const LowerRun* run = FindRange(kLower, c);
  if (!run || (c - run->first) % run->stride != 0) return c;
  return static_cast<char32_t>(static_cast<int64_t>(c) + run->delta);
}

// Whether the capital sigma at [begin, end) of `text` stands at the end of a word: a cased letter
// before it and none after it, case-ignorable characters aside.
bool IsFinalSigma(std::string_view text, size_t begin, size_t end) {
  bool cased_before = false;
  for (size_t pos = begin; pos > 0;) {
    pos = PreviousChar(text, pos);
    const char32_t c = DecodeAt(text, pos).code_point;
    if (FindRange(kCaseIgnorable, c)) continue;
    cased_before = FindRange(kCased, c) != nullptr;
    break;
  }
  if (!cased_before) return false;
  for (size_t pos = end; pos < text.size();) {
    const DecodedChar next = DecodeAt(text, pos);
    if (!FindRange(kCaseIgnorable, next.code_point)) return !FindRange(kCased, next.code_point);
    pos += next.size;
  }
  return true;
}

}  // namespace

DecodedChar DecodeAt(std::string_view text, size_t pos) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[pos + i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() - pos < size) return {kNotACharacter, 1};
  char32_t c = lead & (0x7F >> size);
  for (size_t i = 1; i < size; ++i) {
    if (!IsContinuation(text[pos + i])) return {kNotACharacter, 1};
    c = c << 6 | (byte(i) & 0x3F);
  }
  // Overlong forms and values beyond Unicode are no sequences; surrogates are.
  if ((size == 3 && c < 0x800) || (size == 4 && (c < 0x10000 || c > 0x10FFFF)))
    return {kNotACharacter, 1};
  return {c, size};
}

size_t PreviousChar(std::string_view text, size_t end) {
  size_t begin = end - 1;
  for (size_t size = 1; size <= 4 && size <= end; ++size) {
    begin = end - size;
    if (IsContinuation(text[begin])) continue;
    if (DecodeAt(text.substr(0, end), begin).size == size) return begin;
    break;
  }
  return end - 1;
}

bool IsSpace(char32_t c) {
  if (c <= 0x20) return c == 0x20 || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  if (c < 0x1680) return c == 0x85 || c == 0xA0;
  return c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

bool IsDigit(char32_t c) {
  return c < 0x80 ? c >= U'0' && c <= U'9' : FindRange(kDigit, c) != nullptr;
}

bool IsAlnum(char32_t c) {
  if (c < 0x80)
    return (c >= U'0' && c <= U'9') || (c >= U'A' && c <= U'Z') || (c >= U'a' && c <= U'z');
  return FindRange(kAlnum, c) != nullptr;
}

size_t Length(std::string_view text) {
  size_t length = 0;
  for (size_t pos = 0; pos < text.size(); pos += DecodeAt(text, pos).size) ++length;
  return length;
}

std::string_view LastChars(std::string_view text, size_t count) {
  size_t begin = text.size();
  for (; count > 0 && begin > 0; --count) begin = PreviousChar(text, begin);
  return text.substr(begin);
}

std::string_view SliceFrom(std::string_view text, int64_t start) {
  if (start < 0) {
    // More characters than bytes there cannot be; this also keeps the negation in range.
    const int64_t bytes = static_cast<int64_t>(text.size());
    return start < -bytes ? text : LastChars(text, static_cast<size_t>(-start));
  }
  size_t pos = 0;
  for (; start > 0 && pos < text.size(); --start) pos += DecodeAt(text, pos).size;
  return text.substr(pos);
}

bool IsDigitString(std::string_view text) {
  for (size_t pos = 0; pos < text.size();) {
    const DecodedChar c = DecodeAt(text, pos);
    if (!IsDigit(c.code_point)) return false;
    pos += c.size;
  }
  return !text.empty();
}

std::string_view Strip(std::string_view text) {
  size_t begin = 0;
  while (begin < text.size()) {
    const DecodedChar c = DecodeAt(text, begin);
    if (!IsSpace(c.code_point)) break;
    begin += c.size;
  }
  size_t end = text.size();
  while (end > begin) {
    const size_t previous = PreviousChar(text, end);
    if (!IsSpace(DecodeAt(text, previous).code_point)) break;
    end = previous;
  }
  return text.substr(begin, end - begin);
}

std::vector<std::string_view> SplitSpace(std::string_view text) {
  std::vector<std::string_view> words;
  size_t begin = std::string_view::npos;
  for (size_t pos = 0; pos < text.size();) {
    const DecodedChar c = DecodeAt(text, pos);
    if (IsSpace(c.code_point)) {
      if (begin != std::string_view::npos) words.push_back(text.substr(begin, pos - begin));
      begin = std::string_view::npos;
    } else if (begin == std::string_view::npos) {
      begin = pos;
    }
    pos += c.size;
  }
  if (begin != std::string_view::npos) words.push_back(text.substr(begin));
  return words;
}

std::vector<std::string_view> Split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (size_t at; (at = text.find(separator, begin)) != std::string_view::npos;
       begin = at + separator.size()) {
    parts.push_back(text.substr(begin, at - begin));
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::string_view AfterLast(std::string_view text, std::string_view separator) {
  // From the left, as split() does: it matters where the separator can overlap itself.
  size_t begin = 0;
  for (size_t at; (at = text.find(separator, begin)) != std::string_view::npos;)
    begin = at + separator.size();
  return text.substr(begin);
}

std::string_view BeforeFirst(std::string_view text, std::string_view separator) {
  return text.substr(0, text.find(separator));
}

size_t Count(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; at += part.size())
    ++count;
  return count;
}

void Replace(std::string* text, std::string_view from, std::string_view to) {
  size_t at = text->find(from);
  if (at == std::string::npos) return;
  std::string out;
  out.reserve(text->size());
  size_t begin = 0;
  for (; at != std::string::npos; at = text->find(from, begin)) {
    out.append(*text, begin, at - begin).append(to);
    begin = at + from.size();
  }
  out.append(*text, begin, std::string::npos);
  *text = std::move(out);
}

std::string Lower(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t pos = 0; pos < text.size();) {
    const DecodedChar c = DecodeAt(text, pos);
    if (c.code_point < 0x80) {
      out += static_cast<char>(LowerOf(c.code_point));
    } else if (c.code_point == kCapitalSigma) {
      AppendUtf8(IsFinalSigma(text, pos, pos + c.size) ? kFinalSigma : kSmallSigma, &out);
    } else if (const char32_t lower =
                   c.code_point == kNotACharacter ? c.code_point : LowerOf(c.code_point);
               lower == c.code_point) {
      out.append(text, pos, c.size);
    } else {
      AppendUtf8(lower, &out);
      if (c.code_point == kCapitalIWithDot) AppendUtf8(kCombiningDot, &out);
    }
    pos += c.size;
  }
  return out;
}

}  // namespace rewardloop::py
