#include "cli/trial.h"

#include <algorithm>

#include "cli/engine.h"

namespace rewardloop::cli {
namespace {

// Scores `items` in a step of their own; results in their order.
Result<std::vector<RewardResult>> Score(AsyncRewardPipeline* pipeline,
                                        std::vector<RewardItem> items) {
  const int64_t step = pipeline->BeginStep();
  RL_ASSIGN_OR_RETURN(const BatchHandle handle, pipeline->Submit(std::move(items), step));
  RL_ASSIGN_OR_RETURN(Collected collected, CollectUnlessInterrupted(pipeline, handle));
  RL_RETURN_IF_ERROR(pipeline->EndStep(step));
  return std::move(collected.results);
}

// Found in the row itself, without a trial.
bool IsOfTheRow(const RewardResult& result) {
  return result.error && (result.error->error_class == "no_ground_truth" ||
                          result.error->error_class == "no_scorer");
}

// Load may change these, and says nothing of the scorer.
bool DependsOnLoad(const RewardResult& result) {
  return result.status == ItemStatus::kTimeout || result.status == ItemStatus::kRejected ||
         result.status == ItemStatus::kJudgeError;
}

std::string Outcome(const RewardResult& result) {
  return result.score ? Json(*result.score).Dump() : std::string(ItemStatusName(result.status));
}

}  // namespace

void Trial::Add(const std::string& place, const RewardItem& item) {
  if (tried() == rows_ || ids_.Insert(item.item_id, 0) != IdTable::kAbsent) return;
  items_.push_back(item);
  items_.back().group_size.reset();
  places_.push_back(place);
}

Status Trial::Run(AsyncRewardPipeline* pipeline, Findings* findings) {
  RL_ASSIGN_OR_RETURN(const std::vector<RewardResult> first, Score(pipeline, items_));
  // In another order: a score must not depend on what came before.
  std::vector<RewardItem> turned(items_.rbegin(), items_.rend());
  RL_ASSIGN_OR_RETURN(std::vector<RewardResult> second, Score(pipeline, std::move(turned)));
  std::reverse(second.begin(), second.end());

  for (size_t i = 0; i < items_.size(); ++i) {
    const RewardResult &a = first[i], &b = second[i];
    if (a.error && !IsOfTheRow(a)) {
      findings->Add(true, "trial", a.error->error_class + a.error->message, places_[i],
                    "scoring this row ends as " + std::string(ItemStatusName(a.status)) + " (" +
                        a.error->error_class + "): " + a.error->message);
    }
    if (DependsOnLoad(a) || DependsOnLoad(b)) continue;
    if (a.status == b.status && a.score == b.score) continue;
    findings->Add(true, "not_reproducible", a.scorer, places_[i],
                  "scorer '" + a.scorer + "' gives this row " + Outcome(a) + " in one run and " +
                      Outcome(b) + " in another",
                  "a score must follow from the item, the arguments and the item's seed");
  }
  return Status();
}

}  // namespace rewardloop::cli
