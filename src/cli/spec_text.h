// Scorers and managers described for people and as JSON.
#pragma once

#include <optional>
#include <string>

#include "rewardloop/reward_manager.h"
#include "rewardloop/scorer.h"

namespace rewardloop::cli {

std::string SummaryLine(const std::string& name, const std::string& summary);
std::string ScorerText(const ScorerSpec& spec);
std::string ManagerText(const ManagerSpec& spec);
Json ScorerJson(const ScorerSpec& spec);
Json ManagerJson(const ManagerSpec& spec);
// What can be said of a Python function (file.py:fn, pkg.mod:fn) without loading it; nullopt when `name` names none.
std::optional<std::string> FunctionText(const std::string& name, bool json);

}  // namespace rewardloop::cli
