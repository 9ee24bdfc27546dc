#include "base/pystring.h"

#include <gtest/gtest.h>

namespace rewardloop::py {
namespace {

// A lone surrogate, as Python writes it with "surrogatepass".
constexpr std::string_view kSurrogate = "\xED\xA0\x80";

TEST(PyString, ACharacterIsACodePoint) {
  EXPECT_EQ(Length("a\u00E9\u4E00\U0001F600"), 4u);
  EXPECT_EQ(Length(kSurrogate), 1u);
  EXPECT_EQ(LastChars("a\u00E9\u4E00\U0001F600", 2), "\u4E00\U0001F600");
  EXPECT_EQ(LastChars("ab", 5), "ab");
  EXPECT_EQ(LastChars("ab", 0), "");
}

TEST(PyString, InvalidBytesAreCharactersOfTheirOwn) {
  EXPECT_EQ(Length("\xFF\x80z"), 3u);
  EXPECT_EQ(LastChars("a\xFF\x80", 1), "\x80");
  EXPECT_EQ(Length("\xE4\xB8"), 2u);  // cut off inside a sequence
  EXPECT_EQ(Lower("\xFF\xC3"), "\xFF\xC3");
  EXPECT_EQ(Strip("\xC2 "), "\xC2");
  EXPECT_FALSE(IsAlnum(kNotACharacter));
}

TEST(PyString, SliceFromCountsLikePython) {
  EXPECT_EQ(SliceFrom("h\u00E9llo", 1), "\u00E9llo");
  EXPECT_EQ(SliceFrom("h\u00E9llo", -3), "llo");
  EXPECT_EQ(SliceFrom("hello", -50), "hello");
  EXPECT_EQ(SliceFrom("hello", 50), "");
  EXPECT_EQ(SliceFrom("hello", INT64_MIN), "hello");
}

TEST(PyString, SpaceIsUnicodeSpace) {
  for (const char32_t c :
       {0x09, 0x0B, 0x1C, 0x1F, 0x20, 0x85, 0xA0, 0x1680, 0x2009, 0x2028, 0x3000})
    EXPECT_TRUE(IsSpace(c));
  for (const char32_t c : {0x00, 0x08, 0x200B, 0x180E, 0xFEFF}) EXPECT_FALSE(IsSpace(c));
  EXPECT_EQ(Strip("\u3000 \x1F"
                  "a b\u2028\n"),
            "a b");
  EXPECT_EQ(Strip(" \u00A0"), "");
  EXPECT_EQ(SplitSpace(" a\u2003b\n\nc"), (std::vector<std::string_view>{"a", "b", "c"}));
}

TEST(PyString, DigitsOfAllScripts) {
  EXPECT_TRUE(IsDigitString(
      "12\u00B2\u0663\u2460\uFF15"));     // superscript two, Arabic 3, circled 1, full-width 5
  EXPECT_FALSE(IsDigitString("\u00BD"));  // one half is numeric, not a digit
  EXPECT_FALSE(IsDigitString(""));
  EXPECT_FALSE(IsDigitString("-1"));
  EXPECT_TRUE(IsAlnum(0xBD));
  EXPECT_FALSE(IsAlnum(0x301));  // combining accent
  EXPECT_TRUE(IsWord('_'));
}

TEST(PyString, LowerKnowsTheSpecialCases) {
  EXPECT_EQ(Lower("\u00C4BC\u0416"), "\u00E4bc\u0436");
  EXPECT_EQ(Lower("\u0130"), "i\u0307");
  EXPECT_EQ(Lower("\u212A"), "k");                   // Kelvin sign
  EXPECT_EQ(Lower("\u0391\u03A3"), "\u03B1\u03C2");  // sigma at the end of a word
  EXPECT_EQ(Lower("\u0391\u03A3\u0391"), "\u03B1\u03C3\u03B1");
  EXPECT_EQ(Lower("\u03A3"), "\u03C3");                // alone: nothing cased before it
  EXPECT_EQ(Lower("\u0391.\u03A3"), "\u03B1.\u03C2");  // a full stop does not end a word here
  EXPECT_EQ(Lower("\u1E9E"), "\u00DF");
  EXPECT_EQ(Lower("\U00010400"), "\U00010428");
  EXPECT_EQ(Lower(kSurrogate), kSurrogate);
}

TEST(PyString, SplitAndReplaceGoFromTheLeft) {
  EXPECT_EQ(Split("a,,b", ","), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(Split("", ","), (std::vector<std::string_view>{""}));
  EXPECT_EQ(AfterLast("aaaa,", "aaa"), "a,");
  EXPECT_EQ(AfterLast("x=1=2", "="), "2");
  EXPECT_EQ(BeforeFirst("1$2$", "$"), "1");
  EXPECT_EQ(BeforeFirst("12", "$"), "12");
  EXPECT_EQ(Count("aaaa", "aa"), 2u);
  std::string text = "a an ant ";
  Replace(&text, "an ", "");
  EXPECT_EQ(text, "a ant ");
}

}  // namespace
}  // namespace rewardloop::py
