// RewardManager: turns an item into a reward, by asking scorers and shaping what they say.
//
// Managers compose. To write one, override Run (one item on the CPU), RunAsync (one item that waits), or RunMany (a batch
// or all members of a group at once) and say so with granularity() and execution(). Timestamps, limits, deadlines, retries
// and delivery are the engine's: a user's manager has the same metrics as a built-in one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rewardloop/scorer.h"
#include "rewardloop/scorer_selector.h"

namespace rewardloop {

// How many items a manager wants to see at once.
enum class Granularity {
  kItem,
  kBatch,  // some items of one submit; which ones come together carries no meaning
  kGroup,  // all members of a group, once the last has arrived; waiting members hold no slot
};

// The limit that an item must pass before it is scored, kept by the engine under `name` (engine.h, DefineLimiter).
struct LimiterUse {
  std::string name;   // empty: none
  double tokens = 0;  // cost against the limiter's tokens per minute
};

// Thread-safe: the Run methods are called from many threads at once on one object.
class REWARDLOOP_EXPORT RewardManager {
 public:
  virtual ~RewardManager() = default;

  virtual Granularity granularity() const { return Granularity::kItem; }
  // Largest number of items of one RunMany call with kBatch.
  virtual size_t max_batch() const { return 256; }
  // kCpu: Run() is called on the CPU pool. kAsync: RunAsync() is started and may wait. With kBatch and kGroup, RunMany() is
  // started as a coroutine either way; `item` is then the first of them.
  virtual Execution execution(const RewardItem& item) const { return Execution::kCpu; }
  // Ok, or why submit must refuse `item`.
  virtual Status Admit(const RewardItem& item) const { return Status(); }
  // The limiter that the engine passes `item` through. Its wait counts as queueing, not as execution.
  virtual LimiterUse Limiter(const RewardItem& item) const { return {}; }
  // How long one attempt may take, where the manager has a say in it; the shorter of this and the pipeline's time-out holds.
  virtual std::optional<int64_t> timeout_ns() const { return std::nullopt; }
  // Who judges `item`, for the result's scorer name, version and digest. Null: the manager itself.
  virtual const Scorer* ScorerOf(const RewardItem& item) const { return nullptr; }

  // Exceptions become error(exception), NaN and infinities error(non_finite), a RunMany result of the wrong length
  // error(bad_return) for all its items. Items and context outlive the call or task.
  virtual Verdict Run(const RewardItem& item, ScoreContext& context) const;
  virtual Task<Verdict> RunAsync(const RewardItem& item, ScoreContext& context) const;
  // One verdict per item, in the order of `items`.
  virtual Task<std::vector<Verdict>> RunMany(std::vector<const RewardItem*> items, ScoreContext& context) const;

  // Name under which the manager was made, for metrics and messages.
  const std::string& name() const { return name_; }
  void SetName(std::string name) { name_ = std::move(name); }

 private:
  std::string name_ = "custom";
};

// Everything the registry and the documentation know of a manager. One per file of src/managers.
struct ManagerSpec {
  std::string name;
  std::string summary;
  std::string doc;
  std::vector<ArgSpec> args;
  // What a factory may use. Managers and registries outlive the call only where a shared_ptr says so.
  struct Deps {
    std::shared_ptr<const ScorerSelector> scorers;
    const ScorerRegistry* registry = nullptr;
    class Engine* engine = nullptr;
    const class ManagerRegistry* managers = nullptr;  // for inner managers; set by ManagerRegistry::Make
    std::vector<std::function<void()>>* on_close = nullptr;  // gets what must end with the pipeline; may be null
    std::string limiter_prefix;                       // keeps the default limiters of two pipelines apart; may be empty
  };
  std::function<Result<std::unique_ptr<RewardManager>>(const Json& args, const Deps& deps)> make;
};

// Thread-compatible: register before sharing.
class REWARDLOOP_EXPORT ManagerRegistry {
 public:
  static ManagerRegistry WithBuiltins();
  // kAlreadyExists when the name is taken.
  Status Register(ManagerSpec spec);
  // Null when unknown. Valid until the next Register().
  const ManagerSpec* Find(std::string_view name) const;
  // A new manager. kNotFound with a suggestion for an unknown name, kInvalidArgument for bad arguments.
  Result<std::shared_ptr<RewardManager>> Make(std::string_view name, const Json& args,
                                              const ManagerSpec::Deps& deps) const;
  // All, sorted by name.
  const std::vector<ManagerSpec>& specs() const { return specs_; }

 private:
  std::vector<ManagerSpec> specs_;
};

}  // namespace rewardloop
