// Checks of single configuration values.
#pragma once

#include <string>

#include "rewardloop/config.h"

namespace rewardloop {

// Ok when `name` is a key and `value` fits it; the message names the key and what was expected.
Status CheckConfigValue(const std::string& name, const Json& value);

}  // namespace rewardloop
