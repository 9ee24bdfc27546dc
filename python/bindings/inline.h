// Scorers and managers that are Python code in this process.
#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <memory>
#include <string>

#include "rewardloop/engine.h"
#include "rewardloop/registry.h"
#include "rewardloop/reward_manager.h"
#include "scorers/inline_calls.h"

namespace rewardloop::python {

// The inline code of one pipeline, by name.
struct InlineParts {
  std::map<std::string, std::shared_ptr<InlineCalls>> calls;
};

// Adds scorers, and the manager, that `specs` describes to the registries of a pipeline. `specs` maps a name to a dict:
// kind ("scorer" or "manager"), threads, cancellable, and for scorers version and batch, for managers granularity,
// max_batch and verdicts. Needs the GIL.
void RegisterInline(const nanobind::dict& specs, const std::shared_ptr<Engine>& engine, ScorerRegistry* scorers,
                    ManagerRegistry* managers, InlineParts* parts);

// The `_InlineCalls` called `name`.
nanobind::object InlineCallsOf(const InlineParts& parts, const std::string& name);

}  // namespace rewardloop::python
