#include "rewardloop/engine.h"

#include <map>
#include <mutex>

#include "async/thread_executor.h"
#include "pipeline/engine_impl.h"

namespace rewardloop {
namespace {

std::string Describe(const LimiterOptions& options) {
  std::string text;
  const auto add = [&](const char* name, double value) {
    if (value <= 0) return;
    if (!text.empty()) text += ", ";
    text += name;
    text += '=';
    const std::string number = Json(value).Dump();
    text += number.ends_with(".0") ? number.substr(0, number.size() - 2) : number;
  };
  add("max_concurrent", static_cast<double>(options.max_concurrent));
  add("max_rpm", options.max_rpm);
  add("max_tpm", options.max_tpm);
  return text.empty() ? "no limits" : text;
}

EngineOptions Filled(EngineOptions options, int executor_threads) {
  options.threads = executor_threads;
  if (options.max_concurrent <= 0) options.max_concurrent = EngineOptions().max_concurrent;
  return options;
}

}  // namespace

EngineImpl::EngineImpl(Executor* executor, std::unique_ptr<Executor> owned, const EngineOptions& options)
    : owned_(std::move(owned)),
      executor_(executor),
      options_(Filled(options, executor->concurrency())),
      log_(Log::Make(executor, options.log_sink)) {}

Result<std::shared_ptr<Limiter>> EngineImpl::DefineLimiter(const std::string& name, const LimiterOptions& options) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto& limiter = limiters_[name];
  if (!limiter) {
    limiter = Limiter::Make(options, executor_);
  } else if (!(limiter->options() == options)) {
    return AlreadyExists("limiter '" + name + "' is defined with " + Describe(limiter->options()) +
                             " and cannot be defined again with " + Describe(options),
                         "use the same limits or another name");
  }
  return limiter;
}

std::shared_ptr<Limiter> EngineImpl::AddLimiter(const std::string& name, const LimiterOptions& options) {
  auto limiter = Limiter::Make(options, executor_);
  std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(held_limiters_, [](const auto& entry) { return entry.second.expired(); });
  held_limiters_[name] = limiter;
  return limiter;
}

std::shared_ptr<Limiter> EngineImpl::FindLimiter(const std::string& name) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (const auto found = limiters_.find(name); found != limiters_.end()) return found->second;
  const auto held = held_limiters_.find(name);
  return held == held_limiters_.end() ? nullptr : held->second.lock();
}

std::shared_ptr<Engine> Engine::Make(const EngineOptions& options) {
  auto executor = std::make_unique<ThreadExecutor>(options.threads > 0 ? options.threads : AvailableCpus());
  Executor* const raw = executor.get();
  return std::make_shared<EngineImpl>(raw, std::move(executor), options);
}

std::shared_ptr<Engine> Engine::MakeOn(Executor* executor, const EngineOptions& options) {
  return std::make_shared<EngineImpl>(executor, nullptr, options);
}

}  // namespace rewardloop
