#include "math/answer.h"

#include <algorithm>

#include "math/builder.h"
#include "math/spelled_number.h"
#include "math/unicode_map.h"

namespace rewardloop::math {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }
bool IsAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Spaces and decoration out, so that spellings of one formula have one text.
std::string_view Compact(std::string_view text, Arena* arena) {
  static constexpr std::string_view kDropped[] = {"\\left", "\\right", "\\displaystyle", "\\bigl", "\\bigr", "\\Bigl", "\\Bigr", "\\big",
                                                  "\\Big", "\\bigg", "\\Bigg", "\\quad", "\\qquad"};
  char* out = arena->NewArray<char>(text.size() + 1);
  if (!out) return {};
  size_t size = 0;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (IsSpace(c) || c == '$' || c == '~') { ++i; continue; }
    if (c == '\\' && i + 1 < text.size()) {
      const char next = text[i + 1];
      if (next == ',' || next == '!' || next == ';' || next == ':' || next == ' ' || next == '(' || next == ')' || next == '[' || next == ']') { i += 2; continue; }
      if (text.substr(i, 6) == "\\dfrac" || text.substr(i, 6) == "\\tfrac") {
        std::copy_n("\\frac", 5, out + size);
        size += 5;
        i += 6;
        continue;
      }
      bool dropped = false;
      for (std::string_view command : kDropped) {
        if (text.substr(i, command.size()) == command && !(i + command.size() < text.size() && IsAlpha(text[i + command.size()]))) {
          i += command.size();
          dropped = true;
          break;
        }
      }
      if (dropped) continue;
      out[size++] = c;
      out[size++] = next;
      i += 2;
      continue;
    }
    out[size++] = c;
    ++i;
  }
  while (size && (out[size - 1] == '.' || out[size - 1] == ',')) --size;
  return {out, size};
}

bool Article(std::string_view word) { return word == "a" || word == "an" || word == "the"; }

// The answer as text: words, case-folded; commands of fonts out.
std::string_view Words(std::string_view text, Arena* arena) {
  char* out = arena->NewArray<char>(text.size() + 1);
  if (!out) return {};
  size_t size = 0, word_begin = 0;
  char article = 0;
  // In a sentence with formulas brackets mean something.
  const bool mathematical = text.find_first_of("0123456789=<>^") != text.npos;
  const auto end_word = [&] {
    const std::string_view word(out + word_begin, size - word_begin);
    if (Article(word)) {
      article = word[0];
      size = word_begin;
    }
    if (size > word_begin) out[size++] = ' ';
    word_begin = size;
  };
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\\') {
      size_t j = i + 1;
      while (j < text.size() && IsAlpha(text[j])) ++j;
      std::string_view name = text.substr(i + 1, j - i - 1);
      const bool font = name.starts_with("text") || name.starts_with("math") || name == "mbox" || name == "left" || name == "right" || name.empty() || name == "quad" || name == "boxed" || name == "operatorname";
      if (font) {
        if (name == "left" || name == "right" || name.empty() || name == "quad") end_word();
        i = std::max(j, i + 2);
        if (name.empty() && i <= text.size() && IsAlpha(text[i - 1])) i = i - 1;
        continue;
      }
      end_word();
      for (char letter : name) out[size++] = letter;
      end_word();
      i = j;
      continue;
    }
    ++i;
    if (IsSpace(c) || c == ',' || c == '.' || c == ';' || c == '!' || c == '?' || c == '"' || c == '(' || c == ')' || c == '~' || c == '-' || c == ':') {
      const bool in_number = (c == '.' || c == ',' || c == ':') && i >= 2 && IsDigit(text[i - 2]) && i < text.size() && IsDigit(text[i]);
      // A hyphen joins two words; any other minus is one.
      const bool minus = c == '-' && !(i >= 2 && IsAlpha(text[i - 2]) && i < text.size() && IsAlpha(text[i]));
      const bool bracket = mathematical && (c == '(' || c == ')');
      if (in_number || minus || bracket) { out[size++] = c; continue; }
      end_word();
      continue;
    }
    const bool apostrophe = c == '\'' && i >= 2 && IsAlpha(text[i - 2]) && i < text.size() && IsAlpha(text[i]);
    if (c == '{' || c == '}' || c == '$' || c == '*' || apostrophe || c == '`') continue;
    out[size++] = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  end_word();
  while (size && out[size - 1] == ' ') --size;
  if (size == 0 && article == 'a') out[size++] = 'a';  // the choice A, not an article
  return {out, size};
}

