// EngineImpl: see engine.h.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "pipeline/engine_metrics.h"
#include "rewardloop/engine.h"

namespace rewardloop {

class EngineImpl final : public Engine {
 public:
  // `executor` is `owned` or outlives the engine.
  EngineImpl(Executor* executor, std::unique_ptr<Executor> owned, const EngineOptions& options);

  Executor& executor() override { return *executor_; }
  const EngineOptions& options() const override { return options_; }
  Result<std::shared_ptr<Limiter>> DefineLimiter(const std::string& name, const LimiterOptions& options) override;
  std::shared_ptr<Limiter> AddLimiter(const std::string& name, const LimiterOptions& options) override;
  std::shared_ptr<Limiter> FindLimiter(const std::string& name) const override;
  EngineMetrics& metrics() override { return metrics_; }
  Log& log() override { return *log_; }

 private:
  // Last to go: limiters use it.
  const std::unique_ptr<Executor> owned_;
  Executor* const executor_;
  const EngineOptions options_;
  EngineMetrics metrics_;
  const std::unique_ptr<Log> log_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Limiter>> limiters_;
  std::map<std::string, std::weak_ptr<Limiter>> held_limiters_;  // by others
};

}  // namespace rewardloop
