#include "scorers/answer/normalize.h"
#include "scorers/testing_util.h"

namespace rewardloop {
namespace {

using testing_util::Judge;
using testing_util::MakeItem;
using testing_util::MakeScorer;
using testing_util::Summary;

std::string Em(Json gold, std::string text) {
  return Summary(Judge(*MakeScorer("qa_em"), std::move(gold), std::move(text)));
}
double F1(Json gold, std::string text) {
  return Judge(*MakeScorer("qa_f1"), std::move(gold), std::move(text)).score;
}

TEST(NormalizeText, ProseAsForSquad) {
  EXPECT_EQ(answer::NormalizeText("  The Eiffel Tower! "), "eiffel tower");
  EXPECT_EQ(answer::NormalizeText("a U.S. city, \"New York\""), "us city new york");
  EXPECT_EQ(answer::NormalizeText("**Paris** (France)."), "paris france");
  EXPECT_EQ(answer::NormalizeText("Caf\u00e9\u3002"), answer::NormalizeText("cafe\u0301"));
  EXPECT_EQ(answer::NormalizeText("well-known"), "wellknown");
  EXPECT_EQ(answer::NormalizeText("The"), "the");
  EXPECT_EQ(answer::NormalizeText("?!"), "?!");
}

TEST(NormalizeText, KeepsWhatChangesTheValue) {
  for (auto [a, b] : std::vector<std::pair<const char*, const char*>>{
           {"-5", "5"},         {"\u22125", "5"},  {"$-5", "$5"},
           {"3.5", "35"},       {".5", "5"},       {"1/2", "12"},
           {"3:30", "330"},     {"5%", "5"},       {"C++", "C"},
           {"C#", "C"},         {"2^3", "23"},     {"2+3", "23"},
           {"1,2", "12"},       {"10-12", "1012"}, {"A* b", "a b"},
           {"<b", "b"},         {"a b a", "b a"},  {"the, cat, a", "cat, the, a"},
           {"x = -3", "x = 3"}, {"()", "[]"}}) {
    EXPECT_NE(answer::NormalizeText(a), answer::NormalizeText(b)) << a << " " << b;
  }
  EXPECT_EQ(answer::NormalizeText("1,000,000"), "1000000");
  EXPECT_EQ(answer::NormalizeText("\u22125"), "-5");
}

TEST(QaEm, TheMinusSignStays) {
  EXPECT_EQ(Em("5", "<answer>-5</answer>"), "scored 0.0 not_equal");
  EXPECT_EQ(Em("-5", "<answer>5</answer>"), "scored 0.0 not_equal");
  EXPECT_EQ(Em("-5", "<answer>-5</answer>"), "scored 1.0 equal");
  EXPECT_EQ(Em(Json::MakeObject({{"target", Json::MakeArray({"-5 degrees"})}}),
               "<answer>\u22125 degrees</answer>"),
            "scored 1.0 equal");
}

TEST(QaEm, FindsTheAnswer) {
  for (const char* text :
       {"Paris", "<answer> Paris </answer>", "<answer>Rome</answer> no, <answer>Paris</answer>",
        "\\boxed{Paris}", "\\boxed{\\text{Paris}}", "The answer is Paris.", "Answer: **Paris**",
        "paris!", "The answer is Paris. It is the capital of France.",
        "<think>Rome?</think>\nParis"}) {
    EXPECT_EQ(Em("Paris", text), "scored 1.0 equal") << text;
  }
  for (const char* text : {"Rome", "Paris and Rome", "<answer>Paris</answer><answer>Rome</answer>",
                           "Parisian", "not Paris"}) {
    EXPECT_EQ(Em("Paris", text), "scored 0.0 not_equal") << text;
  }
  EXPECT_EQ(Em("Paris", "<answer></answer> Paris"), "scored 0.0 no_answer");
  EXPECT_EQ(Em("Paris", "<think>Paris"), "scored 0.0 thinking_not_closed");
  EXPECT_EQ(Em("Paris", ""), "scored 0.0 no_answer");
  EXPECT_EQ(Em("Paris", "<answer>" + std::string(100'000, 'p')), "scored 0.0 limit_answer_bytes");
  EXPECT_EQ(Em("J. K. Rowling", "The answer is J. K. Rowling"), "scored 1.0 equal");
}

TEST(QaEm, BracketsThatCarryMeaningStay) {
  EXPECT_EQ(Em("[1, 2, 3]", "[1,2,3]"), "scored 1.0 equal");
  EXPECT_EQ(Em("[1, 2, 3]", "[1.0, 2, 3]"), "scored 1.0 equal");
  EXPECT_EQ(Em("[[\"a\"], [\"b\", \"c\"]]", "[['a'],['b','c']]"), "scored 1.0 equal");
  EXPECT_EQ(Em("[[\"a\"], [\"b\", \"c\"]]", "[[\"a\", \"b\"], [\"c\"]]"), "scored 0.0 not_equal");
  EXPECT_EQ(Em("(1, 2), (3)", "(1), (2, 3)"), "scored 0.0 not_equal");
  EXPECT_EQ(Em("()[]", "[]()"), "scored 0.0 not_equal");
  EXPECT_EQ(Em("[12, 3]", "[1, 23]"), "scored 0.0 not_equal");
}

TEST(QaEm, GroundTruthForms) {
  EXPECT_EQ(Em(Json::MakeArray({"Rome", "Paris"}), "Paris"), "scored 1.0 equal");
  EXPECT_EQ(Em(Json::MakeObject({{"target", "Paris"}}), "Paris"), "scored 1.0 equal");
  EXPECT_EQ(Em(1912, "1912"), "scored 1.0 equal");
  EXPECT_EQ(Em(true, "Yes."), "scored 1.0 equal");
  EXPECT_EQ(Em(true, "no"), "scored 0.0 not_equal");
  EXPECT_EQ(Em(false, "False"), "scored 1.0 equal");
  for (const Json& missing : {Json(), Json(""), Json(" \n"), Json::MakeArray(),
                              Json::MakeObject({{"target", Json::MakeArray()}})}) {
    EXPECT_EQ(Em(missing, "x"), "unscorable no_ground_truth") << missing.Dump();
  }
  for (const Json& bad : {Json::MakeObject({{"answer", "x"}}),
                          Json::MakeArray({Json::MakeArray({"x"})}), Json::MakeArray({true})}) {
    EXPECT_EQ(Em(bad, "x"), "unscorable bad_ground_truth") << bad.Dump();
  }
}

TEST(QaEm, HostileTexts) {
  EXPECT_EQ(Em("a b", std::string("a\0b", 3)), "scored 1.0 equal");
  EXPECT_EQ(Em("\xff", "\xfe"), "scored 1.0 equal");  // both are unreadable bytes, shown as U+FFFD
  EXPECT_EQ(Em("x", std::string(10'000'000, 'x')), "scored 0.0 limit_answer_bytes");
  for (const char* part :
       {"<answer>", "Answer: ", "\\boxed{", "a ", "\u0301", "\xf0\x9f\x98\x80", "-", "("}) {
    std::string text;
    while (text.size() < 1'000'000) text += part;
    EXPECT_EQ(Em("x", text).substr(0, 10), "scored 0.0") << part;
    EXPECT_EQ(Em("x", text.substr(0, 60'000)).substr(0, 10), "scored 0.0") << part;
  }
}

TEST(QaF1, OverlapByHand) {
  // 2 common words, 3 in the answer, 2 in the truth: 2 * 2 / 5.
  EXPECT_DOUBLE_EQ(F1("Eiffel Tower", "the old Eiffel Tower"), 0.8);
  EXPECT_DOUBLE_EQ(F1("Eiffel Tower", "Eiffel tower."), 1.0);
  EXPECT_DOUBLE_EQ(F1("Eiffel Tower", "Rome"), 0.0);
  // A repeated word counts as often as both have it: 1 common of 3 and 1.
  EXPECT_DOUBLE_EQ(F1("bora", "bora bora bora"), 0.5);
  EXPECT_DOUBLE_EQ(F1(Json::MakeArray({"Rome", "Eiffel Tower"}), "Eiffel Tower"), 1.0);
  EXPECT_DOUBLE_EQ(F1("-5 degrees", "5 degrees"), 0.5);
  EXPECT_DOUBLE_EQ(F1("Paris", "The answer is Paris. It is big."), 1.0);
}

// Scripts without spaces: characters are the words.
TEST(QaF1, UserReportChinese) {
  // 3 of 3 characters, the truth has 4: 2 * 3 / 7.
  EXPECT_DOUBLE_EQ(F1("\u957f\u6c5f\u5927\u6865", "\u957f\u6c5f\u5927"), 6.0 / 7.0);
  EXPECT_DOUBLE_EQ(F1("\u957f\u6c5f\u5927\u6865", "\u957f\u6c5f\u5927\u6865\u3002"), 1.0);
  EXPECT_DOUBLE_EQ(F1("\u957f\u6c5f\u5927\u6865", "\u9ec4\u5c71"), 0.0);
}

TEST(QaF1, NothingToCompare) {
  EXPECT_EQ(Summary(Judge(*MakeScorer("qa_f1"), Json(), "x")), "unscorable no_ground_truth");
  EXPECT_EQ(Summary(Judge(*MakeScorer("qa_f1"), "x", " ")), "scored 0.0 no_answer");
}

}  // namespace
}  // namespace rewardloop
