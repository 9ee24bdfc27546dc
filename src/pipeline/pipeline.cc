#include "rewardloop/pipeline.h"

#include <charconv>
#include <cmath>
#include <unordered_map>

#include "pipeline/pipeline_impl.h"

namespace rewardloop {
namespace {

// Work that is under way keeps the state alive; the handle closes it.
class PipelineHandle final : public AsyncRewardPipeline {
 public:
  explicit PipelineHandle(std::shared_ptr<PipelineImpl> impl) : impl_(std::move(impl)) {}
  ~PipelineHandle() override { (void)impl_->Close(CloseMode::kCancel, kCloseTimeoutNs); }

  Result<BatchHandle> Submit(std::vector<RewardItem> items, int64_t step,
                             const std::function<bool()>& interrupted) override {
    return impl_->Submit(std::move(items), step, interrupted);
  }
  Result<Collected> Collect(const BatchHandle& handle, int64_t timeout_ns) override {
    return impl_->Collect(handle, timeout_ns);
  }
  Result<std::optional<RewardResult>> Next(const BatchHandle& handle, int64_t timeout_ns) override {
    return impl_->Next(handle, timeout_ns);
  }
  Result<std::optional<Group>> NextGroup(int64_t step, int64_t timeout_ns) override {
    return impl_->NextGroup(step, timeout_ns);
  }
  bool Ready(const BatchHandle& handle) const override { return impl_->Ready(handle); }
  void WhenReady(const BatchHandle& handle, std::function<void()> callback) override {
    impl_->WhenReady(handle, std::move(callback));
  }
  void WhenNext(const BatchHandle& handle, std::function<void()> callback) override {
    impl_->WhenNext(handle, std::move(callback));
  }
  void WhenGroup(int64_t step, std::function<void()> callback) override { impl_->WhenGroup(step, std::move(callback)); }
  int64_t BeginStep() override { return impl_->BeginStep(); }
  Status SamplingDone(int64_t step) override { return impl_->SamplingDone(step); }
  Status EndStep(int64_t step) override { return impl_->EndStep(step); }
  Result<StepMetrics> MetricsOf(int64_t step) const override { return impl_->MetricsOf(step); }
  Status CloseGroup(const std::string& group_id, int64_t step) override { return impl_->CloseGroup(group_id, step); }
  Status Cancel(const BatchHandle& handle) override { return impl_->Cancel(handle); }
  void Drop(const BatchHandle& handle) override { impl_->Drop(handle); }
  Status Close(CloseMode mode, int64_t timeout_ns) override { return impl_->Close(mode, timeout_ns); }
  int64_t backlog_items() const override { return impl_->backlog_items(); }
  int64_t backlog_bytes() const override { return impl_->backlog_bytes(); }
  int64_t uncollected_items() const override { return impl_->uncollected_items(); }
  const PipelineOptions& options() const override { return impl_->options(); }
  Engine& engine() override { return impl_->engine(); }

 private:
  static constexpr int64_t kCloseTimeoutNs = 2'000'000'000;
  const std::shared_ptr<PipelineImpl> impl_;
};

Status CheckOptions(const PipelineOptions& options) {
  const auto positive = [](const char* name, int64_t value) {
    return value > 0 ? Status() : InvalidArgument(std::string(name) + " must be at least 1, not " + std::to_string(value));
  };
  RL_RETURN_IF_ERROR(positive("backlog_items", options.backlog_items));
  RL_RETURN_IF_ERROR(positive("backlog_bytes", options.backlog_bytes));
  RL_RETURN_IF_ERROR(positive("uncollected_items", options.uncollected_items));
  RL_RETURN_IF_ERROR(positive("uncollected_bytes", options.uncollected_bytes));
  RL_RETURN_IF_ERROR(positive("max_attempts", options.max_attempts));
  RL_RETURN_IF_ERROR(positive("timeout", options.timeout_ns));
  RL_RETURN_IF_ERROR(positive("total_timeout", options.total_timeout_ns));
  RL_RETURN_IF_ERROR(positive("queue_timeout", options.queue_timeout_ns));
  RL_RETURN_IF_ERROR(positive("group_deadline", options.group_deadline_ns));
  if (options.max_concurrent < 0) return InvalidArgument("max_concurrent must not be negative");
  if (options.group_size < 0) return InvalidArgument("group_size must not be negative");
  if (options.retry_delay_ns < 0) return InvalidArgument("retry_delay must not be negative");
  return Status();
}

}  // namespace

Result<std::unique_ptr<AsyncRewardPipeline>> AsyncRewardPipeline::Make(std::shared_ptr<Engine> engine,
                                                                       std::shared_ptr<RewardManager> manager,
                                                                       PipelineOptions options) {
  RL_RETURN_IF_ERROR(CheckOptions(options));
  auto impl = std::make_shared<PipelineImpl>(std::move(engine), std::move(manager), std::move(options));
  return std::unique_ptr<AsyncRewardPipeline>(std::make_unique<PipelineHandle>(std::move(impl)));
}

Result<OnError> OnError::Parse(std::string_view text) {
  if (text == "raise") return OnError{Policy::kRaise, 0};
  if (text == "null") return OnError{Policy::kNull, 0};
  if (text == "zero") return OnError{Policy::kValue, 0};
  if (text == "drop_group") return OnError{Policy::kDropGroup, 0};
  if (text.starts_with("value:")) {
    double value = 0;
    const std::string_view number = text.substr(6);
    const auto parsed = std::from_chars(number.data(), number.data() + number.size(), value);
    if (parsed.ec == std::errc() && parsed.ptr == number.data() + number.size() && std::isfinite(value)) {
      return OnError{Policy::kValue, value};
    }
  }
  return InvalidArgument("on_error is '" + std::string(text) + "'",
                         "use raise, null, zero, value:<number> or drop_group");
}

std::string OnError::ToString() const {
  switch (policy) {
    case Policy::kRaise: return "raise";
    case Policy::kNull: return "null";
    case Policy::kValue: return value == 0 ? "zero" : "value:" + Json(value).Dump();
    case Policy::kDropGroup: return "drop_group";
  }
  return "raise";
}

Result<std::vector<RewardResult>> ReorderById(const std::vector<RewardItem>& items, std::vector<RewardResult> results) {
  std::unordered_map<std::string_view, size_t> places;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!places.emplace(items[i].item_id, i).second) {
      return InvalidArgument("duplicate item_id '" + items[i].item_id + "' among the items");
    }
  }
  std::vector<RewardResult> ordered(items.size());
  std::vector<bool> seen(items.size());
  for (RewardResult& result : results) {
    const auto place = places.find(result.item_id);
    if (place == places.end()) return InvalidArgument("a result for the unknown item_id '" + result.item_id + "'");
    if (seen[place->second]) return InvalidArgument("two results for item_id '" + result.item_id + "'");
    seen[place->second] = true;
    ordered[place->second] = std::move(result);
  }
  for (size_t i = 0; i < items.size(); ++i) {
    if (!seen[i]) return InvalidArgument("no result for item_id '" + items[i].item_id + "'");
  }
  return ordered;
}

}  // namespace rewardloop
