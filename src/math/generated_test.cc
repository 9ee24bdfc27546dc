// Generated pairs: spelling changes keep an answer equal, proved mutations do not; symmetry, transitivity, determinism.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "math/answer.h"
#include "math/numeric/numeric.h"
#include "rewardloop/json.h"
#include "rewardloop/math.h"

namespace rewardloop::math {
namespace {

// Golds of our own, so that the test says something where the corpora are absent.
const std::vector<std::string>& OwnGolds() {
  static const std::vector<std::string> golds = {
      "7", "-12", "1234567", "\\frac{3}{8}", "-\\frac{17}{4}", "0.125", "12.50", "2\\sqrt{3}", "\\frac{1+\\sqrt{5}}{2}", "\\sqrt[3]{2}",
      "\\pi", "\\frac{2\\pi}{3}", "3-4i", "(1,2)", "(\\frac{1}{2},-3,5)", "\\{1,2,3\\}", "-1,4,9", "[0,1)", "(-\\infty,2]", "(-\\infty,-1)\\cup(1,\\infty)",
      "x^2+2x+1", "\\frac{n(n+1)}{2}", "2x-3y+5", "y=2x+1", "x^2+y^2=9", "x>3", "-1\\le x<2", "\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}",
      "\\text{east}", "25\\%", "90^\\circ", "5\\text{ cm}", "\\ln 2", "\\log_2 5", "2^{100}", "10!", "\\binom{10}{4}", "e^{2}", "\\sin x", "1\\pm\\sqrt{2}",
      "\\frac{\\pi}{6}+k\\pi", "3:4", "12:30", "a^2b-ab^2", "\\sqrt{x^2+1}", "\\frac{x-1}{x+1}"};
  return golds;
}

std::vector<std::string> CorpusGolds(size_t most) {
  std::vector<std::string> golds;
  const char* root = std::getenv("REWARDLOOP_CORPORA");
  const std::filesystem::path folder = (root ? std::filesystem::path(root) : std::filesystem::path(REWARDLOOP_SOURCE_DIR) / ".." / "shared" / "corpora") / "math_golds";
  if (!std::filesystem::exists(folder)) return golds;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& path : files) {
    std::ifstream file(path);
    size_t count = 0;
    for (std::string line; std::getline(file, line) && count < most; ++count) {
      auto row = Json::Parse(line);
      const Json* answer = row.ok() ? row->Find("answer") : nullptr;
      if (!answer) continue;
      std::string text = answer->is_string() ? answer->AsString() : answer->Dump();
      if (text.size() < 200 && text.find_first_not_of(" \n") != text.npos) golds.push_back(text);
    }
  }
  return golds;
}

void ReplaceAll(std::string* text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text->find(from, at)) != text->npos; at += to.size()) text->replace(at, from.size(), to);
}

// Other spellings of the same answer.
std::vector<std::string> Spellings(const std::string& gold) {
  std::vector<std::string> out = {" " + gold + " ", "$" + gold + "$", "\\boxed{" + gold + "}", "\\displaystyle " + gold};
  if (gold.find('$') != gold.npos || gold.find("text") != gold.npos || gold.find("mbox") != gold.npos) out = {" " + gold + " "};
  std::string changed = gold;
  ReplaceAll(&changed, "\\frac{", "\\dfrac{");
  out.push_back(changed);
  changed = gold;
  if (gold.find("\\left") == gold.npos && gold.find("[") == gold.npos && gold.find("]") == gold.npos && gold.find("\\text") == gold.npos) {
    ReplaceAll(&changed, "(", "\\left(");
    ReplaceAll(&changed, ")", "\\right)");
    out.push_back(changed);
  }
  changed = gold;
  ReplaceAll(&changed, "+", " + ");
  ReplaceAll(&changed, ",", ", ");
  if (gold.find("0,") == gold.npos && gold.find("$") == gold.npos && gold.find("\\") == gold.npos) {
    bool digits_around = false;  // a comma between digits may be a thousands separator
    for (size_t i = 1; i + 1 < gold.size(); ++i) digits_around |= gold[i] == ',' && std::isdigit(static_cast<unsigned char>(gold[i + 1]));
    if (!digits_around) out.push_back(changed);
  }
  return out;
}

