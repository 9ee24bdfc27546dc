#include "scorers/answer/normalize.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>

#include "base/utf8.h"
#include "scorers/answer/ascii.h"

namespace rewardloop::answer {
namespace {

// Case-folded NFC of any bytes.
std::string Folded(std::string_view text) {
  bool ascii = true;
  for (char c : text) ascii = ascii && static_cast<unsigned char>(c) < 0x80;
  std::string folded;
  if (!ascii) {
    const std::string valid = RepairUtf8(text);
    utf8proc_uint8_t* mapped = nullptr;
    const auto size = utf8proc_map(
        reinterpret_cast<const utf8proc_uint8_t*>(valid.data()),
        static_cast<utf8proc_ssize_t>(valid.size()), &mapped,
        static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD));
    if (size < 0) return valid;
    folded.assign(reinterpret_cast<const char*>(mapped), static_cast<size_t>(size));
    std::free(mapped);
    return folded;
  }
  folded.reserve(text.size());
  for (char c : text) folded.push_back(Lower(c));
  return folded;
}

std::u32string CodePoints(std::string_view valid) {
  std::u32string points;
  points.reserve(valid.size());
  for (size_t i = 0; i < valid.size();) {
    utf8proc_int32_t point = 0;
    const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(valid.data()) + i,
                                       static_cast<utf8proc_ssize_t>(valid.size() - i), &point);
    if (size <= 0) {
      ++i;
      continue;
    }
    // Full-width forms of ASCII, and the typographic minus.
    if (point >= 0xFF01 && point <= 0xFF5E) point -= 0xFEE0;
    if (point == 0x2212) point = '-';
    points.push_back(static_cast<char32_t>(point));
    i += static_cast<size_t>(size);
  }
  return points;
}

bool Digit(char32_t c) { return c >= '0' && c <= '9'; }
bool Letter(char32_t c) {
  return c < 0x80 ? IsLetter(static_cast<char>(c))
                  : utf8proc_category(static_cast<utf8proc_int32_t>(c)) <= UTF8PROC_CATEGORY_LO;
}
bool Space(char32_t c) {
  if (c <= ' ' || c == 0x7F) return true;
  if (c < 0x80) return false;
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_CC;
}
// Punctuation of prose; symbols that carry meaning (+ # = < > ^ & @ % ...) are none.
bool Prose(char32_t c) {
  if (c < 0x80)
    return std::string_view(".,;:!?'\"`()[]{}-/$").find(static_cast<char>(c)) !=
           std::string_view::npos;
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return (category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO) ||
         category == UTF8PROC_CATEGORY_SC;
}

bool ThreeDigits(const std::u32string& text, size_t pos) {
  for (size_t i = pos; i < pos + 3; ++i) {
    if (i >= text.size() || !Digit(text[i])) return false;
  }
  return pos + 3 >= text.size() || !Digit(text[pos + 3]);
}

// What becomes of the punctuation mark text[i]: kept, removed, or a space.
enum class Fate { kKeep, kRemove, kSpace };
Fate FateOf(const std::u32string& text, size_t i) {
  const char32_t c = text[i];
  const char32_t before = i > 0 ? text[i - 1] : U' ';
  const char32_t after = i + 1 < text.size() ? text[i + 1] : U' ';
  if (Digit(before) && Digit(after)) {
    if (c == ',') return ThreeDigits(text, i + 1) ? Fate::kRemove : Fate::kKeep;
    return c == '.' || c == '/' || c == ':' || c == '-' || c == 0x2013 ? Fate::kKeep : Fate::kSpace;
  }
  const bool number_follows =
      Digit(after) || ((after == '.' || after == '$') && i + 2 < text.size() && Digit(text[i + 2]));
  if (c == '-' && number_follows && !Letter(before) && !Digit(before)) return Fate::kKeep;
  if (c == '.' && Digit(after) && !Letter(before)) return Fate::kKeep;
  // Dashes part words; SQuAD joins what a hyphen, an apostrophe or a full stop parts.
  return c == 0x2013 || c == 0x2014 || c == ',' || c == ';' || c == ':' ? Fate::kSpace
                                                                        : Fate::kRemove;
}

// Removes "**" and the stars around the whole.
std::u32string WithoutMarkdown(std::u32string text) {
  std::u32string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '*' && i + 1 < text.size() && text[i + 1] == '*') {
      ++i;
      continue;
    }
    out.push_back(text[i]);
  }
  if (out.size() >= 3 && out.front() == '*' && out.back() == '*')
    out = out.substr(1, out.size() - 2);
  return out;
}

