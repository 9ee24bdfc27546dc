#include "managers/wrapper.h"

namespace rewardloop {

Verdict WrappingManager::Run(const RewardItem& item, ScoreContext& context) const {
  if (std::optional<Verdict> refused = Refuse(item)) return std::move(*refused);
  return Shape(item, inner_->Run(item, context));
}

Task<Verdict> WrappingManager::RunAsync(const RewardItem& item, ScoreContext& context) const {
  if (std::optional<Verdict> refused = Refuse(item)) co_return std::move(*refused);
  Verdict verdict = co_await inner_->RunAsync(item, context);
  co_return Shape(item, std::move(verdict));
}

Task<std::vector<Verdict>> WrappingManager::RunMany(std::vector<const RewardItem*> items,
                                                    ScoreContext& context) const {
  std::vector<Verdict> verdicts = co_await inner_->RunMany(items, context);
  if (verdicts.size() != items.size()) co_return verdicts;  // the engine says so
  for (size_t i = 0; i < items.size(); ++i) {
    std::optional<Verdict> refused = Refuse(*items[i]);
    verdicts[i] = refused ? std::move(*refused) : Shape(*items[i], std::move(verdicts[i]));
  }
  co_return verdicts;
}

std::vector<ArgSpec> InnerManagerArgs() {
  return {{"manager", "string", "naive", "The manager that makes the raw reward.", {}},
          {"manager_args", "object", nullptr, "Arguments of that manager.", {}}};
}

Result<std::shared_ptr<RewardManager>> MakeInnerManager(const Json& args, const ManagerSpec::Deps& deps) {
  if (!deps.managers) return FailedPrecondition("an inner manager needs a manager registry");
  return deps.managers->Make(args.Find("manager")->AsString(), *args.Find("manager_args"), deps);
}

}  // namespace rewardloop
