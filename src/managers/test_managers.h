// What the tests of managers share: items, scorers with given answers, and a way to run one item through a manager.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rewardloop/engine.h"
#include "rewardloop/registry.h"
#include "rewardloop/reward_manager.h"
#include "rewardloop/simulator.h"

namespace rewardloop {

inline RewardItem Item(std::string id, std::string text = "", std::optional<int64_t> num_tokens = std::nullopt) {
  RewardItem item;
  item.item_id = std::move(id);
  Output output;
  output.text = std::move(text);
  output.num_tokens = num_tokens;
  item.outputs.push_back(std::move(output));
  return item;
}

// A scorer that computes.
class CpuScorer : public Scorer {
 public:
  explicit CpuScorer(std::function<Verdict(const RewardItem&)> judge) : judge_(std::move(judge)) {}
  Verdict Score(const RewardItem& item, ScoreContext& context) const override { return judge_(item); }

 private:
  std::function<Verdict(const RewardItem&)> judge_;
};

// A scorer that waits for `delay_ns` first.
class WaitingScorer : public Scorer {
 public:
  WaitingScorer(int64_t delay_ns, std::function<Verdict(const RewardItem&)> judge)
      : delay_ns_(delay_ns), judge_(std::move(judge)) {}
  Execution execution() const override { return Execution::kAsync; }
  Verdict Score(const RewardItem& item, ScoreContext& context) const override { return judge_(item); }
  Task<Verdict> ScoreAsync(const RewardItem& item, ScoreContext& context) const override {
    const bool slept = co_await context.Sleep(delay_ns_);
    if (!slept) co_return Verdict::Of(ItemStatus::kCancelled, "cancelled", "");
    co_return judge_(item);
  }

 private:
  int64_t delay_ns_;
  std::function<Verdict(const RewardItem&)> judge_;
};

inline std::shared_ptr<const ScorerSelector> Always(std::function<Verdict(const RewardItem&)> judge) {
  return ScorerSelector::Of(std::make_shared<CpuScorer>(std::move(judge)));
}

// A manager by name with the built-in registries; fails the test when there is none.
inline std::shared_ptr<RewardManager> MakeManager(std::string_view name, const std::string& args,
                                                  ManagerSpec::Deps deps) {
  static const ManagerRegistry managers = ManagerRegistry::WithBuiltins();
  Result<std::shared_ptr<RewardManager>> made = managers.Make(name, *Json::Parse(args), deps);
  if (!made.ok()) ADD_FAILURE() << made.status().ToString();
  return made.ok() ? *made : nullptr;
}

// Why a manager cannot be made; ok when it can.
inline Status WhyNot(std::string_view name, const std::string& args, ManagerSpec::Deps deps) {
  return ManagerRegistry::WithBuiltins().Make(name, *Json::Parse(args), deps).status();
}

// Runs managers as an engine would, in virtual time.
class Runner {
 public:
  Verdict Run(const RewardManager& manager, const RewardItem& item) {
    ScoreContext context(simulator.get(), kNoDeadline, stop.get_token(), 0);
    context.explanation = &steps;
    if (manager.execution(item) == Execution::kCpu) return manager.Run(item, context);
    std::optional<Verdict> verdict;
    Spawn(manager.RunAsync(item, context), [&](std::optional<Verdict> done, std::exception_ptr thrown) {
      EXPECT_FALSE(thrown);
      verdict = std::move(done);
    });
    simulator->RunUntilIdle();
    EXPECT_TRUE(verdict.has_value());
    return verdict.value_or(Verdict());
  }

  std::vector<Verdict> RunMany(const RewardManager& manager, const std::vector<RewardItem>& items) {
    ScoreContext context(simulator.get(), kNoDeadline, stop.get_token(), 0);
    std::vector<const RewardItem*> pointers;
    for (const RewardItem& item : items) pointers.push_back(&item);
    std::optional<std::vector<Verdict>> verdicts;
    Spawn(manager.RunMany(pointers, context),
          [&](std::optional<std::vector<Verdict>> done, std::exception_ptr thrown) {
            EXPECT_FALSE(thrown);
            verdicts = std::move(done);
          });
    simulator->RunUntilIdle();
    EXPECT_TRUE(verdicts.has_value());
    return verdicts.value_or(std::vector<Verdict>());
  }

  double NowSeconds() const { return static_cast<double>(simulator->clock().NowNs()) / 1e9; }

  std::unique_ptr<Simulator> simulator = Simulator::Make();
  std::stop_source stop;
  std::vector<ExplainStep> steps;
};

// A component's value; NaN when there is none.
inline double ComponentOf(const Verdict& verdict, std::string_view name) {
  for (const Component& component : verdict.components) {
    if (component.name == name) return component.value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

inline std::string ErrorClass(const Verdict& verdict) { return verdict.error ? verdict.error->error_class : ""; }

}  // namespace rewardloop
