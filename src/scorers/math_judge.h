// The scorer `math` without an item around every pair, for callers that have nothing but texts.
#pragma once

#include <string_view>

#include "rewardloop/result.h"
#include "rewardloop/scorer.h"

namespace rewardloop {

class MathJudge {
 public:
  // Puts what Score() says of an item with this ground truth and completion into `result`: status, score, reason, extracted.
  // False, with `result` untouched, where there would be no score: its message speaks of an item. Thread-safe; the texts are
  // not kept.
  virtual bool JudgePair(std::string_view gold, std::string_view completion, RewardResult* result) const = 0;

 protected:
  ~MathJudge() = default;
};

// Null when `scorer` is another scorer. Valid as long as `scorer`.
const MathJudge* AsMathJudge(const Scorer& scorer);

}  // namespace rewardloop
