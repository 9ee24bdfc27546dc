// What an exception of a scorer or manager says of its item.
#pragma once

#include <exception>

#include "rewardloop/result.h"

namespace rewardloop {

// error(exception) with the exception's type and text. `exception` must not be null.
Verdict VerdictOfException(const std::exception_ptr& exception);

}  // namespace rewardloop