// "C", "(C)", "C.", "\text{(C)}", "**C**", "C. 12", "\textbf{(C)} 12", "C: ..." ; 0 when it is none.
char ChoiceLetter(std::string_view text) {
  while (true) {
    const size_t before = text.size();
    for (std::string_view open : {"\\textbf{", "\\text{", "\\mathrm{", "\\mathbf{", "\\boxed{", "\\mathbf ", "\\rm ", "**", "$", "(", " ", "{", "\\left(", "\\("}) {
      if (text.starts_with(open)) { text.remove_prefix(open.size()); break; }
    }
    if (text.size() == before) break;
  }
  if (text.empty() || text[0] < 'A' || text[0] > 'J') return 0;
  const char letter = text[0];
  text.remove_prefix(1);
  // What follows is closing brackets, or a separator and the text of the choice.
  bool separated = false;
  while (!text.empty()) {
    if (text.starts_with("\\)") || text.starts_with("\\right")) { text.remove_prefix(text[1] == ')' ? 2 : 6); separated = true; continue; }
    const char c = text[0];
    if (c == ')' || c == '.' || c == ':') { separated = true; text.remove_prefix(1); continue; }
    if (c == '}' || c == '*' || c == '$') { text.remove_prefix(1); continue; }
    if (c == ' ' || c == '~') { text.remove_prefix(1); continue; }
    break;
  }
  if (text.empty()) return letter;
  if (text[0] >= 'A' && text[0] <= 'J' && (text.size() == 1 || !IsAlpha(text[1]))) return 0;  // a second letter
  return separated && text[0] != '=' && text[0] != '+' && text[0] != '-' && text[0] != ',' && text[0] != '^' && text[0] != '/' && text[0] != '<' && text[0] != '>' && text[0] != '\\' ? letter : 0;
}

// Braces that are open at the end are closed; a stray closing one at the end is cut.
std::string_view BalanceBraces(std::string_view text, Arena* arena) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') { ++i; continue; }
    if (text[i] == '{') ++depth;
    if (text[i] == '}') --depth;
  }
  if (depth == 0) return text;
  if (depth < 0) {
    while (depth < 0 && !text.empty() && text.back() == '}') { text.remove_suffix(1); ++depth; }
    return text;
  }
  if (depth > 64) return text;
  char* out = arena->NewArray<char>(text.size() + static_cast<size_t>(depth));
  if (!out) return text;
  std::copy(text.begin(), text.end(), out);
  std::fill(out + text.size(), out + text.size() + depth, '}');
  return {out, text.size() + static_cast<size_t>(depth)};
}

// A spelled answer that is a value: infinitely many, no solution, all real numbers.
const Expr* SpelledValue(std::string_view words, Arena* arena) {
  Builder build(arena, 8);
  for (std::string_view name : {"infinitely many", "infinite", "infinity", "infinitely many solutions", "positive infinity"}) {
    if (words == name) return build.Constant(Function::kInfinity);
  }
  for (std::string_view name : {"no solution", "no solutions", "no real solution", "no real solutions", "empty set", "emptyset", "none", "null set", "no such"}) {
    if (words == name) {
      Expr* e = build.Leaf(Kind::kNamedSet);
      if (e) e->fn = Function::kEmptySet;
      return e;
    }
  }
  struct Name { std::string_view words; Function set; int32_t part = 0; };
  static constexpr Name kSets[] = {
      {"all real numbers", Function::kReals}, {"all reals", Function::kReals}, {"all real", Function::kReals}, {"real numbers", Function::kReals}, {"reals", Function::kReals},
      {"set of all real numbers", Function::kReals}, {"set of real numbers", Function::kReals}, {"any real number", Function::kReals}, {"integers", Function::kIntegers},
      {"all integers", Function::kIntegers}, {"set of integers", Function::kIntegers}, {"set of all integers", Function::kIntegers}, {"any integer", Function::kIntegers},
      {"rational numbers", Function::kRationals}, {"all rational numbers", Function::kRationals}, {"complex numbers", Function::kComplexes}, {"all complex numbers", Function::kComplexes},
      {"positive real numbers", Function::kReals, 1}, {"all positive real numbers", Function::kReals, 1}, {"positive reals", Function::kReals, 1},
      {"negative real numbers", Function::kReals, -1}, {"all negative real numbers", Function::kReals, -1}, {"nonnegative real numbers", Function::kReals, 2},
      {"non negative real numbers", Function::kReals, 2}, {"all nonnegative real numbers", Function::kReals, 2}, {"positive integers", Function::kIntegers, 1},
      {"all positive integers", Function::kIntegers, 1}, {"prime numbers", Function::kPrimes}, {"primes", Function::kPrimes}, {"all primes", Function::kPrimes}, {"all prime numbers", Function::kPrimes}};
  for (const Name& name : kSets) {
    if (words != name.words) continue;
    Expr* e = build.Leaf(Kind::kNamedSet);
    if (e) {
      e->fn = name.set;
      e->aux = name.part;
    }
    return e;
  }
  return SpelledNumber(words, arena);
}

