#include "cli/engine.h"

#include "cli/console.h"

namespace rewardloop::cli {

std::shared_ptr<Engine> MakeEngine(const PipelineConfig& config, bool over_progress) {
  EngineOptions options = config.ToEngineOptions();
  options.log_sink = [over_progress](const LogRecord& record) { SayRecord(record, over_progress); };
  return Engine::Make(options);
}

}  // namespace rewardloop::cli
