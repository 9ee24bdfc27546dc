// Submit: validation, registration of groups and sessions, entry into the backlog.
#include <algorithm>
#include <functional>

#include "pipeline/pipeline_impl.h"

namespace rewardloop {
namespace {

// Index of the first item whose id an earlier one has, and that earlier one; {-1, -1} when all differ.
std::pair<int32_t, int32_t> FindDuplicateId(const std::vector<RewardItem>& items) {
  size_t slots = 4;
  while (slots < items.size() * 2) slots *= 2;
  std::vector<int32_t> table(slots, -1);
  for (size_t i = 0; i < items.size(); ++i) {
    size_t slot = std::hash<std::string>()(items[i].item_id) & (slots - 1);
    while (table[slot] >= 0) {
      if (items[table[slot]].item_id == items[i].item_id) return {static_cast<int32_t>(i), table[slot]};
      slot = (slot + 1) & (slots - 1);
    }
    table[slot] = static_cast<int32_t>(i);
  }
  return {-1, -1};
}

}  // namespace

Result<BatchHandle> PipelineImpl::Submit(std::vector<RewardItem> items, int64_t step_id,
                                         const std::function<bool()>& interrupted) {
  const int64_t begin_ns = Now();
  RL_RETURN_IF_ERROR(CheckItems(items));
  RL_ASSIGN_OR_RETURN(std::vector<int32_t> leaders, SessionLeaders(items));
  const BatchPtr batch = MakeBatch(std::move(items), std::move(leaders), step_id);

  Lock lock = LockSoon();
  if (closed_) return FailedPrecondition("the pipeline is closed", "make a new one");
  RL_ASSIGN_OR_RETURN(StepState* const step, FindStepLocked(step_id));
  if (step->ended) {
    return FailedPrecondition("step " + std::to_string(step_id) + " has ended and takes no more items");
  }
  if (uncollected_items_ >= options_.uncollected_items || uncollected_bytes_ >= options_.uncollected_bytes) {
    return ResourceExhausted(
        std::to_string(uncollected_items_) + " finished results wait to be collected (uncollected_items = " +
            std::to_string(options_.uncollected_items) + ", uncollected_bytes = " +
            std::to_string(options_.uncollected_bytes) + ")",
        "collect first");
  }
  RL_RETURN_IF_ERROR(RegisterLocked(batch, *step));

  bool withdrawn = false;
  int64_t now_ns = begin_ns;
  while (batch->admitted < batch->size() && !withdrawn) {
    AdmitSomeLocked(batch, now_ns);
    if (batch->admitted == batch->size()) break;
    if (options_.overflow == Overflow::kReject) {
      RejectPendingLocked(batch, batch->size(), "backlog_full", "the backlog is full (overflow = reject)");
    } else if (options_.overflow == Overflow::kDropOldest) {
      if (!DropOldestLocked()) {
        RejectPendingLocked(batch, static_cast<int32_t>(batch->admitted) + 1, "backlog_full",
                            "the backlog is full of items that have started (overflow = drop_oldest)");
      }
    } else {
      const int64_t poll_ns = interrupted ? DeadlineAfter(Now(), kInterruptPollNs) : kNoDeadline;
      const bool room = executor_.WaitUntil(lock, room_, [&] { return HasRoomLocked(*batch); }, poll_ns);
      if (!room && interrupted) {
        lock.unlock();
        withdrawn = interrupted();
        lock.lock();
      }
    }
    now_ns = Now();
  }
  CountFinishedLocked();
  const int64_t spent_ns = Now() - begin_ns;
  step->timeline.AddSubmit(spent_ns);
  metrics_->Apply([&](EngineMetrics::Shard& shard) {
    ++shard.totals.batches_submitted;
    shard.totals.items_submitted += batch->size();
    shard.totals.submit_ns += spent_ns;
    shard.totals.backlog_items_max = std::max(shard.totals.backlog_items_max, backlog_items_);
    shard.totals.backlog_bytes_max = std::max(shard.totals.backlog_bytes_max, backlog_bytes_);
  });
  const BatchHandle handle{batch->id, step_id, batch->size()};
  lock.unlock();
  if (withdrawn) {
    (void)Cancel(handle);
    Drop(handle);
    return Cancelled("submit was interrupted while it waited for room in the backlog");
  }
  return handle;
}

Status PipelineImpl::CheckItems(const std::vector<RewardItem>& items) const {
  if (items.size() > 1) {
    const auto [second, first] = FindDuplicateId(items);
    if (second >= 0) {
      return InvalidArgument("duplicate item_id '" + items[second].item_id + "': items " + std::to_string(first) + " and " +
                             std::to_string(second) + " of this submit");
    }
  }
  for (const RewardItem& item : items) RL_RETURN_IF_ERROR(manager_->Admit(item));
  return Status();
}

Result<std::vector<int32_t>> PipelineImpl::SessionLeaders(const std::vector<RewardItem>& items) {
  std::vector<int32_t> leaders;
  std::unordered_map<std::string_view, int32_t> last;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i].session_id) continue;
    const int32_t row = static_cast<int32_t>(i);
    auto [entry, is_new] = last.try_emplace(*items[i].session_id, row);
    if (is_new) continue;
    const RewardItem& other = items[entry->second];
    if (other.group_id != items[i].group_id) {
      return InvalidArgument("session '" + *items[i].session_id + "' has rows of different groups: items '" + other.item_id +
                             "' and '" + items[i].item_id + "'");
    }
    // Without indices the order of the rows is the order of the session.
    if (items[i].index.value_or(row) >= other.index.value_or(entry->second)) entry->second = row;
  }
  if (last.empty()) return leaders;
  leaders.resize(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    leaders[i] = items[i].session_id ? last.at(*items[i].session_id) : static_cast<int32_t>(i);
  }
  return leaders;
}

