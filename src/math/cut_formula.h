#pragma once

#include <string_view>

namespace rewardloop::math {

// Is `text`, which does not parse, a formula that was cut off or damaged, as \frac{1}{ or ((1+2 are? Words with stray punctuation
// and sentences with formulas are not.
bool LooksCut(std::string_view text);

}  // namespace rewardloop::math
