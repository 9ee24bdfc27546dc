// The GSM8K graders of verl: the last number of the last 300 characters, compared with the gold
// answer as text.
#pragma once

#include <string_view>

#include "math/string_graders/verdict.h"

namespace rewardloop::string_graders {

enum class Gsm8kMethod {
  kStrict,    // the number after the last "#### " (exactly one space); commas are deleted from it
  kFlexible,  // the last run of digits, dots and commas that is not a lone dot; nothing is deleted
              // from it
};

Extraction ExtractGsm8k(std::string_view response, Gsm8kMethod method);

// Equal iff the extracted text is `gold`, which is not normalised: "1,000" as gold never equals
// under kStrict.
StringVerdict GradeGsm8k(std::string_view response, std::string_view gold, Gsm8kMethod method);

}  // namespace rewardloop::string_graders
