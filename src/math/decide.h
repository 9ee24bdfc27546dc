// The decision: do two answers mean the same? By type, cheapest sound test first.
#pragma once

#include <cstdint>
#include <string_view>

#include "math/answer.h"
#include "math/arena.h"
#include "math/fuel.h"
#include "math/numeric/numeric.h"
#include "rewardloop/math.h"

namespace rewardloop::math {

// What became of one comparison. `reason` and `rule` are literals.
struct Decision {
  Equality equality = Equality::kUnknown;
  const char* reason = "undecided";
  const char* rule = "";

  bool equal() const { return equality == Equality::kEqual; }
  bool different() const { return equality == Equality::kDifferent; }
};

Decision DecideAnswers(const Answer& gold, const Answer& prediction, const Policy& policy, uint64_t seed, Arena* arena,
                       Fuel* fuel);

}  // namespace rewardloop::math
