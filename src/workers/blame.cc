#include "workers/blame.h"

namespace rewardloop::workers {
namespace {

// Of the time between two looks, what a thread must have computed to be the one that holds the others up. A thread that only
// waits for the interpreter's lock uses about a hundredth.
constexpr int64_t kBusyShare = 10;

const BoardSlot* SlotOf(const BoardSnapshot& board, const RunningCall& call) {
  if (call.slot >= board.slots.size()) return nullptr;
  const BoardSlot& slot = board.slots[call.slot];
  return slot.call == call.id ? &slot : nullptr;
}

uint64_t BusiestCall(const BoardSnapshot& board, const std::vector<RunningCall>& calls,
                     const std::map<int64_t, int64_t>& before, const std::map<int64_t, int64_t>& now, int64_t apart_ns) {
  uint64_t busiest = 0;
  int64_t most_ns = apart_ns / kBusyShare;
  for (const RunningCall& call : calls) {
    const BoardSlot* const slot = SlotOf(board, call);
    if (!slot) continue;
    const auto earlier = before.find(slot->thread);
    const auto later = now.find(slot->thread);
    if (earlier == before.end() || later == now.end()) continue;
    if (later->second - earlier->second > most_ns) {
      most_ns = later->second - earlier->second;
      busiest = call.id;
    }
  }
  return busiest;
}

}  // namespace

int64_t StartedNs(const BoardSnapshot& board, const RunningCall& call) {
  const BoardSlot* const slot = SlotOf(board, call);
  return slot ? slot->started_ns : 0;
}

Stall FindStall(const BoardSnapshot& board, const std::vector<RunningCall>& calls, int64_t now_ns, int64_t least_ns,
                const std::map<int64_t, int64_t>& cpu_before, const std::map<int64_t, int64_t>& cpu_now, int64_t apart_ns) {
  if (board.loop_call != 0 && now_ns - board.loop_since_ns >= least_ns) return {true, board.loop_call};
  if (now_ns - board.heartbeat_ns < least_ns) return {};
  if (calls.size() == 1) return {true, calls.front().id};
  if (board.loop_call != 0) return {true, board.loop_call};
  return {true, BusiestCall(board, calls, cpu_before, cpu_now, apart_ns)};
}

}  // namespace rewardloop::workers
