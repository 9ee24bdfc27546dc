// ScoreContext::Sleep: a wait that ends by a timer or by a stop request, whichever is first.
#include <atomic>
#include <memory>
#include <optional>

#include "base/random.h"
#include "rewardloop/scorer.h"

namespace rewardloop {
namespace {

// Timer task, stop callback and the suspending coroutine meet here. The timer's closure may outlive
// the coroutine (a task that CancelTimer() could not stop), so it shares ownership; the stop
// callback does not, since its destructor waits for it.
struct SleepState {
  struct OnStop {
    SleepState* state;
    void operator()() const noexcept { state->End(false); }
  };
  enum Phase : int { kArming, kSuspended, kEnded };

  // Called by timer and stop callback; the first one decides.
  void End(bool elapsed) {
    if (decided.exchange(true, std::memory_order_acq_rel)) return;
    time_elapsed = elapsed;
    // Still arming: await_suspend sees kEnded and goes on by itself.
    if (phase.exchange(kEnded, std::memory_order_acq_rel) != kSuspended) return;
    // Never here: the timer thread must stay free, and a stop request may come from anywhere.
    executor->Post([handle = waiter] { handle.resume(); });
  }

  Executor* executor = nullptr;
  std::coroutine_handle<> waiter;
  std::atomic<bool> decided{false};
  std::atomic<int> phase{kArming};
  bool time_elapsed = false;
  Executor::TimerId timer = 0;
  std::optional<std::stop_callback<OnStop>> on_stop;
};

class SleepAwaiter {
 public:
  SleepAwaiter(Executor* executor, int64_t deadline_ns, const std::stop_token& stop)
      : deadline_ns_(deadline_ns), stop_(stop), state_(std::make_shared<SleepState>()) {
    state_->executor = executor;
  }
  SleepAwaiter(const SleepAwaiter&) = delete;
  SleepAwaiter& operator=(const SleepAwaiter&) = delete;
  // A frame destroyed in its sleep must not be resumed any more.
  ~SleepAwaiter() { Disarm(); }

  bool await_ready() const noexcept { return false; }

  bool await_suspend(std::coroutine_handle<> waiter) {
    // After the exchange below another thread may run and destroy the coroutine, and this awaiter
    // with it.
    std::shared_ptr<SleepState> state = state_;
    state->waiter = waiter;
    state->timer = state->executor->PostAt(deadline_ns_, [state] { state->End(true); });
    state->on_stop.emplace(stop_, SleepState::OnStop{state.get()});
    return state->phase.exchange(SleepState::kSuspended, std::memory_order_acq_rel) !=
           SleepState::kEnded;
  }

  bool await_resume() {
    Disarm();
    return state_->time_elapsed;
  }

 private:
  void Disarm() {
    state_->on_stop.reset();
    const bool ended = state_->decided.exchange(true, std::memory_order_acq_rel);
    if (armed() && !(ended && state_->time_elapsed)) state_->executor->CancelTimer(state_->timer);
    state_->waiter = nullptr;
  }
  bool armed() const { return static_cast<bool>(state_->waiter); }

  const int64_t deadline_ns_;
  const std::stop_token stop_;
  std::shared_ptr<SleepState> state_;
};

}  // namespace

Task<bool> ScoreContext::Sleep(int64_t duration_ns) {
  if (!executor_ || stop_.stop_requested()) co_return false;
  if (duration_ns <= 0) co_return true;
  const int64_t deadline_ns = DeadlineAfter(executor_->clock().NowNs(), duration_ns);
  co_return co_await SleepAwaiter(executor_, deadline_ns, stop_);
}

Task<Verdict> Scorer::ScoreAsync(const RewardItem& item, ScoreContext& context) const {
  co_return Score(item, context);
}

uint64_t ScoreContext::ItemSeed(uint64_t run_seed, const RewardItem& item) {
  const uint64_t id_hash = std::hash<std::string_view>()(item.item_id);
  return Mix64(run_seed ^ Mix64(id_hash ^ Mix64(static_cast<uint64_t>(item.index.value_or(0)))));
}

ScoreContext::Limits ScoreContext::TakeOverDeadline() {
  if (on_take_over) on_take_over();
  deadline_ns_ = total_deadline_ns;
  return limits;
}

}  // namespace rewardloop
