// WrappingManager: a manager around another one. What it does not override is the inner manager's.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "rewardloop/reward_manager.h"

namespace rewardloop {

class WrappingManager : public RewardManager {
 public:
  explicit WrappingManager(std::shared_ptr<const RewardManager> inner) : inner_(std::move(inner)) {}

  Granularity granularity() const override { return inner_->granularity(); }
  size_t max_batch() const override { return inner_->max_batch(); }
  Execution execution(const RewardItem& item) const override { return inner_->execution(item); }
  Status Admit(const RewardItem& item) const override { return inner_->Admit(item); }
  LimiterUse Limiter(const RewardItem& item) const override { return inner_->Limiter(item); }
  std::optional<int64_t> timeout_ns() const override { return inner_->timeout_ns(); }
  const Scorer* ScorerOf(const RewardItem& item) const override { return inner_->ScorerOf(item); }

  Verdict Run(const RewardItem& item, ScoreContext& context) const final;
  Task<Verdict> RunAsync(const RewardItem& item, ScoreContext& context) const final;
  Task<std::vector<Verdict>> RunMany(std::vector<const RewardItem*> items, ScoreContext& context) const final;

 protected:
  const RewardManager& inner() const { return *inner_; }
  // A verdict that needs no inner manager: why the item cannot be judged. Within RunMany the inner manager sees the item all
  // the same, since a group is judged as a whole.
  virtual std::optional<Verdict> Refuse(const RewardItem& item) const { return std::nullopt; }
  // The reward made of the inner manager's verdict, whatever its status is.
  virtual Verdict Shape(const RewardItem& item, Verdict verdict) const { return verdict; }

 private:
  const std::shared_ptr<const RewardManager> inner_;
};

// The arguments `manager` and `manager_args` that wrapping managers have, and the inner manager that they name.
std::vector<ArgSpec> InnerManagerArgs();
Result<std::shared_ptr<RewardManager>> MakeInnerManager(const Json& args, const ManagerSpec::Deps& deps);

}  // namespace rewardloop
