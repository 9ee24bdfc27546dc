// The factory functions of the built-in managers, one for each line of manager_list.inc.
#pragma once

#include "rewardloop/reward_manager.h"

namespace rewardloop {

#define RL_MANAGER(factory) ManagerSpec factory();
#include "managers/manager_list.inc"
#undef RL_MANAGER

}  // namespace rewardloop