TEST(MathGenerated, SpellingChangesAreEqual) {
  std::vector<std::string> golds = OwnGolds();
  for (std::string& gold : CorpusGolds(120)) golds.push_back(std::move(gold));
  const Options options;
  int pairs = 0;
  for (const std::string& gold : golds) {
    const CompiledGold compiled(gold, options);
    if (!compiled.usable()) continue;
    for (const std::string& spelling : Spellings(gold)) {
      ++pairs;
      const MathVerdict verdict = Compare(compiled, spelling);
      EXPECT_EQ(verdict.outcome, Outcome::kEqual) << gold << " | " << spelling << " | " << verdict.reason << " " << verdict.rule;
    }
  }
  EXPECT_GT(pairs, 150);
}

// The rational value of an answer by exact arithmetic, which shares nothing with the decision but the parser.
std::optional<Rational> ExactValue(const std::string& text) {
  static Arena arena(8u << 20);
  arena.Reset();
  const Answer answer = ReadAnswer(text, false, &arena);
  if (answer.readings == 0 || !IsScalarKind(answer.reading[0]->kind)) return std::nullopt;
  Fuel fuel;
  return EvaluateRational(answer.reading[0], fuel);
}

TEST(MathGenerated, ExactMutationsOfNumbersAreDifferent) {
  std::vector<std::string> golds = OwnGolds();
  for (std::string& gold : CorpusGolds(300)) golds.push_back(std::move(gold));
  Options options;
  options.policy.gold_precision = false;  // a rounded neighbour is equal by policy; here only exact values count
  int mutations = 0;
  for (const std::string& gold : golds) {
    const auto value = ExactValue(gold);
    if (!value) continue;
    const CompiledGold compiled(gold, options);
    for (size_t i = 0; i < gold.size(); ++i) {
      std::string mutated = gold;
      if (gold[i] >= '0' && gold[i] <= '8') mutated[i] = static_cast<char>(gold[i] + 1);
      else if (gold[i] == '-') mutated.erase(i, 1);
      else if (gold[i] == '+') mutated[i] = '-';
      else continue;
      const auto other = ExactValue(mutated);
      if (!other || other->sign() == 0) continue;
      if (*other == *value) continue;
      ++mutations;
      const MathVerdict verdict = Compare(compiled, mutated);
      EXPECT_NE(verdict.outcome, Outcome::kEqual) << gold << " | " << mutated << " | " << verdict.reason << " " << verdict.rule;
    }
  }
  EXPECT_GT(mutations, 40);
}

TEST(MathGenerated, StructuralMutationsAreDifferent) {
  struct Case { const char* gold; const char* mutated; };
  // One bracket, element, exponent or direction changed; different by the meaning of the notation.
  static constexpr Case kCases[] = {
      {"[0,1)", "(0,1)"}, {"[0,1)", "[0,1]"}, {"(1,2)", "(1,3)"}, {"\\{1,2,3\\}", "\\{1,2,4\\}"}, {"\\{1,2,3\\}", "\\{1,2\\}"}, {"1,2,3", "1,2,3,4"},
      {"x^2+1", "x^3+1"}, {"x^2+1", "x^2-1"}, {"x>3", "x<3"}, {"x>3", "x\\ge3"}, {"y=2x+1", "y=2x-1"}, {"\\sqrt{2}", "\\sqrt{3}"}, {"\\sin x", "\\cos x"},
      {"2^{100}", "2^{101}"}, {"e^2", "e^3"}, {"\\frac{\\pi}{3}", "\\frac{\\pi}{6}"}, {"3-4i", "3+4i"}, {"\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}", "\\begin{pmatrix}1&3\\\\2&4\\end{pmatrix}"},
      {"(1,2),(3,4)", "(1,2),(4,3)"}, {"\\log_2 5", "\\log_3 5"}, {"10!", "11!"}, {"\\binom{10}{4}", "\\binom{10}{5}"}, {"a^2b-ab^2", "a^2b+ab^2"}, {"\\text{east}", "\\text{west}"}};
  const Options options;
  for (const Case& c : kCases) {
    EXPECT_NE(Compare(std::string_view(c.gold), c.mutated, options).outcome, Outcome::kEqual) << c.gold << " | " << c.mutated;
    EXPECT_NE(Compare(std::string_view(c.mutated), c.gold, options).outcome, Outcome::kEqual) << c.mutated << " | " << c.gold;
  }
}

