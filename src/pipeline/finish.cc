// Finish: an item gets its result, exactly once, and everybody who waits for it is told.
#include <algorithm>

#include "pipeline/pipeline_impl.h"

namespace rewardloop {
namespace {

int64_t ResultBytes(const RewardResult& result) {
  size_t bytes = sizeof(RewardResult) + result.item_id.size() + result.reason.size() + result.scorer.size();
  if (result.extracted) bytes += result.extracted->size();
  if (result.error) bytes += sizeof(RewardError) + result.error->message.size();
  bytes += result.components.size() * sizeof(Component);
  if (result.extra.is_object()) {
    for (const auto& [key, value] : result.extra.AsObject()) {
      bytes += 2 * sizeof(Json) + key.size() + (value.is_string() ? value.AsString().size() : 0);
    }
  }
  return static_cast<int64_t>(bytes);
}

// Shared by all results whose scorer said nothing more: they are most.
const Json& EmptyObject() {
  static const Json* const empty = new Json(Json::MakeObject());
  return *empty;
}

void FreeMemory(RewardItem& item) {
  std::vector<Output>().swap(item.outputs);
  item.prompt = Json();
  item.ground_truth = Json();
  item.extra_info = Json();
}

}  // namespace

bool PipelineImpl::FinishLocked(const BatchPtr& batch, Done&& done) {
  const int32_t i = done.index;
  const ItemState before = batch->rows[i].state.exchange(ItemState::kEnded);
  if (before == ItemState::kEnded) return false;
  StepState& step = *steps_.at(batch->step);
  if (before != ItemState::kPending) {
    --backlog_items_;
    backlog_bytes_ -= batch->rows[i].bytes;
  }
  const int64_t finished_ns = done.finished_ns;
  const bool free_item = done.item_is_free;
  if (done.from_chunk) EmitLocked(PipelineEvent::Kind::kStarted, *batch, i, done.started_ns, 1);
  if (done.started_ns != kNeverNs) step.timeline.AddItem(done.started_ns, finished_ns);

  std::vector<std::pair<int32_t, Done>> followers;
  if (!batch->followers.empty()) {
    for (const int32_t row : batch->followers[i]) {
      Done copy = done;
      copy.index = row;
      // Judged once: the work is the leader's.
      copy.started_ns = kNeverNs;
      copy.from_chunk = false;
      copy.item_is_free = true;
      followers.emplace_back(row, std::move(copy));
    }
  }
  FillResult(*batch, std::move(done));
  RewardResult& result = batch->results[i];
  if (result.status == ItemStatus::kUnscorable) LogNoScorerLocked(*batch, i);
  if (free_item) FreeMemory(batch->items[i]);
  batch->rows[i].bytes = ResultBytes(result);
  ++uncollected_items_;
  uncollected_bytes_ += batch->rows[i].bytes;
  --batch->remaining;
  --step.outstanding;
  --outstanding_;
  batch->rows[batch->ended++].order = i;
  finished_.push_back({batch, i});
  EmitLocked(PipelineEvent::Kind::kFinished, *batch, i, finished_ns, result.timing.attempts);

  if (!batch->group_of.empty() && batch->group_of[i]) {
    const GroupPtr group = batch->group_of[i];
    if (!result.score) group->missing_score = true;
    if (!group->settled) {
      ++group->ended;
      if (before == ItemState::kPending) ++group->admitted;
      if (before == ItemState::kQueued && manager_->granularity() == Granularity::kGroup && !group->unit_started) {
        --waiting_for_siblings_;
      }
      MaybeGroupLocked(group);
    }
  }
  for (auto& [row, copy] : followers) FinishLocked(batch, std::move(copy));
  NotifyLocked(*batch);
  if (step.over()) {
    step.changed.NotifyAll();
    if (!step.groups.has_open()) FireLocked(&step.when_group);
  }
  return true;
}

bool PipelineImpl::FinishNotScoredLocked(const BatchPtr& batch, int32_t index, Verdict verdict) {
  Done done;
  done.index = index;
  done.verdict = std::move(verdict);
  done.finished_ns = Now();
  done.item_is_free = batch->rows[index].state != ItemState::kRunning;
  return FinishLocked(batch, std::move(done));
}

void PipelineImpl::FillResult(Batch& batch, Done&& done) {
  RewardResult& result = batch.results[done.index];
  Verdict& verdict = done.verdict;
  result.status = verdict.status;
  if (verdict.status == ItemStatus::kScored) {
    result.score = verdict.score;
    result.valid = true;
  }
  result.components = std::move(verdict.components);
  result.extra = verdict.extra.is_object() ? std::move(verdict.extra) : EmptyObject();
  result.extracted = std::move(verdict.extracted);
  result.reason = std::move(verdict.reason);
  result.error = std::move(verdict.error);
  result.digest = done.digest;
  result.timing.started_ns = done.started_ns == kNeverNs ? 0 : done.started_ns;
  result.timing.finished_ns = done.finished_ns;
  result.timing.attempts = done.attempts;
  if (const Scorer* scorer = manager_->ScorerOf(batch.items[done.index])) {
    result.scorer = scorer->name();
    result.scorer_version = scorer->version();
  } else {
    result.scorer = manager_->name();
  }
}

void PipelineImpl::LogNoScorerLocked(const Batch& batch, int32_t index) {
  const std::optional<RewardError>& error = batch.results[index].error;
  if (!error || error->error_class != "no_scorer") return;
  engine_->log().Write(LogLevel::kWarning, "no_scorer " + batch.items[index].data_source, error->message);
}

void PipelineImpl::CountFinishedLocked() {
  if (finished_.empty()) return;
  metrics_->Apply([&](EngineMetrics::Shard& shard) {
    for (const ItemRef& ref : finished_) shard.CountItem(ref.result());
  });
  finished_.clear();
}

void PipelineImpl::NotifyLocked(Batch& batch) {
  room_.NotifyAll();
  if (batch.remaining == 0) {
    for (const Executor::TimerId timer : batch.queue_timers) executor_.CancelTimer(timer);
    batch.queue_timers.clear();
    FireLocked(&batch.when_ready);
  }
  FireLocked(&batch.when_next);
  if (batch.remaining == 0 || batch.streaming) batch.changed.NotifyAll();
}

void PipelineImpl::FireLocked(std::vector<std::function<void()>>* callbacks) {
  for (auto& callback : *callbacks) Post(std::move(callback));
  callbacks->clear();
}

std::vector<PipelineImpl::AttemptPtr> PipelineImpl::EndItemsLocked(const BatchPtr& batch, int32_t begin, int32_t end,
                                                                   const Verdict& verdict,
                                                                   const std::function<bool(int32_t)>& wanted) {
  std::vector<AttemptPtr> touched;
  for (int32_t i = begin; i < end; ++i) {
    if (!batch->is_leader(i)) continue;  // ends with its session's last row
    if (batch->rows[i].state == ItemState::kEnded || !wanted(i)) continue;
    FinishNotScoredLocked(batch, i, verdict);
    const AttemptPtr attempt = batch->attempts.empty() ? nullptr : batch->attempts[i];
    if (attempt && (touched.empty() || touched.back() != attempt)) touched.push_back(attempt);
  }
  std::vector<AttemptPtr> stopped;
  for (const AttemptPtr& attempt : touched) {
    if (AbandonLocked(attempt)) stopped.push_back(attempt);
  }
  CountFinishedLocked();
  return stopped;
}

}  // namespace rewardloop
