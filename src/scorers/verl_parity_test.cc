// The parity scorers against recordings of verl 0.9.1: rows written for them (testdata/, always)
// and rows of the shared corpora (where they are present).
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>

#include "rewardloop/registry.h"
#include "scorers/dispatch.h"

namespace rewardloop {
namespace {

struct Recording {
  std::string file;    // without ".edge.jsonl"
  std::string scorer;  // empty: chosen by the dispatch table
  Json args;

  friend void PrintTo(const Recording& recording, std::ostream* out) { *out << recording.file; }
};

std::vector<Recording> Recordings() {
  return {
      {"gsm8k_strict", "verl/gsm8k", Json::MakeObject({{"method", "strict"}})},
      {"gsm8k_flexible", "verl/gsm8k", Json::MakeObject({{"method", "flexible"}})},
      {"math_reward", "verl/math_reward", Json::MakeObject()},
      {"math_dapo", "verl/math_dapo", Json::MakeObject()},
      {"math_dapo_strict_box", "verl/math_dapo", Json::MakeObject({{"strict_box_verify", true}})},
      {"search_r1_em", "verl/search_r1_em", Json::MakeObject()},
      {"search_r1_subem", "verl/search_r1_subem", Json::MakeObject()},
      {"rlla", "verl/rlla", Json::MakeObject()},
  };
}

std::string EdgePath(const std::string& name) {
  return std::string(REWARDLOOP_SOURCE_DIR) + "/src/scorers/testdata/" + name + ".edge.jsonl";
}

std::string CorporaPath(const std::string& name) {
  const char* folder = std::getenv("REWARDLOOP_CORPORA");
  const std::string root =
      folder ? folder : std::string(REWARDLOOP_SOURCE_DIR) + "/../shared/corpora";
  return root + "/verl_parity/" + name + ".corpora.jsonl";
}

// Calls `check(row)` for each row; the number of rows.
int ForEachRow(const std::string& path, const std::function<void(const Json&)>& check) {
  std::ifstream file(path);
  int rows = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    Result<Json> row = Json::Parse(line);
    EXPECT_TRUE(row.ok()) << path << ":" << rows + 1;
    if (!row.ok()) continue;
    SCOPED_TRACE(path + ":" + std::to_string(rows + 1) + " " + line.substr(0, 300));
    check(*row);
  }
  return rows;
}

RewardItem ItemOf(const Json& row) {
  RewardItem item;
  Output output;
  if (row.Find("solution_str")->is_string()) output.text = row.Find("solution_str")->AsString();
  item.outputs.push_back(std::move(output));
  item.ground_truth = *row.Find("ground_truth");
  item.extra_info = *row.Find("extra_info");
  return item;
}

// Score, other keys with their types, and the whole text of an exception.
void ExpectAsRecorded(const Json& row, const Verdict& verdict) {
  if (const Json* exception = row.Find("exception")) {
    EXPECT_EQ(verdict.status, ItemStatus::kError);
    ASSERT_TRUE(verdict.error);
    EXPECT_EQ(verdict.error->error_class, "exception");
    EXPECT_EQ(verdict.error->message, exception->AsString());
    return;
  }
  ASSERT_EQ(verdict.status, ItemStatus::kScored) << (verdict.error ? verdict.error->message : "");
  const Json& result = *row.Find("result");
  if (!result.is_object()) {
    EXPECT_EQ(verdict.score, result.AsDouble());
    return;
  }
  EXPECT_EQ(verdict.score, result.Find("score")->AsDouble());
  Json others = result;
  others.Remove("score");
  EXPECT_EQ(verdict.extra.Dump(), others.Dump());
}

Verdict ScoreOnce(const Scorer& scorer, const RewardItem& item) {
  ScoreContext context(nullptr, kNoDeadline, {}, 0);
  Verdict verdict = scorer.Score(item, context);
  // An explanation changes nothing, and its spans lie in the response.
  std::vector<ExplainStep> steps;
  context.explanation = &steps;
  const Verdict explained = scorer.Score(item, context);
  EXPECT_EQ(explained.score, verdict.score);
  EXPECT_EQ(explained.reason, verdict.reason);
  for (const ExplainStep& step : steps) {
    if (step.begin < 0) continue;
    EXPECT_LE(step.begin, step.end);
    EXPECT_LE(step.end, static_cast<int64_t>(item.Response()->size()));
  }
  return verdict;
}

int CheckRecording(const Recording& recording, const std::string& path) {
  const ScorerRegistry registry = ScorerRegistry::WithBuiltins();
  return ForEachRow(path, [&](const Json& row) {
    Json args = recording.args;
    if (const Json* kwargs = row.Find("kwargs"); kwargs && kwargs->is_object()) {
      for (const auto& [key, value] : kwargs->AsObject()) args.Set(key, value);
    }
    const auto scorer = registry.Make(recording.scorer, args);
    ASSERT_TRUE(scorer.ok()) << scorer.status().ToString();
    ExpectAsRecorded(row, ScoreOnce(**scorer, ItemOf(row)));
  });
}

class VerlParity : public testing::TestWithParam<Recording> {};
class VerlParityCorpora : public testing::TestWithParam<Recording> {};

TEST_P(VerlParity, BitForBitOnEdgeRows) {
  EXPECT_GT(CheckRecording(GetParam(), EdgePath(GetParam().file)), 100);
}

TEST_P(VerlParityCorpora, BitForBitOnCorporaRows) {
  const std::string path = CorporaPath(GetParam().file);
  if (!std::ifstream(path).good()) GTEST_SKIP() << path << " is not there; set REWARDLOOP_CORPORA";
  EXPECT_GT(CheckRecording(GetParam(), path), 100);
}

std::vector<Recording> RecordingsWithCorpora() {
  std::vector<Recording> recordings = Recordings();
  std::erase_if(recordings,
                [](const Recording& recording) { return recording.scorer == "verl/rlla"; });
  return recordings;
}

std::string FileOf(const testing::TestParamInfo<Recording>& info) { return info.param.file; }

INSTANTIATE_TEST_SUITE_P(Recordings, VerlParity, testing::ValuesIn(Recordings()), FileOf);
INSTANTIATE_TEST_SUITE_P(Recordings, VerlParityCorpora, testing::ValuesIn(RecordingsWithCorpora()),
                         FileOf);

// Rows of default_compute_score(): an unknown source is its NotImplementedError; a known one is
// scored by the entry.
struct DispatchCounts {
  int scored = 0, none = 0, unknown = 0;
};

DispatchCounts CheckDispatcher(const std::string& path) {
  const ScorerRegistry registry = ScorerRegistry::WithBuiltins();
  const Result<DispatchTable> table = DispatchTable::Named("verl");
  DispatchCounts counts;
  ForEachRow(path, [&](const Json& row) {
    const Json& source = *row.Find("data_source");
    if (!source.is_string()) return;  // an item's data source is always text
    const DispatchEntry* entry = table->Find(source.AsString());
    const Json* exception = row.Find("exception");
    if (!entry) {
      ++counts.unknown;
      ASSERT_TRUE(exception);
      EXPECT_TRUE(exception->AsString().starts_with("NotImplementedError"));
      return;
    }
    if (entry->scorer.empty()) {
      ++counts.none;
      return;
    }
    ++counts.scored;
    const auto scorer = registry.Make(entry->scorer, entry->args);
    ASSERT_TRUE(scorer.ok()) << scorer.status().ToString();
    ExpectAsRecorded(row, ScoreOnce(**scorer, ItemOf(row)));
  });
  return counts;
}

TEST(VerlDispatcher, BitForBitOnEdgeRows) {
  const DispatchCounts counts = CheckDispatcher(EdgePath("default_compute_score"));
  EXPECT_GT(counts.scored, 100);
  EXPECT_GT(counts.none, 10);
  EXPECT_GT(counts.unknown, 100);
}

TEST(VerlDispatcher, BitForBitOnCorporaRows) {
  const std::string path = CorporaPath("default_compute_score");
  if (!std::ifstream(path).good()) GTEST_SKIP() << path << " is not there; set REWARDLOOP_CORPORA";
  EXPECT_GT(CheckDispatcher(path).scored, 100);
}

}  // namespace
}  // namespace rewardloop
