// Finds the letter of a multiple choice answer.
#pragma once

#include <cstddef>
#include <string_view>

namespace rewardloop::math {

// Position of the letter (A to J): in the announced answer, else at the start of a line, else the last one that stands alone.
bool FindChoice(std::string_view text, size_t* position);

}  // namespace rewardloop::math
