#include <map>
#include <unordered_map>

#include "rewardloop/scorer_selector.h"
#include "scorers/dispatch.h"

namespace rewardloop {
namespace {

class OneScorer : public ScorerSelector {
 public:
  explicit OneScorer(std::shared_ptr<const Scorer> scorer) : scorer_(std::move(scorer)) {}

  const Scorer* Select(const RewardItem&) const override { return scorer_.get(); }
  Status Admit(const RewardItem&) const override { return Status(); }
  Verdict NoScorer(const RewardItem& item) const override {
    return Verdict::Unscorable("no_scorer", "no scorer for item '" + item.item_id + "'");
  }

 private:
  const std::shared_ptr<const Scorer> scorer_;
};

// All scorers are made at the start: a wrong name or argument is found before anything is scored,
// and nothing changes later, so that threads need no lock.
class ByDataSource : public ScorerSelector {
 public:
  ByDataSource(DispatchTable table, UnknownRewards unknown)
      : table_(std::move(table)), unknown_(unknown) {}

  Status MakeScorers(const ScorerRegistry& registry, size_t overrides) {
    std::map<std::string, std::shared_ptr<const Scorer>> made;
    size_t position = 0;
    for (const DispatchEntry* entry : table_.entries()) {
      const bool from_user = position++ < overrides;
      if (entry->scorer.empty()) continue;
      // A registry need not hold every scorer of a built-in table; what a user names must be there.
      if (!from_user && !registry.Find(entry->scorer)) continue;
      auto& shared = made[entry->scorer + '\n' + entry->args.DumpSorted()];
      if (!shared) {
        Result<std::shared_ptr<Scorer>> scorer = registry.Make(entry->scorer, entry->args);
        if (!scorer.ok()) {
          const Status status = scorer.status();
          return Status(status.code(), "data source '" + entry->pattern + "': " + status.message(),
                        status.hint());
        }
        shared = std::move(*scorer);
      }
      scorers_[entry] = shared;
    }
    return Status();
  }

  const Scorer* Select(const RewardItem& item) const override {
    const DispatchEntry* entry = table_.Find(item.data_source);
    if (!entry) return nullptr;
    const auto found = scorers_.find(entry);
    return found == scorers_.end() ? nullptr : found->second.get();
  }

  Status Admit(const RewardItem& item) const override {
    if (unknown_ == UnknownRewards::kWarn || table_.Find(item.data_source)) return Status();
    const Status status = table_.Unknown(item.data_source);
    return Status(status.code(), "item '" + item.item_id + "': " + status.message(), status.hint());
  }

  Verdict NoScorer(const RewardItem& item) const override {
    const DispatchEntry* entry = table_.Find(item.data_source);
    if (!entry)
      return Verdict::Unscorable("no_scorer", table_.Unknown(item.data_source).ToString());
    const std::string why = entry->scorer.empty()
                                ? entry->why_none
                                : "its scorer '" + entry->scorer + "' is not registered";
    return Verdict::Unscorable("no_scorer", "data source '" + item.data_source + "': " + why);
  }

 private:
  const DispatchTable table_;  // must not change: scorers_ has pointers into it
  const UnknownRewards unknown_;
  std::unordered_map<const DispatchEntry*, std::shared_ptr<const Scorer>> scorers_;
};

}  // namespace

Result<std::shared_ptr<const ScorerSelector>> ScorerSelector::Make(const ScorerRegistry& registry,
                                                                   const SelectorOptions& options) {
  if (!options.scorer.empty()) {
    if (!options.data_sources.empty()) {
      return InvalidArgument("scorer '" + options.scorer + "' and data_sources are both given: it would judge every item, and "
                             "data_sources none",
                             "leave out one of the two");
    }
    RL_ASSIGN_OR_RETURN(std::shared_ptr<Scorer> scorer,
                        registry.Make(options.scorer, options.scorer_args));
    return Of(std::move(scorer));
  }
  if (options.scorer_args.size() > 0) {
    return InvalidArgument("scorer_args are given but no scorer is named",
                           "name the scorer, or put the arguments under data_sources");
  }
  RL_ASSIGN_OR_RETURN(DispatchTable table, DispatchTable::Named(options.dispatch));
  for (const auto& [pattern, target] : options.data_sources) {
    RL_RETURN_IF_ERROR(table.Override(pattern, target));
  }
  auto selector = std::make_shared<ByDataSource>(std::move(table), options.unknown_rewards);
  RL_RETURN_IF_ERROR(selector->MakeScorers(registry, options.data_sources.size()));
  return std::shared_ptr<const ScorerSelector>(std::move(selector));
}

std::shared_ptr<const ScorerSelector> ScorerSelector::Of(std::shared_ptr<const Scorer> scorer) {
  return std::make_shared<OneScorer>(std::move(scorer));
}

}  // namespace rewardloop
