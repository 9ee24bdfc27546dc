#include "io/resume.h"

#include <gtest/gtest.h>

#include "io/atomic_file.h"
#include "io/test_files.h"

namespace rewardloop {
namespace {

std::string Row(const std::string& id, const std::string& rest) {
  return "{\"item_id\":\"" + id + "\"," + rest + "}\n";
}
const char kScored[] = "\"status\":\"scored\",\"score\":1.0";
const char kError[] = "\"status\":\"error\",\"score\":null";
const char kPolicyZero[] = "\"status\":\"error\",\"score\":0.0";

TEST(ReadDoneRowsTest, KeepsRowsWithAScoreAndDropsTheOthers) {
  TempFolder folder;
  const std::string path =
      folder.Write("out", Row("a", kScored) + Row("b", kError) + Row("c", kScored) +
                              Row("d", kPolicyZero) + "{\"item_i");
  std::vector<std::string> seen;
  const auto done =
      ReadDoneRows(path, {}, [&](const DoneRow& row) { seen.push_back(row.item_id); });
  ASSERT_TRUE(done.ok()) << done.status().message();
  EXPECT_EQ(seen, (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(done->dropped, 2);
  EXPECT_EQ(folder.Read("out"), Row("a", kScored) + Row("c", kScored));
  EXPECT_EQ(done->bytes, static_cast<int64_t>(folder.Read("out").size()));
  EXPECT_EQ(done->ordinals.Find("b"), IdTable::kAbsent);
  EXPECT_EQ(done->offsets[done->ordinals.Find("c")],
            static_cast<int64_t>(Row("a", kScored).size()));
}

TEST(ReadDoneRowsTest, AFileOfScoresIsNotTouched) {
  TempFolder folder;
  const std::string whole = Row("a", kScored) + Row("b", kScored);
  const std::string path = folder.Write("out", whole + "{\"torn");
  const auto done = ReadDoneRows(path, {}, [](const DoneRow&) {});
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(folder.Read("out"), whole + "{\"torn");
  EXPECT_EQ(done->bytes, static_cast<int64_t>(whole.size()));
}

TEST(ReadDoneRowsTest, ForeignLinesAreAnErrorThatNamesThem) {
  TempFolder folder;
  const auto done = ReadDoneRows(folder.Write("out", Row("a", kScored) + "not json\n"), {},
                                 [](const DoneRow&) {});
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.status().code(), StatusCode::kDataLoss);
  EXPECT_NE(done.status().message().find("out:2:1: "), std::string::npos)
      << done.status().message();
}

TEST(CheckSidecarTest, NamesTheFirstDifference) {
  TempFolder folder;
  const std::string output = folder.File("out");
  const Json then = *Json::Parse(
      R"({"schema": 1, "input": {"bytes": 3, "hash": "x"}, "config": {"scorer": "a", "seed": 0},
                                     "scorers": {"a": "1"}, "timing": false, "finished": false})");
  EXPECT_NE(CheckSidecar(output, then).message().find("cannot be resumed"),
            std::string::npos);  // no sidecar
  ASSERT_TRUE(WriteFileAtomically(SidecarPath(output), then.Dump()).ok());
  Json now = then;
  now.Set("finished", true);
  EXPECT_TRUE(CheckSidecar(output, now).ok());
  now.Set("config", *Json::Parse(R"({"scorer": "b", "seed": 0})"));
  EXPECT_NE(CheckSidecar(output, now).message().find("config.scorer was \"a\", is \"b\""),
            std::string::npos);
  now = then;
  now.Set("scorers", *Json::Parse(R"({"a": "2"})"));
  EXPECT_NE(CheckSidecar(output, now).message().find("scorers.a was \"1\", is \"2\""),
            std::string::npos);
  now = then;
  now.Set("input", *Json::Parse(R"({"bytes": 4, "hash": "y"})"));
  EXPECT_NE(CheckSidecar(output, now).message().find("input.bytes was 3, is 4"), std::string::npos);
}

TEST(FingerprintFileTest, ChangesWithEveryByte) {
  TempFolder folder;
  const auto a = FingerprintFile(folder.Write("a", std::string(3'000'000, 'x')));
  const auto same = FingerprintFile(folder.Write("b", std::string(3'000'000, 'x')));
  std::string other(3'000'000, 'x');
  other[2'999'999] = 'y';
  const auto changed = FingerprintFile(folder.Write("c", other));
  ASSERT_TRUE(a.ok() && same.ok() && changed.ok());
  EXPECT_EQ(a->Dump(), same->Dump());
  EXPECT_NE(a->Dump(), changed->Dump());
}

TEST(IdTableTest, AHundredThousandIds) {
  IdTable table;
  for (uint32_t i = 0; i < 100'000; ++i)
    ASSERT_EQ(table.Insert("id " + std::to_string(i), i), IdTable::kAbsent);
  EXPECT_EQ(table.size(), 100'000u);
  for (uint32_t i = 0; i < 100'000; i += 777) {
    EXPECT_EQ(table.Find("id " + std::to_string(i)), i);
    EXPECT_EQ(table.Insert("id " + std::to_string(i), 5), i);
  }
  EXPECT_EQ(table.Find("id 100000"), IdTable::kAbsent);
  table.Assign("id 5", 9);
  EXPECT_EQ(table.Find("id 5"), 9u);
}

}  // namespace
}  // namespace rewardloop
