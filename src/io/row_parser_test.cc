#include "io/row_parser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "base/utf8.h"
#include "io/line_reader.h"

namespace rewardloop {
namespace {

std::string Padded(std::string_view text) {
  std::string line;
  line.reserve(text.size() + kLinePadding);
  line.assign(text);
  return line;
}

Status ParseRow(std::string_view text, Json* columns = nullptr, bool* watched = nullptr) {
  RowParser parser({"a", "v"}, {"score"});
  Json unused;
  bool ignored;
  return parser.Parse(Padded(text), columns ? columns : &unused, watched ? watched : &ignored);
}

TEST(RowParserTest, TakesWantedColumnsOnlyAndNoticesWatchedOnes) {
  Json columns;
  bool watched = true;
  ASSERT_TRUE(ParseRow(R"({"a": {"b": [1, 2.5, null]}, "c": "unused"})", &columns, &watched).ok());
  EXPECT_EQ(columns.Dump(), R"({"a":{"b":[1,2.5,null]}})");
  EXPECT_FALSE(watched);
  ASSERT_TRUE(ParseRow(R"({"sc\u006fre": 1})", &columns, &watched).ok());
  EXPECT_TRUE(watched);
}

TEST(RowParserTest, BigIntegersKeepEveryDigit) {
  Json columns;
  ASSERT_TRUE(
      ParseRow(R"({"a": 123456789012345678901234567890, "v": 18446744073709551615})", &columns)
          .ok());
  EXPECT_EQ(columns.Dump(), R"({"a":123456789012345678901234567890,"v":18446744073709551615})");
}

TEST(RowParserTest, LoneSurrogatesBecomeReplacementCharacters) {
  Json columns;
  ASSERT_TRUE(ParseRow(R"({"a": "x\ud800y", "v": "\ud83d\ude00"})", &columns).ok());
  EXPECT_EQ(columns.Find("a")->AsString(), "x\xEF\xBF\xBDy");
  EXPECT_EQ(columns.Find("v")->AsString(), "\xF0\x9F\x98\x80");
}

TEST(RowParserTest, NulIsDataWhereItIsEscapedAndAnErrorWhereItIsNot) {
  Json columns;
  ASSERT_TRUE(ParseRow(R"({"a": "x\u0000y"})", &columns).ok());
  EXPECT_EQ(columns.Find("a")->AsString(), std::string("x\0y", 3));
  EXPECT_FALSE(ParseRow(std::string_view("{\"a\": \"x\0y\"}", 12)).ok());
}

TEST(RowParserTest, ErrorsNameTheColumn) {
  EXPECT_EQ(ParseRow(R"({"a": tru})").message().substr(0, 3), "7: ");
  EXPECT_EQ(ParseRow(R"({"é": 1,})").message().substr(0, 3), "9: ");  // characters, not bytes
  EXPECT_EQ(ParseRow("[1]").message(), "1: a row must be a JSON object, not array");
  EXPECT_EQ(ParseRow("\"text\"").message(), "1: a row must be a JSON object, not string");
}

TEST(RowParserTest, HintsForWhatPythonWrites) {
  EXPECT_NE(ParseRow(R"({"a": NaN})").hint().find("allow_nan"), std::string::npos);
  EXPECT_NE(ParseRow(R"({"a": -Infinity})").hint().find("-Infinity is not JSON"),
            std::string::npos);
  EXPECT_NE(ParseRow("{'a': 1}").hint().find("double quotes"), std::string::npos);
  EXPECT_NE(ParseRow(R"({"a": None})").hint().find("Python"), std::string::npos);
}

TEST(RowParserTest, DepthOfAHundredThousandIsAnError) {
  const std::string deep = "{\"a\":" + std::string(100000, '[') + std::string(100000, ']') + "}";
  const Status status = ParseRow(deep);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("nested deeper"), std::string::npos) << status.message();
}

TEST(RowParserTest, InvalidUtf8IsAnErrorWithItsColumn) {
  const Status status = ParseRow("{\"a\": \"xy\xFF\"}");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "10: invalid UTF-8 in a string");
}

TEST(SplitColumnsTest, KeepsEveryByteOfAValue) {
  const std::string_view line =
      R"( { "a" : 1.50e+01 , "b\u0022":"x,}\"{" ,"c":[ {"d":"]"} ,2] , "e":-0,"f":{} } )";
  const std::vector<RawColumn> columns = SplitColumns(line);
  ASSERT_EQ(columns.size(), 5u);
  EXPECT_EQ(columns[0].key, "a");
  EXPECT_EQ(columns[0].raw_value, "1.50e+01");
  EXPECT_EQ(columns[1].key, "b\"");
  EXPECT_EQ(columns[1].raw_key, R"("b\u0022")");
  EXPECT_EQ(columns[1].raw_value, R"("x,}\"{")");
  EXPECT_EQ(columns[2].raw_value, R"([ {"d":"]"} ,2])");
  EXPECT_EQ(columns[3].raw_value, "-0");
  EXPECT_EQ(columns[4].raw_value, "{}");
  EXPECT_TRUE(SplitColumns("{ }").empty());
}

std::string Corpus(const std::string& name) {
  const char* const given = std::getenv("REWARDLOOP_CORPORA");
  return (given ? std::string(given) : std::string(REWARDLOOP_SOURCE_DIR) + "/../shared/corpora") +
         "/" + name;
}