PipelineImpl::BatchPtr PipelineImpl::MakeBatch(std::vector<RewardItem> items, std::vector<int32_t> leaders,
                                               int64_t step) const {
  auto batch = std::make_shared<Batch>();
  const size_t count = items.size();
  batch->step = step;
  batch->results.resize(count);
  batch->rows = std::make_unique<Batch::Row[]>(count);
  batch->remaining = static_cast<int64_t>(count);
  batch->undelivered = static_cast<int64_t>(count);
  batch->leader = std::move(leaders);
  batch->followers.resize(batch->leader.size());
  for (size_t i = 0; i < batch->leader.size(); ++i) {
    const int32_t row = static_cast<int32_t>(i);
    if (batch->leader[i] != row) batch->followers[batch->leader[i]].push_back(row);
  }
  for (size_t i = 0; i < count; ++i) {
    batch->rows[i].bytes = static_cast<int64_t>(items[i].ByteSize());
    RewardResult& result = batch->results[i];
    result.item_id = items[i].item_id;
    result.step = step;
    result.group_id = items[i].group_id;
  }
  batch->items = std::move(items);
  return batch;
}

Status PipelineImpl::RegisterLocked(const BatchPtr& batch, StepState& step) {
  batch->id = next_submit_;
  RL_RETURN_IF_ERROR(RegisterSessionsLocked(*batch, step));
  RL_RETURN_IF_ERROR(RegisterGroupsLocked(batch, step));
  ++next_submit_;
  for (RewardResult& result : batch->results) result.submit = batch->id;
  batches_.emplace(batch->id, batch);
  step.outstanding += batch->size();
  outstanding_ += batch->size();
  return Status();
}

Status PipelineImpl::RegisterSessionsLocked(const Batch& batch, StepState& step) {
  if (batch.leader.empty()) return Status();
  for (const RewardItem& item : batch.items) {
    if (!item.session_id) continue;
    const auto known = step.sessions.find(*item.session_id);
    if (known != step.sessions.end()) {
      return InvalidArgument("session '" + *item.session_id + "' came with submit " + std::to_string(known->second) +
                                 "; item '" + item.item_id + "' comes later",
                             "all rows of a session belong into one submit");
    }
  }
  if (step.sessions.size() >= GroupTable::kMaxRemembered) step.sessions.clear();
  for (const RewardItem& item : batch.items) {
    if (item.session_id) step.sessions.emplace(*item.session_id, batch.id);
  }
  return Status();
}

