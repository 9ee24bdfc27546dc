#include "math/cut_formula.h"

#include <algorithm>

namespace rewardloop::math {
namespace {

bool IsAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Commands that set type or space and are no mathematics.
bool IsFontCommand(std::string_view name) {
  return name.empty() || name.starts_with("text") || name.starts_with("math") || name == "mbox" || name == "quad" || name == "qquad" || name == "rm" || name == "boxed" || name == "displaystyle";
}

struct Marks {
  int braces = 0, brackets = 0, environments = 0;  // openings minus closings
  int words = 0;                                   // of three letters and more
  bool mathematics = false, argument_missing = false;
};

// Reads the command at text[i] == '\\'; returns the position behind it.
size_t ReadCommand(std::string_view text, size_t i, Marks* marks) {
  size_t j = i + 1;
  while (j < text.size() && IsAlpha(text[j])) ++j;
  const std::string_view name = text.substr(i + 1, j - i - 1);
  if (name.empty()) {
    if (j < text.size() && text[j] == '{') ++marks->brackets;
    if (j < text.size() && text[j] == '}') --marks->brackets;
    return std::min(text.size(), i + 2);
  }
  if (!IsFontCommand(name)) marks->mathematics = true;
  if (name == "begin") ++marks->environments;
  if (name == "end") --marks->environments;
  if (name == "left" || name == "right") {
    marks->brackets += name == "left" ? 1 : -1;
    if (j < text.size() && text[j] == '\\') ++j;  // \left\{ counts as one
    return std::min(text.size(), j + 1);
  }
  marks->argument_missing = j == text.size() && (name == "frac" || name == "dfrac" || name == "tfrac" || name == "sqrt" || name == "binom" || name == "begin");
  return j;
}

Marks ReadMarks(std::string_view text) {
  Marks marks;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\\') { i = ReadCommand(text, i, &marks); continue; }
    if (IsAlpha(c)) {
      size_t j = i;
      while (j < text.size() && IsAlpha(text[j])) ++j;
      marks.words += j - i >= 3;
      i = j;
      continue;
    }
    if (c == '{') ++marks.braces;
    if (c == '}') --marks.braces;
    if (c == '(' || c == '[') ++marks.brackets;
    if (c == ')' || c == ']') --marks.brackets;
    marks.mathematics |= IsDigit(c) || c == '^' || c == '_' || c == '=' || c == '+' || c == '<' || c == '>';
    ++i;
  }
  return marks;
}

}  // namespace

bool LooksCut(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '$' || text.back() == '\n')) text.remove_suffix(1);
  if (text.empty()) return false;
  const Marks marks = ReadMarks(text);
  constexpr int kProseWords = 2;
  if (!marks.mathematics || marks.words >= kProseWords) return false;
  // ]0, 1[ opens and closes as often as [0, 1].
  if (marks.braces != 0 || marks.brackets != 0 || marks.environments != 0 || marks.argument_missing) return true;
  const char last = text.back();
  return last == '^' || last == '_' || last == '+' || last == '=' || last == '<' || last == '>' || last == '\\';
}

}  // namespace rewardloop::math
