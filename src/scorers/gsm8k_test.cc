#include <chrono>

#include "scorers/testing_util.h"

namespace rewardloop {
namespace {

using testing_util::Judge;
using testing_util::MakeItem;
using testing_util::MakeScorer;
using testing_util::Summary;

std::string Gsm8k(Json gold, std::string text, const char* method = "strict") {
  return Summary(Judge(*MakeScorer("gsm8k", Json::MakeObject({{"method", method}})),
                       std::move(gold), std::move(text)));
}

TEST(Gsm8k, PaysTheValueHoweverItIsWritten) {
  for (const char* said : {"72",
                           "72.",
                           "72.00",
                           "$72",
                           "\\$72",
                           " 72 apples",
                           "**72**",
                           "x = 72",
                           "36 + 36 = 72",
                           "+72",
                           "(72)",
                           "72!",
                           "$72$",
                           "\\boxed{72}",
                           "The answer is 72",
                           "144/2",
                           "0.072 thousand",
                           "72 = 36 + 36",
                           "72%",
                           "72<|im_end|>",
                           "\n72",
                           "Answer:\n72",
                           "72 (36 for each)",
                           "7.2e1"}) {
    EXPECT_EQ(Gsm8k("72", std::string("So 36+36=72.\n#### ") + said), "scored 1.0 equal") << said;
  }
  EXPECT_EQ(Gsm8k("72", "####72"), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("1,000", "#### 1000"), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("-5", "#### \u22125"), "scored 1.0 equal");
}

TEST(Gsm8k, PaysNothingElse) {
  for (const char* said :
       {"27", "-72", "720", "7.2", "72.000000000000000000001", "7 2", "73 = 72 + 1"}) {
    EXPECT_EQ(Gsm8k("72", std::string("#### ") + said), "scored 0.0 not_equal") << said;
  }
  for (const char* said :
       {"72 or 73", "72, 73", "72 and 73", "72/73/74 of", "72; 5", "72 apples or 73 apples"}) {
    EXPECT_EQ(Gsm8k("72", std::string("#### ") + said).substr(0, 10), "scored 0.0") << said;
  }
  for (const char* said : {"72x", "72*2", "72:30", "72-80", "72^2"}) {
    EXPECT_EQ(Gsm8k("72", std::string("#### ") + said), "scored 0.0 not_a_number") << said;
  }
}

TEST(Gsm8k, ExtractsTheLastMarkAndItsPlace) {
  std::vector<ExplainStep> steps;
  Verdict verdict = Judge(*MakeScorer("gsm8k"),
                          MakeItem("18", "3*6+2=20\n#### 20\nNo, 18.\n#### 18 eggs."), &steps);
  EXPECT_EQ(Summary(verdict), "scored 1.0 equal");
  EXPECT_EQ(verdict.extracted, "18");
  ASSERT_GE(steps.size(), 2u);
  for (const ExplainStep& step : steps) {
    if (step.stage != "extract") continue;
    EXPECT_EQ(step.begin, 30);
    EXPECT_EQ(step.end, 32);
  }
  EXPECT_EQ(Judge(*MakeScorer("gsm8k"), "5", "#### $5.00.").extracted, "$5.00");
}

TEST(Gsm8k, OtherDeclarationsCountWithoutAMark) {
  EXPECT_EQ(Gsm8k("42", "so \\boxed{42}."), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("42", "so \\boxed{\\text{\\$}42}"), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("42", "<answer>He walks 42 km</answer>"), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("42", "<answer>He walks 40 or 42 km</answer>"), "scored 0.0 several_answers");
  EXPECT_EQ(Gsm8k("42", "The answer is: **42**"), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("42", "**Final Answer:** 42 pages"), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("42", "The answer to the question is $42."), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("42", "The answer is 42. I hope this answer is helpful."), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("42", "6*7=42\nA: 42"), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("42", "<answer> 42 </answer>"), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("42", "\u7b54\u6848\u662f\uff1a42"), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("42", " 42\n"), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("42", "#### Step 1: add\n20+22\n#### Result\nso \\boxed{42}"),
            "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("42", "#### 1. Add\n20+22\n#### 2. Conclude\nso \\boxed{42}"),
            "scored 1.0 equal");
}

TEST(Gsm8k, MethodDecidesAboutTheLastNumber) {
  EXPECT_EQ(Gsm8k("42", "It is 42."), "scored 0.0 no_answer");
  EXPECT_EQ(Gsm8k("42", "It is 42.", "flexible"), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("-5", "It is -5 degrees.", "flexible"), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("5", "10-5 makes 5; 10-5=5", "flexible"), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("50", "The floor has 50 m^2.", "flexible"), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("3/4", "what is left is 3/4", "flexible"), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("7", "He said 7,\nthat is all there is to it", "flexible"), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("7", "no numbers here", "flexible"), "scored 0.0 no_answer");
  Verdict none = Judge(*MakeScorer("gsm8k"), "7", "no numbers here");
  EXPECT_FALSE(none.extracted);
}

// A marker that the model keeps talking behind is found wherever it is.
TEST(Gsm8k, UserReportLongTextBehindTheMark) {
  std::string text = "13 + 8 = 21 marbles.\n#### 21\n";
  for (int i = 0; i < 40; ++i) text += "This agrees with the drawing that came with the question. ";
  EXPECT_EQ(Gsm8k("21", text), "scored 1.0 equal");
}

// What follows a question that the model asks itself is not the answer.
TEST(Gsm8k, UserReportRunOnText) {
  const std::string solved = "Two nests of 4 hold 8.\n#### 8\n";
  EXPECT_EQ(Gsm8k("8", solved + "\nQuestion: Ten birds and 2 more?\nAnswer: 12\n#### 12"),
            "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("12", solved + "\nQuestion: Ten birds and 2 more?\nAnswer: 12\n#### 12"),
            "scored 0.0 not_equal");
  EXPECT_EQ(Gsm8k("8", solved + "\n**Problem 2:** Ten birds?\n#### 10\nQ: 9?\n#### 9"),
            "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("12", solved + "\nThe question: did I forget something? Yes.\n#### 12"),
            "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("12", "Question: Ten and 2?\nAnswer: 12\n#### 12"), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("8", "There are 8.\n\nQuestion: And of 12?", "flexible"), "scored 1.0 equal");
}

TEST(Gsm8k, ThinkingIsNotRead) {
  EXPECT_EQ(Gsm8k("5", "<think>maybe #### 4</think>\n#### 5"), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("4", "<think>maybe #### 4</think> I do not know"), "scored 0.0 no_answer");
  EXPECT_EQ(Gsm8k("4", "maybe #### 4</think>#### 5"), "scored 0.0 not_equal");
  EXPECT_EQ(Gsm8k("4", "<think>it is #### 4"), "scored 0.0 thinking_not_closed");
}

TEST(Gsm8k, GroundTruthForms) {
  EXPECT_EQ(Gsm8k(72, "#### 72"), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k(72.5, "#### 72.50"), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k(Json::BigInt("123456789012345678901234"), "#### 123456789012345678901234"),
            "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("48/2=24, 48+24=72\n#### 72", "#### 72"), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k(Json::MakeArray({"71", 72}), "#### 72"), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k(Json::MakeObject({{"target", "72"}}), "#### 72"), "scored 1.0 equal");
  for (const Json& missing :
       {Json(), Json(""), Json("  "), Json::MakeArray(), Json::MakeArray({""})}) {
    EXPECT_EQ(Gsm8k(missing, "#### 72"), "unscorable no_ground_truth") << missing.Dump();
  }
  for (const Json& bad : {Json("seventy"), Json(true), Json::MakeObject({{"answer", 72}}),
                          Json("72 or 73"), Json("5x")}) {
    EXPECT_EQ(Gsm8k(bad, "#### 72"), "unscorable bad_ground_truth") << bad.Dump();
  }
}

TEST(Gsm8k, NoTextIsNoAnswerAndTheLastOutputCounts) {
  const auto scorer = MakeScorer("gsm8k");
  RewardItem item = MakeItem("5", "#### 5");
  item.outputs.emplace_back();
  EXPECT_EQ(Summary(Judge(*scorer, item)), "scored 0.0 no_answer");
  item.outputs.back().text = "#### 6";
  EXPECT_EQ(Summary(Judge(*scorer, item)), "scored 0.0 not_equal");
  item.outputs.clear();
  EXPECT_EQ(Summary(Judge(*scorer, item)), "scored 0.0 no_answer");
  EXPECT_EQ(Gsm8k("5", ""), "scored 0.0 no_answer");
}

TEST(Gsm8k, HostileTexts) {
  const size_t kTenMegabytes = 10'000'000, kMuch = 1'000'000;
  auto repeated = [&](const std::string& part) {
    std::string text;
    while (text.size() < kMuch) text += part;
    return text;
  };
  EXPECT_EQ(Gsm8k("72", std::string("\0\xff\xc0#### 72\0", 12)), "scored 1.0 equal");
  EXPECT_EQ(Gsm8k("72", "#### " + std::string(kTenMegabytes, '9')), "scored 0.0 limit_digits");
  EXPECT_EQ(Gsm8k("72", "#### 1e99999999999"), "scored 0.0 limit_digits");
  for (const char* part : {"#",
                           "#### ",
                           "#### a ",
                           "#### 5x ",
                           "\\boxed{",
                           "\\boxed{1} \\boxed{",
                           "<answer>",
                           "<think>",
                           "answer ",
                           "answer is ",
                           "answer to ",
                           "A:",
                           "A:\n",
                           "Question:\n#### 5\n",
                           "5 or ",
                           "1,",
                           " ",
                           "{",
                           "-",
                           "$",
                           "= ",
                           "1 ",
                           "\\",
                           "</think>",
                           "\xe7\xad\x94\xe6\xa1\x88",
                           "\n"}) {
    for (const char* method : {"strict", "flexible"}) {
      EXPECT_EQ(Gsm8k("72", repeated(part), method).substr(0, 10), "scored 0.0") << part;
    }
  }
}

}  // namespace
}  // namespace rewardloop
