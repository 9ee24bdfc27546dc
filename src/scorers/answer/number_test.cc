#include "scorers/answer/number.h"

#include <gtest/gtest.h>

namespace rewardloop::answer {
namespace {

Number Value(std::string_view text) {
  ParsedNumber parsed = ParseNumber(text, 0);
  EXPECT_EQ(parsed.status, ParseStatus::kNumber) << text;
  return parsed.number;
}

bool Same(std::string_view a, std::string_view b) { return SameFigure(Value(a), Value(b)); }

TEST(Number, EqualValuesInManySpellings) {
  for (auto [a, b] : std::vector<std::pair<const char*, const char*>>{
           {"72", "72."},
           {"72", "72.00"},
           {"72", "+72"},
           {"72", "072"},
           {"1000", "1,000"},
           {"1000", "1{,}000"},
           {"1000", "1\\,000"},
           {"1000", "1'000"},
           {"1000", "1\u00a0000"},
           {"1234567.5", "1,234,567.50"},
           {"-5", "\u22125"},
           {"-5", "-$5"},
           {"-5", "$-5.0"},
           {"5", "\\$5"},
           {"5", "\u20ac5"},
           {"0.75", "3/4"},
           {"0.75", "6/8"},
           {"2.5", "2 1/2"},
           {"-2.5", "-2 1/2"},
           {"2.5", "2\\frac{1}{2}"},
           {"0.5", "\\frac12"},
           {"0.5", "\u00bd"},
           {"2.5", "2\u00bd"},
           {"1500", "1.5e3"},
           {"0.0015", "1.5E-3"},
           {"150", "1.5 \\times 10^{2}"},
           {"150", "1.5*10^2"},
           {"5000000", "5 million"},
           {"5000", "5k"},
           {"0", "-0"},
           {"0", "0.000"},
           {".5", "0.5"},
           {"1e400", "10e399"},
           {"100000000000000000000", "1e20"},
           {"0.1", "0.10000000000000000000000000"},
           {"123456789012345678901234567890", "123,456,789,012,345,678,901,234,567,890.0"},
           {"4/2", "2"}}) {
    EXPECT_TRUE(Same(a, b)) << a << " " << b;
    EXPECT_TRUE(Same(b, a)) << a << " " << b;
  }
}

TEST(Number, DifferentValuesStayDifferentWithoutTolerance) {
  for (auto [a, b] : std::vector<std::pair<const char*, const char*>>{
           {"5", "-5"},
           {"72", "73"},
           {"1000", "100"},
           {"0.1", "0.1000000000000000000001"},
           {"100000000000000000000", "100000000000000000001"},
           {"0.3333333333333333", "1/3"},
           {"1/3", "1/4"},
           {"1e-300", "1e-301"},
           {"9007199254740993", "9007199254740992"},
           {"1/3", "-1/3"}}) {
    EXPECT_FALSE(Same(a, b)) << a << " " << b;
  }
}

TEST(Number, PercentSignIsAFigureOrAHundredth) {
  EXPECT_TRUE(SameAnswer(Value("50"), Value("50%")));
  EXPECT_TRUE(SameAnswer(Value("50%"), Value("50")));
  EXPECT_TRUE(SameAnswer(Value("0.5"), Value("50%")));
  EXPECT_TRUE(SameAnswer(Value("50%"), Value("0.5")));
  EXPECT_TRUE(SameAnswer(Value("1/2"), Value("50\\%")));
  EXPECT_TRUE(SameAnswer(Value("50%"), Value("50 percent")));
  EXPECT_FALSE(SameAnswer(Value("0.5"), Value("0.5%")));
  EXPECT_FALSE(SameAnswer(Value("1/2"), Value("0.5%")));
  EXPECT_FALSE(SameAnswer(Value("50%"), Value("0.5%")));
  EXPECT_FALSE(SameAnswer(Value("50"), Value("0.5")));
}

TEST(Number, PartOfSomethingLargerIsNoNumber) {
  for (const char* text :
       {"5x",     "3*4",        "3 * 4", "5 x 3", "12:30",      "5-10",     "5 - 3", "2^10",
        "2^{10}", "101_2",      "1.2.3", "5\\pi", "2\\sqrt{3}", "2\u221a3", "5i",    "3 + 4",
        "3(4)",   "5 \u2013 6", "1/0",   "3/4/5", "5**2",       "2e"}) {
    EXPECT_EQ(ParseNumber(text, 0).status, ParseStatus::kExpression) << text;
  }
}

TEST(Number, WhatMayFollowANumber) {
  for (const char* text :
       {"72 apples", "72**", "**72** (see above)" + 2, "72.", "72!", "72)", "72\\)", "72$",
        "72, as shown", "72 - that is all", "72cm", "72 m^2", "72% of them", "72\xff", "72\n- 5"}) {
    EXPECT_EQ(ParseNumber(text, 0).status, ParseStatus::kNumber) << text;
  }
}

TEST(Number, EndsWhereTheFigureEnds) {
  EXPECT_EQ(ParseNumber("a 1,000 b", 2).begin, 2u);
  EXPECT_EQ(ParseNumber("a 1,000 b", 2).end, 7u);
  EXPECT_EQ(ParseNumber("1,0000", 0).end, 1u);
  EXPECT_EQ(ParseNumber("0,123", 0).end, 1u);
  EXPECT_EQ(ParseNumber("50 % x", 0).end, 4u);
}

TEST(Number, NothingAndLimits) {
  for (const char* text : {"", "abc", "-", "$", ".", "-.", "\\frac", "\\frac{a}{2}", "\xe2\x88"}) {
    EXPECT_EQ(ParseNumber(text, 0).status, ParseStatus::kNone) << text;
  }
  EXPECT_EQ(ParseNumber(std::string(kMaxDigits, '7'), 0).status, ParseStatus::kNumber);
  EXPECT_EQ(ParseNumber(std::string(kMaxDigits + 1, '7'), 0).status, ParseStatus::kLimit);
  EXPECT_EQ(ParseNumber("1e1000001", 0).status, ParseStatus::kLimit);
  EXPECT_EQ(ParseNumber("1e99999999999999999999999", 0).status, ParseStatus::kLimit);
}

}  // namespace
}  // namespace rewardloop::answer
