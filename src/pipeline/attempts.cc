// Attempts: units of work that pass limits, wait, time out and are tried again.
#include <algorithm>

#include "pipeline/pipeline_impl.h"
#include "pipeline/safe_run.h"

namespace rewardloop {

void PipelineImpl::StartAttemptLocked(Attempt::Kind kind, std::vector<ItemRef> items, GroupPtr group) {
  // Cancelled while their submit waited for room: an attempt at them would wait for its limits and never be abandoned.
  std::erase_if(items, [](const ItemRef& ref) { return ref.state() == ItemState::kEnded; });
  if (items.empty()) return;
  auto attempt = std::make_shared<Attempt>();
  attempt->kind = kind;
  attempt->items = std::move(items);
  attempt->group = std::move(group);
  const RewardItem& first = attempt->items.front().item();
  const LimiterUse use = manager_->Limiter(first);
  if (!use.name.empty()) {
    attempt->limiter = engine_->FindLimiter(use.name);
    for (const ItemRef& ref : attempt->items) attempt->tokens += manager_->Limiter(ref.item()).tokens;
  }
  RememberAttemptLocked(attempt);
  ++active_work_;
  AcquireLocked(attempt);
}

void PipelineImpl::AcquireLocked(const AttemptPtr& attempt) {
  attempt->phase = Attempt::Phase::kWaitSlot;
  attempt->ticket = slots_->Acquire(0, [self = shared_from_this(), attempt] { self->OnSlot(attempt); });
}

void PipelineImpl::OnSlot(const AttemptPtr& attempt) {
  Lock lock(mutex_);
  attempt->holds_slot = true;
  if (attempt->phase != Attempt::Phase::kWaitSlot) return ReleaseLocked(*attempt);  // abandoned when it was too late
  if (!attempt->limiter) return Run(attempt, std::move(lock));
  attempt->phase = Attempt::Phase::kWaitLimiter;
  attempt->ticket =
      attempt->limiter->Acquire(attempt->tokens, [self = shared_from_this(), attempt] { self->OnLimiter(attempt); });
}

void PipelineImpl::OnLimiter(const AttemptPtr& attempt) {
  Lock lock(mutex_);
  attempt->holds_limiter = true;
  if (attempt->phase != Attempt::Phase::kWaitLimiter) return ReleaseLocked(*attempt);
  Run(attempt, std::move(lock));
}

void PipelineImpl::Run(const AttemptPtr& attempt, Lock lock) {
  // Leave out what was cancelled or dropped while it waited.
  auto& items = attempt->items;
  const int32_t number = attempt->number;
  items.erase(std::remove_if(items.begin(), items.end(),
                             [&](const ItemRef& ref) {
                               auto expected = ItemState::kQueued;
                               if (ref.state().compare_exchange_strong(expected, ItemState::kRunning)) return false;
                               return !(number > 1 && expected == ItemState::kRunning);
                             }),
              items.end());
  if (items.empty()) {
    attempt->phase = Attempt::Phase::kOver;
    ReleaseLocked(*attempt);
    ForgetAttemptLocked(attempt);
    return;
  }
  const int64_t now_ns = Now();
  attempt->phase = Attempt::Phase::kRunning;
  if (attempt->first_started_ns == kNeverNs) attempt->first_started_ns = now_ns;
  const int64_t total_ns = DeadlineAfter(attempt->first_started_ns, options_.total_timeout_ns);
  const int64_t deadline_ns = std::min(DeadlineAfter(now_ns, timeout_ns_), total_ns);
  attempt->context.emplace(MakeContext(items.front().item(), deadline_ns, attempt->stop.get_token()));
  attempt->context->total_deadline_ns = total_ns;
  attempt->context->limits = {timeout_ns_,
                              DeadlineAfter(items.front().result().timing.queued_ns, options_.queue_timeout_ns)};
  // The attempt holds its context, which must not hold it in turn.
  attempt->context->on_take_over = [self = shared_from_this(), weak = std::weak_ptr<Attempt>(attempt)] {
    if (const AttemptPtr taken = weak.lock()) self->OnTakeOver(taken);
  };
  if (deadline_ns != kNoDeadline) {
    attempt->timer = executor_.PostAt(deadline_ns, [self = shared_from_this(), attempt] { self->OnDeadline(attempt); });
  }
  for (const ItemRef& ref : items) {
    EmitLocked(PipelineEvent::Kind::kStarted, *ref.batch, ref.index, now_ns, attempt->number);
  }
  lock.unlock();

  const auto self = shared_from_this();
  if (attempt->kind == Attempt::Kind::kRun) {
    std::vector<Verdict> verdicts;
    verdicts.push_back(SafeRun([&] { return manager_->Run(items.front().item(), *attempt->context); }));
    OnVerdicts(attempt, std::move(verdicts));
  } else if (attempt->kind == Attempt::Kind::kRunAsync) {
    Spawn(manager_->RunAsync(items.front().item(), *attempt->context),
          [self, attempt](std::optional<Verdict> verdict, std::exception_ptr exception) {
            std::vector<Verdict> verdicts;
            verdicts.push_back(exception ? VerdictOfException(exception) : Checked(std::move(*verdict)));
            self->OnVerdicts(attempt, std::move(verdicts));
          });
  } else {
    std::vector<const RewardItem*> pointers;
    for (const ItemRef& ref : items) pointers.push_back(&ref.item());
    Spawn(manager_->RunMany(std::move(pointers), *attempt->context),
          [self, attempt](std::optional<std::vector<Verdict>> verdicts, std::exception_ptr exception) {
            const size_t count = attempt->items.size();
            if (exception) {
              verdicts = std::vector<Verdict>(count, VerdictOfException(exception));
            } else if (verdicts->size() != count) {
              verdicts = std::vector<Verdict>(
                  count, Verdict::Error("bad_return", "the manager returned " + std::to_string(verdicts->size()) +
                                                          " verdicts for " + std::to_string(count) + " items"));
            } else {
              for (Verdict& verdict : *verdicts) verdict = Checked(std::move(verdict));
            }
            self->OnVerdicts(attempt, std::move(*verdicts));
          });
  }
}

void PipelineImpl::OnVerdicts(const AttemptPtr& attempt, std::vector<Verdict> verdicts) {
  const int64_t now_ns = Now();
  std::vector<Digest> digests;
  for (const ItemRef& ref : attempt->items) digests.push_back(MakeDigest(ref.item()));
  Lock lock(mutex_);
  if (attempt->timer != 0) executor_.CancelTimer(attempt->timer);
  const bool late = attempt->timed_out;
  attempt->phase = Attempt::Phase::kOver;
  ReleaseLocked(*attempt);
  ForgetAttemptLocked(attempt);
  if (late) {
    // Its items went on without it. A thread that it held on to beyond its deadline was replaced.
    if (attempt->kind == Attempt::Kind::kRun) executor_.RetireThread();
    return;
  }
  // A group is judged as a whole: one retryable member sends all of them back.
  const bool any_retryable = std::any_of(verdicts.begin(), verdicts.end(), [](const Verdict& verdict) {
    return verdict.error && verdict.error->retryable;
  });
  if (any_retryable && attempt->group && RetryLocked(attempt, attempt->items, now_ns)) return CountFinishedLocked();
  std::vector<ItemRef> again;
  std::vector<size_t> final_ones;
  for (size_t k = 0; k < attempt->items.size(); ++k) {
    const bool retry = !attempt->group && verdicts[k].error && verdicts[k].error->retryable;
    if (retry) {
      again.push_back(attempt->items[k]);
    } else {
      final_ones.push_back(k);
    }
  }
  if (!again.empty() && !RetryLocked(attempt, again, now_ns)) {
    final_ones.resize(attempt->items.size());
    for (size_t k = 0; k < final_ones.size(); ++k) final_ones[k] = k;
  }
  for (const size_t k : final_ones) {
    Done done;
    done.index = attempt->items[k].index;
    done.verdict = std::move(verdicts[k]);
    const int64_t marked_ns = attempt->number == 1 ? attempt->context->started_ns() : 0;
    done.started_ns = marked_ns != 0 ? marked_ns : attempt->first_started_ns;
    done.finished_ns = now_ns;
    done.attempts = attempt->number;
    done.digest = digests[k];
    done.item_is_free = attempt->number == 1;  // an earlier attempt may still be about
    FinishLocked(attempt->items[k].batch, std::move(done));
  }
  CountFinishedLocked();
}

void PipelineImpl::OnTakeOver(const AttemptPtr& attempt) {
  Lock lock(mutex_);
  if (attempt->phase != Attempt::Phase::kRunning || attempt->timed_out) return;
  if (attempt->timer != 0) executor_.CancelTimer(attempt->timer);
  const int64_t total_ns = attempt->context->total_deadline_ns;
  attempt->timer = executor_.PostAt(total_ns, [self = shared_from_this(), attempt] { self->OnDeadline(attempt); });
}

void PipelineImpl::OnDeadline(const AttemptPtr& attempt) {
  Lock lock(mutex_);
  if (attempt->phase != Attempt::Phase::kRunning || attempt->timed_out) return;
  attempt->timed_out = true;
  if (attempt->kind == Attempt::Kind::kRun) executor_.ReplaceThread();
  const int64_t now_ns = Now();
  std::vector<ItemRef> live;
  for (const ItemRef& ref : attempt->items) {
    if (ref.state() == ItemState::kRunning) live.push_back(ref);
  }
  if (!live.empty() && !RetryLocked(attempt, live, now_ns)) {
    const bool total = now_ns >= DeadlineAfter(attempt->first_started_ns, options_.total_timeout_ns);
    for (const ItemRef& ref : live) {
      Done done;
      done.index = ref.index;
      done.verdict = Verdict::Of(ItemStatus::kTimeout, total ? "total_timeout" : "timeout",
                                 total ? "all attempts together took longer than total_timeout"
                                       : "took longer than its time-out");
      done.started_ns = attempt->first_started_ns;
      done.finished_ns = now_ns;
      done.attempts = attempt->number;
      FinishLocked(ref.batch, std::move(done));
    }
  }
  CountFinishedLocked();
  lock.unlock();
  attempt->stop.request_stop();
}

bool PipelineImpl::RetryLocked(const AttemptPtr& attempt, std::vector<ItemRef> items, int64_t now_ns) {
  if (attempt->number >= options_.max_attempts || cancelling_) return false;
  const int doublings = std::min(attempt->number - 1, 30);
  const int64_t delay_ns = options_.retry_delay_ns > (kNoDeadline >> 31) ? options_.retry_delay_ns
                                                                         : options_.retry_delay_ns << doublings;
  const int64_t start_ns = DeadlineAfter(now_ns, delay_ns);
  if (start_ns >= DeadlineAfter(attempt->first_started_ns, options_.total_timeout_ns)) return false;

  auto next = std::make_shared<Attempt>();
  next->kind = attempt->kind;
  next->group = attempt->group;
  next->number = attempt->number + 1;
  next->first_started_ns = attempt->first_started_ns;
  next->limiter = attempt->limiter;
  next->items = std::move(items);
  if (next->limiter) {
    for (const ItemRef& ref : next->items) next->tokens += manager_->Limiter(ref.item()).tokens;
  }
  next->phase = Attempt::Phase::kWaitRetry;
  ++active_work_;
  RememberAttemptLocked(next);
  for (const ItemRef& ref : next->items) {
    EmitLocked(PipelineEvent::Kind::kRetry, *ref.batch, ref.index, now_ns, attempt->number);
  }
  metrics_->Apply([&](EngineMetrics::Shard& shard) { shard.totals.attempts_retried += static_cast<int64_t>(next->items.size()); });
  next->timer = executor_.PostAt(start_ns, [self = shared_from_this(), next] {
    Lock lock(self->mutex_);
    if (next->phase == Attempt::Phase::kWaitRetry) self->AcquireLocked(next);
  });
  return true;
}

void PipelineImpl::ReleaseLocked(Attempt& attempt) {
  if (attempt.holds_limiter) attempt.limiter->Release();
  if (attempt.holds_slot) slots_->Release();
  attempt.holds_limiter = attempt.holds_slot = false;
}

void PipelineImpl::RememberAttemptLocked(const AttemptPtr& attempt) {
  for (const ItemRef& ref : attempt->items) {
    ref.batch->attempts.resize(ref.batch->items.size());
    ref.batch->attempts[ref.index] = attempt;
  }
}

void PipelineImpl::ForgetAttemptLocked(const AttemptPtr& attempt) {
  for (const ItemRef& ref : attempt->items) {
    AttemptPtr& newest = ref.batch->attempts[ref.index];
    if (newest == attempt) newest.reset();
  }
  --active_work_;
  if (closed_) room_.NotifyAll();
}

bool PipelineImpl::AbandonLocked(const AttemptPtr& attempt) {
  for (const ItemRef& ref : attempt->items) {
    if (ref.state() != ItemState::kEnded) return false;
  }
  switch (attempt->phase) {
    case Attempt::Phase::kRunning: return true;
    case Attempt::Phase::kOver: return false;
    case Attempt::Phase::kWaitRetry: executor_.CancelTimer(attempt->timer); break;
    case Attempt::Phase::kWaitSlot: (void)slots_->Withdraw(attempt->ticket); break;
    case Attempt::Phase::kWaitLimiter: (void)attempt->limiter->Withdraw(attempt->ticket); break;
  }
  attempt->phase = Attempt::Phase::kOver;
  ReleaseLocked(*attempt);
  ForgetAttemptLocked(attempt);
  return false;
}

}  // namespace rewardloop
