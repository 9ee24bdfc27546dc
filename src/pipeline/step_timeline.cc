#include "pipeline/step_timeline.h"

#include <algorithm>

namespace rewardloop {

void StepTimeline::AddItem(int64_t started_ns, int64_t finished_ns) {
  ++items_;
  reward_ns_ += finished_ns - started_ns;
  first_start_ns_ = std::min(first_start_ns_.value_or(started_ns), started_ns);
  last_finish_ns_ = std::max(last_finish_ns_.value_or(finished_ns), finished_ns);

  if (!begin_ns_) return;  // without marks nobody can ask for the share
  // Merge into the union of busy time.
  auto next = busy_.upper_bound(started_ns);
  if (next != busy_.begin()) {
    const auto before = std::prev(next);
    if (before->second >= started_ns) {
      started_ns = before->first;
      finished_ns = std::max(finished_ns, before->second);
      busy_.erase(before);
    }
  }
  while (next != busy_.end() && next->first <= finished_ns) {
    finished_ns = std::max(finished_ns, next->second);
    next = busy_.erase(next);
  }
  busy_.emplace(started_ns, finished_ns);
  if (busy_.size() > kMaxIntervals) {
    const auto second = std::next(busy_.begin());
    busy_.begin()->second = second->second;
    busy_.erase(second);
  }
}

StepMetrics StepTimeline::Metrics() const {
  StepMetrics metrics;
  metrics.items = items_;
  metrics.submit_s = submit_ns_ * 1e-9;
  metrics.collect_wait_s = collect_wait_ns_ * 1e-9;
  metrics.reward_s = reward_ns_ * 1e-9;
  if (begin_ns_ && first_start_ns_) metrics.reward_head_start_s = (*first_start_ns_ - *begin_ns_) * 1e-9;
  if (!begin_ns_ || !sampling_done_ns_ || !last_finish_ns_) return metrics;
  metrics.reward_tail_after_sample_s = (*last_finish_ns_ - *sampling_done_ns_) * 1e-9;
  if (submit_ns_ + reward_ns_ > 0) {
    metrics.overlap_ratio =
        1.0 - static_cast<double>(collect_wait_ns_) / static_cast<double>(submit_ns_ + reward_ns_);
  }
  int64_t total_ns = 0, inside_ns = 0;
  for (const auto& [begin, end] : busy_) {
    total_ns += end - begin;
    inside_ns += std::max<int64_t>(0, std::min(end, *sampling_done_ns_) - begin);
  }
  if (total_ns > 0) metrics.reward_share_in_sampling = static_cast<double>(inside_ns) / static_cast<double>(total_ns);
  return metrics;
}

}  // namespace rewardloop
