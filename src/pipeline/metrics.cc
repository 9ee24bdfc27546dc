#include "rewardloop/metrics.h"

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include "pipeline/engine_metrics.h"

namespace rewardloop {
namespace {

constexpr int kFirstOctave = 10;  // bucket 0 ends at 1,024 ns

int BucketOf(int64_t duration_ns) {
  if (duration_ns <= int64_t{1} << kFirstOctave) return 0;
  const uint64_t value = static_cast<uint64_t>(duration_ns - 1);
  const int octave = 63 - std::countl_zero(value);
  const int quarter = static_cast<int>(value >> (octave - 2)) & 3;
  return std::min(1 + (octave - kFirstOctave) * 4 + quarter, Histogram::kBuckets - 1);
}

Json HistogramToJson(const Histogram& histogram) {
  Json json = Json::MakeObject();
  json.Set("count", histogram.count());
  json.Set("sum", histogram.sum_ns() * 1e-9);
  json.Set("p50", histogram.Quantile(0.5) * 1e-9);
  json.Set("p90", histogram.Quantile(0.9) * 1e-9);
  json.Set("p99", histogram.Quantile(0.99) * 1e-9);
  json.Set("max", histogram.max_ns() * 1e-9);
  return json;
}

Json StatusesToJson(const std::array<int64_t, kItemStatusCount>& by_status) {
  Json json = Json::MakeObject();
  for (int i = 0; i < kItemStatusCount; ++i) {
    if (by_status[i] > 0) json.Set(ItemStatusName(static_cast<ItemStatus>(i)), by_status[i]);
  }
  return json;
}

void Merge(const std::array<int64_t, kItemStatusCount>& from, std::array<int64_t, kItemStatusCount>* into) {
  for (int i = 0; i < kItemStatusCount; ++i) (*into)[i] += from[i];
}

void Merge(const MetricsSnapshot& from, MetricsSnapshot* into) {
  into->items_submitted += from.items_submitted;
  into->items_finished += from.items_finished;
  into->items_delivered += from.items_delivered;
  into->batches_submitted += from.batches_submitted;
  into->batches_collected += from.batches_collected;
  into->groups_delivered += from.groups_delivered;
  into->groups_zero_spread += from.groups_zero_spread;
  into->attempts_retried += from.attempts_retried;
  into->policy_values += from.policy_values;
  into->items_dropped_with_handle += from.items_dropped_with_handle;
  into->groups_dropped += from.groups_dropped;
  into->submit_ns += from.submit_ns;
  into->collect_ns += from.collect_ns;
  into->backlog_items_max = std::max(into->backlog_items_max, from.backlog_items_max);
  into->backlog_bytes_max = std::max(into->backlog_bytes_max, from.backlog_bytes_max);
  Merge(from.by_status, &into->by_status);
  into->queue.Merge(from.queue);
  into->score.Merge(from.score);
  into->deliver.Merge(from.deliver);
}

}  // namespace

int64_t Histogram::UpperBound(int i) {
  if (i == 0) return int64_t{1} << kFirstOctave;
  const int octave = kFirstOctave + (i - 1) / 4;
  const int quarter = (i - 1) % 4;
  return (int64_t{1} << octave) + (int64_t{quarter + 1} << (octave - 2));
}

void Histogram::Add(int64_t duration_ns, int64_t count) {
  buckets_[BucketOf(duration_ns)] += count;
  count_ += count;
  sum_ns_ += duration_ns * count;
  max_ns_ = std::max(max_ns_, duration_ns);
}

void Histogram::Merge(const Histogram& other) {
  for (int i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ns_ += other.sum_ns_;
  max_ns_ = std::max(max_ns_, other.max_ns_);
}

int64_t Histogram::Quantile(double q) const {
  if (count_ == 0) return 0;
  const double rank = q * static_cast<double>(count_);
  int64_t below = 0;
  for (int i = 0; i < kBuckets; ++i) {
    below += buckets_[i];
    if (buckets_[i] > 0 && static_cast<double>(below) >= rank) return std::min(UpperBound(i), max_ns_);
  }
  return max_ns_;
}

MetricsSnapshot EngineMetrics::Snapshot() const {
  // All at once: what one thread has counted after another must not show without it.
  std::vector<std::unique_lock<std::mutex>> locks;
  for (const LockedShard& one : shards_) locks.emplace_back(one.mutex);
  MetricsSnapshot snapshot;
  std::map<std::string, MetricsSnapshot::ScorerRow> scorers;
  for (const LockedShard& one : shards_) {
    Merge(one.shard.totals, &snapshot);
    for (const auto& [name, row] : one.shard.scorers) {
      MetricsSnapshot::ScorerRow& sum = scorers[name];
      sum.scorer = name;
      Merge(row.by_status, &sum.by_status);
      sum.score.Merge(row.score);
    }
  }
  for (auto& [name, row] : scorers) snapshot.scorers.push_back(std::move(row));
  return snapshot;
}

void EngineMetrics::Shard::CountItem(const RewardResult& result) {
  const int status = static_cast<int>(result.status);
  ++totals.items_finished;
  ++totals.by_status[status];
  MetricsSnapshot::ScorerRow& row = scorers[result.scorer];
  ++row.by_status[status];
  if (result.timing.started_ns == 0) return;
  const int64_t score_ns = result.timing.finished_ns - result.timing.started_ns;
  totals.queue.Add(result.timing.started_ns - result.timing.queued_ns);
  totals.score.Add(score_ns);
  row.score.Add(score_ns);
}

Json MetricsToJson(const MetricsSnapshot& s) {
  Json json = Json::MakeObject();
  json.Set("items_submitted", s.items_submitted);
  json.Set("items_finished", s.items_finished);
  json.Set("items_delivered", s.items_delivered);
  json.Set("batches_submitted", s.batches_submitted);
  json.Set("batches_collected", s.batches_collected);
  json.Set("groups_delivered", s.groups_delivered);
  json.Set("groups_zero_spread", s.groups_zero_spread);
  json.Set("groups_dropped", s.groups_dropped);
  json.Set("attempts_retried", s.attempts_retried);
  json.Set("policy_values", s.policy_values);
  json.Set("items_dropped_with_handle", s.items_dropped_with_handle);
  json.Set("submit_seconds", s.submit_ns * 1e-9);
  json.Set("collect_seconds", s.collect_ns * 1e-9);
  json.Set("backlog_items_max", s.backlog_items_max);
  json.Set("backlog_bytes_max", s.backlog_bytes_max);
  json.Set("status", StatusesToJson(s.by_status));
  json.Set("queue_seconds", HistogramToJson(s.queue));
  json.Set("score_seconds", HistogramToJson(s.score));
  json.Set("deliver_seconds", HistogramToJson(s.deliver));
  Json scorers = Json::MakeObject();
  for (const auto& row : s.scorers) {
    Json entry = Json::MakeObject();
    entry.Set("status", StatusesToJson(row.by_status));
    entry.Set("score_seconds", HistogramToJson(row.score));
    scorers.Set(row.scorer.empty() ? "none" : row.scorer, std::move(entry));
  }
  json.Set("scorers", std::move(scorers));
  return json;
}

}  // namespace rewardloop
