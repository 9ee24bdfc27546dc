#include "scorers/python_json.h"

#include <gtest/gtest.h>

namespace rewardloop {
namespace {

PythonValue Value(std::string_view text) {
  auto loaded = PythonJsonLoads(text);
  EXPECT_TRUE(std::holds_alternative<PythonValue>(loaded)) << text;
  return std::holds_alternative<PythonValue>(loaded) ? std::get<PythonValue>(loaded)
                                                     : PythonValue();
}

std::string Error(std::string_view text) {
  auto loaded = PythonJsonLoads(text);
  const PythonError* error = std::get_if<PythonError>(&loaded);
  return error ? error->type + ": " + error->message : "(accepted)";
}

bool Equal(std::string_view a, std::string_view b) { return PythonEqual(Value(a), Value(b)); }

TEST(PythonJson, NumbersAreEqualAcrossTypes) {
  EXPECT_TRUE(Equal("1", "1.0"));
  EXPECT_TRUE(Equal("true", "1"));
  EXPECT_TRUE(Equal("-0.0", "0"));
  EXPECT_TRUE(Equal("1e3", "1000"));
  EXPECT_FALSE(Equal("\"1\"", "1"));
  EXPECT_FALSE(Equal("null", "0"));
  EXPECT_FALSE(Equal("9007199254740993", "9007199254740992.0"));  // exact beyond 2^53
  EXPECT_TRUE(Equal("1e22", "10000000000000000000000"));
  EXPECT_FALSE(Equal("1e23", "100000000000000000000000"));  // 1e23 is not a double
}

TEST(PythonJson, NanIsItselfOnlyInsideContainers) {
  EXPECT_FALSE(Equal("NaN", "NaN"));
  EXPECT_TRUE(Equal("[NaN]", "[NaN]"));
  EXPECT_TRUE(Equal("{\"a\": NaN}", "{\"a\": NaN}"));
}

TEST(PythonJson, BeyondTheRangeOfDoubles) {
  EXPECT_TRUE(Equal("1e999", "Infinity"));
  EXPECT_TRUE(Equal("-1.5e99999999999999999999", "-Infinity"));
  EXPECT_TRUE(Equal("1e-999", "0"));
  EXPECT_TRUE(Equal("0.0001e-99999999999999999999", "0"));
}

TEST(PythonJson, LastOfRepeatedKeysCounts) {
  EXPECT_TRUE(Equal("{\"a\": 1, \"b\": 2, \"a\": 3}", "{\"b\": 2, \"a\": 3}"));
}

TEST(PythonJson, SurrogatesJoinOrStay) {
  EXPECT_EQ(*Value("\"\\ud83d\\ude00\"").AsStr(), "\U0001F600");
  EXPECT_EQ(*Value("\"\\ud83dx\"").AsStr(), "\xED\xA0\xBDx");
}

TEST(PythonJson, ErrorsAreCPythons) {
  EXPECT_EQ(Error(""), "JSONDecodeError: Expecting value: line 1 column 1 (char 0)");
  EXPECT_EQ(Error("{bad}"),
            "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 "
            "(char 1)");
  EXPECT_EQ(Error("[1,\n\u00E9]"), "JSONDecodeError: Expecting value: line 2 column 1 (char 4)");
  EXPECT_EQ(Error("1 2"), "JSONDecodeError: Extra data: line 1 column 3 (char 2)");
  EXPECT_EQ(Error("\"a\tb\""),
            "JSONDecodeError: Invalid control character at: line 1 column 3 (char 2)");
  EXPECT_EQ(Error("\"abc"),
            "JSONDecodeError: Unterminated string starting at: line 1 column 1 (char 0)");
  EXPECT_EQ(
      Error("\xEF\xBB\xBF"
            "1"),
      "JSONDecodeError: Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1 (char 0)");
}

TEST(PythonJson, Limits) {
  EXPECT_EQ(Error(std::string(4300, '1')), "(accepted)");
  EXPECT_EQ(Error(std::string(4301, '1')).substr(0, 10), "ValueError");
  EXPECT_EQ(Error(std::string(900, '[') + std::string(900, ']')), "(accepted)");
  EXPECT_EQ(Error(std::string(100'000, '[')).substr(0, 14), "RecursionError");
}

}  // namespace
}  // namespace rewardloop
