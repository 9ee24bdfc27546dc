// Small things that several managers do with items and verdicts.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "rewardloop/item.h"
#include "rewardloop/result.h"

namespace rewardloop {

// The component called `name`; null when there is none. Valid until the components change.
const Component* FindComponent(const Verdict& verdict, std::string_view name);
// Sets a component, in place when there is one of that name.
void SetComponent(Verdict* verdict, std::string_view name, double value);

// Tokens of all outputs together; absent when there is no output or one of them has no length in the data. Never derived
// from characters or padding.
std::optional<int64_t> ResponseLength(const RewardItem& item);
// unscorable(no_length) for an item without one. `what` needs the length.
Verdict NoLength(const RewardItem& item, std::string_view what);

}  // namespace rewardloop
