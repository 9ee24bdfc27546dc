// ScorerSelector: which scorer judges an item.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rewardloop/registry.h"
#include "rewardloop/scorer.h"

namespace rewardloop {

// What to do with an item whose data source nobody knows.
enum class UnknownRewards {
  kRaise,  // submit fails and names the item and its data source; nothing is scored
  kWarn,   // the item ends as unscorable(no_scorer); each data source is logged once
};

struct SelectorOptions {
  // Scorer for every item; empty: chosen per item by `dispatch`.
  std::string scorer;
  Json scorer_args;  // object or null; only with `scorer`
  // Name of a dispatch table by data source: "native" or "verl".
  std::string dispatch = "native";
  // data source (or "prefix*") -> scorer, before the table; not with `scorer`. The value is a name or {"scorer": name, "args": {...}}.
  std::vector<std::pair<std::string, Json>> data_sources;
  UnknownRewards unknown_rewards = UnknownRewards::kRaise;
};

// Thread-safe after construction.
class REWARDLOOP_EXPORT ScorerSelector {
 public:
  virtual ~ScorerSelector() = default;

  // kNotFound or kInvalidArgument (with a suggestion) for names and arguments that nobody knows.
  static Result<std::shared_ptr<const ScorerSelector>> Make(const ScorerRegistry& registry,
                                                            const SelectorOptions& options);
  // Always `scorer`: for a scorer object that is not in a registry.
  static std::shared_ptr<const ScorerSelector> Of(std::shared_ptr<const Scorer> scorer);

  // The scorer for `item`, null when there is none. Valid as long as the selector.
  virtual const Scorer* Select(const RewardItem& item) const = 0;
  // Ok, or why `item` must be refused at submit (an unknown data source under kRaise).
  virtual Status Admit(const RewardItem& item) const = 0;
  // unscorable(no_scorer) with the reason, for an item without a scorer.
  virtual Verdict NoScorer(const RewardItem& item) const = 0;
};

}  // namespace rewardloop
