// Engines as Python owns them.
#pragma once

#include <memory>

#include "interpreter.h"
#include "rewardloop/engine.h"

namespace rewardloop::python {

// Shared ownership of an engine. In a forked child the engine is leaked: its threads are not there to be joined.
class PyEngine {
 public:
  explicit PyEngine(const EngineOptions& options);
  explicit PyEngine(std::shared_ptr<Engine> engine);
  PyEngine(const PyEngine&) = delete;
  PyEngine& operator=(const PyEngine&) = delete;
  // Needs the GIL; releases it while threads are joined.
  ~PyEngine();

  // Raises in a forked child.
  const std::shared_ptr<Engine>& Get() const;

 private:
  std::shared_ptr<Engine> engine_;
  uint64_t generation_;
};

// The engine that all pipelines without one of their own share; made on first use and never destroyed. Needs the GIL.
// Raises in a child that was forked after a pipeline was made.
std::shared_ptr<Engine> DefaultEngine();

}  // namespace rewardloop::python
