#include "scorers/testing_util.h"

namespace rewardloop {
namespace {

using testing_util::Judge;
using testing_util::MakeItem;
using testing_util::MakeScorer;
using testing_util::Summary;

std::string Choice(Json gold, std::string text, Json choices = Json()) {
  RewardItem item = MakeItem(std::move(gold), std::move(text));
  if (!choices.is_null()) item.extra_info = Json::MakeObject({{"choices", std::move(choices)}});
  const Verdict verdict = Judge(*MakeScorer("choice"), item);
  return Summary(verdict) + (verdict.extracted ? " " + *verdict.extracted : "");
}

TEST(Choice, LabelsInManySpellings) {
  for (const char* text : {"B",
                           "(B)",
                           "B.",
                           "**B**",
                           "b",
                           "(b)",
                           "B) Paris",
                           "B. Paris",
                           "Answer: B",
                           "The answer is B.",
                           "The answer is (B).",
                           "The correct answer is option B",
                           "so \\boxed{B}",
                           "\\boxed{\\text{(B)}}",
                           "<answer>B</answer>",
                           "<answer>\n(B)\n</answer>",
                           "#### B",
                           "\u7b54\u6848\uff1aB",
                           "\u6545\u9009B\u3002",
                           "Answer: \uff22",
                           "**Answer:** (B)",
                           "Answer: B because A is too small",
                           "Final answer: $\\boxed{B}$",
                           "The answer to the question is B"}) {
    EXPECT_EQ(Choice("B", text), "scored 1.0 equal B") << text;
    EXPECT_EQ(Choice("C", text), "scored 0.0 not_equal B") << text;
  }
}

TEST(Choice, NeverFromRunningText) {
  for (const char* text :
       {"A dog barks at B", "I think that it is large, and A is small.\nB is possible.",
        "The answer is a cat", "The answer is A cat", "Answer: Although", "The answer is unclear",
        ""}) {
    EXPECT_EQ(Choice("A", text), "scored 0.0 no_answer") << text;
  }
}

TEST(Choice, SeveralLabelsEqualOnlyTheSameSet) {
  for (const char* text :
       {"Answer: A or B", "Answer: A, B", "Answer: A and B", "Answer: AB", "\\boxed{A/B}",
        "Answer: (A) or (B)", "Answer: B) Paris or A) Rome", "Answer: B, maybe A"}) {
    EXPECT_EQ(Choice("B", text), "scored 0.0 several_answers A,B") << text;
    EXPECT_EQ(Choice("A", text), "scored 0.0 several_answers A,B") << text;
  }
  EXPECT_EQ(Choice("A,C", "Answer: C and A"), "scored 1.0 equal A,C");
  EXPECT_EQ(Choice(Json::MakeArray({"A", "C"}), "Answer: AC"), "scored 1.0 equal A,C");
  EXPECT_EQ(Choice("AC", "Answer: A"), "scored 0.0 not_equal A");
  EXPECT_EQ(Choice("AC", "Answer: A, B, C"), "scored 0.0 several_answers A,B,C");
  EXPECT_EQ(Choice("A", "Answer: A, B, C, D"), "scored 0.0 several_answers A,B,C,D");
}

// Of several declarations the last one is the answer.
TEST(Choice, UserReportCorrectedChoice) {
  const char* text = "Answer: D\nHold on, the sign was wrong.\nAnswer: A";
  EXPECT_EQ(Choice("A", text), "scored 1.0 equal A");
  EXPECT_EQ(Choice("D", text), "scored 0.0 not_equal A");
  EXPECT_EQ(Choice("A", "so \\boxed{D}. No:\nthe answer is A"), "scored 1.0 equal A");
  EXPECT_EQ(Choice("A", "Answer: A\nThe answer is consistent with the units."),
            "scored 1.0 equal A");
}

// Thoughts are no answers; a thought that never ends leaves none.
TEST(Choice, UserReportThinkingIsNotGraded) {
  EXPECT_EQ(Choice("D", "<think>The answer is B? No.</think>\nThe answer is D."),
            "scored 1.0 equal D");
  EXPECT_EQ(Choice("B", "<think>The answer is B? No.</think>\nThe answer is D."),
            "scored 0.0 not_equal D");
  EXPECT_EQ(Choice("D", "<think>The answer is D"), "scored 0.0 thinking_not_closed");
}

TEST(Choice, OptionsOfTheItem) {
  const Json texts = Json::MakeArray({"Rome", "Paris", "The Hague"});
  EXPECT_EQ(Choice("B", "Answer: Paris", texts), "scored 1.0 equal B");
  EXPECT_EQ(Choice("Paris", "Answer: B", texts), "scored 1.0 equal B");
  EXPECT_EQ(Choice("The Hague", "<answer>the hague</answer>", texts), "scored 1.0 equal C");
  EXPECT_EQ(Choice("A", "A Rome", texts), "scored 1.0 equal A");
  EXPECT_EQ(Choice("B", "Answer: D", texts), "scored 0.0 no_answer");
  const Json arc = Json::MakeObject(
      {{"label", Json::MakeArray({"1", "2"})}, {"text", Json::MakeArray({"x", "y"})}});
  EXPECT_EQ(Choice("2", "Answer: 2", arc), "scored 1.0 equal 2");
  const Json named = Json::MakeObject({{"A", "red"}, {"B", "blue"}});
  EXPECT_EQ(Choice("B", "Answer: blue", named), "scored 1.0 equal B");
  EXPECT_EQ(Choice("B", "Answer: B", Json::MakeArray({"A", "B", "C", "D"})), "scored 1.0 equal B");
}

TEST(Choice, GroundTruths) {
  EXPECT_EQ(Choice("(C)", "Answer: C"), "scored 1.0 equal C");
  EXPECT_EQ(Choice("c", "Answer: C"), "scored 1.0 equal C");
  EXPECT_EQ(Choice(Json(), "Answer: C"), "unscorable no_ground_truth");
  EXPECT_EQ(Choice("", "Answer: C"), "unscorable no_ground_truth");
  EXPECT_EQ(Choice("Z", "Answer: C"), "unscorable bad_ground_truth");
  EXPECT_EQ(Choice("Paris", "Answer: C"), "unscorable bad_ground_truth");
  EXPECT_EQ(Choice(2, "Answer: C"), "unscorable bad_ground_truth");
  EXPECT_EQ(Choice(true, "Answer: C"), "unscorable bad_ground_truth");
  const auto indexed = MakeScorer("choice", Json::MakeObject({{"index_base", 0}}));
  EXPECT_EQ(Summary(Judge(*indexed, 2, "Answer: C")), "scored 1.0 equal");
  EXPECT_EQ(Summary(Judge(*indexed, 10, "Answer: C")), "unscorable bad_ground_truth");
}

TEST(Choice, NullAndHostileTexts) {
  RewardItem item = MakeItem("A", "");
  item.outputs.back().text.reset();
  EXPECT_EQ(Summary(Judge(*MakeScorer("choice"), item)), "scored 0.0 no_answer");
  for (const char* part : {"Answer: ", "Answer: A or ", "####", "#### A ", "\\boxed{", "\\boxed{A}",
                           "<answer>", "\u9009", "A,", "AB", "\xff", "("}) {
    std::string text;
    while (text.size() < 1'000'000) text += part;
    EXPECT_EQ(Choice("B", text).substr(0, 10), "scored 0.0") << part;
  }
}

}  // namespace
}  // namespace rewardloop
