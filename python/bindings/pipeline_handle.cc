#include "pipeline_handle.h"

#include <thread>
#include <utility>

namespace rewardloop::python {

PipelineState::~PipelineState() {
  if (generation == ForkGeneration()) {
    built.pipeline.reset();  // before what it uses
  } else {
    new BuiltPipeline(std::move(built));  // leaked
  }
}

PyHandle::~PyHandle() {
  // The usual case, and quick: others hold the pipeline too.
  if (delivered_ && state_.use_count() > 1) return;
  GilRelease release;
  if (!delivered_ && state_->generation == ForkGeneration()) state_->pipeline().Drop(handle_);
  state_.reset();
}

BatchHandle SubmitWithSignals(PipelineState& state, std::vector<RewardItem> items, int64_t step) {
  std::optional<nb::python_error> raised;
  const auto interrupted = [&] {
    GilAcquire acquire;
    if (PyErr_CheckSignals() == 0) return false;
    raised.emplace();
    return true;
  };
  std::optional<Result<BatchHandle>> result;
  {
    GilRelease release;
    result = state.pipeline().Submit(std::move(items), step, interrupted);
    if (raised && result->ok()) state.pipeline().Drop(**result);  // room came at that very moment
  }
  if (raised) throw std::move(*raised);
  return ValueOrThrow(std::move(*result));
}

bool HasRoom(const PipelineState& state, const std::vector<RewardItem>& items) {
  const PipelineOptions& options = state.pipeline().options();
  if (options.overflow != Overflow::kBlock) return true;
  if (state.pipeline().backlog_items() + static_cast<int64_t>(items.size()) > options.backlog_items) return false;
  int64_t bytes = state.pipeline().backlog_bytes();
  for (const RewardItem& item : items) bytes += static_cast<int64_t>(item.ByteSize());
  return bytes <= options.backlog_bytes;
}

std::shared_ptr<PendingSubmit> PendingSubmit::Start(std::shared_ptr<PipelineState> state, std::vector<RewardItem> items,
                                                    int64_t step, std::shared_ptr<Wakeup> wakeup, int64_t token) {
  std::shared_ptr<PendingSubmit> pending(new PendingSubmit(std::move(state)));
  std::thread([pending, items = std::move(items), step, wakeup = std::move(wakeup), token]() mutable {
    pending->Run(std::move(items), step);
    pending.reset();
    wakeup->Notify(token);
  }).detach();
  return pending;
}

void PendingSubmit::Run(std::vector<RewardItem> items, int64_t step) {
  auto result = state_->pipeline().Submit(std::move(items), step, [this] { return withdrawn_.load(); });
  std::lock_guard<std::mutex> lock(mutex_);
  if (withdrawn_ && result.ok()) {
    state_->pipeline().Drop(*result);
  } else {
    result_ = std::move(result);
  }
}

void PendingSubmit::Withdraw() {
  std::lock_guard<std::mutex> lock(mutex_);
  withdrawn_ = true;
  if (result_ && result_->ok()) state_->pipeline().Drop(**result_);
  result_.reset();
}

BatchHandle PendingSubmit::Take() {
  std::optional<Result<BatchHandle>> result;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    result.swap(result_);
  }
  if (!result) throw StatusError(FailedPrecondition("this submit has not ended, or was taken already"));
  return ValueOrThrow(std::move(*result));
}

}  // namespace rewardloop::python
