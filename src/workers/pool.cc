#include "workers/pool.h"

#include <algorithm>
#include <utility>

#include "workers/pool_state.h"

namespace rewardloop::workers {

// Suspends a coroutine until its call is done.
struct WorkerPool::Awaiter {
  WorkerPool& pool;
  CallPtr call;

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiter) {
    // Another thread may resume, and destroy, the coroutine before this returns.
    const std::shared_ptr<WorkerPool> keep = pool.shared_from_this();
    const CallPtr mine = call;
    keep->Enqueue(mine, waiter);
  }
  void await_resume() const noexcept {}
};

std::shared_ptr<WorkerPool> WorkerPool::Make(Executor* executor, Log* log, std::unique_ptr<WorkerHost> host, PoolOptions options) {
  return std::shared_ptr<WorkerPool>(new WorkerPool(executor, log, std::move(host), std::move(options)));
}

WorkerPool::WorkerPool(Executor* executor, Log* log, std::unique_ptr<WorkerHost> host, PoolOptions options)
    : executor_(*executor), log_(*log), host_(std::move(host)), options_(std::move(options)) {}

WorkerPool::~WorkerPool() { Close(); }

Result<FunctionInfo> WorkerPool::Start() {
  Lock lock(mutex_);
  for (int i = 0; i <= options_.workers; ++i) StartWorkerLocked();
  ArmTickLocked();
  (void)executor_.WaitUntil(lock, changed_, [&] { return loaded_ || !broken_.ok() || closed_; }, kNoDeadline);
  if (!broken_.ok()) return broken_;
  if (closed_) return FailedPrecondition("the workers of '" + options_.name + "' were closed while they started");
  return info_;
}

Task<CallReply> WorkerPool::Call(CallRequest request, CallLimits limits, std::stop_token stop,
                                 std::function<void(int64_t)> started) {
  const std::shared_ptr<WorkerPool> self = shared_from_this();
  const auto call = std::make_shared<PendingCall>();
  call->request = std::move(request);
  call->limits = limits;
  call->started = std::move(started);
  const std::stop_callback on_stop(stop, [self, call] { self->Withdraw(call); });
  Awaiter done{*self, call};  // named: g++ 12 destroys such a temporary twice
  co_await done;
  co_return std::move(call->reply);
}

void WorkerPool::Enqueue(const CallPtr& call, std::coroutine_handle<> waiter) {
  Lock lock(mutex_);
  const bool withdrawn = call->state == PendingCall::State::kDone;  // before it came here, by who knew of no waiter
  if (!withdrawn) call->waiter = waiter;
  if (withdrawn) {
    to_resume_.push_back(waiter);
  } else if (closed_) {
    CompleteLocked(call, {CallReply::Kind::kCancelled, "the pipeline was closed"});
  } else if (!broken_.ok()) {
    CompleteLocked(call, {CallReply::Kind::kBroken, broken_.ToString()});
  } else {
    call->id = next_call_++;
    call->state = PendingCall::State::kQueued;
    shortest_timeout_ns_ = std::min(shortest_timeout_ns_, call->limits.timeout_ns);
    queue_.push_back(call);
    DispatchLocked();
    ArmTickLocked();
  }
  ResumeLocked();
}

void WorkerPool::Withdraw(const CallPtr& call) {
  Lock lock(mutex_);
  if (call->state == PendingCall::State::kQueued) {
    std::erase(queue_, call);
    std::erase(alone_queue_, call);
  } else if (call->state == PendingCall::State::kRunning) {
    for (const WorkerPtr& worker : workers_) {
      const auto running = worker->running.find(call->id);
      if (running == worker->running.end()) continue;
      running->second.abandoned_ns = executor_.clock().NowNs();
      if (info_.is_async) worker->process->Send(CancelFrame({call->id}));
    }
  }
  CompleteLocked(call, {CallReply::Kind::kCancelled, "nobody waits for it any more"});
  ArmTickLocked();
  ResumeLocked();
}

void WorkerPool::CompleteLocked(const CallPtr& call, CallReply reply) {
  if (call->state == PendingCall::State::kDone) return;
  call->state = PendingCall::State::kDone;
  call->reply = std::move(reply);
  call->started = nullptr;
  if (call->waiter) to_resume_.push_back(call->waiter);
}

void WorkerPool::ResumeLocked() {
  // Some to a task: each goes on to parse its reply, which is worth sharing among threads, and handing over costs too.
  constexpr size_t kPerTask = 16;
  for (size_t i = 0; i < to_resume_.size(); i += kPerTask) {
    const auto begin = to_resume_.begin() + static_cast<ptrdiff_t>(i);
    std::vector<std::coroutine_handle<>> some(begin, begin + static_cast<ptrdiff_t>(std::min(kPerTask, to_resume_.size() - i)));
    executor_.Post([some = std::move(some)] {
      for (const std::coroutine_handle<> handle : some) handle.resume();
    });
  }
  to_resume_.clear();
}

void WorkerPool::Close() {
  {
    Lock lock(mutex_);
    if (!std::exchange(closed_, true)) {
      const CallReply cancelled{CallReply::Kind::kCancelled, "the pipeline was closed"};
      for (const CallPtr& call : queue_) CompleteLocked(call, cancelled);
      for (const CallPtr& call : alone_queue_) CompleteLocked(call, cancelled);
      for (const WorkerPtr& worker : workers_) {
        for (auto& [id, running] : worker->running) CompleteLocked(running.call, cancelled);
      }
      queue_.clear();
      alone_queue_.clear();
      ResumeLocked();
      changed_.NotifyAll();
    }
  }
  host_->Close();  // without the lock: its last events take it
  Lock lock(mutex_);
  workers_.clear();
}

}  // namespace rewardloop::workers
