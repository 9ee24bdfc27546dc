// The final-answer normalisation of the Minerva evaluation, as verl's math_dapo applies it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "math/string_graders/verdict.h"

namespace rewardloop::string_graders {

// Deletes units, spaces, "a ", "an " and LaTeX decoration, keeps what follows the last "=", writes
// \frac and \sqrt with braces. Linear time.
std::string NormalizeMinerva(std::string_view answer);

// The line after the last "Answer:" (any case, white space allowed around the colon, line breaks
// too), as it stands.
Extraction ExtractMinerva(std::string_view response);

// Compares both normalised; without an "Answer:" the literal text "[INVALID]" is compared.
StringVerdict GradeMinerva(std::string_view response, std::string_view gold);

}  // namespace rewardloop::string_graders
