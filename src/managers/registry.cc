#include <algorithm>

#include "base/suggest.h"
#include "managers/builtin.h"
#include "rewardloop/registry.h"
#include "rewardloop/reward_manager.h"

namespace rewardloop {
namespace {

bool NameLess(const ManagerSpec& spec, std::string_view name) { return spec.name < name; }

}  // namespace

ManagerRegistry ManagerRegistry::WithBuiltins() {
  ManagerRegistry registry;
#define RL_MANAGER(factory) registry.specs_.push_back(factory());
#include "managers/manager_list.inc"
#undef RL_MANAGER
  std::sort(registry.specs_.begin(), registry.specs_.end(),
            [](const ManagerSpec& a, const ManagerSpec& b) { return a.name < b.name; });
  return registry;
}

Status ManagerRegistry::Register(ManagerSpec spec) {
  if (spec.name.empty() || !spec.make) {
    return InvalidArgument("a manager needs a name and a make function");
  }
  auto place = std::lower_bound(specs_.begin(), specs_.end(), spec.name, NameLess);
  if (place != specs_.end() && place->name == spec.name) {
    return AlreadyExists("a manager named '" + spec.name + "' is registered already",
                         "choose another name");
  }
  specs_.insert(place, std::move(spec));
  return Status();
}

const ManagerSpec* ManagerRegistry::Find(std::string_view name) const {
  auto place = std::lower_bound(specs_.begin(), specs_.end(), name, NameLess);
  return place != specs_.end() && place->name == name ? &*place : nullptr;
}

Result<std::shared_ptr<RewardManager>> ManagerRegistry::Make(std::string_view name, const Json& args,
                                                             const ManagerSpec::Deps& deps) const {
  const ManagerSpec* spec = Find(name);
  if (!spec) {
    std::vector<std::string> names;
    for (const ManagerSpec& known : specs_) names.push_back(known.name);
    return NotFound("no manager is named '" + std::string(name) + "'", SuggestionFor(name, names));
  }
  const std::string owner = "manager '" + spec->name + "'";
  RL_ASSIGN_OR_RETURN(Json checked, ValidateArgs(owner, spec->args, args));
  ManagerSpec::Deps with_managers = deps;
  with_managers.managers = this;
  Result<std::unique_ptr<RewardManager>> made = spec->make(checked, with_managers);
  if (!made.ok()) {
    const Status status = made.status();
    return Status(status.code(), owner + ": " + status.message(), status.hint());
  }
  std::shared_ptr<RewardManager> manager = std::move(*made);
  manager->SetName(spec->name);
  return manager;
}

}  // namespace rewardloop
