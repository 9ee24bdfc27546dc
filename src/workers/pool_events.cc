// What workers say, and how they end.
#include <algorithm>
#include <utility>

#include "workers/pool_state.h"

namespace rewardloop::workers {
namespace {

std::string Text(const Json& object, std::string_view key) {
  const Json* const value = object.Find(key);
  return value && value->is_string() ? value->AsString() : "";
}

bool Flag(const Json& object, std::string_view key) {
  const Json* const value = object.Find(key);
  return value && value->is_bool() && value->AsBool();
}

}  // namespace

void WorkerPool::OnFrame(const WorkerPtr& worker, uint8_t kind, std::string_view body) {
  Lock lock(mutex_);
  if (closed_ || worker->state == Worker::State::kGone) return;
  if (kind == kReplies) {
    OnRepliesLocked(worker, body);
  } else if (const Result<Json> message = Json::Parse(body); message.ok()) {
    if (kind == kReady) OnReadyLocked(worker, *message);
    if (kind == kText) OnTextLocked(worker, *message);
    if (kind == kFailed) {
      worker->failure = Text(*message, "message");
      worker->hint = Text(*message, "hint");
    }
  }
  DispatchLocked();
  ResumeLocked();
}

void WorkerPool::OnReadyLocked(const WorkerPtr& worker, const Json& info) {
  if (worker->state != Worker::State::kStarting) return;
  worker->state = Worker::State::kReady;
  worker->ready_ns = executor_.clock().NowNs();
  if (loaded_) {
    StartWorkersLocked();
    if (Text(info, "digest") != info_.digest) {
      log_.Write(LogLevel::kWarning, "edited:" + options_.name,
                 info_.file + " was edited while a pipeline uses it: workers that start from now on run the new text; make "
                              "a new pipeline to use it everywhere");
    }
    return;
  }
  info_.is_async = Flag(info, "async");
  info_.is_batch = Flag(info, "batch");
  info_.form = Text(info, "form");
  info_.file = Text(info, "file");
  info_.digest = Text(info, "digest");
  info_.python = Text(info, "python");
  loaded_ = true;
  changed_.NotifyAll();
}

void WorkerPool::OnRepliesLocked(const WorkerPtr& worker, std::string_view body) {
  const bool whole = ForEachReply(body, [&](uint64_t id, std::string_view json) {
    const auto found = worker->running.find(id);
    if (found == worker->running.end()) return;
    worker->free_slots.push_back(found->second.slot);
    if (found->second.live()) CompleteLocked(found->second.call, {CallReply::Kind::kVerdicts, std::string(json)});
    worker->running.erase(found);
  });
  if (!whole) {
    worker->process->Kill();
    return LoseLocked(worker, "said something that makes no sense");
  }
  worker->answered = true;
  start_failures_ = 0;
  if (worker->running.empty()) worker->exclusive = false;
  if (worker->state == Worker::State::kRetiring && !worker->has_live()) KillLocked(worker);
}

void WorkerPool::OnTextLocked(const WorkerPtr& worker, const Json& text) {
  if (!text.is_array() || text.size() != 3 || !text.AsArray()[1].is_string()) return;
  const uint64_t id = text.AsArray()[0].is_int() ? static_cast<uint64_t>(text.AsArray()[0].AsInt()) : 0;
  const Json& kind = text.AsArray()[2];
  const auto running = worker->running.find(id);
  const std::string who = running == worker->running.end() ? options_.name : running->second.call->request.label;
  const std::string line = "[" + who + "] " + text.AsArray()[1].AsString();
  log_.Write(LogLevel::kOutput, kind.is_string() ? options_.name + ' ' + kind.AsString() : line, line);
}

void WorkerPool::OnExit(const WorkerPtr& worker, const std::string& how) {
  Lock lock(mutex_);
  if (closed_ || worker->state == Worker::State::kGone) return;  // killed by us: its calls have gone on
  LoseLocked(worker, how);
  DispatchLocked();
  ArmTickLocked();
  ResumeLocked();
}

void WorkerPool::LoseLocked(const WorkerPtr& worker, const std::string& how) {
  const Worker::State state = std::exchange(worker->state, Worker::State::kGone);
  // Died of nothing that a call did: others would too, as fast as they are started.
  const bool idle = state == Worker::State::kReady && worker->running.empty() && !worker->answered &&
                    executor_.clock().NowNs() - worker->ready_ns < kSettledNs;
  std::erase(workers_, worker);
  for (auto& [id, running] : worker->running) {
    if (!running.live()) continue;
    const CallPtr& call = running.call;
    if (++call->deaths >= 2) {
      CompleteLocked(call, {CallReply::Kind::kPoison, "its worker died with it twice; the second time it " + how});
    } else {
      RunAgainLocked(call);
    }
  }
  worker->running.clear();
  if (state == Worker::State::kStarting) {
    OnStartFailureLocked(*worker,
                         worker->failure.empty() ? "its worker " + how + " before it had loaded the function" : worker->failure);
  } else if (idle) {
    OnStartFailureLocked(*worker, "its worker " + how + " right after its start");
  }
  StartWorkersLocked();
}

void WorkerPool::OnStartFailureLocked(const Worker& worker, const std::string& why) {
  const std::string& hint = worker.hint;
  const std::string text = "'" + options_.name + "' cannot be used: " + why;
  if (!loaded_) {
    broken_ = InvalidArgument(text, hint);
    FailQueuedLocked();
    changed_.NotifyAll();
    return;
  }
  if (worker.started_ns - last_failure_ns_ > kSettledNs) start_failures_ = 0;
  last_failure_ns_ = executor_.clock().NowNs();
  ++start_failures_;
  log_.Write(LogLevel::kWarning, "start:" + options_.name, "a new worker could not be started: " + text);
  const bool any_left = std::any_of(workers_.begin(), workers_.end(), [](const WorkerPtr& one) {
    return one->state == Worker::State::kReady;
  });
  if (start_failures_ >= kMaxStartFailures && !any_left) {
    broken_ = Status(StatusCode::kUnavailable, text + " (" + std::to_string(start_failures_) + " starts in a row failed)", hint);
    FailQueuedLocked();
    return;
  }
  if (std::exchange(restart_waits_, true)) return;
  const int64_t delay_ns = kFirstRestartDelayNs << std::min(start_failures_ - 1, kMaxStartFailures);
  executor_.PostAt(DeadlineAfter(executor_.clock().NowNs(), delay_ns), [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    Lock lock(self->mutex_);
    self->restart_waits_ = false;
    self->StartWorkersLocked();
    self->ArmTickLocked();
  });
}

void WorkerPool::RunAgainLocked(const CallPtr& call) {
  if (!broken_.ok()) return CompleteLocked(call, {CallReply::Kind::kBroken, broken_.ToString()});
  call->alone = true;
  call->state = PendingCall::State::kQueued;
  alone_queue_.push_back(call);
}

}  // namespace rewardloop::workers
