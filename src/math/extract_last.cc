#include "math/extract_last.h"

#include <algorithm>

#include "math/announcements.h"
#include "math/answer.h"

namespace rewardloop::math {
namespace {

constexpr size_t kWholeBytesMax = 2000;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view Bare(std::string_view text) {
  while (true) {
    const size_t before = text.size();
    text = Trim(text);
    while (!text.empty() && (text.front() == '*' || text.front() == ':' || text.front() == '"' || text.front() == '=' || text.front() == '`')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == '*' || text.back() == '"' || text.back() == '`')) text.remove_suffix(1);
    if (!text.empty() && text.back() == '.' && !text.ends_with("...")) text.remove_suffix(1);
    if (text.starts_with("\xEF\xBC\x9A")) text.remove_prefix(3);
    if (text.size() == before) return text;
  }
}

bool IsProse(std::string_view text) {
  int words = 0;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '\\') {  // commands and the words of \text{} do not count
      size_t j = i + 1;
      while (j < text.size() && IsAlpha(text[j])) ++j;
      const std::string_view name = text.substr(i + 1, j - i - 1);
      if ((name.starts_with("text") || name == "begin" || name == "end" || name == "mbox" || name == "mathrm" || name == "operatorname") && j < text.size() && text[j] == '{') {
        const size_t close = text.find('}', j);
        j = close == std::string_view::npos ? text.size() : close + 1;
      }
      i = std::max(j, i + 2);
      continue;
    }
    if (!IsAlpha(text[i])) { ++i; continue; }
    size_t j = i;
    while (j < text.size() && (IsAlpha(text[j]) || text[j] == '\'')) ++j;
    char word[8] = {};
    if (j - i < sizeof word) for (size_t k = i; k < j; ++k) word[k - i] = Lower(text[k]);
    const std::string_view lower(word);
    if (lower == "is" || lower == "are" || lower == "the" || lower == "of" || lower == "we" || lower == "so" || lower == "which" || lower == "it" || lower == "be" || lower == "that" || lower == "thus" || lower == "this" || lower == "not") words += 2;
    else if (j - i >= 4) ++words;
    i = j;
  }
  return words >= 4;
}

bool LastFormula(std::string_view text, size_t* begin, size_t* end) {
  struct Piece { size_t begin, end; };
  const auto last = [&](size_t limit, Piece* piece) -> bool {
    size_t i = limit;
    while (i > 0) {
      --i;
      const char c = text[i];
      if (c == '$' && !(i > 0 && text[i - 1] == '\\')) {
        const bool twice = i > 0 && text[i - 1] == '$';
        const size_t stop = twice ? i - 1 : i;
        size_t open = stop;
        while (open > 0) {
          --open;
          if (text[open] == '$' && !(open > 0 && text[open - 1] == '\\')) {
            *piece = {twice && open > 0 && text[open - 1] == '$' ? open - 1 : open, i + 1};
            return piece->end > piece->begin + 2;
          }
        }
        return false;
      }
      if ((c == ')' || c == ']') && i > 0 && text[i - 1] == '\\') {
        const char open_char = c == ')' ? '(' : '[';
        size_t open = i - 1;
        while (open > 1) {
          --open;
          if (text[open] == open_char && text[open - 1] == '\\') { *piece = {open - 1, i + 1}; return true; }
        }
        return false;
      }
    }
    return false;
  };
  Piece piece{};
  if (!last(text.size(), &piece)) return false;
  *begin = piece.begin;
  *end = piece.end;
  for (int i = 0; i < 16; ++i) {
    Piece earlier{};
    if (!last(*begin, &earlier)) break;
    const std::string_view between = Trim(text.substr(earlier.end, *begin - earlier.end));
    if (between != "," && between != "and" && between != "or" && between != ", and" && between != ", or" && between != ";") break;
    *begin = earlier.begin;
  }
  return true;
}

