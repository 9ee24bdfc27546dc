#include "io/row_writer.h"

#include <gtest/gtest.h>

namespace rewardloop {
namespace {

RewardResult Scored(std::string item_id) {
  RewardResult result;
  result.item_id = std::move(item_id);
  result.status = ItemStatus::kScored;
  result.score = 1.0;
  result.extracted = "42";
  result.reason = "equal";
  result.extra = Json::MakeObject();
  return result;
}

constexpr char kVerdict[] =
    R"("status":"scored","score":1.0,"extracted":"42","reason":"equal","components":{},"extra":{},"error":null)";

constexpr RowShape kPlain;
constexpr RowShape kWithId = {.has_id = true, .has_other = false};
constexpr RowShape kWithOthers = {.has_id = false, .has_other = true};
constexpr RowShape kWithBoth = {.has_id = true, .has_other = true};

std::string Row(std::string_view line, const RowShape& shape, const RewardResult& result,
                bool timing = false) {
  std::string out;
  AppendOutputRow(line, shape, result, timing, &out);
  return out;
}

TEST(RowWriterTest, InputColumnsStayByteForByte) {
  EXPECT_EQ(
      Row(R"(  {"a": 1.50, "n" :123456789012345678901234567890 }  )", kPlain, Scored("line:1")),
      std::string(R"(  {"a": 1.50, "n" :123456789012345678901234567890,"item_id":"line:1",)") +
          kVerdict + "}\n");
  EXPECT_EQ(Row("{ }", kPlain, Scored("line:1")),
            std::string(R"({"item_id":"line:1",)") + kVerdict + "}\n");
}

TEST(RowWriterTest, AnIdThatIsTheRowsIdStaysInPlace) {
  EXPECT_EQ(Row(R"({"item_id": "7", "a": 1})", kWithId, Scored("7")),
            std::string(R"({"item_id": "7", "a": 1,)") + kVerdict + "}\n");
}

TEST(RowWriterTest, ColumnsOfOutputNamesMoveUnderInput) {
  EXPECT_EQ(
      Row(R"({"item_id": 7, "score": 0.50, "a": 1, "status": "x"})", kWithOthers, Scored("7")),
      std::string(R"({"a":1,"input":{"item_id":7,"score":0.50,"status":"x"},"item_id":"7",)") +
          kVerdict + "}\n");
}

TEST(RowWriterTest, AnOwnInputColumnMovesAlong) {
  EXPECT_EQ(Row(R"({"input": "the prompt", "score": 0.5})", kWithOthers, Scored("line:1")),
            std::string(R"({"input":{"input":"the prompt","score":0.5},"item_id":"line:1",)") +
                kVerdict + "}\n");
}

TEST(RowWriterTest, TimingIsAColumnOnlyWhenAskedFor) {
  RewardResult result = Scored("1");
  result.timing = {1, 2, 3, 1};
  EXPECT_EQ(Row(R"({"item_id": "1", "timing": 5})", kWithBoth, result),
            std::string(R"({"item_id":"1","timing":5,)") + kVerdict + "}\n");
  EXPECT_EQ(Row(R"({"item_id": "1", "timing": 5})", kWithBoth, result, true),
            std::string(R"({"item_id":"1","input":{"timing":5},)") + kVerdict +
                R"(,"timing":{"queued":1,"started":2,"finished":3,"attempts":1}})" + "\n");
}

TEST(RowWriterTest, ErrorsComponentsAndExtra) {
  RewardResult result;
  result.item_id = "a\"b";
  result.status = ItemStatus::kUnscorable;
  result.reason = "no_ground_truth";
  result.error = RewardError{"no_ground_truth", "there is none", false};
  result.components = {{"format", 0.25}, {"x", -0.0}};
  result.extra = Json::MakeObject({{"z", 1}, {"a", nullptr}});
  EXPECT_EQ(
      Row("{}", kPlain, result),
      R"({"item_id":"a\"b","status":"unscorable","score":null,"extracted":null,"reason":"no_ground_truth",)"
      R"("components":{"format":0.25,"x":-0.0},"extra":{"z":1,"a":null},)"
      R"("error":{"class":"no_ground_truth","message":"there is none","retryable":false}})"
      "\n");
}

}  // namespace
}  // namespace rewardloop