TEST(MathGenerated, SymmetricPolicyIsSymmetric) {
  const auto& golds = OwnGolds();
  Options options;
  options.policy.symmetric = true;
  for (size_t i = 0; i < golds.size(); ++i) {
    const CompiledGold left(golds[i], options);
    for (size_t j = i + 1; j < golds.size(); ++j) {
      const CompiledGold right(golds[j], options);
      EXPECT_EQ(Compare(left, golds[j]).outcome == Outcome::kEqual, Compare(right, golds[i]).outcome == Outcome::kEqual) << golds[i] << " | " << golds[j];
    }
  }
}

TEST(MathGenerated, EqualityIsTransitiveOnClasses) {
  // Each row is one value; with the rounding policies off, everything in a row is equal and nothing across rows is.
  const std::vector<std::vector<std::string>> classes = {
      {"\\frac12", "0.5", "1/2", "50\\%", "\\frac{2}{4}", "2^{-1}"},
      {"\\sqrt{12}", "2\\sqrt{3}", "2*sqrt(3)", "12^{1/2}", "\\frac{6}{\\sqrt3}"},
      {"x^2-1", "(x-1)(x+1)", "x**2 - 1", "-(1-x^2)"},
      {"\\{1,2\\}", "2,1", "\\{2,1,1\\}", "1 \\text{ and } 2"},
      {"(-1,2]", "-1<x\\le2", "2\\ge x>-1"},
      {"i", "\\frac{1+i}{1-i}", "e^{i\\pi/2}"},
      {"y=2x+1", "2x-y+1=0", "4x-2y=-2"}};
  Options options;
  options.policy.gold_precision = options.policy.rounded_ok = false;
  options.policy.symmetric = true;
  for (size_t a = 0; a < classes.size(); ++a) {
    for (const std::string& gold : classes[a]) {
      const CompiledGold compiled(gold, options);
      for (size_t b = 0; b < classes.size(); ++b) {
        for (const std::string& other : classes[b]) {
          EXPECT_EQ(Compare(compiled, other).outcome == Outcome::kEqual, a == b) << gold << " | " << other;
        }
      }
    }
  }
}

TEST(MathGenerated, SameVerdictsWithOneAndSixteenThreads) {
  std::vector<std::string> golds, completions;
  for (const std::string& gold : OwnGolds()) {
    for (const std::string& other : OwnGolds()) {
      golds.push_back(gold);
      completions.push_back("so the answer is \\boxed{" + other + "}.");
    }
  }
  const std::vector<std::string_view> g(golds.begin(), golds.end()), c(completions.begin(), completions.end());
  const auto one = VerifyBatch(g, c, {}, 1);
  const auto many = VerifyBatch(g, c, {}, 16);
  ASSERT_EQ(one.size(), many.size());
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].outcome, many[i].outcome) << golds[i] << " | " << completions[i];
    EXPECT_EQ(one[i].reason, many[i].reason);
    EXPECT_EQ(one[i].fuel_used, many[i].fuel_used);
  }
}

TEST(MathGenerated, SameVerdictAfterAMillionOtherCalls) {
  const Options options;
  const CompiledGold gold("\\sqrt{2}+\\sqrt{3}", options);
  const std::string completion = "\\boxed{\\sqrt{5+2\\sqrt{6}}}";
  const MathVerdict before = Verify(gold, completion);
  const CompiledGold other("\\frac{3}{4}", options);
  int64_t paid = 0;
  for (int i = 0; i < 1'000'000; ++i) paid += Verify(other, i % 3 ? "\\boxed{\\frac{3}{4}}" : "\\boxed{0.76}").outcome == Outcome::kEqual;
  EXPECT_EQ(paid, 666'666);  // i % 3 is 0 for 333,334 values of i
  const MathVerdict after = Verify(gold, completion);
  EXPECT_EQ(before.outcome, Outcome::kEqual);
  EXPECT_EQ(after.outcome, before.outcome);
  EXPECT_EQ(after.fuel_used, before.fuel_used);
}

}  // namespace
}  // namespace rewardloop::math