bool LastNumber(std::string_view text, size_t* begin, size_t* end) {
  size_t i = text.size();
  while (i > 0) {
    while (i > 0 && !IsDigit(text[i - 1])) --i;
    if (i == 0) return false;
    const size_t stop = i;
    size_t start = i;
    const auto part = [&](size_t k) {
      const char c = text[k];
      if (IsDigit(c)) return true;
      if ((c == '.' || c == ',') && k + 1 < stop && IsDigit(text[k + 1])) return true;
      return c == ' ' && k + 3 < text.size() && k > 0 && IsDigit(text[k - 1]) && IsDigit(text[k + 1]) && IsDigit(text[k + 2]) && IsDigit(text[k + 3]) && !(k + 4 < text.size() && IsDigit(text[k + 4]));
    };
    while (start > 0 && part(start - 1)) --start;
    while (start < stop && !IsDigit(text[start]) && text[start] != '.') ++start;
    // a/b, with a mixed part before it
    if (start >= 2 && text[start - 1] == '/' && IsDigit(text[start - 2])) {
      --start;
      while (start > 0 && (IsDigit(text[start - 1]) || text[start - 1] == '.')) --start;
      if (start >= 2 && text[start - 1] == ' ' && IsDigit(text[start - 2])) {
        size_t mixed = start - 1;
        while (mixed > 0 && IsDigit(text[mixed - 1])) --mixed;
        if (mixed == 0 || IsSpace(text[mixed - 1]) || text[mixed - 1] == '-') start = mixed;
      }
    }
    if (start > 0 && text[start - 1] == '.' ) --start;
    const bool glued = (start > 0 && (IsAlpha(text[start - 1]) || text[start - 1] == '_')) || (stop < text.size() && IsAlpha(text[stop]) && stop + 1 < text.size() && (IsDigit(text[stop + 1]) || (start > 0 && IsAlpha(text[start - 1]))));
    if (glued && start > 0 && IsAlpha(text[start - 1])) { i = start; continue; }
    if (start > 0 && text[start - 1] == '-' && (start == 1 || IsSpace(text[start - 2]) || text[start - 2] == '=' || text[start - 2] == '(' || text[start - 2] == '$' || text[start - 2] == '*')) --start;
    else if (start >= 3 && text.substr(start - 3, 3) == "\xE2\x88\x92" && (start == 3 || IsSpace(text[start - 4]))) start -= 3;  // U+2212
    size_t finish = stop;
    size_t after = finish;
    while (after < text.size() && text[after] == ' ') ++after;
    if (after < text.size() && text[after] == '%') finish = after + 1;
    else if (text.substr(after, 2) == "\\%") finish = after + 2;
    else if (text.substr(after, 7) == "percent") finish = after + 7;
    *begin = start;
    *end = finish;
    return true;
  }
  return false;
}

bool IsGrid(std::string_view text) {
  if (text.find('\n') == std::string_view::npos || text.size() > kWholeBytesMax) return false;
  int lines = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = Trim(text.substr(0, end));
    if (line.find_first_not_of("0123456789.,;|+- \t") != std::string_view::npos) return false;
    lines += std::any_of(line.begin(), line.end(), IsDigit);
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return lines > 1;
}

bool IsCall(std::string_view text) {
  if (text.size() > 200 || text.empty() || text.back() != ')' || text.find('\n') != std::string_view::npos) return false;
  size_t i = 0;
  while (i < text.size() && (IsAlpha(text[i]) || (i > 0 && (IsDigit(text[i]) || text[i] == '_' || text[i] == '.')))) ++i;
  if (i < 2 || i == text.size() || text[i] != '(') return false;
  int depth = 0;
  for (size_t j = i; j < text.size(); ++j) {
    if (text[j] == '(') ++depth;
    if (text[j] == ')' && --depth == 0) return j + 1 == text.size();
  }
  return false;
}

bool AfterVerb(std::string_view text, std::string_view* answer, Arena* arena) {
  const size_t line = text.find_last_of('\n');
  const std::string_view last = line == std::string_view::npos ? text : text.substr(line + 1);
  if (last.size() > 400) return false;
  size_t at = std::string_view::npos, length = 0;
  for (std::string_view verb : {" is ", " are ", " equals ", " be "}) {
    const size_t found = last.rfind(verb);
    if (found != std::string_view::npos && (at == std::string_view::npos || found > at)) { at = found; length = verb.size(); }
  }
  if (at == std::string_view::npos) return false;
  const std::string_view tail = Bare(last.substr(at + length));
  if (tail.empty() || IsProse(tail)) return false;
  const bool number = IsDigit(tail[0]) || tail[0] == '.' || tail[0] == '-' || tail[0] == '$' || static_cast<uint8_t>(tail[0]) >= 0x80;
  if (number && tail.find(" and ") == std::string_view::npos && tail.find(" or ") == std::string_view::npos && tail.find(", ") == std::string_view::npos) return false;
  const Answer read = ReadAnswer(tail, false, arena);
  if (read.readings == 0 || read.is_text()) return false;
  *answer = tail;
  return true;
}

}  // namespace rewardloop::math
