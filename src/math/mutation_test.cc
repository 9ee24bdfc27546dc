// One-character mutations of real golds are never paid: a digit, a sign, a bracket, an element, a direction, a function.
// Reads $REWARDLOOP_CORPORA, else ../shared/corpora; skipped where they are absent. REWARDLOOP_MATH_TABLE_ROWS=1 shows what
// is paid.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rewardloop/json.h"
#include "rewardloop/math.h"

namespace rewardloop::math {
namespace {

namespace fs = std::filesystem;

struct Gold {
  std::string id;  // file#row
  std::string text;
};

std::vector<Gold> ReadGolds(const fs::path& root) {
  std::vector<fs::path> files;
  for (const char* folder : {"math_golds", "hardverify_math", "olympiadbench", "math_verify_tests", "math_verify_issues", "lighteval_tests", "adversarial_authored"}) {
    if (!fs::exists(root / folder)) continue;
    for (const auto& entry : fs::directory_iterator(root / folder)) if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Gold> golds;
  for (const fs::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    int row = -1;
    for (std::string line; std::getline(file, line);) {
      ++row;
      const auto json = Json::Parse(line);
      if (!json.ok()) continue;
      const Json* value = json->Find("answer");
      if (!value) value = json->Find("gold");
      if (!value || value->is_null()) continue;
      std::string text = value->is_string() ? value->AsString() : value->Dump();
      if (text.size() <= 400 && text.find_first_not_of(" \n") != text.npos && text.find("boxed") == text.npos)
        golds.push_back({path.stem().string() + "#" + std::to_string(row), std::move(text)});
    }
  }
  return golds;
}

// ---- an exact value that shares nothing with the verifier: [-]integer, decimal, a/b, \frac{a}{b} ------------------------------

struct Fraction {
  __int128 numerator, denominator;
  bool operator==(const Fraction& o) const { return numerator * o.denominator == o.numerator * denominator; }
};

std::optional<Fraction> PlainDecimal(std::string_view text) {
  Fraction value{0, 1};
  bool point = false, digit = false;
  if (text.empty() || text.size() > 16) return std::nullopt;
  const bool negative = text[0] == '-';
  if (negative) text.remove_prefix(1);
  for (char c : text) {
    if (c == '.' && !point) { point = true; continue; }
    if (c < '0' || c > '9') return std::nullopt;
    digit = true;
    value.numerator = value.numerator * 10 + (c - '0');
    if (point) value.denominator *= 10;
  }
  if (negative) value.numerator = -value.numerator;
  return digit ? std::optional(value) : std::nullopt;
}

std::optional<Fraction> PlainValue(std::string_view text) {
  while (!text.empty() && (text.front() == '$' || text.front() == ' ')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == '$' || text.back() == ' ')) text.remove_suffix(1);
  std::string_view above, below;
  const bool negative = text.starts_with("-\\frac");
  std::string_view fraction = negative ? text.substr(1) : text;
  if (fraction.starts_with("\\frac{") && fraction.ends_with("}")) {
    const size_t middle = fraction.find("}{");
    if (middle == fraction.npos) return std::nullopt;
    above = fraction.substr(6, middle - 6);
    below = fraction.substr(middle + 2, fraction.size() - middle - 3);
  } else if (const size_t slash = text.find('/'); slash != text.npos) {
    above = text.substr(0, slash);
    below = text.substr(slash + 1);
  } else {
    return PlainDecimal(text);
  }
  const auto a = PlainDecimal(above), b = PlainDecimal(below);
  if (!a || !b || b->numerator == 0) return std::nullopt;
  Fraction value{a->numerator * b->denominator, a->denominator * b->numerator};
  if (value.denominator < 0) value = {-value.numerator, -value.denominator};
  if (negative) value.numerator = -value.numerator;
  return value;
}

// ---- mutations ----------------------------------------------------------------------------------------------------------------

struct Mutation {
  std::string name;  // kind@offset
  std::string text;
};

bool Digit(char c) { return c >= '0' && c <= '9'; }

void Replace(const std::string& gold, size_t at, size_t size, std::string_view by, const char* kind, std::vector<Mutation>* out) {
  std::string text = gold;
  text.replace(at, size, by);
  out->push_back({std::string(kind) + "@" + std::to_string(at), std::move(text)});
}

void Digits(const std::string& gold, size_t at, std::vector<Mutation>* out) {
  if (!Digit(gold[at])) return;
  for (int step : {1, 4}) Replace(gold, at, 1, std::string(1, static_cast<char>('0' + (gold[at] - '0' + step) % 10)), "digit", out);
  // One digit more, one less.
  Replace(gold, at, 1, std::string(1, gold[at]) + "7", "digit_added", out);
  const size_t point = gold.rfind('.', at);
  const bool last_zero = gold[at] == '0' && point != gold.npos && !(at + 1 < gold.size() && Digit(gold[at + 1])) && std::all_of(gold.begin() + static_cast<ptrdiff_t>(point) + 1, gold.begin() + static_cast<ptrdiff_t>(at), Digit);
  if (at > 0 && Digit(gold[at - 1]) && !last_zero) Replace(gold, at, 1, "", "digit_dropped", out);
}

void Signs(const std::string& gold, size_t at, std::vector<Mutation>* out) {
  if (std::string_view(gold).substr(at + 1, 6) == "\\cdots") return;  // the sign before dots says nothing
  if (gold[at] == '-') Replace(gold, at, 1, "", "minus_dropped", out);
  if (gold[at] == '-') Replace(gold, at, 1, "+", "sign", out);
  if (gold[at] == '+') Replace(gold, at, 1, "-", "sign", out);
}

void Brackets(const std::string& gold, size_t at, std::vector<Mutation>* out) {
  if (at > 0 && gold[at - 1] == '\\') return;
  // An infinite end is open, however it is written.
  const std::string_view before = std::string_view(gold).substr(0, at), after = std::string_view(gold).substr(at + 1, 8);
  if (after.find("infty") < 4 || before.ends_with("infty") || before.ends_with("infty\\right") || before.ends_with("infty ") || before.ends_with("infty \\right")) return;
  if (gold[at] == '[') Replace(gold, at, 1, "(", "bracket", out);
  if (gold[at] == ']') Replace(gold, at, 1, ")", "bracket", out);
  const bool interval = gold.find(',') != gold.npos && (gold.find('[') != gold.npos || gold.find(']') != gold.npos || gold.find("infty") != gold.npos);
  if (interval && gold[at] == '(') Replace(gold, at, 1, "[", "bracket", out);
  if (interval && gold[at] == ')') Replace(gold, at, 1, "]", "bracket", out);
}

void Words(const std::string& gold, size_t at, std::vector<Mutation>* out) {
  struct Pair { std::string_view from, to; };
  static constexpr Pair kPairs[] = {{"\\sin", "\\cos"}, {"\\cos", "\\sin"}, {"\\tan", "\\cot"}, {"\\ln", "\\sin"}, {"\\le", "\\ge"}, {"\\ge", "\\le"}, {"<", ">"}, {">", "<"},
                                    {"\\le", "<"}, {"\\ge", ">"}, {"<", "\\le "}, {">", "\\ge "}, {"\\cup", "\\cap"}, {"\\pi", "e"}, {"\\sqrt{", "{"}, {"\\frac{", "\\frac{2*"}, {"\\pm", "+"}, {"\\pm", "-"}, {"!", ""}, {"=", "\\ne "}};
  for (const Pair& pair : kPairs) {
    if (pair.from == "!" && at > 0 && gold[at - 1] == '\\') continue;  // \\! is a space
    if (std::string_view(gold).substr(at, pair.from.size()) != pair.from) continue;
    const size_t after = at + pair.from.size();
    const bool command = pair.from[0] == '\\' && pair.from.back() != '{';
    if (command && after < gold.size() && std::isalpha(static_cast<unsigned char>(gold[after])) && gold.substr(after, 2) != "q ") continue;
    Replace(gold, at, pair.from.size(), pair.to, "word", out);
  }
}

// Without one element of a list.
void Elements(const std::string& gold, std::vector<Mutation>* out) {
  std::vector<size_t> commas;
  int depth = 0, outer = 0;
  for (size_t i = 0; i < gold.size(); ++i) {
    const char c = gold[i];
    if (c == '{' || c == '(' || c == '[') { if (i == 0 || (i == 1 && gold[0] == '\\')) outer = 1; ++depth; }
    if (c == '}' || c == ')' || c == ']') --depth;
    if (c == ',' && depth <= outer && !(i > 0 && gold[i - 1] == '\\')) commas.push_back(i);
  }
  for (size_t i = 0; i < commas.size(); ++i) {
    const size_t end = i + 1 < commas.size() ? commas[i + 1] : gold.size() - (outer ? 1 : 0);
    if (outer && i + 1 == commas.size()) continue;
    Replace(gold, commas[i], end - commas[i], "", "element_dropped", out);
  }
}

std::vector<Mutation> Mutations(const std::string& gold) {
  std::vector<Mutation> all;
  for (size_t at = 0; at < gold.size(); ++at) {
    Digits(gold, at, &all);
    Signs(gold, at, &all);
    Brackets(gold, at, &all);
    Words(gold, at, &all);
  }
  Elements(gold, &all);
  return all;
}

// Mutations that are paid because they change nothing, looked at one by one: row, kinds, why.
struct Same {
  std::string_view id, kinds, why;
};
constexpr std::string_view kUnity = "powers of i and of 1 with the same value", kFamily = "the same angles: k runs through all integers",
                           kCondition = "the value without its condition", kCoarser = "a coarser approximation of the same value", kZero = "an entry that is multiplied by 0",
                           kParity = "powers of -1 with the same value";
constexpr Same kSame[] = {
    {"college_math_answers#9", "digit digit_added digit_dropped", "10^0 is 1, whatever the base"},
    {"college_math_answers#1005", "digit digit_added", kUnity},
    {"college_math_answers#1099", "digit digit_added digit_dropped", kUnity},
    {"college_math_answers#1144", "digit digit_added", kUnity},
    {"college_math_answers#1273", "digit digit_added digit_dropped", kUnity},
    {"college_math_answers#1276", "digit", kUnity},
    {"college_math_answers#1372", "digit digit_added digit_dropped", kUnity},
    {"college_math_answers#1397", "digit digit_added", kUnity},
    {"college_math_answers#1445", "digit", kUnity},
    {"college_math_answers#1107", "sign", kFamily},
    {"college_math_answers#1124", "sign", kFamily},
    {"college_math_answers#1132", "sign", kFamily},
    {"college_math_answers#1148", "sign", kFamily},
    {"college_math_answers#1162", "sign", kFamily},
    {"college_math_answers#1244", "sign", kFamily},
    {"college_math_answers#1333", "digit digit_dropped sign", kFamily},
    {"college_math_answers#1355", "sign", kFamily},
    {"college_math_answers#1367", "sign", kFamily},
    {"college_math_answers#1406", "sign", kFamily},
    {"college_math_answers#1490", "sign", kFamily},
    {"olympiadbench_answers#269", "sign", kFamily},
    {"college_math_answers#1201", "digit_dropped", kCoarser},
    {"college_math_answers#1302", "digit_dropped", kCoarser},
    {"college_math_answers#2634", "digit digit_dropped", "-0.25, -0.246 and -0.24 for an angle of -14.04 degrees, within a unit of the last place"},
    {"college_math_answers#1270", "digit digit_added digit_dropped minus_dropped sign", kZero},
    {"college_math_answers#1447", "digit digit_added sign", kParity},
    {"college_math_answers#2602", "digit digit_added sign", kParity},
    {"college_math_answers#1592", "sign", "C is any constant"},
    {"college_math_answers#2225", "digit digit_added", "a power of 3/3"},
    {"college_math_answers#2411", "word", "sin and cos of pi/4"},
    {"college_math_answers#2131", "element_dropped", kCondition},
    {"college_math_answers#2231", "element_dropped", kCondition},
    {"college_math_answers#2429", "element_dropped", kCondition},
    {"college_math_answers#2433", "element_dropped", kCondition},
    {"college_math_answers#2695", "element_dropped", kCondition},
};

bool ChangesNothing(const Gold& gold, std::string_view kind) {
  for (const Same& same : kSame) {
    if (same.id != gold.id) continue;
    for (std::string_view rest = same.kinds; !rest.empty();) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      if (word == kind) return true;
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    }
  }
  return false;
}

TEST(MathMutations, NoMutationOfARealGoldIsPaid) {
  const char* root = std::getenv("REWARDLOOP_CORPORA");
  const fs::path corpora = root ? fs::path(root) : fs::path(REWARDLOOP_SOURCE_DIR) / ".." / "shared" / "corpora";
  if (!fs::exists(corpora)) GTEST_SKIP() << "no corpora at " << corpora << ": set REWARDLOOP_CORPORA";
  const bool show = std::getenv("REWARDLOOP_MATH_TABLE_ROWS") != nullptr;
  const Options options;
  std::map<std::string, std::pair<int, int>> table;  // kind: mutations, proved different
  int paid = 0, unchanged = 0;
  for (const Gold& gold : ReadGolds(corpora)) {
    const CompiledGold compiled(gold.text, options);
    if (!compiled.usable()) continue;
    const auto value = PlainValue(gold.text);
    for (const Mutation& mutation : Mutations(gold.text)) {
      const auto other = PlainValue(mutation.text);
      if (value && other && *value == *other) continue;
      const std::string kind = mutation.name.substr(0, mutation.name.find('@'));
      auto& counts = table[kind];
      ++counts.first;
      counts.second += value && other;
      const MathVerdict verdict = Compare(compiled, mutation.text);
      if (verdict.outcome != Outcome::kEqual) continue;
      const bool proved = value && other;
      if (!proved && ChangesNothing(gold, kind)) { ++unchanged; continue; }
      ++paid;
      if (show) std::cout << "  paid " << gold.id << " " << mutation.name << " [" << verdict.reason << " " << verdict.rule << "] " << gold.text << " | " << mutation.text << "\n";
      ADD_FAILURE() << gold.id << " " << mutation.name << ": paid" << (proved ? " and proved different: " : ": ") << gold.text << " | " << mutation.text;
    }
  }
  for (const auto& [kind, counts] : table) std::printf("%-22s %6d mutations, %d proved different by exact arithmetic\n", kind.c_str(), counts.first, counts.second);
  std::printf("%-22s %d; %d more change nothing\n", "paid", paid, unchanged);
  EXPECT_EQ(paid, 0);
}

}  // namespace
}  // namespace rewardloop::math
