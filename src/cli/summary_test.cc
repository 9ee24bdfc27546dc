#include "cli/summary.h"

#include <gtest/gtest.h>

#include "cli/args.h"
#include "cli/comparison.h"
#include "cli/console.h"

namespace rewardloop::cli {
namespace {

SummaryRow Row(int64_t line, std::string_view source, std::optional<double> score,
               ItemStatus status = ItemStatus::kScored) {
  SummaryRow row;
  row.line_number = line;
  row.item_id = "id";
  row.data_source = source;
  row.score = score;
  row.status = status;
  row.reason = status == ItemStatus::kScored ? "not_equal" : "exception";
  return row;
}

TEST(SummaryTest, MeansAreOverScoresThatExist) {
  Summary summary;
  summary.Add(Row(1, "a", 1.0));
  summary.Add(Row(2, "a", 0.5));
  summary.Add(Row(3, "a", std::nullopt, ItemStatus::kError));
  summary.Add(Row(4, "b", std::nullopt, ItemStatus::kError));
  const Json report = summary.ToJson(2.0, 4);
  EXPECT_EQ(*report.Find("data_sources")->Find("a")->Find("mean"), Json(0.75));
  EXPECT_TRUE(report.Find("data_sources")->Find("b")->Find("mean")->is_null());
  EXPECT_EQ(*report.Find("without_score"), Json(2));
  EXPECT_NE(summary.Text(2.0, 4).find("2 items/s"), std::string::npos);
}

TEST(SummaryTest, NumbersThatAPolicyPutInAreCountedAndSaid) {
  Summary summary;
  summary.Add(Row(1, "a", 1.0));
  EXPECT_EQ(summary.Text(1.0, 1).find("on_error"), std::string::npos);
  summary.Add(Row(2, "a", 0.0, ItemStatus::kTimeout));
  summary.Add(Row(3, "a", 0.0, ItemStatus::kError));
  EXPECT_EQ(*summary.ToJson(1.0, 3).Find("policy_values"), Json(2));
  EXPECT_NE(summary.Text(1.0, 3).find("2 rows without a verdict count with the number that on_error"), std::string::npos);
}

TEST(SummaryTest, ComponentsCountWhatIsMissing) {
  Summary summary;
  const std::vector<Component> with_b = {{"b", 0.5}};
  for (int i = 0; i < 6; ++i) {
    SummaryRow row = Row(i, "", 1.0);
    if (i % 3 == 0) row.components = &with_b;
    summary.Add(row);
  }
  const Json b = *summary.ToJson(1, 6).Find("components")->Find("b");
  EXPECT_EQ(b.Dump(), R"({"mean":0.5,"count":2,"missing":4})");
}

TEST(SummaryTest, ZeroSpreadNeedsTwoScoredMembers) {
  Summary summary;
  const auto add = [&](std::string_view group, std::optional<double> score) {
    SummaryRow row = Row(1, "", score, score ? ItemStatus::kScored : ItemStatus::kError);
    row.group_id = group;
    summary.Add(row);
  };
  add("same", 1.0);
  add("same", 1.0);
  add("differs", 1.0);
  add("differs", 0.0);
  add("single", 1.0);
  add("half", 1.0);
  add("half", std::nullopt);
  EXPECT_EQ(summary.groups(), 4);
  EXPECT_EQ(summary.zero_spread_groups(), 1);
}

TEST(SummaryTest, FailuresOfDifferentSortsComeFirst) {
  Summary summary;
  const std::string right_but_missed = "some say 72, some say 73";
  const std::string wrong = "#### 5";
  const std::string extracted = "5";
  SummaryRow plain = Row(1, "", 0.0);
  plain.reason = "not_equal";
  plain.response = &wrong;
  plain.extracted = &extracted;
  plain.ground_truth = "72";
  summary.Add(plain);
  SummaryRow missed = Row(2, "", 0.0);
  missed.reason = "no_answer";
  missed.response = &right_but_missed;
  missed.ground_truth = "72";
  summary.Add(missed);
  for (int i = 0; i < 3; ++i) {
    SummaryRow broken = Row(10 + i, "", std::nullopt, ItemStatus::kError);
    const std::string reason = "exception" + std::to_string(i);
    broken.reason = reason;
    summary.Add(broken);
  }
  const Json failures = *summary.ToJson(1, 5).Find("failures");
  ASSERT_EQ(failures.size(), 3u);
  EXPECT_EQ(*failures.AsArray()[0].Find("line"), Json(10));
  EXPECT_EQ(*failures.AsArray()[1].Find("line"), Json(2));
  EXPECT_EQ(*failures.AsArray()[2].Find("line"), Json(1));
  EXPECT_NE(summary.Text(1, 5).find("the right answer is in the text"), std::string::npos);
}

TEST(SummaryTest, NamesAreBounded) {
  Summary summary;
  for (int i = 0; i < 5000; ++i) {
    const std::string source = "source " + std::to_string(i);
    summary.Add(Row(i, source, 1.0));
  }
  EXPECT_LE(summary.ToJson(1, 1).Find("data_sources")->size(), 201u);
  EXPECT_EQ(summary.rows(), 5000);
}

TEST(ComparisonTest, CountsChangesAndTheirWays) {
  Comparison comparison(0.0, 1);
  const Judged right = {"scored", 1.0, "equal", "72", "g"};
  const Judged wrong = {"scored", 0.0, "not_equal", "7", "g"};
  const Judged broken = {"error", std::nullopt, "exception", std::nullopt, "g"};
  comparison.Add(1, "a", right, right);
  comparison.Add(2, "b", right, wrong);
  comparison.Add(3, "c", wrong, right);
  comparison.Add(4, "d", right, broken);
  const Json report = comparison.ToJson("x", "y");
  for (const auto& [key, count] :
       {std::pair("rows", 4), {"changed", 3}, {"up", 1}, {"down", 1}, {"status_changed", 1}}) {
    EXPECT_EQ(*report.Find(key), Json(count)) << key;
  }
  EXPECT_EQ(report.Find("changes")->size(), 1u);
  EXPECT_EQ(report.Find("why")->size(), 3u);
  EXPECT_NE(comparison.Text("x", "y").find("and 2 more"), std::string::npos);
}

TEST(ComparisonTest, ToleranceMakesNearScoresEqual) {
  Comparison comparison(0.01, 10);
  const Judged a = {"scored", 0.5, "r", std::nullopt, ""};
  Judged b = a;
  b.score = 0.505;
  comparison.Add(1, "a", a, b);
  EXPECT_EQ(comparison.changed(), 0);
  b.score = 0.52;
  comparison.Add(2, "b", a, b);
  EXPECT_EQ(comparison.changed(), 1);
}

TEST(AssignmentTest, ValuesAreJsonUnlessTheArgumentIsText) {
  const std::vector<ArgSpec> specs = {{"name", "string", nullptr, "", {}},
                                      {"size", "integer", 1, "", {}}};
  EXPECT_EQ(ParseAssignment("--x", "size=5", &specs)->second, Json(5));
  EXPECT_EQ(ParseAssignment("--x", "name=5", &specs)->second, Json("5"));
  EXPECT_EQ(ParseAssignment("--x", "name=true", &specs)->second, Json("true"));
  EXPECT_EQ(ParseAssignment("--x", "name=\"a\"", &specs)->second, Json("a"));
  EXPECT_TRUE(ParseAssignment("--x", "name=null", &specs)->second.is_null());
  EXPECT_EQ(ParseAssignment("--x", "other={\"a\": [1]}")->second.Dump(), R"({"a":[1]})");
  EXPECT_EQ(ParseAssignment("--x", "pattern=a=b")->second, Json("a=b"));
  EXPECT_FALSE(ParseAssignment("--x", "nothing").ok());
  EXPECT_FALSE(ParseAssignment("--x", "=1").ok());
}

TEST(ConsoleTest, TextForTables) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(1234567), "1,234,567");
  EXPECT_EQ(Grouped(-1234), "-1,234");
  EXPECT_EQ(Plural(1, "row"), "1 row");
  EXPECT_EQ(Plural(1000, "row"), "1,000 rows");
  EXPECT_EQ(ScoreText(1.0), "1");
  EXPECT_EQ(ScoreText(-0.5), "-0.5");
  EXPECT_EQ(Excerpt("  a \n\n b\t", 80), "a b");
  EXPECT_EQ(Excerpt("a\x1B[31mb", 80), "a\xEF\xBF\xBD[31mb");  // no control codes on a terminal
  const std::string cut = Excerpt(std::string(300, 'x') + "é", 30);
  EXPECT_LT(cut.size(), 45u);
  EXPECT_NE(cut.find(" … "), std::string::npos);
  EXPECT_EQ(cut.substr(cut.size() - 2), "é");
}

}  // namespace
}  // namespace rewardloop::cli
