#include "rewardloop/limiter.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "async/token_bucket.h"

namespace rewardloop {
namespace {

// One queue, of which only the head is looked at. The head takes its slot, its request token and its tokens in one step, as
// soon as all three are there: nothing is spent for a request that still waits for a slot or is withdrawn.
class QueuedLimiter : public Limiter, public std::enable_shared_from_this<QueuedLimiter> {
 public:
  QueuedLimiter(LimiterOptions options, Executor* executor)
      : options_(options),
        executor_(executor),
        requests_(options.max_rpm, executor->clock().NowNs()),
        tokens_(options.max_tpm, executor->clock().NowNs()) {}

  ~QueuedLimiter() override {
    if (timer_armed_) executor_->CancelTimer(timer_);
  }

  Ticket Acquire(double tokens, std::function<void()> granted) override {
    std::lock_guard<std::mutex> lock(mutex_);
    const Ticket ticket = ++last_ticket_;
    queue_.emplace_hint(queue_.end(), ticket, Waiter{tokens, std::move(granted)});
    // Behind others the head's timer or the next Release() is what matters.
    if (queue_.size() == 1) GrantLocked();
    return ticket;
  }

  bool Withdraw(Ticket ticket) override {
    std::function<void()> dropped;  // destroyed after the lock: its captures may call back
    std::lock_guard<std::mutex> lock(mutex_);
    auto waiter = queue_.find(ticket);
    if (waiter == queue_.end()) return false;
    const bool was_head = waiter == queue_.begin();
    dropped = std::move(waiter->second.granted);
    queue_.erase(waiter);
    if (was_head) GrantLocked();
    return true;
  }

  void Release() override {
    std::lock_guard<std::mutex> lock(mutex_);
    in_flight_ = std::max<int64_t>(0, in_flight_ - 1);
    GrantLocked();
  }

  const LimiterOptions& options() const override { return options_; }
  int64_t in_flight() const override {
    std::lock_guard<std::mutex> lock(mutex_);
    return in_flight_;
  }
  int64_t max_in_flight() const override {
    std::lock_guard<std::mutex> lock(mutex_);
    return max_in_flight_;
  }
  int64_t waiting() const override {
    std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<int64_t>(queue_.size());
  }

 private:
  struct Waiter {
    double tokens;
    std::function<void()> granted;
  };

  bool SlotFree() const {
    return options_.max_concurrent <= 0 || in_flight_ < options_.max_concurrent;
  }

  // Grants from the head on as far as possible, then makes sure that something wakes the new head.
  void GrantLocked() {
    while (!queue_.empty() && SlotFree()) {
      const int64_t now_ns = executor_->clock().NowNs();
      Waiter& head = queue_.begin()->second;
      const int64_t wait_ns =
          std::max(requests_.WaitNs(1, now_ns), tokens_.WaitNs(head.tokens, now_ns));
      if (wait_ns > 0) return WakeAtLocked(DeadlineAfter(now_ns, wait_ns));
      requests_.Take(1);
      tokens_.Take(head.tokens);
      ++in_flight_;
      max_in_flight_ = std::max(max_in_flight_, in_flight_);
      // Posted under the lock, so that callbacks are queued in the order of grants.
      executor_->Post(std::move(head.granted));
      queue_.erase(queue_.begin());
    }
    DisarmLocked();
  }

  void WakeAtLocked(int64_t deadline_ns) {
    if (timer_armed_ && timer_deadline_ns_ == deadline_ns) return;
    DisarmLocked();
    timer_deadline_ns_ = deadline_ns;
    timer_armed_ = true;
    timer_ = executor_->PostAt(deadline_ns, [weak = weak_from_this(), generation = generation_] {
      if (auto self = weak.lock()) self->OnTimer(generation);
    });
  }

  void DisarmLocked() {
    if (!timer_armed_) return;
    timer_armed_ = false;
    ++generation_;
    executor_->CancelTimer(timer_);
  }

  void OnTimer(uint64_t generation) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (generation != generation_) return;  // too late to be cancelled
    timer_armed_ = false;
    ++generation_;
    GrantLocked();
  }

  const LimiterOptions options_;
  Executor* const executor_;

  mutable std::mutex mutex_;
  TokenBucket requests_;
  TokenBucket tokens_;
  std::map<Ticket, Waiter> queue_;  // tickets grow: in order of arrival
  Ticket last_ticket_ = 0;
  int64_t in_flight_ = 0;
  int64_t max_in_flight_ = 0;
  Executor::TimerId timer_ = 0;
  int64_t timer_deadline_ns_ = 0;
  uint64_t generation_ = 0;
  bool timer_armed_ = false;
};

}  // namespace

std::shared_ptr<Limiter> Limiter::Make(LimiterOptions options, Executor* executor) {
  return std::make_shared<QueuedLimiter>(options, executor);
}

}  // namespace rewardloop
