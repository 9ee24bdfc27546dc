// Pipelines and batch handles as Python owns them.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "inline.h"
#include "interpreter.h"
#include "rewardloop/config.h"
#include "wakeup.h"

namespace rewardloop::python {

// A pipeline with what belongs to it. Shared by its Python object, its handles and blocked calls.
struct PipelineState {
  PipelineConfig config;
  uint64_t generation = ForkGeneration();
  InlineParts inline_parts;
  BuiltPipeline built;

  // Ends the work. Does not need the GIL; leaks in a forked child, where there are no threads to be joined.
  ~PipelineState();

  AsyncRewardPipeline& pipeline() const { return *built.pipeline; }
  void CheckAlive() const { CheckFork(generation, "this pipeline"); }
};

// Names a submit and owns it: when the last reference goes before its results were delivered, the pipeline drops it.
class PyHandle {
 public:
  PyHandle(std::shared_ptr<PipelineState> state, BatchHandle handle) : state_(std::move(state)), handle_(handle) {}
  PyHandle(const PyHandle&) = delete;
  PyHandle& operator=(const PyHandle&) = delete;
  // Needs the GIL, and releases it.
  ~PyHandle();

  const BatchHandle& handle() const { return handle_; }
  const std::shared_ptr<PipelineState>& state() const { return state_; }
  bool delivered() const { return delivered_; }
  void SetDelivered() { delivered_ = true; }

 private:
  std::shared_ptr<PipelineState> state_;
  BatchHandle handle_;
  std::atomic<bool> delivered_{false};
};

// Submits without the GIL; while the backlog is full, signals are handled, and one that raises withdraws the submit.
BatchHandle SubmitWithSignals(PipelineState& state, std::vector<RewardItem> items, int64_t step);

// A submit that waits for room on a thread of its own, so that an event loop can go on.
class PendingSubmit {
 public:
  // Starts it; `wakeup` hears of `token` when it has ended.
  static std::shared_ptr<PendingSubmit> Start(std::shared_ptr<PipelineState> state, std::vector<RewardItem> items,
                                              int64_t step, std::shared_ptr<Wakeup> wakeup, int64_t token);
  // Nobody wants it any more: what was not accepted is withdrawn, what was is dropped.
  void Withdraw();
  // The handle, once. Raises what Submit said.
  BatchHandle Take();

  const std::shared_ptr<PipelineState>& state() const { return state_; }

 private:
  explicit PendingSubmit(std::shared_ptr<PipelineState> state) : state_(std::move(state)) {}
  void Run(std::vector<RewardItem> items, int64_t step);

  const std::shared_ptr<PipelineState> state_;
  std::atomic<bool> withdrawn_{false};
  std::mutex mutex_;
  std::optional<Result<BatchHandle>> result_;
};

// True when a submit of `items` would not wait as things stand.
bool HasRoom(const PipelineState& state, const std::vector<RewardItem>& items);

}  // namespace rewardloop::python
