// Trial: the first rows scored twice, for `rewardloop check`: what a run would end without a score,
// and scores that are not the same the second time.
#pragma once

#include <string>
#include <vector>

#include "cli/findings.h"
#include "io/id_table.h"
#include "rewardloop/pipeline.h"

namespace rewardloop::cli {

// Not thread-safe.
class Trial {
 public:
  explicit Trial(int64_t rows) : rows_(rows) {}

  // Takes the item unless it has enough of them. Siblings may be missing, so a group counts as
  // whole with the members that came.
  void Add(const std::string& place, const RewardItem& item);
  // Blocks. kCancelled when a signal came.
  Status Run(AsyncRewardPipeline* pipeline, Findings* findings);
  int64_t tried() const { return static_cast<int64_t>(items_.size()); }

 private:
  const int64_t rows_;
  IdTable ids_;
  std::vector<RewardItem> items_;
  std::vector<std::string> places_;
};

}  // namespace rewardloop::cli
