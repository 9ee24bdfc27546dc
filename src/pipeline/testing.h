// Scorers and managers for tests of the pipeline: they wait on the injected clock, count themselves and say what they are told.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rewardloop/pipeline.h"

namespace rewardloop::testing {

inline constexpr int64_t kSecond = 1'000'000'000;

inline RewardItem MakeItem(std::string id, std::string response = "", Json ground_truth = Json()) {
  RewardItem item;
  item.item_id = std::move(id);
  item.outputs.push_back({std::move(response), {}, std::nullopt, ""});
  item.ground_truth = std::move(ground_truth);
  return item;
}

// Waits as long as `delay` says and then gives `verdict`. Counts how many run at once.
class TimerScorer final : public Scorer {
 public:
  std::function<int64_t(const RewardItem&)> delay = [](const RewardItem&) { return kSecond; };
  std::function<Verdict(const RewardItem&, int call)> verdict = [](const RewardItem&, int) { return Verdict::Scored(1.0); };

  Execution execution() const override { return Execution::kAsync; }
  Verdict Score(const RewardItem&, ScoreContext&) const override { return Verdict::Error("wrong_call", "is async"); }
  Task<Verdict> ScoreAsync(const RewardItem& item, ScoreContext& context) const override {
    const int call = ++calls_;
    const int running = ++running_;
    int most = max_running_;
    while (running > most && !max_running_.compare_exchange_weak(most, running)) {
    }
    const bool slept = co_await context.Sleep(delay(item));
    --running_;
    if (!slept) co_return Verdict::Of(ItemStatus::kCancelled, "cancelled", "stopped");
    co_return verdict(item, call);
  }
  int calls() const { return calls_; }
  int running() const { return running_; }
  int max_running() const { return max_running_; }

 private:
  mutable std::atomic<int> calls_ = 0;
  mutable std::atomic<int> running_ = 0;
  mutable std::atomic<int> max_running_ = 0;
};

// Computes on the CPU.
class FunctionScorer final : public Scorer {
 public:
  explicit FunctionScorer(std::function<Verdict(const RewardItem&)> function) : function_(std::move(function)) {}
  Verdict Score(const RewardItem& item, ScoreContext&) const override { return function_(item); }

 private:
  std::function<Verdict(const RewardItem&)> function_;
};

// Asks one scorer, as the naive manager does.
class ScorerManager final : public RewardManager {
 public:
  explicit ScorerManager(std::shared_ptr<const Scorer> scorer) : scorer_(std::move(scorer)) {}
  Execution execution(const RewardItem&) const override { return scorer_->execution(); }
  const Scorer* ScorerOf(const RewardItem&) const override { return scorer_.get(); }
  Verdict Run(const RewardItem& item, ScoreContext& context) const override { return scorer_->Score(item, context); }
  Task<Verdict> RunAsync(const RewardItem& item, ScoreContext& context) const override {
    return scorer_->ScoreAsync(item, context);
  }

 private:
  std::shared_ptr<const Scorer> scorer_;
};

inline std::unique_ptr<AsyncRewardPipeline> MakePipeline(std::shared_ptr<Engine> engine,
                                                         std::shared_ptr<RewardManager> manager,
                                                         PipelineOptions options = {}) {
  auto made = AsyncRewardPipeline::Make(std::move(engine), std::move(manager), std::move(options));
  return std::move(made).value();
}

}  // namespace rewardloop::testing
