#include "math/string_graders/minerva.h"

#include <algorithm>

#include "base/pystring.h"
#include "math/string_graders/math_dapo.h"

namespace rewardloop::string_graders {
namespace {

constexpr size_t kNone = std::string_view::npos;

struct Replacement {
  std::string_view from, to;
};
// In this order; each runs over the whole text before the next.
constexpr Replacement kSubstitutions[] = {
    {"an ", ""},          {"a ", ""},
    {".$", "$"},          {"\\$", ""},
    {"\\ ", ""},          {" ", ""},
    {"mbox", "text"},     {",\\text{and}", ","},
    {"\\text{and}", ","}, {"\\text{m}", "\\text{}"},
};
constexpr std::string_view kRemoved[] = {
    "square",     "ways",       "integers",  "dollars",      "mph",
    "inches",     "hours",      "km",        "units",        "\\ldots",
    "sue",        "points",     "feet",      "minutes",      "digits",
    "cents",      "degrees",    "cm",        "gm",           "pounds",
    "meters",     "meals",      "edges",     "students",     "childrentickets",
    "multiples",  "\\text{s}",  "\\text{.}", "\\text{\ns}",  "\\text{}^2",
    "\\text{}^3", "\\text{\n}", "\\text{}",  "\\mathrm{th}", "^\\circ",
    "^{\\circ}",  "\\;",        ",\\!",      "{,}",          "\"",
    "\\dots",
};

// Calls `line_to(line, &out)` for every line of `text` and keeps the line breaks.
template <typename Fn>
void ForEachLine(std::string* text, Fn line_to) {
  std::string out;
  out.reserve(text->size());
  for (size_t begin = 0;;) {
    const size_t end = std::min(text->find('\n', begin), text->size());
    line_to(std::string_view(*text).substr(begin, end - begin), &out);
    if (end == text->size()) break;
    out += '\n';
    begin = end + 1;
  }
  *text = std::move(out);
}

// A line with two "$" becomes its first "$...$".
void KeepFirstMath(std::string* text) {
  if (!py::Contains(*text, "$")) return;
  ForEachLine(text, [](std::string_view line, std::string* out) {
    const size_t first = line.find('$');
    const size_t second = first == kNone ? kNone : line.find('$', first + 1);
    out->append(second == kNone ? line : line.substr(first, second - first + 1));
  });
}

// `command` (with its brace) and the next "}" of the same line are deleted around what they hold.
void Unwrap(std::string* text, std::string_view command) {
  if (!py::Contains(*text, command)) return;
  ForEachLine(text, [command](std::string_view line, std::string* out) {
    size_t begin = 0;
    for (size_t at; (at = line.find(command, begin)) != kNone;) {
      const size_t inner = at + command.size();
      const size_t close = line.find('}', inner);
      if (close == kNone) break;
      out->append(line, begin, at - begin).append(line, inner, close - inner);
      begin = close + 1;
    }
    out->append(line.substr(begin));
  });
}

// The first "\boxed{" of a line and the last "}" of that line are deleted.
void UnwrapBoxed(std::string* text) {
  constexpr std::string_view kCommand = "\\boxed{";
  if (!py::Contains(*text, kCommand)) return;
  ForEachLine(text, [kCommand](std::string_view line, std::string* out) {
    const size_t at = line.find(kCommand);
    const size_t close = line.rfind('}');
    if (at == kNone || close == kNone || close < at + kCommand.size()) {
      out->append(line);
      return;
    }
    const size_t inner = at + kCommand.size();
    out->append(line, 0, at).append(line, inner, close - inner).append(line, close + 1);
  });
}

// Puts braces around the first `count` characters after each `command` whose next character is no
// "{". Any character may come first, but a second one must be on the same line.
void BraceArguments(std::string* text, std::string_view command, int count) {
  const std::string_view in = *text;
  std::string out;
  size_t begin = 0;
  for (size_t at = in.find(command); at != kNone; at = in.find(command, at)) {
    const size_t first = at + command.size();
    at = first;
    if (first >= in.size() || in[first] == '{') continue;
    size_t end = first + py::DecodeAt(in, first).size;
    const size_t second = end;
    if (count == 2) {
      if (second >= in.size() || in[second] == '\n') continue;
      end += py::DecodeAt(in, second).size;
    }
    out.append(in, begin, first - begin).append("{").append(in, first, second - first).append("}");
    if (count == 2) out.append("{").append(in, second, end - second).append("}");
    begin = at = end;
  }
  if (begin == 0) return;
  out.append(in.substr(begin));
  *text = std::move(out);
}

// Whether `text` at `pos` spells "answer" as a case-insensitive regular expression reads it; its
// end, or npos.
size_t MatchAnswerWord(std::string_view text, size_t pos) {
  constexpr std::string_view kWord = "answer";
  constexpr char32_t kLongS = 0x17F;  // equals "s" there
  for (const char letter : kWord) {
    if (pos >= text.size()) return kNone;
    const py::DecodedChar c = py::DecodeAt(text, pos);
    const bool same = c.code_point < 0x80 ? (c.code_point | 0x20) == static_cast<char32_t>(letter)
                                          : letter == 's' && c.code_point == kLongS;
    if (!same) return kNone;
    pos += c.size;
  }
  return pos;
}

size_t SkipSpace(std::string_view text, size_t pos) {
  while (pos < text.size()) {
    const py::DecodedChar c = py::DecodeAt(text, pos);
    if (!py::IsSpace(c.code_point)) break;
    pos += c.size;
  }
  return pos;
}

// Where the answer starts when a colon ends at `pos`: after the white space, or at the last white
// space that is no line break when nothing else follows; npos when there is not even that.
size_t AnswerStart(std::string_view text, size_t pos) {
  const size_t end = SkipSpace(text, pos);
  if (end < text.size()) return end;
  for (size_t at = end; at > pos;) {
    at = py::PreviousChar(text, at);
    if (text[at] != '\n') return at;
  }
  return kNone;
}

}  // namespace

std::string NormalizeMinerva(std::string_view answer) {
  std::string text(py::AfterLast(answer, "="));
  for (const Replacement& r : kSubstitutions) py::Replace(&text, r.from, r.to);
  for (const std::string_view expression : kRemoved) py::Replace(&text, expression, "");
  KeepFirstMath(&text);
  for (const std::string_view command : {"\\text{", "\\textbf{", "\\overline{"})
    Unwrap(&text, command);
  UnwrapBoxed(&text);
  BraceArguments(&text, "frac", 2);
  BraceArguments(&text, "sqrt", 1);
  py::Replace(&text, "$", "");
  std::string digits = text;
  py::Replace(&digits, ",", "");
  if (py::IsDigitString(digits)) text = std::move(digits);
  return std::string(py::Strip(text));
}

Extraction ExtractMinerva(std::string_view response) {
  std::string_view found;
  for (size_t pos = 0; pos < response.size();) {
    if ((response[pos] | 0x20) != 'a') {
      ++pos;
      continue;
    }
    size_t at = MatchAnswerWord(response, pos);
    if (at != kNone) at = SkipSpace(response, at);
    if (at == kNone || at >= response.size() || response[at] != ':') {
      ++pos;
      continue;
    }
    const size_t begin = AnswerStart(response, at + 1);
    if (begin == kNone) {
      ++pos;
      continue;
    }
    pos = std::min(response.find('\n', begin), response.size());
    found = response.substr(begin, pos - begin);
  }
  if (found.empty()) return {};
  return ExtractionOf(response, found, std::string(found));
}

StringVerdict GradeMinerva(std::string_view response, std::string_view gold) {
  StringVerdict verdict;
  verdict.extracted = ExtractMinerva(response);
  const std::string_view answer =
      verdict.extracted.answer ? *verdict.extracted.answer : kInvalidAnswer;
  Compare(NormalizeMinerva(answer), NormalizeMinerva(gold), &verdict);
  if (!verdict.extracted.answer && !verdict.correct) verdict.reason = "no_answer";
  return verdict;
}

}  // namespace rewardloop::string_graders
