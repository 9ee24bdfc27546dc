// EngineMetrics: where pipelines add what they counted, a chunk of items at a time.
#pragma once

#include <array>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "rewardloop/metrics.h"

namespace rewardloop {

// Thread-safe. Threads count in shards of their own, or else each item would carry the counters from CPU to CPU.
class EngineMetrics final : public Metrics {
 public:
  struct Shard {
    MetricsSnapshot totals;  // its `scorers` stay empty: they are in the table
    std::unordered_map<std::string, MetricsSnapshot::ScorerRow> scorers;

    // One item ended.
    void CountItem(const RewardResult& result);
  };

  MetricsSnapshot Snapshot() const override;

  // Calls `update(shard)` with the shard locked; `update` must be quick.
  template <typename Update>
  void Apply(Update update) {
    LockedShard& mine = shards_[std::hash<std::thread::id>()(std::this_thread::get_id()) % kShards];
    std::lock_guard<std::mutex> lock(mine.mutex);
    update(mine.shard);
  }

 private:
  static constexpr size_t kShards = 16;
  struct alignas(64) LockedShard {
    mutable std::mutex mutex;
    Shard shard;
  };
  std::array<LockedShard, kShards> shards_;
};

}  // namespace rewardloop
