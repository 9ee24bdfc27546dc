// "Did you mean": the nearest of some names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rewardloop/export.h"

namespace rewardloop {

// The name among `candidates` nearest to `name`, or "" when none is near. Letter case, '-' and '_'
// do not count; a swap of two neighbours is one edit. Of several equally near ones, the first.
REWARDLOOP_EXPORT std::string NearestName(std::string_view name,
                                          const std::vector<std::string>& candidates);

// "did you mean 'x'?" for the nearest candidate; else "known: a, b, c"; "" when there are no
// candidates.
std::string SuggestionFor(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace rewardloop
