#include "pipeline/group_table.h"

#include <algorithm>

namespace rewardloop {
namespace {

std::string Name(std::string_view id) { return "group '" + std::string(id) + "'"; }

}  // namespace

Status GroupTable::Check(const std::vector<GroupJoin>& joins, int64_t submit) const {
  struct Plan {
    int64_t members;
    int64_t expected;
  };
  std::unordered_map<std::string_view, Plan> plans;
  for (const GroupJoin& join : joins) {
    auto [entry, is_new] = plans.try_emplace(join.id, Plan{0, 0});
    Plan& plan = entry->second;
    if (is_new) {
      if (const auto over = over_.find(std::string(join.id)); over != over_.end()) {
        return InvalidArgument(Name(join.id) + " came with submit " + std::to_string(over->second) +
                                   " and is over; item '" + std::string(join.item_id) + "' of submit " +
                                   std::to_string(submit) + " cannot join it",
                               "give its members group_size, close it later (grouping=\"explicit\"), or use a new step");
      }
      if (const auto open = FindOpen(join.id)) {
        if (open->closed) {
          return InvalidArgument(Name(join.id) + " came with submit " + std::to_string(open->first_submit) +
                                     " and is closed; item '" + std::string(join.item_id) + "' of submit " +
                                     std::to_string(submit) + " cannot join it",
                                 "give its members group_size, close it later (grouping=\"explicit\"), or use a new step");
        }
        plan = {static_cast<int64_t>(open->members.size()), open->expected};
      }
    }
    if (join.expected > 0 && plan.expected > 0 && join.expected != plan.expected) {
      return InvalidArgument("item '" + std::string(join.item_id) + "' says that " + Name(join.id) + " has " +
                             std::to_string(join.expected) + " trajectories, another member says " +
                             std::to_string(plan.expected));
    }
    if (join.expected > 0) plan.expected = join.expected;
    ++plan.members;
    if (plan.expected > 0 && plan.members > plan.expected) {
      return InvalidArgument(Name(join.id) + " has more than its " + std::to_string(plan.expected) +
                             " trajectories: item '" + std::string(join.item_id) + "' is one too many");
    }
  }
  return Status();
}

std::shared_ptr<TrackedGroup> GroupTable::Join(const GroupJoin& join, int64_t step, int64_t submit) {
  auto& group = open_[std::string(join.id)];
  if (!group) {
    group = std::make_shared<TrackedGroup>();
    group->id = join.id;
    group->step = step;
    group->first_submit = submit;
  }
  if (join.expected > 0) group->expected = join.expected;
  return group;
}

std::shared_ptr<TrackedGroup> GroupTable::FindOpen(std::string_view id) const {
  const auto found = open_.find(std::string(id));
  return found == open_.end() ? nullptr : found->second;
}

void GroupTable::Settle(const std::shared_ptr<TrackedGroup>& group) {
  group->settled = true;
  Remember(*group);
  open_.erase(group->id);
  ready_.push_back(group);
}

std::shared_ptr<TrackedGroup> GroupTable::TakeReady() {
  if (ready_.empty()) return nullptr;
  auto group = std::move(ready_.front());
  ready_.pop_front();
  return group;
}

std::vector<std::shared_ptr<TrackedGroup>> GroupTable::OpenGroups() const {
  std::vector<std::shared_ptr<TrackedGroup>> groups;
  for (const auto& [id, group] : open_) groups.push_back(group);
  // The order of a hash table must not decide anything: oldest submit first, then by id.
  std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return a->first_submit != b->first_submit ? a->first_submit < b->first_submit : a->id < b->id;
  });
  return groups;
}

void GroupTable::Clear() {
  for (const auto& [id, group] : open_) group->members.clear();
  for (const auto& group : ready_) group->members.clear();
  open_.clear();
  ready_.clear();
}

void GroupTable::Remember(const TrackedGroup& group) {
  if (!over_.insert_or_assign(group.id, group.first_submit).second) return;
  over_order_.push_back(group.id);
  if (over_order_.size() > kMaxRemembered) {
    over_.erase(over_order_.front());
    over_order_.pop_front();
  }
}

}  // namespace rewardloop
