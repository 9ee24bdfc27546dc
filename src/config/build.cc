// BuildPipeline: from a configuration to the objects it describes.
#include "rewardloop/config.h"

namespace rewardloop {
namespace {

bool IsModulePath(std::string_view text) {
  if (text.empty()) return false;
  bool at_start = true;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (c == '.') {
      if (at_start) return false;
      at_start = true;
    } else if (letter || (digit && !at_start)) {
      at_start = false;
    } else {
      return false;
    }
  }
  return !at_start;
}

}  // namespace

bool IsPythonFunctionName(std::string_view name) {
  const size_t colon = name.rfind(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view module = name.substr(0, colon);
  if (module.size() > 3 && module.substr(module.size() - 3) == ".py") return true;
  return IsModulePath(module) && IsModulePath(name.substr(colon + 1));
}

Result<BuiltPipeline> BuildPipeline(const PipelineConfig& config, std::shared_ptr<Engine> engine,
                                    const ScorerRegistry& scorer_registry,
                                    const ManagerRegistry& manager_registry,
                                    std::shared_ptr<const Scorer> scorer,
                                    std::function<void(const PipelineEvent&)> on_event) {
  if (!engine) return InvalidArgument("a pipeline needs an engine");
  BuiltPipeline built;
  built.engine = engine;
  if (scorer) {
    built.scorers = ScorerSelector::Of(std::move(scorer));
  } else {
    if (IsPythonFunctionName(config.scorer)) {
      return Status(StatusCode::kUnimplemented,
                    "'" + config.scorer +
                        "' names a Python function, and Python functions cannot be run here yet",
                    "`rewardloop list scorers` shows the built-in ones");
    }
    RL_ASSIGN_OR_RETURN(built.scorers,
                        ScorerSelector::Make(scorer_registry, config.ToSelectorOptions()));
  }
  ManagerSpec::Deps deps;
  deps.scorers = built.scorers;
  deps.registry = &scorer_registry;
  deps.engine = engine.get();
  RL_ASSIGN_OR_RETURN(built.manager,
                      manager_registry.Make(config.manager, config.manager_args, deps));
  PipelineOptions options = config.ToPipelineOptions();
  if (!config.timeout_given && built.manager->timeout_ns()) options.timeout_ns = kNoDeadline;
  options.on_event = std::move(on_event);
  RL_ASSIGN_OR_RETURN(built.pipeline,
                      AsyncRewardPipeline::Make(engine, built.manager, std::move(options)));
  return built;
}

}  // namespace rewardloop
