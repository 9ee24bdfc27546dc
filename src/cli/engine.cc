#include "cli/engine.h"

#include "cli/console.h"
#include "cli/signals.h"

namespace rewardloop::cli {
namespace {

constexpr int64_t kCollectWaitNs = 100'000'000;

}  // namespace

std::shared_ptr<Engine> MakeEngine(const PipelineConfig& config, bool over_progress) {
  EngineOptions options = config.ToEngineOptions();
  options.log_sink = [over_progress](const LogRecord& record) { SayRecord(record, over_progress); };
  return Engine::Make(options);
}

Result<Collected> CollectUnlessInterrupted(AsyncRewardPipeline* pipeline, const BatchHandle& handle) {
  while (true) {
    auto collected = pipeline->Collect(handle, kCollectWaitNs);
    if (InterruptSignal() != 0) return Cancelled("interrupted");
    if (collected.status().code() != StatusCode::kDeadlineExceeded) return collected;
  }
}

}  // namespace rewardloop::cli