std::string Base64(std::string_view text) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t value = alphabet.find(c);
    if (value == std::string_view::npos) continue;
    bits = bits << 6 | static_cast<uint32_t>(value);
    if ((count += 6) >= 8) out.push_back(static_cast<char>(bits >> (count -= 8)));
  }
  return out;
}

// What is done with the inputs that RFC 8259 leaves open. Accepted: decimals that underflow to 0,
// integers of any size, surrogates without a partner (read as U+FFFD), 500 levels. Refused, all
// others: numbers beyond the range of a double, invalid UTF-8, UTF-16, a byte-order mark that does
// not stand at the start of the file.
bool FreeCaseIsAccepted(std::string_view name) {
  constexpr std::string_view kAccepted[] = {
      "i_number_double_huge_neg_exp.json",
      "i_number_real_underflow.json",
      "i_number_too_big_neg_int.json",
      "i_number_too_big_pos_int.json",
      "i_number_very_big_negative_int.json",
      "i_object_key_lone_2nd_surrogate.json",
      "i_string_1st_surrogate_but_2nd_missing.json",
      "i_string_1st_valid_surrogate_2nd_invalid.json",
      "i_string_incomplete_surrogate_and_escape_valid.json",
      "i_string_incomplete_surrogate_pair.json",
      "i_string_incomplete_surrogates_escape_valid.json",
      "i_string_invalid_lonely_surrogate.json",
      "i_string_invalid_surrogate.json",
      "i_string_inverted_surrogates_U+1D11E.json",
      "i_string_lone_second_surrogate.json",
      "i_structure_500_nested_arrays.json",
  };
  return std::find(std::begin(kAccepted), std::end(kAccepted), name) != std::end(kAccepted);
}

TEST(RowParserTest, MustHold6JsonTestSuiteAccepts95Rejects188AndAnswersAll35) {
  std::ifstream file(Corpus("json_test_suite/cases.jsonl"));
  if (!file) GTEST_SKIP() << "no corpora here: set REWARDLOOP_CORPORA";
  int accepted = 0, rejected = 0, answered = 0;
  for (std::string line; std::getline(file, line);) {
    const auto entry = Json::Parse(line);
    ASSERT_TRUE(entry.ok());
    const std::string name = entry->Find("name")->AsString();
    const std::string expect = entry->Find("expect")->AsString();
    const std::string bytes = Base64(entry->Find("base64")->AsString());
    // Once as it is, where only objects can be rows, and once as the value of a column.
    const Status alone = ParseRow(bytes);
    const bool alone_valid =
        alone.ok() || alone.message().rfind("1: a row must be a JSON object", 0) == 0;
    const Status inside = ParseRow("{\"v\": " + bytes + "}");
    if (expect == "accept") {
      EXPECT_TRUE(alone_valid) << name << ": " << alone.message();
      EXPECT_TRUE(inside.ok()) << name << ": " << inside.message();
      accepted += alone_valid && inside.ok();
    } else if (expect == "reject") {
      EXPECT_FALSE(alone_valid) << name;
      EXPECT_FALSE(inside.ok()) << name;
      rejected += !alone_valid && !inside.ok();
    } else {
      EXPECT_EQ(inside.ok(), FreeCaseIsAccepted(name)) << name << ": " << inside.message();
      EXPECT_EQ(alone_valid, inside.ok()) << name << ": " << alone.message();
      ++answered;
    }
  }
  EXPECT_EQ(accepted, 95);
  EXPECT_EQ(rejected, 188);
  EXPECT_EQ(answered, 35);
}

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

std::vector<std::string> SplitAtColons(const std::string& line) {
  std::vector<std::string> parts(1);
  for (const char c : line) {
    if (c == ':')
      parts.emplace_back();
    else if (c != ' ' || parts.size() == 2)
      parts.back().push_back(c);
  }
  return parts;
}

TEST(RowParserTest, MustHold6Utf8TestsAgree) {
  std::ifstream file(Corpus("utf8_tests/utf8tests.txt"));
  if (!file) GTEST_SKIP() << "no corpora here: set REWARDLOOP_CORPORA";
  int cases = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> parts = SplitAtColons(line);
    ASSERT_GE(parts.size(), 3u) << line;
    std::string kind = parts[1];
    kind.erase(std::remove(kind.begin(), kind.end(), ' '), kind.end());
    const bool valid = kind.rfind("valid", 0) == 0;
    const size_t text_at = line.find(':', line.find(':') + 1) + 1;
    const std::string bytes = kind == "valid" ? line.substr(text_at) : FromHex(parts[2]);
    EXPECT_EQ(IsValidUtf8(bytes), valid) << line;
    EXPECT_EQ(RepairUtf8(bytes), valid ? bytes : FromHex(parts.at(4))) << line;
    const bool plain = std::none_of(bytes.begin(), bytes.end(), [](char c) {
      return (static_cast<unsigned char>(c) < 0x20) || c == '"' || c == '\\';
    });
    if (plain) {
      EXPECT_EQ(ParseRow("{\"v\": \"" + bytes + "\"}").ok(), valid) << line;
    }
    ++cases;
  }
  EXPECT_EQ(cases, 222);
}

}  // namespace
}  // namespace rewardloop
