// verl's math_reward: string equality after the normalisation of the Hendrycks MATH evaluation.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "math/string_graders/verdict.h"

namespace rewardloop::string_graders {

// What follows the last "\boxed " up to a "$" wherever "\boxed " occurs, else the content of the
// last "\boxed{...}". `bad_box` is set where a box was found that the origin fails to open
// ("\fbox{5}", "\boxed5{}"): no answer then.
Extraction ExtractHendrycks(std::string_view response, bool* bad_box);

// The normalised answer; nullopt where the origin's normalisation raises ("\frac" or "\sqrt" at the
// end, two "\text{ ").
std::optional<std::string> NormalizeHendrycks(std::string_view answer);

// Equal iff both normal forms are equal, or, where one does not exist, the two texts themselves.
// `gold` is nullopt for a gold answer that is no text; nothing equals it.
StringVerdict GradeMathReward(std::string_view response, std::optional<std::string_view> gold);

}  // namespace rewardloop::string_graders
