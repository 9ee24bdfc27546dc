// The factory functions of the built-in scorers, one for each line of scorer_list.inc.
#pragma once

#include "rewardloop/scorer.h"

namespace rewardloop {

#define RL_SCORER(factory) ScorerSpec factory();
#include "scorers/scorer_list.inc"
#undef RL_SCORER

}  // namespace rewardloop
