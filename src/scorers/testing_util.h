// Helpers of the scorer tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rewardloop/registry.h"

namespace rewardloop::testing_util {

inline std::shared_ptr<Scorer> MakeScorer(std::string_view name, const Json& args = Json()) {
  static const ScorerRegistry* registry = new ScorerRegistry(ScorerRegistry::WithBuiltins());
  auto made = registry->Make(name, args);
  EXPECT_TRUE(made.ok()) << made.status().ToString();
  return made.ok() ? *made : nullptr;
}

inline RewardItem MakeItem(Json ground_truth, std::string text) {
  RewardItem item;
  item.item_id = "i1";
  item.ground_truth = std::move(ground_truth);
  item.outputs.emplace_back();
  item.outputs.back().text = std::move(text);
  return item;
}

inline Verdict Judge(const Scorer& scorer, const RewardItem& item,
                     std::vector<ExplainStep>* steps = nullptr) {
  ScoreContext context(nullptr, kNoDeadline, {}, 0);
  context.explanation = steps;
  return scorer.Score(item, context);
}

inline Verdict Judge(const Scorer& scorer, Json ground_truth, std::string text) {
  return Judge(scorer, MakeItem(std::move(ground_truth), std::move(text)));
}

// "scored 1 equal", "unscorable no_ground_truth": what tests compare.
inline std::string Summary(const Verdict& verdict) {
  std::string text(ItemStatusName(verdict.status));
  if (verdict.status == ItemStatus::kScored) text += " " + Json(verdict.score).Dump();
  return text + " " + verdict.reason;
}

}  // namespace rewardloop::testing_util
