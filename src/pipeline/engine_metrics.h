// EngineMetrics: where pipelines add what they counted, a chunk of items at a time.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include "rewardloop/metrics.h"

namespace rewardloop {

// Thread-safe.
class EngineMetrics final : public Metrics {
 public:
  MetricsSnapshot Snapshot() const override;

  // Calls `update(snapshot)` with the counters locked; `update` must be quick.
  template <typename Update>
  void Apply(Update update) {
    std::lock_guard<std::mutex> lock(mutex_);
    update(totals_);
  }
  // One item ended. Call inside Apply.
  void CountItem(const RewardResult& result);

 private:
  mutable std::mutex mutex_;
  MetricsSnapshot totals_;  // its `scorers` stay empty: they are in the table
  std::unordered_map<std::string, MetricsSnapshot::ScorerRow> scorers_;
};

}  // namespace rewardloop
