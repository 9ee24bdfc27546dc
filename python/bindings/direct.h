// Scoring without an engine: on the caller's thread, or on threads that live as long as the call.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rewardloop/registry.h"
#include "rewardloop/reward_manager.h"
#include "rewardloop/scorer.h"

namespace rewardloop::python {

// The built-in ones; never destroyed, since threads may outlive static destruction.
const ScorerRegistry& Scorers();
const ManagerRegistry& Managers();

// Thread-safe. None of the methods needs the GIL.
class DirectScorer {
 public:
  // `args` are those that `scorer` was made with.
  DirectScorer(std::shared_ptr<const Scorer> scorer, Json args) : scorer_(std::move(scorer)), args_(std::move(args)) {}
  const Scorer& scorer() const { return *scorer_; }
  const Json& args() const { return args_; }

  RewardResult Score(const RewardItem& item) const;
  // Appends one result per item. `threads` <= 0: as many as there are CPUs.
  void ScoreAll(std::span<const RewardItem> items, int threads, std::vector<RewardResult>* results) const;

 private:
  std::shared_ptr<const Scorer> scorer_;
  Json args_;
};

}  // namespace rewardloop::python
