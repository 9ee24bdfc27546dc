// batch: several items in one call of the scorer.
#include <algorithm>

#include "managers/builtin.h"
#include "scorers/guard.h"

namespace rewardloop {
namespace {

class BatchManager : public RewardManager {
 public:
  BatchManager(std::shared_ptr<const ScorerSelector> scorers, size_t max_batch)
      : scorers_(std::move(scorers)), max_batch_(max_batch) {}

  Granularity granularity() const override { return Granularity::kBatch; }
  size_t max_batch() const override { return max_batch_; }
  Execution execution(const RewardItem& item) const override {
    const Scorer* scorer = scorers_->Select(item);
    return scorer ? scorer->execution() : Execution::kCpu;
  }
  Status Admit(const RewardItem& item) const override { return scorers_->Admit(item); }
  const Scorer* ScorerOf(const RewardItem& item) const override { return scorers_->Select(item); }

  Task<std::vector<Verdict>> RunMany(std::vector<const RewardItem*> items, ScoreContext& context) const override {
    std::vector<Verdict> verdicts(items.size());
    for (const Share& share : ByScorer(items)) {
      if (!share.scorer) {
        for (size_t i : share.positions) verdicts[i] = scorers_->NoScorer(*items[i]);
        continue;
      }
      std::vector<const RewardItem*> part;
      part.reserve(share.positions.size());
      for (size_t i : share.positions) part.push_back(items[i]);
      std::vector<Verdict> answers;
      try {
        answers = co_await share.scorer->ScoreBatch(part, context);
      } catch (...) {
        answers.assign(part.size(), VerdictOfException(std::current_exception()));
      }
      if (answers.size() != part.size()) {
        answers.assign(part.size(), WrongLength(*share.scorer, part.size(), answers.size()));
      }
      for (size_t k = 0; k < part.size(); ++k) verdicts[share.positions[k]] = std::move(answers[k]);
    }
    co_return verdicts;
  }

 private:
  // The items of one call that belong to one scorer.
  struct Share {
    const Scorer* scorer;
    std::vector<size_t> positions;
  };

  // In the order in which the scorers first appear, so that the order of calls does not depend on addresses.
  std::vector<Share> ByScorer(const std::vector<const RewardItem*>& items) const {
    std::vector<Share> shares;
    for (size_t i = 0; i < items.size(); ++i) {
      const Scorer* scorer = scorers_->Select(*items[i]);
      auto share = std::find_if(shares.begin(), shares.end(), [&](const Share& s) { return s.scorer == scorer; });
      if (share != shares.end()) {
        share->positions.push_back(i);
      } else {
        shares.push_back(Share{scorer, {i}});
      }
    }
    return shares;
  }

  static Verdict WrongLength(const Scorer& scorer, size_t wanted, size_t got) {
    return Verdict::Error("bad_return", "scorer '" + scorer.name() + "' returned " + std::to_string(got) +
                                            " verdicts for a batch of " + std::to_string(wanted));
  }

  const std::shared_ptr<const ScorerSelector> scorers_;
  const size_t max_batch_;
};

Result<std::unique_ptr<RewardManager>> Make(const Json& args, const ManagerSpec::Deps& deps) {
  if (!deps.scorers) return InvalidArgument("no scorer is given", "name a scorer or a dispatch table");
  const int64_t max_batch = args.Find("max_batch")->AsInt();
  if (max_batch < 1) return InvalidArgument("max_batch must be at least 1, got " + std::to_string(max_batch));
  return std::unique_ptr<RewardManager>(new BatchManager(deps.scorers, static_cast<size_t>(max_batch)));
}

}  // namespace

ManagerSpec BatchManagerSpec() {
  return {
      .name = "batch",
      .summary = "Several items in one call of the scorer",
      .doc = "Hands the scorer up to `max_batch` items of one submit at once, for scorers that are cheaper that way (one "
             "model call, one process round trip). Which items come together carries no meaning: a function whose value "
             "depends on it must be a group manager.",
      .args = {{"max_batch", "integer", 256, "Largest number of items of one call.", {}}},
      .make = Make,
  };
}

}  // namespace rewardloop
