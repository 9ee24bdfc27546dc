// Batch: what one submit brought, from intake to delivery.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "rewardloop/executor.h"
#include "rewardloop/item.h"
#include "rewardloop/result.h"

namespace rewardloop {

// A time that never came. Not 0, which a virtual clock may show.
inline constexpr int64_t kNeverNs = -1;

struct Attempt;
struct TrackedGroup;

enum class ItemState : uint8_t {
  kPending,  // of a submit that still waits for room
  kQueued,   // in the backlog, not started (perhaps waiting for its siblings)
  kRunning,  // an attempt has started
  kEnded,    // has its result
};

// All members but the atomics are guarded by the pipeline's mutex; `items` are read by the workers that run them, without
// it, until the item's state is kEnded and its last attempt is over.
struct Batch {
  int64_t id = 0;
  int64_t step = 0;
  std::vector<RewardItem> items;
  std::vector<RewardResult> results;
  // What else is kept of each item, in one piece: submits of one item are frequent.
  struct Row {
    std::atomic<ItemState> state = ItemState::kPending;
    bool delivered = false;  // by any view
    int32_t order = 0;       // of rows[k]: the row that was the k-th to end
    int64_t bytes = 0;       // of the item in the backlog, then of the result
  };
  std::unique_ptr<Row[]> rows;
  // Row that is judged for row i: itself, or the last row of its session. Empty when no item has a session.
  std::vector<int32_t> leader;
  // Rows that get the result of judged row i. Empty when no item has a session.
  std::vector<std::vector<int32_t>> followers;
  // Group of row i, null for rows without one. Empty when no item has a group.
  std::vector<std::shared_ptr<TrackedGroup>> group_of;
  // The newest attempt of item i, null when it neither waits nor runs or does so in a CPU chunk. Empty before the first.
  std::vector<std::shared_ptr<Attempt>> attempts;

  int64_t admitted = 0;   // items [0, admitted) have entered the backlog
  int64_t remaining = 0;  // items without a result
  int32_t ended = 0;      // rows with a result
  int32_t next_streamed = 0;
  int64_t undelivered = 0;
  int64_t group_refs = 0;  // rows that an open or undelivered group will still read
  bool streaming = false;
  bool lingering = false;  // all rows were delivered in groups, the handle was never used
  bool taken = false;      // collected, streamed to its end or dropped
  std::vector<Executor::TimerId> queue_timers;

  WaitPoint changed;
  std::vector<std::function<void()>> when_ready;
  std::vector<std::function<void()>> when_next;

  int32_t size() const { return static_cast<int32_t>(items.size()); }
  bool is_leader(int32_t i) const { return leader.empty() || leader[i] == i; }
};

struct ItemRef {
  std::shared_ptr<Batch> batch;
  int32_t index;

  RewardItem& item() const { return batch->items[index]; }
  RewardResult& result() const { return batch->results[index]; }
  std::atomic<ItemState>& state() const { return batch->rows[index].state; }
};

}  // namespace rewardloop
