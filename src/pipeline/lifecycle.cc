// Steps, cancellation, dropped handles, closing.
#include <algorithm>
#include <utility>

#include "pipeline/engine_impl.h"
#include "pipeline/pipeline_impl.h"

namespace rewardloop {

PipelineImpl::PipelineImpl(std::shared_ptr<Engine> engine, std::shared_ptr<RewardManager> manager, PipelineOptions options)
    : engine_(std::move(engine)),
      executor_(engine_->executor()),
      metrics_(&static_cast<EngineImpl&>(*engine_).metrics()),
      manager_(std::move(manager)),
      options_(std::move(options)),
      timeout_ns_(std::min(options_.timeout_ns, manager_->timeout_ns().value_or(kNoDeadline))),
      slots_(Limiter::Make({.max_concurrent = options_.max_concurrent > 0 ? options_.max_concurrent
                                                                          : engine_->options().max_concurrent},
                           &executor_)) {
  steps_.emplace(0, std::make_unique<StepState>());
  on_closed_ = options_.on_closed;
}

PipelineImpl::~PipelineImpl() {
  for (auto& [id, step] : steps_) step->groups.Clear();
  RunOnClosed();
}

void PipelineImpl::RunOnClosed() {
  std::function<void()> once;
  {
    Lock lock(mutex_);
    once = std::exchange(on_closed_, nullptr);
  }
  if (once) once();
}

PipelineImpl::Lock PipelineImpl::LockSoon() const {
  constexpr int kTries = 64;
  Lock lock(mutex_, std::try_to_lock);
  for (int i = 0; i < kTries && !lock; ++i) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
    (void)lock.try_lock();
  }
  if (!lock) lock.lock();
  return lock;
}

Result<StepState*> PipelineImpl::FindStepLocked(int64_t step) const {
  const auto found = steps_.find(step);
  if (found != steps_.end()) return found->second.get();
  return NotFound("there is no step " + std::to_string(step) + " in this pipeline", "BeginStep() names steps");
}

Result<PipelineImpl::BatchPtr> PipelineImpl::FindBatchLocked(const BatchHandle& handle) const {
  const auto found = batches_.find(handle.submit);
  if (found != batches_.end()) return found->second;
  if (handle.submit < 1 || handle.submit >= next_submit_) {
    return NotFound("submit " + std::to_string(handle.submit) + " is not one of this pipeline");
  }
  return NotFound("the results of submit " + std::to_string(handle.submit) + " were delivered or dropped already");
}

void PipelineImpl::EmitLocked(PipelineEvent::Kind kind, const Batch& batch, int32_t index, int64_t time_ns,
                              int32_t attempt) {
  if (!options_.on_event) return;
  const RewardResult& result = batch.results[index];
  options_.on_event({kind, time_ns, batch.step, batch.id, result.item_id, result.status, attempt});
}

void PipelineImpl::EmitStepLocked(PipelineEvent::Kind kind, int64_t step, int64_t time_ns) {
  if (options_.on_event) options_.on_event({kind, time_ns, step, 0, {}, ItemStatus::kScored, 0});
}

int64_t PipelineImpl::BeginStep() {
  Lock lock(mutex_);
  const int64_t id = next_step_++;
  EmitStepLocked(PipelineEvent::Kind::kStepBegan, id, Now());
  auto step = std::make_unique<StepState>();
  step->marked = true;
  step->timeline.Begin(Now());
  steps_.emplace(id, std::move(step));
  return id;
}

Status PipelineImpl::SamplingDone(int64_t step_id) {
  Lock lock(mutex_);
  RL_ASSIGN_OR_RETURN(StepState* const step, FindStepLocked(step_id));
  if (!step->marked) return FailedPrecondition("step 0 is the pipeline's own and has no marks", "use BeginStep()");
  step->sampling_done = true;
  step->timeline.SamplingDone(Now());
  EmitStepLocked(PipelineEvent::Kind::kSamplingDone, step_id, Now());
  step->changed.NotifyAll();
  if (step->over()) FireLocked(&step->when_group);
  return Status();
}

Status PipelineImpl::EndStep(int64_t step_id) {
  Lock lock(mutex_);
  RL_ASSIGN_OR_RETURN(StepState* const step, FindStepLocked(step_id));
  if (!step->marked) return FailedPrecondition("step 0 is the pipeline's own and ends with it");
  if (step->ended) return Status();
  step->ended = true;
  EmitStepLocked(PipelineEvent::Kind::kStepEnded, step_id, Now());
  CloseOpenGroupsLocked(*step);
  step->changed.NotifyAll();
  FireLocked(&step->when_group);
  ended_steps_.push_back(step_id);
  for (size_t looked = ended_steps_.size(); ended_steps_.size() > kMaxEndedSteps && looked > 0; --looked) {
    const int64_t oldest = ended_steps_.front();
    ended_steps_.pop_front();
    StepState& state = *steps_.at(oldest);
    if (state.outstanding > 0 || state.groups.has_open() || state.groups.has_ready()) {
      ended_steps_.push_back(oldest);
    } else {
      steps_.erase(oldest);
    }
  }
  return Status();
}

Result<StepMetrics> PipelineImpl::MetricsOf(int64_t step_id) const {
  Lock lock(mutex_);
  RL_ASSIGN_OR_RETURN(const StepState* const step, FindStepLocked(step_id));
  return step->timeline.Metrics();
}

Status PipelineImpl::CloseGroup(const std::string& group_id, int64_t step_id) {
  Lock lock(mutex_);
  RL_ASSIGN_OR_RETURN(StepState* const step, FindStepLocked(step_id));
  const GroupPtr group = step->groups.FindOpen(group_id);
  if (!group) return NotFound("there is no open group '" + group_id + "' in step " + std::to_string(step_id));
  group->closed = true;
  MaybeGroupLocked(group);
  return Status();
}

