#include "scorers/testing_util.h"

namespace rewardloop {
namespace {

using testing_util::Judge;
using testing_util::MakeScorer;
using testing_util::Summary;

std::string Format(std::string text, const Json& args = Json()) {
  return Summary(Judge(*MakeScorer("format", args), Json(), std::move(text)));
}

Status Refused(const Json& args) {
  auto made = ScorerRegistry::WithBuiltins().Make("format", args);
  EXPECT_FALSE(made.ok());
  return made.status();
}

TEST(Format, ThinkAndAnswer) {
  EXPECT_EQ(Format("<think>b</think><answer>3</answer>"), "scored 1.0 format_ok");
  EXPECT_EQ(Format("\n<think>\nb\n</think>\n\n<answer>\n3\n</answer>\n"), "scored 1.0 format_ok");
}

// Repeated tags and text after the last one earn nothing.
TEST(Format, UserReportRepeatedTags) {
  EXPECT_EQ(Format("<think>b</think>\n<answer>3</answer>\n</answer>"), "scored 0.0 repeated_tag");
  EXPECT_EQ(Format("<think>b</think><think>c</think><answer>3</answer>"),
            "scored 0.0 repeated_tag");
  EXPECT_EQ(Format("<think>b</think><answer>3</answer><answer>3</answer>"),
            "scored 0.0 repeated_tag");
  EXPECT_EQ(Format("<think>b</think><answer>3</answer> so long"), "scored 0.0 text_after");
  EXPECT_EQ(Format("<answer>3</answer><think>b</think>"), "scored 0.0 misplaced_text");
}

TEST(Format, OtherLayoutsEarnNothing) {
  EXPECT_EQ(Format(""), "scored 0.0 missing_tag");
  EXPECT_EQ(Format("3"), "scored 0.0 missing_tag");
  EXPECT_EQ(Format("b</think><answer>3</answer>"), "scored 0.0 missing_tag");
  EXPECT_EQ(Format("<think>b</think><answer>3"), "scored 0.0 missing_tag");
  EXPECT_EQ(Format("hm <think>b</think><answer>3</answer>"), "scored 0.0 misplaced_text");
  EXPECT_EQ(Format("<think>b</think> hm <answer>3</answer>"), "scored 0.0 misplaced_text");
  EXPECT_EQ(Format("<think> </think><answer>3</answer>"), "scored 0.0 empty_tag");
  EXPECT_EQ(Format("<think><answer>3</answer></think>"), "scored 0.0 nested_tag");
  EXPECT_EQ(Format("</think><think>b<answer>3</answer>").substr(0, 10), "scored 0.0");
}

TEST(Format, Arguments) {
  EXPECT_EQ(
      Format("b</think><answer>3</answer>", Json::MakeObject({{"first_open_in_prompt", true}})),
      "scored 1.0 format_ok");
  EXPECT_EQ(Format("<think>b</think><answer>3</answer>",
                   Json::MakeObject({{"first_open_in_prompt", true}})),
            "scored 1.0 format_ok");
  EXPECT_EQ(Format("<think></think><answer>3</answer>", Json::MakeObject({{"allow_empty", true}})),
            "scored 1.0 format_ok");
  const Json think = Json::MakeObject({{"tags", Json::MakeArray({"think"})}, {"after", "text"}});
  EXPECT_EQ(Format("<think>b</think> It is 3.", think), "scored 1.0 format_ok");
  EXPECT_EQ(Format("<think>b</think> ", think), "scored 0.0 missing_text");
  const Json three = Json::MakeObject(
      {{"tags", Json::MakeArray({"plan", "code", "test"})}, {"after", "anything"}});
  EXPECT_EQ(Format("<plan>1</plan><code>2</code><test>3</test> 4", three), "scored 1.0 format_ok");
}

TEST(Format, UserPattern) {
  const Json pattern = Json::MakeObject({{"tags", Json::MakeArray()}, {"pattern", "Answer: \\d+"}});
  EXPECT_EQ(Format("Answer: 12", pattern), "scored 1.0 format_ok");
  EXPECT_EQ(Format("So Answer: 12", pattern), "scored 0.0 pattern_mismatch");
  const Json search = Json::MakeObject(
      {{"tags", Json::MakeArray()}, {"pattern", "Answer: \\d+"}, {"match", "search"}});
  EXPECT_EQ(Format("So Answer: 12", search), "scored 1.0 format_ok");
  const Json lines = Json::MakeObject({{"tags", Json::MakeArray()}, {"pattern", "a.*b"}});
  EXPECT_EQ(Format("a\nb", lines), "scored 1.0 format_ok");
  EXPECT_EQ(Format("a\xff\nb", lines), "scored 1.0 format_ok");
  EXPECT_EQ(Format(std::string("a\0b", 3), lines), "scored 1.0 format_ok");
  // The classic exponential pattern of backtracking engines.
  const Json evil = Json::MakeObject({{"tags", Json::MakeArray()}, {"pattern", "(a+)+b"}});
  EXPECT_EQ(Format(std::string(1'000'000, 'a'), evil), "scored 0.0 pattern_mismatch");
}

TEST(Format, BadArgumentsSayWhatToDo) {
  const Status look = Refused(Json::MakeObject({{"pattern", "^(?!x).*$"}}));
  EXPECT_EQ(look.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(look.hint().find("look-around"), std::string::npos) << look.ToString();
  EXPECT_NE(Refused(Json::MakeObject({{"pattern", "("}})).message().find("pattern"),
            std::string::npos);
  EXPECT_NE(
      Refused(Json::MakeObject({{"tags", Json::MakeArray({"<think>"})}})).hint().find("brackets"),
      std::string::npos);
  EXPECT_FALSE(Refused(Json::MakeObject({{"tags", Json::MakeArray({"a", "a"})}})).ok());
  EXPECT_FALSE(Refused(Json::MakeObject({{"tags", Json::MakeArray()}})).ok());
}

TEST(Format, HostileTexts) {
  for (const char* part : {"<think>", "</think>", "<think>a</think>", "<answer>", "<", " "}) {
    std::string text;
    while (text.size() < 2'000'000) text += part;
    EXPECT_EQ(Format(text).substr(0, 10), "scored 0.0") << part;
  }
  RewardItem item;
  EXPECT_EQ(Summary(Judge(*MakeScorer("format"), item)), "scored 0.0 no_answer");
}

}  // namespace
}  // namespace rewardloop
