#include "scorers/dispatch.h"

#include <gtest/gtest.h>

namespace rewardloop {
namespace {

DispatchTable Table(std::string_view name) {
  Result<DispatchTable> table = DispatchTable::Named(name);
  EXPECT_TRUE(table.ok());
  return std::move(*table);
}

std::string ScorerOf(const DispatchTable& table, std::string_view source) {
  const DispatchEntry* entry = table.Find(source);
  if (!entry) return "(unknown)";
  return entry->scorer.empty() ? "(none)" : entry->scorer;
}

TEST(Dispatch, VerlTableIsTheOriginsChain) {
  const DispatchTable verl = Table("verl");
  EXPECT_EQ(ScorerOf(verl, "openai/gsm8k"), "verl/gsm8k");
  EXPECT_EQ(ScorerOf(verl, "HuggingFaceH4/MATH-500"), "verl/math_reward");
  EXPECT_EQ(ScorerOf(verl, "math_dapo_reasoning"), "verl/math_dapo");
  EXPECT_EQ(ScorerOf(verl, "aime"), "verl/math_dapo");
  EXPECT_EQ(ScorerOf(verl, "aime_2031_x"), "verl/math_dapo");
  EXPECT_EQ(ScorerOf(verl, "searchR1_nq"), "verl/search_r1_em");
  for (const char* none :
       {"numina_olympiads", "hiyouga/geometry3k", "apps", "codecontests", "codeforces", "taco"}) {
    EXPECT_EQ(ScorerOf(verl, none), "(none)") << none;
    EXPECT_FALSE(verl.Find(none)->why_none.empty());
  }
  for (const char* unknown : {"", "gsm8k", "openai/GSM8K", "openai/gsm8k ", "AIME24", "MATH",
                              "searchR1_", "searchR1_new", "numina_other", "rlla"}) {
    EXPECT_EQ(ScorerOf(verl, unknown), "(unknown)") << unknown;
  }
}

TEST(Dispatch, NativeTable) {
  const DispatchTable native = Table("native");
  EXPECT_EQ(ScorerOf(native, "openai/gsm8k"), "gsm8k");
  EXPECT_EQ(ScorerOf(native, "numina_cn_k12"), "math");
  EXPECT_EQ(ScorerOf(native, "hiyouga/geometry3k"), "math");
  EXPECT_EQ(ScorerOf(native, "aime2025"), "math");
  EXPECT_EQ(ScorerOf(native, "gpqa_diamond"), "choice");
  EXPECT_EQ(ScorerOf(native, "searchR1_hotpotqa"), "qa_em");
  EXPECT_EQ(ScorerOf(native, "taco"), "(none)");
  EXPECT_EQ(ScorerOf(native, "haiku_judge"), "(unknown)");
}

TEST(Dispatch, OverridesWinAndTheLongestPrefixAmongThem) {
  DispatchTable table = Table("native");
  ASSERT_TRUE(table.Override("my_*", "choice").ok());
  ASSERT_TRUE(table
                  .Override("my_math_*", Json::MakeObject({{"scorer", "math"},
                                                           {"args", Json::MakeObject({{"k", 1}})}}))
                  .ok());
  ASSERT_TRUE(table.Override("my_math_exact", "verl/math_reward").ok());
  ASSERT_TRUE(table.Override("openai/*", "math").ok());
  ASSERT_TRUE(table.Override("taco", "mine").ok());
  EXPECT_EQ(ScorerOf(table, "my_quiz"), "choice");
  EXPECT_EQ(ScorerOf(table, "my_math_2"), "math");
  EXPECT_EQ(table.Find("my_math_2")->args.Find("k")->AsInt(), 1);
  EXPECT_EQ(ScorerOf(table, "my_math_exact"), "verl/math_reward");
  EXPECT_EQ(ScorerOf(table, "openai/gsm8k"), "math");
  EXPECT_EQ(ScorerOf(table, "taco"), "mine");
}

TEST(Dispatch, BadOverridesSayWhatIsWrong) {
  DispatchTable table = Table("native");
  EXPECT_EQ(table.Override("a*b", "math").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(table.Override("a", 5).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(table.Override("a", Json::MakeObject({{"args", Json::MakeObject()}})).code(),
            StatusCode::kInvalidArgument);
  const Status typo = table.Override("a", Json::MakeObject({{"scorer", "math"}, {"arg", 1}}));
  EXPECT_NE(typo.hint().find("args"), std::string::npos) << typo.ToString();
  ASSERT_TRUE(table.Override("a", "math").ok());
  EXPECT_EQ(table.Override("a", "math").code(), StatusCode::kAlreadyExists);
}

TEST(Dispatch, UnknownNamesSuggestTheNearest) {
  EXPECT_EQ(DispatchTable::Named("verrl").status().code(), StatusCode::kNotFound);
  const DispatchTable table = Table("native");
  for (const char* meant_gsm8k : {"openai/gsm8k ", "openai/GSM8K", "data/gsm8k"}) {
    const Status status = table.Unknown(meant_gsm8k);
    EXPECT_NE(status.message().find(meant_gsm8k), std::string::npos);
    EXPECT_NE(status.hint().find("gsm8k'"), std::string::npos) << status.ToString();
  }
  EXPECT_EQ(table.Unknown("").hint().find("did you mean"), std::string::npos);
  EXPECT_NE(table.Unknown("").message().find("no scorer is named"), std::string::npos);
}

}  // namespace
}  // namespace rewardloop
