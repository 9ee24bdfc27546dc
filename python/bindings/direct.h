// Scoring without an engine: on the caller's thread, or on threads that live as long as the call.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rewardloop/registry.h"
#include "rewardloop/reward_manager.h"
#include "rewardloop/scorer.h"
#include "scorers/math_judge.h"

namespace rewardloop::python {

// The built-in ones; never destroyed, since threads may outlive static destruction.
const ScorerRegistry& Scorers();
const ManagerRegistry& Managers();

// Thread-safe. None of the methods needs the GIL.
class DirectScorer {
 public:
  // Asked on the calling thread now and then; what is left is not judged once it has said true.
  using Stop = std::function<bool()>;

  // `args` are those that `scorer` was made with.
  DirectScorer(std::shared_ptr<const Scorer> scorer, Json args)
      : scorer_(std::move(scorer)), args_(std::move(args)), math_(AsMathJudge(*scorer_)) {}
  const Scorer& scorer() const { return *scorer_; }
  const Json& args() const { return args_; }

  RewardResult Score(const RewardItem& item) const;
  // Appends one result per item. `threads` <= 0: as many as there are CPUs.
  void ScoreAll(std::span<const RewardItem> items, int threads, const Stop& stop, std::vector<RewardResult>* results) const;

  // Texts of a pair that the scorer `math` judges, borrowed, and which result they are for.
  struct Pair {
    std::string_view gold, completion;
    size_t index;
  };
  // Is JudgePairs() there?
  bool judges_pairs() const { return math_ != nullptr; }
  // Fills results[pair.index], but for item_id; times are those of the chunk that a pair was judged in. A result whose
  // `scorer` stays empty has to be made of an item, by Score().
  void JudgePairs(std::span<const Pair> pairs, int threads, const Stop& stop, RewardResult* results) const;

 private:
  void JudgePair(const Pair& pair, RewardResult* result) const;

  std::shared_ptr<const Scorer> scorer_;
  Json args_;
  const MathJudge* math_;
};

}  // namespace rewardloop::python
