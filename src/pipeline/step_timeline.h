// StepTimeline: when a step's rewards were computed, against when its samples came.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "rewardloop/pipeline.h"

namespace rewardloop {

// Times are monotonic nanoseconds of the engine's clock. Not thread-safe.
class StepTimeline {
 public:
  void Begin(int64_t now_ns) { begin_ns_ = now_ns; }
  void SamplingDone(int64_t now_ns) {
    if (!sampling_done_ns_) sampling_done_ns_ = now_ns;
  }
  void AddSubmit(int64_t duration_ns) { submit_ns_ += duration_ns; }
  void AddCollectWait(int64_t duration_ns) { collect_wait_ns_ += duration_ns; }
  // One item was worked on from `started_ns` to `finished_ns`.
  void AddItem(int64_t started_ns, int64_t finished_ns);

  StepMetrics Metrics() const;

 private:
  // Gaps in the union beyond this many are closed from the oldest: the share then is an upper bound.
  static constexpr size_t kMaxIntervals = 4096;

  std::optional<int64_t> begin_ns_;
  std::optional<int64_t> sampling_done_ns_;
  std::optional<int64_t> first_start_ns_;
  std::optional<int64_t> last_finish_ns_;
  int64_t items_ = 0;
  int64_t submit_ns_ = 0;
  int64_t collect_wait_ns_ = 0;
  int64_t reward_ns_ = 0;
  std::map<int64_t, int64_t> busy_;  // disjoint intervals, begin -> end
};

}  // namespace rewardloop