// "all real numbers except 2 and 3"; null when the text says something else or the exceptions cannot be read.
const Expr* RealsExcept(std::string_view text, Arena* arena) {
  static constexpr std::string_view kBeginnings[] = {"all real numbers", "all reals", "all real", "real numbers", "any real number", "every real number"};
  const size_t except = text.find("except");
  if (except == text.npos || text.size() > 200) return nullptr;
  const std::string_view words = Words(text.substr(0, except), arena);
  if (std::none_of(std::begin(kBeginnings), std::end(kBeginnings), [&](std::string_view name) { return words == name || (words.ends_with(" x") && words.substr(0, words.size() - 2) == name); })) return nullptr;
  std::string_view rest = text.substr(except + 6);
  while (!rest.empty() && (IsSpace(rest.front()) || rest.front() == '}' || rest.front() == '$')) rest.remove_prefix(1);
  if (rest.starts_with("for ")) rest.remove_prefix(4);
  if (!rest.empty() && rest.back() == '}' && rest.find('{') == rest.npos) rest.remove_suffix(1);
  const ParseResult result = Parse(rest, {}, arena);
  if (!result.root) return nullptr;
  Builder build(arena, 64);
  const Expr* values[16];
  size_t count = 0;
  const auto items = result.root->kind == Kind::kList || result.root->kind == Kind::kSet ? result.root->children() : std::span<Expr* const>();
  const auto add = [&](const Expr* item) {
    if (item->kind == Kind::kRelation && item->text == "=" && (*item)[0]->kind == Kind::kSymbol) item = (*item)[1];
    if (!IsScalarKind(item->kind) || count == std::size(values)) return false;
    values[count++] = item;
    return true;
  };
  if (items.empty() ? !add(result.root) : !std::all_of(items.begin(), items.end(), add)) return nullptr;
  Expr* reals = build.Leaf(Kind::kNamedSet);
  if (reals) reals->fn = Function::kReals;
  return build.Make(Kind::kSetDifference, {reals, build.Make(Kind::kSet, std::span<const Expr* const>(values, count))});
}

void AddReading(Answer* answer, const ParseResult& result, ReadingKind kind) {
  if (!result.root || answer->readings >= Answer::kReadingsMax) return;
  answer->kind[answer->readings] = kind;
  answer->reading[answer->readings++] = result.root;
}

}  // namespace

std::string_view TrimAnswer(std::string_view text) {
  static constexpr std::string_view kDollars[] = {"$$", "$"};
  while (true) {
    const size_t before = text.size();
    while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
    while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
    if (text.empty()) return text;
    const char first = text.front(), last = text.back();
    if (first == '*' && text.size() >= 4 && text.starts_with("**") && text.ends_with("**") && text.substr(2, text.size() - 4).find("**") == text.npos) {
      text.remove_prefix(2);
      text.remove_suffix(2);
    } else if (first == '$' && last == '$') {
      for (std::string_view pair : kDollars) {
        if (text.size() > 2 * pair.size() && text.starts_with(pair) && text.ends_with(pair) && text.substr(pair.size(), text.size() - 2 * pair.size()).find('$') == text.npos) {
          text.remove_prefix(pair.size());
          text.remove_suffix(pair.size());
          break;
        }
      }
    } else if (first == '\\' && text.size() >= 4 && ((text.starts_with("\\(") && text.ends_with("\\)")) || (text.starts_with("\\[") && text.ends_with("\\]")))) {
      const std::string_view inner = text.substr(2, text.size() - 4);
      if (inner.find("\\)") == inner.npos && inner.find("\\]") == inner.npos) text = inner;
    } else if (last == '.' && text.size() > 1 && !text.ends_with("...") && !text.ends_with("\\left.") && !text.ends_with("\\right.")) {
      text.remove_suffix(1);
    }
    if (text.size() == before) return text;
  }
}

