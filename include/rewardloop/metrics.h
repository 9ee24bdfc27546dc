// Metrics: counts and latency histograms of an engine.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rewardloop/result.h"

namespace rewardloop {

// Latencies in four buckets per power of two, from 1 us to 19 hours; quantiles are exact to 25 %.
//
// Not thread-safe.
class REWARDLOOP_EXPORT Histogram {
 public:
  static constexpr int kBuckets = 108;
  void Add(int64_t duration_ns, int64_t count = 1);
  void Merge(const Histogram& other);
  int64_t count() const { return count_; }
  int64_t sum_ns() const { return sum_ns_; }
  int64_t max_ns() const { return max_ns_; }
  // Upper bound of the bucket that holds the quantile `q` (0 to 1), at most max_ns(); 0 when empty.
  int64_t Quantile(double q) const;
  // Upper bound of bucket `i` in nanoseconds.
  static int64_t UpperBound(int i);
  int64_t bucket(int i) const { return buckets_[i]; }

 private:
  std::array<int64_t, kBuckets> buckets_{};
  int64_t count_ = 0;
  int64_t sum_ns_ = 0;
  int64_t max_ns_ = 0;
};

// A consistent copy of an engine's counters. Counters only grow.
struct MetricsSnapshot {
  struct ScorerRow {
    std::string scorer;
    std::array<int64_t, kItemStatusCount> by_status{};
    Histogram score;  // started to finished, per item
  };
  int64_t items_submitted = 0;
  int64_t items_finished = 0;
  int64_t items_delivered = 0;
  int64_t batches_submitted = 0;
  int64_t batches_collected = 0;
  int64_t groups_delivered = 0;
  int64_t groups_zero_spread = 0;
  int64_t attempts_retried = 0;
  int64_t policy_values = 0;  // missing scores that an on_error policy turned into a number
  int64_t items_dropped_with_handle = 0;  // cancelled or forgotten because their handle was dropped
  int64_t groups_dropped = 0;             // finished groups that nobody took, past uncollected_items
  int64_t submit_ns = 0;   // total time inside submit
  int64_t collect_ns = 0;  // total time that collect waited
  int64_t backlog_items_max = 0;
  int64_t backlog_bytes_max = 0;
  std::array<int64_t, kItemStatusCount> by_status{};
  Histogram queue;    // submit to start
  Histogram score;    // start to verdict
  Histogram deliver;  // verdict to delivery
  std::vector<ScorerRow> scorers;  // sorted by name
};

// Thread-safe.
class REWARDLOOP_EXPORT Metrics {
 public:
  virtual ~Metrics() = default;
  virtual MetricsSnapshot Snapshot() const = 0;
};

// Snapshot as a JSON object: counts, and histograms as {count, sum, p50, p90, p99, max} in seconds.
REWARDLOOP_EXPORT Json MetricsToJson(const MetricsSnapshot& snapshot);

}  // namespace rewardloop
