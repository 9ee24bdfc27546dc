// Numbers in words: "forty-two", "one half", "three hundred and five", 二十三.
#pragma once

#include <string_view>

#include "math/arena.h"
#include "math/expr.h"

namespace rewardloop::math {

// `words` is lower case with single spaces. Null when it is not entirely a number below 10^15.
const Expr* SpelledNumber(std::string_view words, Arena* arena);

}  // namespace rewardloop::math
