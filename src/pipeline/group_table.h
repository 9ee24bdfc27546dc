// GroupTable: the groups of one step, from their first member to delivery.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pipeline/batch.h"
#include "rewardloop/status.h"

namespace rewardloop {

// Guarded by the pipeline's mutex.
struct TrackedGroup {
  std::string id;
  int64_t step = 0;
  int64_t expected = 0;  // members; 0: whatever came when it is closed
  int64_t first_submit = 0;
  std::vector<ItemRef> members;  // judged rows only; cleared with delivery, which breaks the cycle with Batch::group_of
  int64_t admitted = 0;  // entered the backlog, or ended before; counted for group managers only
  int64_t ended = 0;
  bool closed = false;        // no more members will come
  bool unit_started = false;  // a group manager has been given the members
  bool settled = false;       // in the ready queue, delivered or dropped
  bool missing_score = false;  // a member ended without a score
  Executor::TimerId deadline_timer = 0;

  bool all_here() const { return closed || (expected > 0 && static_cast<int64_t>(members.size()) >= expected); }
  bool all_ended() const { return all_here() && ended == static_cast<int64_t>(members.size()); }
};

// What a submit wants to add to a group.
struct GroupJoin {
  std::string_view id;
  std::string_view item_id;  // for messages
  int64_t expected;          // 0: not said
};

// Guarded by the pipeline's mutex.
class GroupTable {
 public:
  // Ids of groups that are over are remembered up to this many, to refuse a second use.
  static constexpr size_t kMaxRemembered = 65536;

  // Ok when all of `joins` may be added by submit `submit`; adds nothing.
  Status Check(const std::vector<GroupJoin>& joins, int64_t submit) const;
  // The group of that id, made when needed. Call only after Check.
  std::shared_ptr<TrackedGroup> Join(const GroupJoin& join, int64_t step, int64_t submit);

  std::shared_ptr<TrackedGroup> FindOpen(std::string_view id) const;
  // Moves an open group to the ready queue.
  void Settle(const std::shared_ptr<TrackedGroup>& group);
  // Oldest ready group, null when there is none.
  std::shared_ptr<TrackedGroup> TakeReady();

  bool has_open() const { return !open_.empty(); }
  bool has_ready() const { return !ready_.empty(); }
  std::vector<std::shared_ptr<TrackedGroup>> OpenGroups() const;
  // Breaks all references to batches.
  void Clear();

 private:
  void Remember(const TrackedGroup& group);

  std::unordered_map<std::string, std::shared_ptr<TrackedGroup>> open_;
  std::deque<std::shared_ptr<TrackedGroup>> ready_;             // bounded: by uncollected_items (PipelineImpl)
  std::unordered_map<std::string, int64_t> over_;               // id -> the submit that brought it last
  std::deque<std::string> over_order_;                          // bounded: kMaxRemembered
};

}  // namespace rewardloop
