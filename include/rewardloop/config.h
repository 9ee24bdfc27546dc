// PipelineConfig: everything a pipeline can be told, as users write it. One table of keys drives
// the YAML file, the flags of the command line, the keyword arguments in Python, `config show` and
// the JSON Schema.
//
//   auto config = PipelineConfig::FromJson(*Json::Parse(R"({"scorer": "gsm8k", "timeout": 5})"));
//   auto built = BuildPipeline(*config, Engine::Make(config->ToEngineOptions()),
//   ScorerRegistry::WithBuiltins(),
//                              ManagerRegistry::WithBuiltins());
//   built->pipeline->Submit(...)
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rewardloop/engine.h"
#include "rewardloop/json.h"
#include "rewardloop/pipeline.h"
#include "rewardloop/registry.h"
#include "rewardloop/reward_manager.h"
#include "rewardloop/scorer_selector.h"
#include "rewardloop/version.h"

namespace rewardloop {

// One key. `type` is "string", "integer", "number" or "object".
struct ConfigKey {
  std::string name;
  std::string type;
  Json default_value;
  std::string doc;                   // one line
  std::vector<std::string> choices;  // allowed strings, empty: any
  std::string section;               // heading in help and docs
  bool affects_scores = true;        // false: other values may be used when a run is resumed
  std::optional<double> minimum;     // of a number; inclusive
  bool nullable = false;
};

// All keys, in the order in which they are shown. Lives as long as the process.
REWARDLOOP_EXPORT const std::vector<ConfigKey>& ConfigKeys();
// Null when there is no such key.
REWARDLOOP_EXPORT const ConfigKey* FindConfigKey(std::string_view name);
// JSON Schema (draft 2020-12) of a config file.
REWARDLOOP_EXPORT Json ConfigSchema();

// Typed values of the keys; member names are the keys. Durations are in seconds; nullopt: no limit.
struct REWARDLOOP_EXPORT PipelineConfig {
  std::string scorer;  // empty: by data source
  Json scorer_args;    // object or null
  std::string manager = "naive";
  Json manager_args;  // object or null
  std::string dispatch = "native";
  Json data_sources;  // object {source: name or {"scorer":, "args":}} or null
  UnknownRewards unknown_rewards = UnknownRewards::kRaise;

  std::string preset;  // names of columns (src/io/row_mapping.h); empty: rewardloop's own
  Json fields;         // object {field: "dotted.path"} or null

  OnError on_error;
  std::optional<double> timeout = 10.0;
  bool timeout_given = false;  // false: a manager's own, longer time-out holds; FromJson sets it
  std::optional<double> total_timeout;
  std::optional<double> queue_timeout;
  int64_t max_attempts = 1;
  double retry_delay = 0.1;
  int64_t seed = 0;
  bool unite_extra = true;  // PipelineOptions::unite_extra; for programs, not a key

  Grouping grouping = Grouping::kSubmit;
  int64_t group_size = 0;
  std::optional<double> group_deadline;

  int64_t threads = 0;      // CPU pool; 0: num_workers if given, else what the process may use
  int64_t num_workers = 0;  // workers of a user function's own pool; 0: as many as CPUs
  int64_t threads_per_worker = 8;
  std::string python;       // interpreter of user functions; empty: see docs/user-functions.md
  int64_t worker_memory = 0;  // bytes; 0: no limit
  std::string hide_env;
  std::string worker_gpus;  // empty: none; "all"; else device numbers
  double import_timeout = 120;
  Json sys_path;            // of user functions, a list or null; for programs, not a key
  int64_t max_concurrent = 256;
  int64_t backlog_items = 4096;
  int64_t backlog_bytes = int64_t{256} << 20;
  Overflow overflow = Overflow::kBlock;
  int64_t uncollected_items = 65536;
  int64_t uncollected_bytes = int64_t{1} << 30;

  // From an object of keys; missing ones take their defaults. kInvalidArgument names the key; an
  // unknown one comes with a suggestion. Names of scorers and managers are checked later, by
  // BuildPipeline().
  static Result<PipelineConfig> FromJson(const Json& values);
  // Every key with its value, in the order of ConfigKeys().
  Json ToJson() const;
  // As ToJson(), only the keys that decide what the scores are: what --resume compares.
  Json ScoringKeys() const;

  SelectorOptions ToSelectorOptions() const;
  PipelineOptions ToPipelineOptions() const;
  EngineOptions ToEngineOptions() const;
};

// A config file as read, before it becomes a PipelineConfig: flags are laid over it.
struct REWARDLOOP_EXPORT ConfigSource {
  Json values;  // object: only the keys that were set
  // "scorer_args" or "scorer_args.method" -> where it was set: "rewards.yaml:3:1", "--timeout". For
  // messages.
  std::map<std::string, std::string> origin;

  // Sets a key or, with a dot, a member of an object key ("scorer_args.method").
  void Set(std::string_view path, Json value, std::string where);
  // Where `path` or its nearest parent was set; "default" when nowhere.
  std::string OriginOf(std::string_view path) const;
};

// Reads YAML. Errors read "file:line:col: what is wrong". `file_name` is only for messages.
REWARDLOOP_EXPORT Result<ConfigSource> ParseConfigYaml(std::string_view text,
                                                       const std::string& file_name);
// As ParseConfigYaml() of the file's content; kNotFound or kInvalidArgument when it cannot be read.
REWARDLOOP_EXPORT Result<ConfigSource> ReadConfigFile(const std::string& path);
// As PipelineConfig::FromJson(source.values), messages prefixed with where the value came from.
// With registries, names and arguments of scorers and managers are checked too.
REWARDLOOP_EXPORT Result<PipelineConfig> ResolveConfig(const ConfigSource& source,
                                                       const ScorerRegistry* scorers = nullptr,
                                                       const ManagerRegistry* managers = nullptr);

// A pipeline with the parts it was made of.
struct BuiltPipeline {
  std::shared_ptr<Engine> engine;
  std::shared_ptr<const ScorerSelector> scorers;
  std::shared_ptr<RewardManager> manager;
  std::unique_ptr<AsyncRewardPipeline> pipeline;
  // Python functions that run in its workers, with their versions.
  std::map<std::string, std::string> functions;
};

// Makes what `config` describes. The registries are used during this call only. `scorer`, when
// given, judges every item in place of config.scorer (a scorer object that no registry knows).
// `on_closed` runs with PipelineOptions::on_closed, or at once when the pipeline cannot be made.
// kNotFound and kInvalidArgument name what is wrong and suggest. Blocks while the first worker of a
// Python function loads it.
REWARDLOOP_EXPORT Result<BuiltPipeline> BuildPipeline(
    const PipelineConfig& config, std::shared_ptr<Engine> engine,
    const ScorerRegistry& scorer_registry, const ManagerRegistry& manager_registry,
    std::shared_ptr<const Scorer> scorer = nullptr,
    std::function<void(const PipelineEvent&)> on_event = nullptr,
    std::function<void()> on_closed = nullptr);

}  // namespace rewardloop
