#include "scorers/all_of.h"

#include <atomic>
#include <memory>

#include "scorers/guard.h"

namespace rewardloop {
namespace {

struct Gathering {
  std::vector<Verdict> verdicts;
  std::atomic<size_t> running{0};
  std::coroutine_handle<> waiter;
};

class AllOfAwaiter {
 public:
  explicit AllOfAwaiter(std::vector<Task<Verdict>> tasks)
      : tasks_(std::move(tasks)), gathering_(std::make_shared<Gathering>()) {}

  bool await_ready() const noexcept { return tasks_.empty(); }

  bool await_suspend(std::coroutine_handle<> waiter) {
    // Shared with the tasks: the last one to end resumes the waiter, which destroys this awaiter.
    std::shared_ptr<Gathering> gathering = gathering_;
    gathering->waiter = waiter;
    gathering->verdicts.resize(tasks_.size());
    // One more for this loop, so that nobody resumes before all are started.
    gathering->running.store(tasks_.size() + 1, std::memory_order_relaxed);
    for (size_t i = 0; i < tasks_.size(); ++i) {
      Spawn(std::move(tasks_[i]), [gathering, i](std::optional<Verdict> verdict, std::exception_ptr thrown) {
        gathering->verdicts[i] = thrown ? VerdictOfException(thrown) : std::move(*verdict);
        if (gathering->running.fetch_sub(1, std::memory_order_acq_rel) == 1) gathering->waiter.resume();
      });
    }
    return gathering->running.fetch_sub(1, std::memory_order_acq_rel) != 1;
  }

  std::vector<Verdict> await_resume() { return std::move(gathering_->verdicts); }

 private:
  std::vector<Task<Verdict>> tasks_;
  std::shared_ptr<Gathering> gathering_;
};

}  // namespace

Task<std::vector<Verdict>> AllOf(std::vector<Task<Verdict>> tasks) {
  std::vector<Verdict> verdicts = co_await AllOfAwaiter(std::move(tasks));
  co_return verdicts;
}

}  // namespace rewardloop