Status PipelineImpl::RegisterGroupsLocked(const BatchPtr& batch, StepState& step) {
  std::vector<GroupJoin> joins;
  std::vector<int32_t> rows;
  for (int32_t i = 0; i < batch->size(); ++i) {
    const RewardItem& item = batch->items[i];
    if (!item.group_id || !batch->is_leader(i)) continue;
    joins.push_back({*item.group_id, item.item_id, item.group_size.value_or(options_.group_size)});
    rows.push_back(i);
  }
  if (joins.empty()) return Status();
  RL_RETURN_IF_ERROR(step.groups.Check(joins, batch->id));

  batch->group_of.resize(batch->items.size());
  std::vector<GroupPtr> touched;
  for (size_t k = 0; k < joins.size(); ++k) {
    const GroupPtr group = step.groups.Join(joins[k], batch->step, batch->id);
    if (group->members.empty() && options_.group_deadline_ns != kNoDeadline) {
      group->deadline_timer = executor_.PostAt(
          DeadlineAfter(Now(), options_.group_deadline_ns),
          [self = shared_from_this(), weak = std::weak_ptr<TrackedGroup>(group)] {
            if (const GroupPtr alive = weak.lock()) self->OnGroupDeadline(alive);
          });
    }
    if (group->members.empty() || group->members.back().batch != batch) touched.push_back(group);
    group->members.push_back({batch, rows[k]});
    batch->group_of[rows[k]] = group;
    ++batch->group_refs;
  }
  if (options_.grouping == Grouping::kSubmit) {
    for (const GroupPtr& group : touched) {
      if (group->expected == 0) group->closed = true;
    }
  }
  return Status();
}

bool PipelineImpl::HasRoomLocked(const Batch& batch) const {
  if (cancelling_ || batch.remaining == 0) return true;
  // Members that wait for siblings cannot end before these come: they must not keep them out.
  if (backlog_items_ == waiting_for_siblings_) return true;
  return backlog_items_ < options_.backlog_items &&
         backlog_bytes_ + batch.rows[batch.admitted].bytes <= options_.backlog_bytes;
}

void PipelineImpl::AdmitSomeLocked(const BatchPtr& batch, int64_t now_ns) {
  const int32_t begin = static_cast<int32_t>(batch->admitted);
  while (batch->admitted < batch->size() && HasRoomLocked(*batch)) {
    const int32_t i = static_cast<int32_t>(batch->admitted++);
    auto expected = ItemState::kPending;
    if (!batch->rows[i].state.compare_exchange_strong(expected, ItemState::kQueued)) continue;  // cancelled meanwhile
    batch->results[i].timing.queued_ns = now_ns;
    ++backlog_items_;
    backlog_bytes_ += batch->rows[i].bytes;
    if (options_.overflow == Overflow::kDropOldest) oldest_queued_.push_back({batch, i});
    const GroupPtr group = batch->group_of.empty() ? nullptr : batch->group_of[i];
    if (group && manager_->granularity() == Granularity::kGroup && !group->unit_started && !group->settled) {
      ++waiting_for_siblings_;
      ++group->admitted;
    }
    EmitLocked(PipelineEvent::Kind::kSubmitted, *batch, i, now_ns);
  }
  const int32_t end = static_cast<int32_t>(batch->admitted);
  if (begin == end) return;
  if (options_.queue_timeout_ns != kNoDeadline) {
    batch->queue_timers.push_back(executor_.PostAt(
        DeadlineAfter(now_ns, options_.queue_timeout_ns), [self = shared_from_this(), batch, begin, end] {
          Lock lock(self->mutex_);
          const auto stopped = self->EndItemsLocked(
              batch, begin, end, Verdict::Of(ItemStatus::kRejected, "queue_timeout", "waited too long before its start"),
              [&](int32_t i) { return batch->rows[i].state == ItemState::kQueued; });
          lock.unlock();
          for (const AttemptPtr& attempt : stopped) attempt->stop.request_stop();
        }));
  }
  ScheduleLocked(batch, begin, end);
}

bool PipelineImpl::DropOldestLocked() {
  while (!oldest_queued_.empty()) {
    const ItemRef oldest = std::move(oldest_queued_.front());
    oldest_queued_.pop_front();
    if (oldest.state() != ItemState::kQueued) continue;
    // Waiting work needs no stop source: it is withdrawn.
    (void)EndItemsLocked(oldest.batch, oldest.index, oldest.index + 1,
                         Verdict::Of(ItemStatus::kRejected, "dropped",
                                     "dropped for newer items: the backlog was full (overflow = drop_oldest)"),
                         [](int32_t) { return true; });
    return true;
  }
  return false;
}

void PipelineImpl::RejectPendingLocked(const BatchPtr& batch, int32_t end, const char* error_class,
                                       const std::string& message) {
  for (int32_t i = static_cast<int32_t>(batch->admitted); i < end; ++i) {
    FinishNotScoredLocked(batch, i, Verdict::Of(ItemStatus::kRejected, error_class, message));
  }
  batch->admitted = end;
}

}  // namespace rewardloop
