// Scheduling of admitted items, and the fast path: CPU items without limits, many to a task.
#include <algorithm>

#include "base/hash128.h"
#include "pipeline/pipeline_impl.h"
#include "pipeline/safe_run.h"

namespace rewardloop {

void PipelineImpl::ScheduleLocked(const BatchPtr& batch, int32_t begin, int32_t end) {
  const Granularity granularity = manager_->granularity();
  if (granularity == Granularity::kBatch) {
    const int32_t most = static_cast<int32_t>(std::clamp<size_t>(manager_->max_batch(), 1, 1 << 20));
    std::vector<ItemRef> items;
    for (int32_t i = begin; i < end; ++i) {
      if (batch->is_leader(i)) items.push_back({batch, i});
      if (static_cast<int32_t>(items.size()) == most || (i + 1 == end && !items.empty())) {
        StartAttemptLocked(Attempt::Kind::kRunMany, std::exchange(items, {}), nullptr);
      }
    }
    return;
  }
  if (granularity == Granularity::kGroup) {
    for (int32_t i = begin; i < end; ++i) {
      if (!batch->is_leader(i)) continue;
      const GroupPtr group = batch->group_of.empty() ? nullptr : batch->group_of[i];
      if (group) {
        MaybeGroupLocked(group);
      } else {
        StartAttemptLocked(Attempt::Kind::kRunMany, {{batch, i}}, nullptr);
      }
    }
    return;
  }
  int32_t run_begin = begin;
  for (int32_t i = begin; i < end; ++i) {
    const RewardItem& item = batch->items[i];
    const bool is_async = manager_->execution(item) == Execution::kAsync;
    const bool in_chunk = batch->is_leader(i) && !is_async && manager_->Limiter(item).name.empty();
    if (in_chunk) continue;
    PostChunksLocked(batch, run_begin, i);
    run_begin = i + 1;
    if (!batch->is_leader(i)) continue;  // gets the result of its session's last row
    StartAttemptLocked(is_async ? Attempt::Kind::kRunAsync : Attempt::Kind::kRun, {{batch, i}}, nullptr);
  }
  PostChunksLocked(batch, run_begin, end);
}

void PipelineImpl::PostChunksLocked(const BatchPtr& batch, int32_t begin, int32_t end) {
  if (begin >= end) return;
  // Enough chunks for all threads, but not so small that handing them over costs more than the work.
  const int32_t share = (end - begin + executor_.concurrency() - 1) / executor_.concurrency();
  const int32_t size = std::clamp(share, 1, kChunkItems);
  for (int32_t i = begin; i < end; i += size) {
    ++active_work_;
    chunks_.push_back({batch, i, std::min(i + size, end)});
  }
  PostDrainersLocked();
}

void PipelineImpl::PostDrainersLocked() {
  queued_chunks_ = chunks_.size();
  // Those that have not begun, and the one that lingers, will take one each.
  while (drainers_ < executor_.concurrency() && chunks_.size() > static_cast<size_t>(posted_drainers_ + drainer_lingers_)) {
    ++drainers_;
    ++posted_drainers_;
    Post([self = shared_from_this()] { self->Drain(); });
  }
}

void PipelineImpl::Drain() {
  const auto drainer = std::make_shared<Drainer>();
  const bool watched = timeout_ns_ != kNoDeadline;
  const int64_t turn_end_ns = DeadlineAfter(Now(), kTurnNs);
  Lock lock = LockSoon();
  --posted_drainers_;
  std::list<std::shared_ptr<Drainer>>::iterator entry;
  if (watched) {
    entry = watched_.insert(watched_.end(), drainer);
    ArmWatchdogLocked();
  }
  bool again = false;
  for (int taken = 0; !chunks_.empty() || LingerLocked(&lock); ++taken) {
    again = taken == kChunksPerTurn || (taken > 0 && (executor_.Choose(2) != 0 || Now() > turn_end_ns));
    if (again) break;
    std::swap(chunks_.front(), chunks_[executor_.Choose(chunks_.size())]);
    drainer->chunk = std::move(chunks_.front());
    chunks_.pop_front();
    queued_chunks_ = chunks_.size();
    lock.unlock();
    const bool kept = RunChunk(*drainer);
    lock = LockSoon();
    --active_work_;
    if (closed_) room_.NotifyAll();
    if (!kept) {  // the watchdog has given its place to another
      watched_.erase(entry);
      executor_.RetireThread();
      return;
    }
    FinishChunkLocked(*drainer);
  }
  if (watched) watched_.erase(entry);
  if (again) {
    ++posted_drainers_;
    Post([self = shared_from_this()] { self->Drain(); });
  } else {
    --drainers_;
  }
}

bool PipelineImpl::LingerLocked(Lock* lock) {
  if (drainer_lingers_ || closed_) return false;
  drainer_lingers_ = true;
  lock->unlock();
  executor_.Linger([this] { return queued_chunks_.load(std::memory_order_relaxed) > 0; });
  *lock = LockSoon();
  drainer_lingers_ = false;
  return !chunks_.empty();
}

bool PipelineImpl::RunChunk(Drainer& drainer) {
  const bool watched = timeout_ns_ != kNoDeadline;
  const BatchPtr& batch = drainer.chunk.batch;
  int64_t now_ns = Now();
  int64_t flush_ns = now_ns;
  for (int32_t i = drainer.chunk.begin; i < drainer.chunk.end; ++i) {
    auto expected = ItemState::kQueued;
    if (!batch->rows[i].state.compare_exchange_strong(expected, ItemState::kRunning)) continue;
    const int64_t started_ns = now_ns;
    if (watched) {
      std::lock_guard<std::mutex> guard(drainer.mutex);
      drainer.index = i;
      drainer.started_ns = started_ns;
    }
    const RewardItem& item = batch->items[i];
    ScoreContext context = MakeContext(item, DeadlineAfter(started_ns, timeout_ns_), {});
    Done done;
    done.index = i;
    done.verdict = SafeRun([&] { return manager_->Run(item, context); });
    now_ns = Now();
    done.started_ns = started_ns;
    done.finished_ns = now_ns;
    done.attempts = 1;
    done.digest = MakeDigest(item);
    done.from_chunk = done.item_is_free = true;
    if (watched && now_ns - started_ns > timeout_ns_) {
      done.verdict = Verdict::Of(ItemStatus::kTimeout, "timeout", "took longer than its time-out");
    }
    std::unique_lock<std::mutex> guard(drainer.mutex, std::defer_lock);
    if (watched) guard.lock();
    drainer.started_ns = kNeverNs;
    if (drainer.abandoned) return false;
    drainer.done.push_back(std::move(done));
    if (guard) guard.unlock();
    if (now_ns - flush_ns > kFlushAfterNs) {
      Lock lock(mutex_);
      FinishChunkLocked(drainer);
      flush_ns = now_ns;
    }
  }
  return true;
}

void PipelineImpl::FinishChunkLocked(Drainer& drainer) {
  if (drainer.done.empty()) return;
  // Only the watchdog looks at it besides, with the pipeline's mutex held.
  for (Done& one : drainer.done) {
    const int32_t index = one.index;
    if (one.verdict.error && one.verdict.error->retryable && one.verdict.status != ItemStatus::kScored &&
        options_.max_attempts > 1 && drainer.chunk.batch->rows[index].state == ItemState::kRunning) {
      // Leaves the fast path: another attempt waits for its time.
      auto attempt = std::make_shared<Attempt>();
      attempt->kind = Attempt::Kind::kRun;
      attempt->first_started_ns = one.started_ns;
      if (RetryLocked(attempt, {{drainer.chunk.batch, index}}, one.finished_ns)) continue;
    }
    FinishLocked(drainer.chunk.batch, std::move(one));
  }
  drainer.done.clear();
  CountFinishedLocked();
}

void PipelineImpl::ArmWatchdogLocked() {
  if (watchdog_armed_) return;
  watchdog_armed_ = true;
  const int64_t period_ns = std::clamp<int64_t>(timeout_ns_ / 4, 1'000'000, 1'000'000'000);
  executor_.PostAt(DeadlineAfter(Now(), period_ns), [self = shared_from_this()] { self->RunWatchdog(); });
}

void PipelineImpl::RunWatchdog() {
  Lock lock(mutex_);
  const int64_t now_ns = Now();
  for (const auto& drainer : watched_) {
    std::vector<Done> done;
    {
      std::lock_guard<std::mutex> guard(drainer->mutex);
      if (drainer->abandoned || drainer->started_ns == kNeverNs || now_ns - drainer->started_ns <= timeout_ns_) continue;
      drainer->abandoned = true;
      done.swap(drainer->done);
      Done& late = done.emplace_back();
      late.index = drainer->index;
      late.verdict = Verdict::Of(ItemStatus::kTimeout, "timeout", "took longer than its time-out and could not be stopped");
      late.started_ns = drainer->started_ns;
      late.finished_ns = now_ns;
      late.attempts = 1;
      late.from_chunk = true;
    }
    executor_.ReplaceThread();
    --drainers_;
    const BatchPtr batch = drainer->chunk.batch;
    const int32_t next = done.back().index + 1;
    engine_->log().Write(LogLevel::kWarning, "lost_thread " + manager_->name(),
                         "item '" + batch->items[next - 1].item_id + "' ran beyond its time-out of " +
                             Json(static_cast<double>(timeout_ns_) * 1e-9).Dump() +
                             " s and cannot be stopped: its thread is lost until it comes back");
    for (Done& one : done) FinishLocked(batch, std::move(one));
    PostChunksLocked(batch, next, drainer->chunk.end);
    PostDrainersLocked();
  }
  CountFinishedLocked();
  watchdog_armed_ = false;
  if (!watched_.empty()) ArmWatchdogLocked();
}

ScoreContext PipelineImpl::MakeContext(const RewardItem& item, int64_t deadline_ns, std::stop_token stop) const {
  ScoreContext context(&executor_, deadline_ns, std::move(stop), ScoreContext::ItemSeed(options_.seed, item));
  context.run_seed = options_.seed;
  return context;
}

Digest PipelineImpl::MakeDigest(const RewardItem& item) const {
  Hash128 hash;
  for (const Output& output : item.outputs) {
    if (output.text) hash.Add(*output.text);
    hash.Add(output.text ? 1 : 0);
  }
  if (item.ground_truth.is_string()) {
    hash.Add(item.ground_truth.AsString());
  } else {
    hash.Add(item.ground_truth.DumpSorted());
  }
  if (const Scorer* scorer = manager_->ScorerOf(item)) {
    hash.Add(scorer->name());
    hash.Add(scorer->version());
  }
  return hash.Finish();
}

}  // namespace rewardloop
