// The scorer `math` without an item around every pair, for callers that have nothing but texts.
#pragma once

#include <optional>
#include <string_view>

#include "rewardloop/result.h"
#include "rewardloop/scorer.h"

namespace rewardloop {

class MathJudge {
 public:
  // The verdict that Score() gives an item with this ground truth and completion. nullopt where it would have no score: its
  // message speaks of an item. Thread-safe; the texts are not kept.
  virtual std::optional<Verdict> JudgePair(std::string_view gold, std::string_view completion) const = 0;

 protected:
  ~MathJudge() = default;
};

// Null when `scorer` is another scorer. Valid as long as `scorer`.
const MathJudge* AsMathJudge(const Scorer& scorer);

}  // namespace rewardloop
