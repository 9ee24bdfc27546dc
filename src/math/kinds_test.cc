// Every answer kind of docs/math.md, row by row, from tests/math/kinds.txt.
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "rewardloop/math.h"

namespace rewardloop::math {
namespace {

TEST(MathKinds, EveryRowOfTheKindsFile) {
  std::ifstream file(REWARDLOOP_SOURCE_DIR "/tests/math/kinds.txt", std::ios::binary);
  ASSERT_TRUE(file) << "tests/math/kinds.txt is missing";
  const Options options;
  std::map<std::string, int> rows;
  std::string line, kind;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    if (line.front() == '[' && line.back() == ']' && line.find(" === ") == line.npos && line.find(" =/= ") == line.npos) {
      kind = line.substr(1, line.size() - 2);
      continue;
    }
    const bool equal = line.find(" === ") != line.npos;
    const size_t at = line.find(equal ? " === " : " =/= ");
    ASSERT_NE(at, line.npos) << line;
    const std::string gold = line.substr(0, at), prediction = line.substr(at + 5);
    const MathVerdict verdict = Verify(gold, prediction, options);
    ++rows[kind];
    EXPECT_EQ(verdict.outcome == Outcome::kEqual, equal)
        << "kind " << kind << ": gold " << gold << ", prediction " << prediction << ": " << OutcomeName(verdict.outcome) << ", "
        << verdict.reason << ", " << verdict.rule;
    EXPECT_NE(verdict.outcome, Outcome::kBadGold) << gold;
  }
  EXPECT_EQ(rows.size(), 41u) << "one section per kind";
  for (const auto& [name, count] : rows) EXPECT_GE(count, 2) << name;
}

}  // namespace
}  // namespace rewardloop::math
