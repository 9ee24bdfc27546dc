#include "scorers/inline_calls.h"

#include <algorithm>
#include <utility>

namespace rewardloop {

struct InlineCalls::Pending {
  uint64_t id = 0;
  Work work;
  ScoreContext* context = nullptr;  // alive while the call is awaited
  ScoreContext::Limits limits;
  bool ended = false;  // for those who wait
  bool lost = false;
  Executor::TimerId timer = 0;  // of its queue time-out, then of its time-out
  std::coroutine_handle<> waiter;
  Reply reply;
};

struct InlineCalls::Awaiter {
  InlineCalls& calls;
  Ptr call;

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiter) {
    // Another thread may resume, and destroy, the coroutine before this returns.
    const std::shared_ptr<InlineCalls> keep = calls.shared_from_this();
    const Ptr mine = call;
    keep->Enqueue(mine, waiter);
  }
  void await_resume() const noexcept {}
};

std::shared_ptr<InlineCalls> InlineCalls::Make(Executor* executor, Log* log, std::shared_ptr<void> owner,
                                               InlineOptions options) {
  return std::shared_ptr<InlineCalls>(new InlineCalls(executor, log, std::move(owner), std::move(options)));
}

InlineCalls::InlineCalls(Executor* executor, Log* log, std::shared_ptr<void> owner, InlineOptions options)
    : owner_(std::move(owner)), executor_(*executor), log_(*log), options_(std::move(options)) {}

Task<InlineCalls::Reply> InlineCalls::Call(std::string json, uint32_t items, ScoreContext& context,
                                           ScoreContext::Limits limits) {
  const std::shared_ptr<InlineCalls> self = shared_from_this();
  const auto call = std::make_shared<Pending>();
  call->work.json = std::move(json);
  call->work.items = items;
  call->context = &context;
  call->limits = limits;
  const std::stop_callback on_stop(context.stop(), [self, call] {
    self->GiveUp(call, {Reply::Kind::kCancelled, "nobody waits for it any more"});
  });
  Awaiter done{*self, call};  // named: g++ 12 destroys such a temporary twice
  co_await done;
  co_return std::move(call->reply);
}

void InlineCalls::Enqueue(const Ptr& call, std::coroutine_handle<> waiter) {
  Lock lock(mutex_);
  if (call->ended) {  // given up before it came here, by who knew of no waiter
    executor_.Post([waiter] { waiter.resume(); });
    return;
  }
  call->waiter = waiter;
  if (closed_) {
    EndLocked(call, {Reply::Kind::kCancelled, "the pipeline was closed"});
  } else if (AllLostLocked()) {
    EndLocked(call, {Reply::Kind::kNoThread, "all " + std::to_string(options_.threads) + " threads of '" + options_.name +
                                                 "' hang in earlier calls"});
  } else {
    call->id = call->work.id = next_id_++;
    queue_.push_back(call);
    call->timer = executor_.PostAt(call->limits.queue_deadline_ns, [self = shared_from_this(), call] {
      self->GiveUp(call, {Reply::Kind::kQueueTimeout, "waited too long before its start"});
    });
    work_.NotifyAll();
  }
}

std::optional<std::vector<InlineCalls::Work>> InlineCalls::Fetch(size_t most) {
  Lock lock(mutex_);
  (void)executor_.WaitUntil(lock, work_, [&] { return closed_ || !queue_.empty() || !cancelled_.empty(); }, kNoDeadline);
  if (closed_) return std::nullopt;
  std::vector<Work> works;
  for (; !cancelled_.empty() && works.size() < most; cancelled_.pop_front()) {
    works.push_back({.id = cancelled_.front(), .cancel = true, .json = {}});
  }
  const int64_t now_ns = executor_.clock().NowNs();
  for (; !queue_.empty() && works.size() < most; queue_.pop_front()) {
    const Ptr call = queue_.front();
    if (call->timer != 0) executor_.CancelTimer(call->timer);
    call->context->MarkStarted(now_ns);
    running_.emplace(call->id, call);
    works.push_back(std::move(call->work));
    call->timer = executor_.PostAt(DeadlineAfter(now_ns, call->limits.timeout_ns), [self = shared_from_this(), call] {
      self->GiveUp(call, {Reply::Kind::kTimeout, "took longer than its time-out; it runs in this process and cannot be killed"});
    });
  }
  return works;
}

void InlineCalls::Complete(uint64_t id, std::string reply) {
  Lock lock(mutex_);
  const auto found = running_.find(id);
  if (found == running_.end()) return;
  const Ptr call = found->second;
  running_.erase(found);
  if (call->lost) --lost_;
  EndLocked(call, {Reply::Kind::kReturned, std::move(reply)});
}

void InlineCalls::GiveUp(const Ptr& call, Reply reply) {
  Lock lock(mutex_);
  if (call->ended) return;
  if (running_.count(call->id) != 0) {
    if (options_.cancellable) {
      cancelled_.push_back(call->id);
      work_.NotifyAll();
    } else {
      call->lost = true;
      ++lost_;
    }
  } else {
    // A queue time-out that lost the race against Fetch() finds the call running: the branch above.
    std::erase(queue_, call);
  }
  EndLocked(call, std::move(reply));
  if (AllLostLocked()) RefuseQueuedLocked();
}

void InlineCalls::EndLocked(const Ptr& call, Reply reply) {
  if (call->ended) return;
  call->ended = true;
  call->context = nullptr;
  call->reply = std::move(reply);
  if (call->timer != 0) executor_.CancelTimer(call->timer);
  if (call->waiter) executor_.Post([waiter = call->waiter] { waiter.resume(); });
}

void InlineCalls::RefuseQueuedLocked() {
  log_.Write(LogLevel::kError, "lost:" + options_.name,
                       "all threads of '" + options_.name + "' hang: its items are rejected until one comes back. Functions of a "
                       "file run in processes that can be killed; write 'path/to/file.py:name' to use one");
  for (const Ptr& call : queue_) {
    EndLocked(call, {Reply::Kind::kNoThread, "all threads of '" + options_.name + "' hang in earlier calls"});
  }
  queue_.clear();
}

void InlineCalls::Close() {
  Lock lock(mutex_);
  closed_ = true;
  const Reply closed{Reply::Kind::kCancelled, "the pipeline was closed"};
  for (const Ptr& call : queue_) EndLocked(call, closed);
  for (auto& [id, call] : running_) EndLocked(call, closed);
  queue_.clear();
  running_.clear();
  work_.NotifyAll();
}

int InlineCalls::lost() const {
  Lock lock(mutex_);
  return lost_;
}

}  // namespace rewardloop
