#include "base/suggest.h"

#include <gtest/gtest.h>

namespace rewardloop {
namespace {

TEST(NearestName, FindsTypingMistakes) {
  const std::vector<std::string> names = {"choice", "gsm8k", "math",
                                          "qa_em",  "qa_f1", "verl/math_dapo"};
  EXPECT_EQ(NearestName("gsm8", names), "gsm8k");
  EXPECT_EQ(NearestName("GSM8K", names), "gsm8k");
  EXPECT_EQ(NearestName("gms8k", names), "gsm8k");
  EXPECT_EQ(NearestName("choices", names), "choice");
  EXPECT_EQ(NearestName("qa-em", names), "qa_em");
  EXPECT_EQ(NearestName("math_dapo", names), "verl/math_dapo");
}

TEST(NearestName, SwapOfNeighboursIsOneEdit) {
  // Two edits without the swap rule, which would be beyond the bound for three letters.
  EXPECT_EQ(NearestName("rmp", {"rpm", "tpmx"}), "rpm");
}

TEST(NearestName, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(NearestName("temperature", {"gsm8k", "math"}), "");
  EXPECT_EQ(NearestName("", {"a"}), "");
  EXPECT_EQ(NearestName("x", {}), "");
  EXPECT_EQ(NearestName(std::string(1'000'000, 'a'), {"a"}), "");
}

TEST(NearestName, BeginningOfANameIsEnough) {
  EXPECT_EQ(NearestName("overlong", {"max_resp_len", "overlong_buffer_len"}),
            "overlong_buffer_len");
}

TEST(SuggestionFor, ListsWhatIsKnownWhenNothingIsNear) {
  EXPECT_EQ(SuggestionFor("metod", {"method"}), "did you mean 'method'?");
  EXPECT_EQ(SuggestionFor("zzzzzz", {"method", "score"}), "known: method, score");
  EXPECT_EQ(SuggestionFor("zzzzzz", {}), "");
}

}  // namespace
}  // namespace rewardloop