Status PipelineImpl::Cancel(const BatchHandle& handle) {
  Lock lock(mutex_);
  RL_ASSIGN_OR_RETURN(const BatchPtr batch, FindBatchLocked(handle));
  const auto stopped = EndItemsLocked(batch, 0, batch->size(),
                                      Verdict::Of(ItemStatus::kCancelled, "cancelled", "cancelled by the caller"),
                                      [](int32_t) { return true; });
  lock.unlock();
  for (const AttemptPtr& attempt : stopped) attempt->stop.request_stop();
  return Status();
}

void PipelineImpl::Drop(const BatchHandle& handle) {
  Lock lock(mutex_);
  const auto found = batches_.find(handle.submit);
  if (found == batches_.end()) return;
  const BatchPtr batch = found->second;
  const auto has_group = [&](int32_t i) { return !batch->group_of.empty() && batch->group_of[i] != nullptr; };
  const auto stopped = EndItemsLocked(
      batch, 0, batch->size(), Verdict::Of(ItemStatus::kCancelled, "handle_dropped", "nobody holds its handle any more"),
      [&](int32_t i) { return !has_group(i); });
  int64_t forgotten = 0;
  for (int32_t i = 0; i < batch->size(); ++i) {
    if (batch->rows[i].delivered || has_group(i) || batch->rows[i].state != ItemState::kEnded) continue;
    DeliverRowLocked(*batch, i, 0);
    ++forgotten;
  }
  if (batch->lingering) lingering_rows_ -= batch->size();
  batch->taken = true;
  batches_.erase(found);
  retained_rows_ += batch->group_refs;
  batch->changed.NotifyAll();
  metrics_->Apply([&](EngineMetrics::Shard& shard) { shard.totals.items_dropped_with_handle += forgotten; });
  lock.unlock();
  for (const AttemptPtr& attempt : stopped) attempt->stop.request_stop();
}

Status PipelineImpl::Close(CloseMode mode, int64_t timeout_ns) {
  Lock lock(mutex_);
  const int64_t deadline_ns = DeadlineAfter(Now(), timeout_ns);
  closed_ = true;
  for (auto& [id, step] : steps_) {
    step->ended = true;
    if (mode == CloseMode::kDrain) CloseOpenGroupsLocked(*step);
  }
  std::vector<AttemptPtr> stopped;
  if (mode == CloseMode::kCancel) {
    cancelling_ = true;
    const Verdict verdict = Verdict::Of(ItemStatus::kCancelled, "closed", "the pipeline was closed");
    std::vector<BatchPtr> batches;
    for (const auto& [id, batch] : batches_) batches.push_back(batch);
    for (const auto& [id, step] : steps_) {
      for (const GroupPtr& group : step->groups.OpenGroups()) {
        for (const ItemRef& ref : group->members) batches.push_back(ref.batch);
      }
    }
    for (const BatchPtr& batch : batches) {
      auto some = EndItemsLocked(batch, 0, batch->size(), verdict, [](int32_t) { return true; });
      stopped.insert(stopped.end(), some.begin(), some.end());
    }
    for (auto& [id, step] : steps_) CloseOpenGroupsLocked(*step);
  }
  room_.NotifyAll();
  for (auto& [id, step] : steps_) {
    step->changed.NotifyAll();
    FireLocked(&step->when_group);
  }
  lock.unlock();
  for (const AttemptPtr& attempt : stopped) attempt->stop.request_stop();
  lock.lock();
  const bool idle = executor_.WaitUntil(
      lock, room_, [&] { return active_work_ == 0 && outstanding_ == 0; }, deadline_ns);
  const int64_t active = active_work_;
  lock.unlock();
  engine_->log().Flush();
  if (idle) {
    RunOnClosed();
    return Status();
  }
  return DeadlineExceeded(std::to_string(active) + " units of work were still going on when closing ran out of time");
}

bool PipelineImpl::Ready(const BatchHandle& handle) const {
  Lock lock(mutex_);
  const auto found = batches_.find(handle.submit);
  return found == batches_.end() || found->second->remaining == 0;
}

void PipelineImpl::WhenReady(const BatchHandle& handle, std::function<void()> callback) {
  Lock lock(mutex_);
  const auto found = batches_.find(handle.submit);
  if (found == batches_.end() || found->second->remaining == 0) return Post(std::move(callback));
  found->second->when_ready.push_back(std::move(callback));
}

void PipelineImpl::WhenNext(const BatchHandle& handle, std::function<void()> callback) {
  Lock lock(mutex_);
  const auto found = batches_.find(handle.submit);
  if (found == batches_.end() || found->second->remaining == 0 ||
      found->second->next_streamed < found->second->ended) {
    return Post(std::move(callback));
  }
  found->second->streaming = true;
  found->second->when_next.push_back(std::move(callback));
}

void PipelineImpl::WhenGroup(int64_t step_id, std::function<void()> callback) {
  Lock lock(mutex_);
  const auto found = steps_.find(step_id);
  if (found == steps_.end()) return Post(std::move(callback));
  StepState& step = *found->second;
  if (step.groups.has_ready() || step.groups_dropped > 0 || (step.over() && !step.groups.has_open())) {
    return Post(std::move(callback));
  }
  step.when_group.push_back(std::move(callback));
}

int64_t PipelineImpl::backlog_items() const {
  Lock lock(mutex_);
  return backlog_items_;
}

int64_t PipelineImpl::backlog_bytes() const {
  Lock lock(mutex_);
  return backlog_bytes_;
}

int64_t PipelineImpl::uncollected_items() const {
  Lock lock(mutex_);
  return uncollected_items_;
}

}  // namespace rewardloop
