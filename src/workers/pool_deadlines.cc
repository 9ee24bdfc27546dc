// Calls that are late, and the workers that they keep busy.
#include <algorithm>

#include "workers/pool_state.h"

namespace rewardloop::workers {
namespace {

constexpr int64_t kShortestTickNs = 5'000'000;
constexpr int64_t kLongestTickNs = 50'000'000;

}  // namespace

void WorkerPool::ArmTickLocked() {
  if (tick_armed_ || closed_) return;
  const bool anything = !queue_.empty() || !alone_queue_.empty() ||
                        std::any_of(workers_.begin(), workers_.end(), [](const WorkerPtr& worker) {
                          return worker->state != Worker::State::kReady || !worker->running.empty();
                        });
  if (!anything) return;
  tick_armed_ = true;
  const int64_t period_ns = std::clamp(shortest_timeout_ns_ / 16, kShortestTickNs, kLongestTickNs);
  executor_.PostAt(DeadlineAfter(executor_.clock().NowNs(), period_ns), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Tick();
  });
}

void WorkerPool::Tick() {
  Lock lock(mutex_);
  tick_armed_ = false;
  if (closed_) return;
  const int64_t now_ns = executor_.clock().NowNs();
  CheckQueueLocked(&queue_, now_ns);
  CheckQueueLocked(&alone_queue_, now_ns);
  const std::vector<WorkerPtr> workers = workers_;  // checking may remove some
  for (const WorkerPtr& worker : workers) CheckWorkerLocked(worker, now_ns);
  StartWorkersLocked();
  DispatchLocked();
  ArmTickLocked();
  ResumeLocked();
}

void WorkerPool::CheckQueueLocked(std::deque<CallPtr>* queue, int64_t now_ns) {
  std::erase_if(*queue, [&](const CallPtr& call) {
    if (call->alone || now_ns < call->limits.queue_deadline_ns) return false;  // what has run once has started in time
    CompleteLocked(call, {CallReply::Kind::kQueueTimeout, "waited too long before its start"});
    return true;
  });
}

void WorkerPool::CheckWorkerLocked(const WorkerPtr& worker, int64_t now_ns) {
  if (worker->state == Worker::State::kStarting) {
    if (now_ns - worker->started_ns < options_.import_timeout_ns) return;
    const int64_t seconds = options_.import_timeout_ns / 1'000'000'000;
    worker->failure = "loading it took longer than " + std::to_string(seconds) + " s";
    worker->hint = "raise import_timeout, or do less when the file is imported";
    if (worker->process) worker->process->Kill();
    return LoseLocked(worker, "");
  }
  if (worker->interrupted != 0) {
    CheckInterruptedLocked(worker, now_ns);
    if (worker->interrupted != 0 || worker->state == Worker::State::kGone) return;
  }
  bool overdue = false;
  for (const auto& [id, running] : worker->running) {
    if (running.live()) {
      overdue = overdue || now_ns >= DeadlineAfter(running.sent_ns + running.lost_ns, running.call->limits.timeout_ns);
    } else if (now_ns - running.abandoned_ns >= kCancelGraceNs && worker->state == Worker::State::kReady) {
      RetireLocked(worker, now_ns);
    }
  }
  if (overdue) {
    JudgeOverdueLocked(worker, now_ns);
  } else {
    worker->cpu_before.clear();
  }
  if (worker->state == Worker::State::kRetiring && (!worker->has_live() || now_ns >= worker->kill_at_ns)) KillLocked(worker);
}

