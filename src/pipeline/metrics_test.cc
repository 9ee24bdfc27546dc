#include "pipeline/engine_metrics.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace rewardloop {
namespace {

RewardResult Ended(const std::string& scorer, ItemStatus status, int64_t started_ns, int64_t finished_ns) {
  RewardResult result;
  result.scorer = scorer;
  result.status = status;
  result.timing.queued_ns = 1;
  result.timing.started_ns = started_ns;
  result.timing.finished_ns = finished_ns;
  return result;
}

TEST(EngineMetrics, CountsOfAllThreadsAddUp) {
  EngineMetrics metrics;
  std::vector<std::thread> threads;
  for (int64_t i = 1; i <= 40; ++i) {  // more than shards
    threads.emplace_back([&metrics, i] {
      metrics.Apply([&](EngineMetrics::Shard& shard) {
        shard.totals.items_submitted += i;
        shard.totals.backlog_items_max = std::max(shard.totals.backlog_items_max, i);
        shard.CountItem(Ended(i % 2 == 0 ? "even" : "odd", ItemStatus::kScored, 1'000'001, 1'000'001 + i * 1'000'000));
        shard.CountItem(Ended("odd", ItemStatus::kTimeout, 0, 5));
      });
    });
  }
  for (std::thread& thread : threads) thread.join();

  const MetricsSnapshot snapshot = metrics.Snapshot();
  EXPECT_EQ(snapshot.items_submitted, 40 * 41 / 2);
  EXPECT_EQ(snapshot.items_finished, 80);
  EXPECT_EQ(snapshot.backlog_items_max, 40);
  EXPECT_EQ(snapshot.by_status[static_cast<int>(ItemStatus::kScored)], 40);
  EXPECT_EQ(snapshot.by_status[static_cast<int>(ItemStatus::kTimeout)], 40);
  EXPECT_EQ(snapshot.queue.count(), 40);  // those that never started are not in it
  EXPECT_EQ(snapshot.queue.sum_ns(), 40'000'000);
  EXPECT_EQ(snapshot.score.sum_ns(), 820'000'000);
  EXPECT_EQ(snapshot.score.max_ns(), 40'000'000);
  ASSERT_EQ(snapshot.scorers.size(), 2u);
  EXPECT_EQ(snapshot.scorers[0].scorer, "even");
  EXPECT_EQ(snapshot.scorers[0].score.sum_ns(), 420'000'000);  // 2 + 4 + ... + 40 ms
  EXPECT_EQ(snapshot.scorers[1].by_status[static_cast<int>(ItemStatus::kTimeout)], 40);
}

}  // namespace
}  // namespace rewardloop