Answer ReadAnswer(std::string_view text, bool repair, Arena* arena) {
  Answer answer;
  answer.source = TrimAnswer(text);
  if (repair) {
    text = RepairControlCharacters(text, arena);
    text = BalanceBraces(text, arena);
  }
  answer.raw = TrimAnswer(text);
  if (answer.raw.empty()) return answer;
  if (answer.raw.size() > kAnswerBytesMax) { answer.status = ParseStatus::kLimitTokens; return answer; }
  answer.mapped = MapUnicode(MapHtml(answer.raw, arena), arena);
  answer.compact = Compact(answer.mapped, arena);
  answer.choice = ChoiceLetter(answer.mapped);
  const ParseResult result = Parse(answer.mapped, {}, arena);
  answer.status = result.status;
  answer.only_words = result.only_words;
  AddReading(&answer, result, ReadingKind::kFirst);
  if (answer.raw.size() <= 4096 && (result.only_words || result.status != ParseStatus::kOk)) answer.words = Words(answer.mapped, arena);
  if (result.status == ParseStatus::kOk || result.status == ParseStatus::kSyntax) {
    LexOptions options;
    if (result.decimal_comma_possible) { options = {}; options.decimal_comma = true; options.group_commas = false; AddReading(&answer, Parse(answer.mapped, options, arena), ReadingKind::kDecimalComma); }
    if (result.comma_ambiguous) { options = {}; options.group_commas = false; AddReading(&answer, Parse(answer.mapped, options, arena), ReadingKind::kUngrouped); }
    if (result.scientific_ambiguous) { options = {}; options.scientific = false; AddReading(&answer, Parse(answer.mapped, options, arena), ReadingKind::kNotScientific); }
    if (result.unit_ambiguous) { options = {}; options.units_as_symbols = true; AddReading(&answer, Parse(answer.mapped, options, arena), ReadingKind::kUnitsAsLetters); }
  }
  if (result.only_words || answer.status == ParseStatus::kSyntax) {
    const Expr* value = SpelledValue(answer.words, arena);
    if (!value) value = RealsExcept(answer.mapped, arena);
    if (value) {
      answer.reading[0] = value;
      answer.readings = 1;
      answer.status = ParseStatus::kOk;
    }
  }
  if (answer.raw == "{}" && answer.readings == 0) {  // the empty set of a keyboard
    Builder build(arena, 2);
    if (Expr* e = build.Leaf(Kind::kNamedSet)) {
      e->fn = Function::kEmptySet;
      answer.reading[answer.readings++] = e;
      answer.status = ParseStatus::kOk;
    }
  }
  const bool textual = answer.readings == 0 && answer.status == ParseStatus::kSyntax;
  // Words of three letters and more are words first: "east" is not "seat".
  const bool wordy = result.only_words && answer.readings && answer.reading[0]->kind != Kind::kConstant && answer.reading[0]->kind != Kind::kNamedSet &&
                     answer.words.size() >= 3 && std::any_of(answer.words.begin(), answer.words.end(), [](char c) { return c >= 'a' && c <= 'z'; }) &&
                     answer.reading[0]->kind != Kind::kList;
  if (textual || wordy) {
    const bool meaningful = std::any_of(answer.words.begin(), answer.words.end(), [](char c) { return IsAlpha(c) || IsDigit(c) || static_cast<uint8_t>(c) >= 0x80; });
    if (!meaningful) return answer;
    Builder build(arena, 4);
    const Expr* e = build.Text(answer.words);
    if (e) {
      if (wordy && answer.readings < Answer::kReadingsMax) {
        answer.kind[answer.readings] = ReadingKind::kLetters;
        answer.reading[answer.readings++] = answer.reading[0];
      }
      answer.reading[0] = e;
      if (answer.readings == 0) answer.readings = 1;
      if (textual) answer.readings = 1;
      answer.status = ParseStatus::kOk;
    }
  }
  return answer;
}

}  // namespace rewardloop::math