void WorkerPool::JudgeOverdueLocked(const WorkerPtr& worker, int64_t now_ns) {
  const BoardSnapshot board = worker->process->ReadBoard();
  std::vector<RunningCall> calls;
  std::map<int64_t, int64_t> cpu_now;
  int64_t shortest_ns = kNoDeadline;
  for (const auto& [id, running] : worker->running) {
    calls.push_back({id, running.slot, running.sent_ns});
    shortest_ns = std::min(shortest_ns, running.call->limits.timeout_ns);
    const BoardSlot& slot = board.slots[running.slot];
    if (!info_.is_async && slot.call == id) cpu_now[slot.thread] = worker->process->ThreadCpuNs(slot.thread);
  }
  const bool first_look = worker->cpu_before.empty();
  const Stall stall = FindStall(board, calls, now_ns, shortest_ns / 2, worker->cpu_before, cpu_now,
                                now_ns - worker->cpu_before_ns);
  if (!stall.stalled) {
    worker->cpu_before.clear();
    std::vector<uint64_t> late;
    for (const auto& [id, running] : worker->running) {
      const int64_t timeout_ns = running.call->limits.timeout_ns;
      int64_t began_ns = StartedNs(board, {id, running.slot, running.sent_ns});
      // Not begun: its reply is on its way, or its turn has not come. Its time begins when it does, within reason.
      if (began_ns == 0) began_ns = DeadlineAfter(running.sent_ns, timeout_ns);
      if (running.live() && now_ns >= DeadlineAfter(began_ns + running.lost_ns, timeout_ns)) late.push_back(id);
    }
    for (const uint64_t id : late) TimeOutLocked(worker, id, now_ns);
    return;
  }
  const auto culprit = worker->running.find(stall.culprit);
  if (culprit == worker->running.end()) {
    if (first_look && !cpu_now.empty()) {
      worker->cpu_before_ns = now_ns;
      worker->cpu_before = std::move(cpu_now);  // the next look, a tick later, sees whose time grows
      return;
    }
    return KillLocked(worker);  // it cannot be told who it is: each of them runs again, alone
  }
  Worker::Running& running = culprit->second;
  if (running.live()) {
    int64_t began_ns = StartedNs(board, {stall.culprit, running.slot, running.sent_ns});
    if (began_ns == 0) began_ns = running.sent_ns;
    // The others wait for its deadline: it is what keeps them from running, not they.
    if (now_ns < DeadlineAfter(began_ns, running.call->limits.timeout_ns)) return;
    TimeOutLocked(worker, stall.culprit, now_ns);
  }
  if (InterruptLocked(worker, board, stall.culprit, now_ns)) return;
  if (worker->state != Worker::State::kGone) KillLocked(worker);
}

// True when it was worth a try: its thread is another than the one that beats, so it runs Python code that can be interrupted.
bool WorkerPool::InterruptLocked(const WorkerPtr& worker, const BoardSnapshot& board, uint64_t call, int64_t now_ns) {
  constexpr int64_t kBeatsNs = 100'000'000;
  if (board.loop_call != call || now_ns - board.heartbeat_ns >= kBeatsNs) return false;
  worker->interrupted = call;
  worker->interrupted_ns = now_ns;
  worker->stalled_since_ns = board.loop_since_ns;
  worker->process->Interrupt(call);
  return true;
}

void WorkerPool::CheckInterruptedLocked(const WorkerPtr& worker, int64_t now_ns) {
  if (worker->process->ReadBoard().loop_call == worker->interrupted) {
    if (now_ns - worker->interrupted_ns >= kInterruptGraceNs) KillLocked(worker);
    return;
  }
  worker->interrupted = 0;
  for (auto& [id, running] : worker->running) running.lost_ns += now_ns - std::max(running.sent_ns, worker->stalled_since_ns);
}

void WorkerPool::TimeOutLocked(const WorkerPtr& worker, uint64_t id, int64_t now_ns) {
  Worker::Running& running = worker->running.at(id);
  CompleteLocked(running.call, {CallReply::Kind::kTimeout, "took longer than its time-out"});
  running.abandoned_ns = now_ns;
  if (info_.is_async) {
    worker->process->Send(CancelFrame({id}));
  } else if (worker->state == Worker::State::kReady) {
    RetireLocked(worker, now_ns);  // a thread cannot be stopped
  }
}

void WorkerPool::RetireLocked(const WorkerPtr& worker, int64_t now_ns) {
  int64_t longest_ns = kCancelGraceNs;
  for (const auto& [id, running] : worker->running) {
    if (running.call->limits.timeout_ns != kNoDeadline) longest_ns = std::max(longest_ns, running.call->limits.timeout_ns);
  }
  worker->state = Worker::State::kRetiring;
  worker->kill_at_ns = DeadlineAfter(now_ns, longest_ns);
  const auto retiring = std::count_if(workers_.begin(), workers_.end(), [](const WorkerPtr& one) {
    return one->state == Worker::State::kRetiring;
  });
  if (retiring > options_.workers + 1) worker->kill_at_ns = now_ns;  // hangs come faster than workers end
  StartWorkersLocked();
}

void WorkerPool::KillLocked(const WorkerPtr& worker) {
  worker->state = Worker::State::kGone;
  std::erase(workers_, worker);
  if (worker->process) worker->process->Kill();
  for (auto& [id, running] : worker->running) {
    if (running.live()) RunAgainLocked(running.call);
  }
  worker->running.clear();
  StartWorkersLocked();
}

}  // namespace rewardloop::workers
