// The parts of a weighted reward: how they are configured and how their verdicts become one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rewardloop/reward_manager.h"

namespace rewardloop {

// What happens to the total when the part's score is below `min`: it becomes `otherwise`, or with `max_total` it is cut to that.
struct Gate {
  double min = 0;
  double otherwise = 0;
  std::optional<double> max_total;
};

struct WeightedPart {
  std::string name;
  std::shared_ptr<const ScorerSelector> scorers;
  bool by_data_source = false;  // no scorer of its own
  double weight = 1;
  bool optional = false;
  std::optional<Gate> gate;
};

// `parts` as the manager's argument has it. Errors name the part.
Result<std::vector<WeightedPart>> ParseWeightedParts(const Json& parts, const ManagerSpec::Deps& deps);

// The verdict of a part that nobody asked because another one has left the total without a score already.
Verdict NotAsked();

// One verdict of the verdicts of all parts, in the order of `parts`. With `normalize`, the sum is divided by the weights of
// the parts that have a score.
//
// Each part's score is the component named after it, its own components are `part.component`, its extra info is the member
// named after it. A part without a score: when it is optional it is left out and named in extra `missing_parts`, else the
// total has no score either and carries that part's status (of several, one that a retry cannot mend).
Verdict CombineParts(const std::vector<WeightedPart>& parts, std::vector<Verdict> verdicts, bool normalize);

}  // namespace rewardloop