bool IsArticle(std::string_view word) { return word == "a" || word == "an" || word == "the"; }

// An article goes where a longer word follows it directly: in "a, b, c", "the; cat" and "a b a" it
// is the answer. `commas` has the ends of the words that a comma or semicolon followed.
std::string WithoutArticles(std::string_view text, const std::vector<size_t>& commas) {
  std::string out;
  size_t comma = 0;
  for (size_t pos = 0; pos < text.size();) {
    const size_t space = std::min(text.find(' ', pos), text.size());
    const std::string_view word = text.substr(pos, space - pos);
    const size_t next = std::min(space + 1, text.size());
    const std::string_view follower =
        text.substr(next, std::min(text.find(' ', next), text.size()) - next);
    while (comma < commas.size() && commas[comma] < space) ++comma;
    const bool listed = comma < commas.size() && commas[comma] == space;
    pos = next;
    if (IsArticle(word) && !listed && follower.size() > 1 && !IsArticle(follower)) continue;
    if (!out.empty()) out += ' ';
    out += word;
  }
  return out;
}

}  // namespace

std::string NormalizeText(std::string_view text) {
  const std::string folded = Folded(Trimmed(text));
  const std::u32string points = WithoutMarkdown(CodePoints(folded));
  std::string out;
  out.reserve(folded.size());
  bool space = false;
  std::vector<size_t> commas;
  auto part = [&] { space = !out.empty(); };
  for (size_t i = 0; i < points.size(); ++i) {
    const char32_t c = points[i];
    if (Space(c)) {
      part();
      continue;
    }
    if (Prose(c)) {
      const Fate fate = FateOf(points, i);
      if (fate == Fate::kSpace) part();
      if (c == ',' || c == ';') commas.push_back(out.size());
      if (fate != Fate::kKeep) continue;
    }
    if (space) out += ' ';
    space = false;
    AppendUtf8(c, &out);
  }
  if (out.empty()) return folded;
  return WithoutArticles(out, commas);
}

namespace {

// Scripts that put no space between words.
bool IsUnspaced(char32_t c) {
  return (c >= 0x3040 && c <= 0x30FF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0x20000 && c <= 0x3FFFF) || (c >= 0x0E00 && c <= 0x0EFF) ||
         (c >= 0x1000 && c <= 0x109F) || (c >= 0x1780 && c <= 0x17FF);
}

}  // namespace

std::vector<std::string> Tokens(std::string_view normalized) {
  std::vector<std::string> tokens;
  std::string word;
  auto end_word = [&] {
    if (!word.empty()) tokens.push_back(std::move(word));
    word.clear();
  };
  for (char32_t c : CodePoints(normalized)) {
    if (c == ' ') {
      end_word();
      continue;
    }
    if (IsUnspaced(c)) end_word();
    AppendUtf8(c, &word);
    if (IsUnspaced(c)) end_word();
  }
  end_word();
  return tokens;
}

bool IsStructured(std::string_view text) {
  text = Trimmed(text);
  size_t brackets = 0;
  bool digit = false, letter = false;
  for (char c : text) {
    brackets += std::string_view("()[]{}").find(c) != std::string_view::npos;
    digit = digit || IsDigit(c);
    letter = letter || IsLetter(c) || (c & 0x80);
  }
  if (brackets == 0) return false;
  // "Paris (France)" is prose; "f(x)", "[a, b]", "(3, 4)" and "([])" are not.
  const bool opens = text.front() == '[' || text.front() == '{';
  return opens || digit || brackets > 2 || !letter;
}

std::string NormalizeStructure(std::string_view text) {
  const std::u32string points = CodePoints(Folded(Trimmed(text)));
  std::string out;
  bool space = false;
  char32_t last = 0;
  auto word = [](char32_t c) { return Letter(c) || Digit(c) || c == '-' || c == '.'; };
  for (char32_t c : points) {
    if (Space(c)) {
      space = true;
      continue;
    }
    if (c == '"') c = '\'';
    if (space && last != 0 && word(last) && word(c)) out += ' ';
    space = false;
    last = c;
    AppendUtf8(c, &out);
  }
  return out;
}

}  // namespace rewardloop::answer
