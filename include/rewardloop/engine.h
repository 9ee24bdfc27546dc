// Engine: owns what pipelines share, by name. Pipelines borrow it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rewardloop/executor.h"
#include "rewardloop/limiter.h"
#include "rewardloop/log.h"
#include "rewardloop/metrics.h"

namespace rewardloop {

struct EngineOptions {
  // Threads of the CPU pool. 0: the CPUs that this process may use (affinity and cgroup quota).
  int threads = 0;
  // Items in flight of one pipeline's waiting scorers, where the pipeline names no number of its own.
  int64_t max_concurrent = 256;
  // Where the engine's log goes; null: nowhere.
  Log::Sink log_sink = nullptr;
};

// Thread-safe. Outlives its pipelines by shared ownership.
class REWARDLOOP_EXPORT Engine {
 public:
  virtual ~Engine() = default;

  static std::shared_ptr<Engine> Make(const EngineOptions& options = {});
  // Runs on `executor`, which must outlive the engine: the simulator's, or a program's own.
  static std::shared_ptr<Engine> MakeOn(Executor* executor, const EngineOptions& options = {});

  virtual Executor& executor() = 0;
  virtual const EngineOptions& options() const = 0;

  // The limiter called `name`, made on first use. kAlreadyExists when the name has other limits; the message shows both.
  virtual Result<std::shared_ptr<Limiter>> DefineLimiter(const std::string& name, const LimiterOptions& options) = 0;
  // A new limiter that goes when its last holder does; until then FindLimiter knows it by `name`, which must be unused.
  virtual std::shared_ptr<Limiter> AddLimiter(const std::string& name, const LimiterOptions& options) = 0;
  // Null when nobody defined it.
  virtual std::shared_ptr<Limiter> FindLimiter(const std::string& name) const = 0;

  virtual Metrics& metrics() = 0;
  virtual Log& log() = 0;
};

// CPUs this process may use: the affinity mask, cut by the cgroup's quota; at least 1.
REWARDLOOP_EXPORT int AvailableCpus();

}  // namespace rewardloop
