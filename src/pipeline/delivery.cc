// Delivery: collect in input order, stream as they end, groups as they complete. Each view delivers once.
#include <algorithm>
#include <unordered_map>

#include "pipeline/pipeline_impl.h"

namespace rewardloop {
namespace {

// Gives every row the same extra keys (missing ones null), in the order in which the rows bring them.
void UniteExtraKeys(std::vector<RewardResult>* results) {
  if (results->size() == 1) return;
  const Json::Object* first = nullptr;
  bool all_same = true;
  for (const RewardResult& result : *results) {
    const Json::Object& object = result.extra.AsObject();
    if (!first) first = &object;
    if (!std::equal(object.begin(), object.end(), first->begin(), first->end(),
                    [](const auto& a, const auto& b) { return a.first == b.first; })) {
      all_same = false;
      break;
    }
  }
  if (all_same) return;
  std::vector<std::string> keys;
  std::unordered_map<std::string, size_t> places;
  for (const RewardResult& result : *results) {
    for (const auto& [key, value] : result.extra.AsObject()) {
      if (places.emplace(key, keys.size()).second) keys.push_back(key);
    }
  }
  for (RewardResult& result : *results) {
    Json::Object united;
    united.reserve(keys.size());
    for (const std::string& key : keys) united.emplace_back(key, Json());
    for (auto& [key, value] : result.extra.MutableObject()) united[places.at(key)].second = std::move(value);
    result.extra = Json(std::move(united));
  }
}

bool IsZeroSpread(const std::vector<RewardResult>& results) {
  std::optional<double> first;
  int64_t scored = 0;
  for (const RewardResult& result : results) {
    if (!result.valid) continue;
    ++scored;
    if (!first) first = result.score;
    if (*result.score != *first) return false;
  }
  return scored > 1;
}

}  // namespace

Result<Collected> PipelineImpl::Collect(const BatchHandle& handle, int64_t timeout_ns) {
  Lock lock = LockSoon();
  RL_ASSIGN_OR_RETURN(const BatchPtr batch, FindBatchLocked(handle));
  if (batch->streaming) {
    return FailedPrecondition("submit " + std::to_string(handle.submit) + " is being streamed and cannot be collected");
  }
  StepState& step = *steps_.at(batch->step);
  const int64_t begin_ns = Now();
  const auto over = [&] { return batch->remaining == 0 || batch->taken || batch->streaming; };
  const bool ready = over() || executor_.WaitUntil(lock, batch->changed, over, DeadlineAfter(begin_ns, timeout_ns));
  const int64_t now_ns = Now();
  step.timeline.AddCollectWait(now_ns - begin_ns);
  if (!ready) {
    metrics_->Apply([&](EngineMetrics::Shard& shard) { shard.totals.collect_ns += now_ns - begin_ns; });
    return DeadlineExceeded(std::to_string(batch->remaining) + " of " + std::to_string(batch->size()) +
                                " items of submit " + std::to_string(handle.submit) + " have no result yet",
                            "the handle stays valid: collect it again");
  }
  if (batch->taken || batch->streaming) return FindBatchLocked(handle).status();  // somebody else was faster
  if (batch->lingering) lingering_rows_ -= batch->size();
  batches_.erase(batch->id);
  batch->taken = true;
  Collected collected;
  const int64_t first_time = batch->undelivered;
  std::vector<bool> masked;
  if (options_.on_error.policy == OnError::Policy::kDropGroup && !batch->group_of.empty()) {
    for (int32_t i = 0; i < batch->size(); ++i) masked.push_back(GroupMaskedLocked(*batch, i));
  }
  for (int32_t i = 0; i < batch->size(); ++i) DeliverRowLocked(*batch, i, now_ns);
  if (batch->group_refs > 0) {
    collected.results = batch->results;  // groups will still read them
    retained_rows_ += batch->group_refs;
    BoundRetainedLocked();
  } else {
    collected.results = std::move(batch->results);
  }
  lock.unlock();

  int64_t policy_values = 0;
  for (size_t i = 0; i < collected.results.size(); ++i) ApplyPolicy(&collected.results[i], !masked.empty() && masked[i], &policy_values);
  if (options_.unite_extra) UniteExtraKeys(&collected.results);
  if (options_.on_error.policy == OnError::Policy::kRaise) collected.status = RaiseStatus(collected.results);
  metrics_->Apply([&](EngineMetrics::Shard& shard) {
    ++shard.totals.batches_collected;
    shard.totals.items_delivered += first_time;
    shard.totals.policy_values += policy_values;
    shard.totals.collect_ns += now_ns - begin_ns;
    for (const RewardResult& result : collected.results) shard.totals.deliver.Add(now_ns - result.timing.finished_ns);
  });
  return collected;
}

Result<std::optional<RewardResult>> PipelineImpl::Next(const BatchHandle& handle, int64_t timeout_ns) {
  Lock lock(mutex_);
  RL_ASSIGN_OR_RETURN(const BatchPtr batch, FindBatchLocked(handle));
  batch->streaming = true;
  StepState& step = *steps_.at(batch->step);
  const int64_t begin_ns = Now();
  const bool ready = executor_.WaitUntil(
      lock, batch->changed,
      [&] { return batch->next_streamed < batch->ended || batch->remaining == 0 || batch->taken; },
      DeadlineAfter(begin_ns, timeout_ns));
  const int64_t now_ns = Now();
  step.timeline.AddCollectWait(now_ns - begin_ns);
  if (!ready) {
    return DeadlineExceeded("no further item of submit " + std::to_string(handle.submit) + " has ended yet",
                            "the handle stays valid: ask again");
  }
  if (batch->taken) return FindBatchLocked(handle).status();
  if (batch->next_streamed == batch->ended) {
    batch->taken = true;
    batches_.erase(batch->id);
    retained_rows_ += batch->group_refs;
    BoundRetainedLocked();
    metrics_->Apply([](EngineMetrics::Shard& shard) { ++shard.totals.batches_collected; });
    return std::optional<RewardResult>();
  }
  const int32_t i = batch->rows[batch->next_streamed++].order;
  const bool masked = GroupMaskedLocked(*batch, i);
  const bool first_time = !batch->rows[i].delivered;
  DeliverRowLocked(*batch, i, now_ns);
  RewardResult result = batch->group_refs > 0 ? batch->results[i] : std::move(batch->results[i]);
  lock.unlock();
  int64_t policy_values = 0;
  ApplyPolicy(&result, masked, &policy_values);
  metrics_->Apply([&](EngineMetrics::Shard& shard) {
    shard.totals.items_delivered += first_time;
    shard.totals.policy_values += policy_values;
    shard.totals.collect_ns += now_ns - begin_ns;
    shard.totals.deliver.Add(now_ns - result.timing.finished_ns);
  });
  return std::optional<RewardResult>(std::move(result));
}

Result<std::optional<Group>> PipelineImpl::NextGroup(int64_t step_id, int64_t timeout_ns) {
  Lock lock(mutex_);
  RL_ASSIGN_OR_RETURN(StepState* const step, FindStepLocked(step_id));
  const int64_t begin_ns = Now();
  const bool ready = executor_.WaitUntil(
      lock, step->changed,
      [&] { return step->groups.has_ready() || step->groups_dropped > 0 || (step->over() && !step->groups.has_open()); },
      DeadlineAfter(begin_ns, timeout_ns));
  const int64_t now_ns = Now();
  step->timeline.AddCollectWait(now_ns - begin_ns);
  if (!ready) return DeadlineExceeded("no further group of step " + std::to_string(step_id) + " is complete yet");
  if (step->groups_dropped > 0) {
    const int64_t dropped = std::exchange(step->groups_dropped, 0);
    return Status(StatusCode::kDataLoss,
                  std::to_string(dropped) + " groups of step " + std::to_string(step_id) +
                      " were dropped: their results had been collected and nobody took the groups",
                  "take groups as they complete, or raise uncollected_items");
  }
  const GroupPtr tracked = step->groups.TakeReady();
  if (!tracked) return std::optional<Group>();

  Group group;
  group.step = step_id;
  group.group_id = tracked->id;
  group.expected = tracked->expected;
  std::vector<BatchPtr> touched;
  int64_t first_time = 0;
  for (const ItemRef& ref : tracked->members) {
    if (ref.state() != ItemState::kEnded) {
      group.missing.push_back(ref.item().item_id);
      continue;
    }
    first_time += !ref.batch->rows[ref.index].delivered;
    DeliverRowLocked(*ref.batch, ref.index, now_ns);
    group.results.push_back(ref.result());
    if (touched.empty() || touched.back() != ref.batch) touched.push_back(ref.batch);
  }
  group.complete = group.missing.empty() &&
                   (tracked->expected == 0 || static_cast<int64_t>(tracked->members.size()) == tracked->expected);
  ReleaseMembersLocked(*tracked);
  for (const BatchPtr& batch : touched) LingerLocked(batch);
  if (options_.on_event) {
    options_.on_event({PipelineEvent::Kind::kGroupDelivered, now_ns, step_id, tracked->first_submit, group.group_id,
                       ItemStatus::kScored, 0});
  }
  lock.unlock();

  const bool masked = options_.on_error.policy == OnError::Policy::kDropGroup && tracked->missing_score;
  const bool zero_spread = IsZeroSpread(group.results);
  int64_t policy_values = 0;
  for (RewardResult& result : group.results) {
    ApplyPolicy(&result, masked, &policy_values);
    group.valid.push_back(result.valid);
  }
  UniteExtraKeys(&group.results);
  metrics_->Apply([&](EngineMetrics::Shard& shard) {
    ++shard.totals.groups_delivered;
    shard.totals.items_delivered += first_time;
    shard.totals.groups_zero_spread += zero_spread;
    shard.totals.policy_values += policy_values;
    shard.totals.collect_ns += now_ns - begin_ns;
  });
  return std::optional<Group>(std::move(group));
}

void PipelineImpl::DeliverRowLocked(Batch& batch, int32_t index, int64_t now_ns) {
  if (batch.rows[index].delivered) return;
  batch.rows[index].delivered = true;
  --batch.undelivered;
  --uncollected_items_;
  uncollected_bytes_ -= batch.rows[index].bytes;
  if (now_ns != 0) EmitLocked(PipelineEvent::Kind::kDelivered, batch, index, now_ns);
}

void PipelineImpl::ApplyPolicy(RewardResult* result, bool group_masked, int64_t* policy_values) const {
  if (group_masked) result->valid = false;
  if (result->score || options_.on_error.policy != OnError::Policy::kValue) return;
  result->score = options_.on_error.value;
  result->policy_value = true;
  result->valid = true;
  ++*policy_values;
}

bool PipelineImpl::GroupMaskedLocked(const Batch& batch, int32_t index) const {
  if (options_.on_error.policy != OnError::Policy::kDropGroup || batch.group_of.empty()) return false;
  const int32_t row = batch.leader.empty() ? index : batch.leader[index];
  return batch.group_of[row] && batch.group_of[row]->missing_score;
}

Status PipelineImpl::RaiseStatus(const std::vector<RewardResult>& results) const {
  const RewardResult* first = nullptr;
  int64_t missing = 0;
  for (const RewardResult& result : results) {
    if (result.score) continue;
    if (!first) first = &result;
    ++missing;
  }
  if (!first) return Status();
  std::string message = std::to_string(missing) + " of " + std::to_string(results.size()) +
                        " items have no score; the first is '" + first->item_id + "': " +
                        std::string(ItemStatusName(first->status));
  if (first->error) message += "(" + first->error->error_class + "): " + first->error->message;
  return Status(StatusCode::kDataLoss, message,
                "all results are handed over with this error; on_error names other policies: null, zero, value:<x>, "
                "drop_group");
}

void PipelineImpl::LingerLocked(const BatchPtr& batch) {
  if (batch->undelivered > 0 || batch->taken || batch->lingering || batch->streaming) return;
  batch->lingering = true;
  lingering_.push_back(batch->id);
  lingering_rows_ += batch->size();
  while (lingering_rows_ > options_.uncollected_items) {
    const auto oldest = batches_.find(lingering_.front());
    lingering_.pop_front();
    if (oldest == batches_.end()) continue;
    lingering_rows_ -= oldest->second->size();
    oldest->second->taken = true;
    batches_.erase(oldest);
  }
}

}  // namespace rewardloop
