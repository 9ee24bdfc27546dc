// Groups: when the last member ended, the group is delivered; a group manager gets its members once the last arrived.
#include "pipeline/pipeline_impl.h"

namespace rewardloop {

void PipelineImpl::MaybeGroupLocked(const GroupPtr& group) {
  if (group->settled || !group->all_here()) return;
  const bool whole = group->admitted >= static_cast<int64_t>(group->members.size());
  if (manager_->granularity() == Granularity::kGroup && !group->unit_started && whole) {
    group->unit_started = true;
    std::vector<ItemRef> items;
    for (const ItemRef& ref : group->members) {
      if (ref.state() != ItemState::kQueued) continue;
      --waiting_for_siblings_;
      items.push_back(ref);
    }
    if (!items.empty()) StartAttemptLocked(Attempt::Kind::kRunMany, std::move(items), group);
  }
  if (group->all_ended()) SettleGroupLocked(group);
}

void PipelineImpl::SettleGroupLocked(const GroupPtr& group) {
  StepState& step = *steps_.at(group->step);
  if (group->deadline_timer != 0) executor_.CancelTimer(group->deadline_timer);
  if (manager_->granularity() == Granularity::kGroup && !group->unit_started) {
    for (const ItemRef& ref : group->members) {
      if (ref.state() == ItemState::kQueued) --waiting_for_siblings_;
    }
  }
  step.groups.Settle(group);
  step.changed.NotifyAll();
  FireLocked(&step.when_group);
  BoundRetainedLocked();
}

void PipelineImpl::CloseOpenGroupsLocked(StepState& step) {
  for (const GroupPtr& group : step.groups.OpenGroups()) {
    group->closed = true;
    MaybeGroupLocked(group);
  }
}

void PipelineImpl::OnGroupDeadline(const GroupPtr& group) {
  Lock lock(mutex_);
  if (group->settled) return;
  group->closed = true;
  group->deadline_timer = 0;
  MaybeGroupLocked(group);
  const bool runs_now = manager_->granularity() == Granularity::kGroup && group->unit_started && group->ended == 0;
  // A group manager judges those that came; its own time-outs bound that.
  if (!group->settled && !runs_now) SettleGroupLocked(group);
}

void PipelineImpl::ReleaseMembersLocked(TrackedGroup& group) {
  for (const ItemRef& ref : group.members) {
    --ref.batch->group_refs;
    if (ref.batch->taken) --retained_rows_;
  }
  group.members.clear();
}

void PipelineImpl::BoundRetainedLocked() {
  if (retained_rows_ <= options_.uncollected_items) return;
  for (auto& [id, step] : steps_) {
    while (retained_rows_ > options_.uncollected_items) {
      if (!step->groups.has_ready()) break;
      const GroupPtr group = step->groups.TakeReady();
      for (const ItemRef& ref : group->members) {
        if (ref.state() == ItemState::kEnded) DeliverRowLocked(*ref.batch, ref.index, 0);
      }
      ReleaseMembersLocked(*group);
      ++step->groups_dropped;
      metrics_->Apply([](EngineMetrics::Shard& shard) { ++shard.totals.groups_dropped; });
    }
  }
}

}  // namespace rewardloop
