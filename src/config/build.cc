// BuildPipeline: from a configuration to the objects it describes.
#include "rewardloop/config.h"
#include "scorers/user_function.h"

namespace rewardloop {
namespace {

WorkerSettings SettingsOf(const PipelineConfig& config) {
  return {
      .python = config.python,
      .num_workers = config.num_workers,
      .threads_per_worker = config.threads_per_worker,
      .max_concurrent = config.max_concurrent,
      .worker_memory = config.worker_memory,
      .hide_env = config.hide_env,
      .worker_gpus = config.worker_gpus,
      .import_timeout_ns = SecondsToNs(config.import_timeout),
      .sys_path = config.sys_path,
  };
}

void RunAll(const std::vector<std::function<void()>>& functions) {
  for (const auto& function : functions) function();
}

}  // namespace

Result<BuiltPipeline> BuildPipeline(const PipelineConfig& config, std::shared_ptr<Engine> engine,
                                    const ScorerRegistry& scorer_registry,
                                    const ManagerRegistry& manager_registry,
                                    std::shared_ptr<const Scorer> scorer,
                                    std::function<void(const PipelineEvent&)> on_event,
                                    std::function<void()> on_closed) {
  if (!engine) return InvalidArgument("a pipeline needs an engine");
  BuiltPipeline built;
  built.engine = engine;
  // Ends what was started for this pipeline, also when a later part of it cannot be made.
  struct Cleanup {
    std::vector<std::function<void()>> functions;
    ~Cleanup() { RunAll(functions); }
  } on_close;
  if (on_closed) on_close.functions.push_back(std::move(on_closed));
  // A copy for this pipeline: functions run in workers of its own.
  ScorerRegistry scorers = scorer_registry;
  scorers.SetFunctionMaker([&](const std::string& function, const std::string& form, const Json& args,
                               int64_t workers) {
    WorkerSettings settings = SettingsOf(config);
    if (workers > 0) settings.num_workers = workers;
    auto made = MakeUserFunction({function, form, args}, settings, &engine->executor(), &engine->log(), &on_close.functions);
    if (made.ok()) built.functions[(*made)->name()] = (*made)->version();
    return made;
  });
  if (scorer) {
    built.scorers = ScorerSelector::Of(std::move(scorer));
  } else {
    RL_ASSIGN_OR_RETURN(built.scorers, ScorerSelector::Make(scorers, config.ToSelectorOptions()));
  }
  ManagerSpec::Deps deps;
  deps.scorers = built.scorers;
  deps.registry = &scorers;
  deps.engine = engine.get();
  deps.on_close = &on_close.functions;
  RL_ASSIGN_OR_RETURN(built.manager,
                      manager_registry.Make(config.manager, config.manager_args, deps));
  PipelineOptions options = config.ToPipelineOptions();
  if (!config.timeout_given && built.manager->timeout_ns()) options.timeout_ns = kNoDeadline;
  options.on_event = std::move(on_event);
  options.on_closed = [functions = std::move(on_close.functions)] { RunAll(functions); };
  on_close.functions.clear();
  RL_ASSIGN_OR_RETURN(built.pipeline,
                      AsyncRewardPipeline::Make(engine, built.manager, std::move(options)));
  return built;
}

}  // namespace rewardloop
