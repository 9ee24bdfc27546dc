#include <gtest/gtest.h>

#include "rewardloop/scorer_selector.h"

namespace rewardloop {
namespace {

RewardItem From(std::string data_source) {
  RewardItem item;
  item.item_id = "i7";
  item.data_source = std::move(data_source);
  return item;
}

std::shared_ptr<const ScorerSelector> Selector(const SelectorOptions& options) {
  auto made = ScorerSelector::Make(ScorerRegistry::WithBuiltins(), options);
  EXPECT_TRUE(made.ok()) << made.status().ToString();
  return made.ok() ? *made : nullptr;
}

std::string NameFor(const ScorerSelector& selector, const std::string& data_source) {
  const Scorer* scorer = selector.Select(From(data_source));
  return scorer ? scorer->name() : "";
}

TEST(ScorerSelector, NativeAndVerlTables) {
  SelectorOptions options;
  EXPECT_EQ(NameFor(*Selector(options), "openai/gsm8k"), "gsm8k");
  options.dispatch = "verl";
  auto verl = Selector(options);
  EXPECT_EQ(NameFor(*verl, "openai/gsm8k"), "verl/gsm8k");
  EXPECT_EQ(NameFor(*verl, "aime_2024"), "verl/math_dapo");
  EXPECT_EQ(NameFor(*verl, "searchR1_nq"), "verl/search_r1_em");
}

TEST(ScorerSelector, NamedScorerJudgesEverything) {
  SelectorOptions options;
  options.scorer = "gsm8k";
  options.scorer_args = Json::MakeObject({{"method", "flexible"}});
  auto selector = Selector(options);
  EXPECT_EQ(NameFor(*selector, "anything"), "gsm8k");
  EXPECT_TRUE(selector->Admit(From("anything")).ok());
}

TEST(ScorerSelector, OverridesComeBeforeTheTable) {
  SelectorOptions options;
  options.data_sources = {
      {"openai/gsm8k", Json::MakeObject({{"scorer", "verl/gsm8k"},
                                         {"args", Json::MakeObject({{"method", "flexible"}})}})},
      {"mine_*", "gsm8k"}};
  auto selector = Selector(options);
  EXPECT_EQ(NameFor(*selector, "openai/gsm8k"), "verl/gsm8k");
  EXPECT_EQ(NameFor(*selector, "mine_7"), "gsm8k");
}

TEST(ScorerSelector, UnknownDataSourceUnderRaise) {
  auto selector = Selector({});
  EXPECT_EQ(selector->Select(From("openai/gsm8")), nullptr);
  Status status = selector->Admit(From("openai/gsm8"));
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_NE(status.message().find("item 'i7'"), std::string::npos) << status.ToString();
  EXPECT_NE(status.message().find("'openai/gsm8'"), std::string::npos) << status.ToString();
  EXPECT_NE(status.ToString().find("openai/gsm8k"), std::string::npos) << status.ToString();
}

TEST(ScorerSelector, UnknownDataSourceUnderWarn) {
  SelectorOptions options;
  options.unknown_rewards = UnknownRewards::kWarn;
  auto selector = Selector(options);
  EXPECT_TRUE(selector->Admit(From("openai/gsm8")).ok());
  EXPECT_EQ(selector->Select(From("openai/gsm8")), nullptr);
  Verdict verdict = selector->NoScorer(From("openai/gsm8"));
  EXPECT_EQ(verdict.status, ItemStatus::kUnscorable);
  EXPECT_EQ(verdict.error->error_class, "no_scorer");
}

TEST(ScorerSelector, CodeSourcesAreKnownButHaveNoScorer) {
  auto selector = Selector({});
  EXPECT_TRUE(selector->Admit(From("codecontests")).ok());
  EXPECT_EQ(selector->Select(From("codecontests")), nullptr);
  EXPECT_EQ(selector->NoScorer(From("codecontests")).error->error_class, "no_scorer");
}

TEST(ScorerSelector, MistakesAreFoundBeforeAnythingIsScored) {
  const ScorerRegistry registry = ScorerRegistry::WithBuiltins();
  auto code = [&](const SelectorOptions& options) {
    return ScorerSelector::Make(registry, options).status();
  };
  SelectorOptions options;
  options.scorer = "gsm8";
  EXPECT_EQ(code(options).code(), StatusCode::kNotFound);
  EXPECT_EQ(code(options).hint(), "did you mean 'gsm8k'?");

  options = {};
  options.scorer_args = Json::MakeObject({{"method", "strict"}});
  EXPECT_EQ(code(options).code(), StatusCode::kInvalidArgument);

  options = {};
  options.scorer = "gsm8k";
  options.data_sources = {{"mine", "math"}};
  EXPECT_EQ(code(options).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(options).message(),
            "scorer 'gsm8k' and data_sources are both given: it would judge every item, and data_sources none");

  options = {};
  options.dispatch = "verll";
  EXPECT_EQ(code(options).code(), StatusCode::kNotFound);

  options = {};
  options.data_sources = {{"mine", "gsm8kk"}};
  EXPECT_EQ(code(options).code(), StatusCode::kNotFound);
  EXPECT_NE(code(options).message().find("'mine'"), std::string::npos);
  options.data_sources = {
      {"mine",
       Json::MakeObject({{"scorer", "gsm8k"}, {"args", Json::MakeObject({{"metod", "strict"}})}})}};
  EXPECT_EQ(code(options).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(options).hint(), "did you mean 'method'?");
}

}  // namespace
}  // namespace rewardloop
