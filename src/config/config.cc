// PipelineConfig from and to JSON, and to the options of the parts it configures.
#include "rewardloop/config.h"

#include "config/values.h"

namespace rewardloop {
namespace {

template <typename Enum>
struct Named {
  const char* name;
  Enum value;
};

constexpr Named<UnknownRewards> kUnknownNames[] = {{"raise", UnknownRewards::kRaise},
                                                   {"warn", UnknownRewards::kWarn}};
constexpr Named<Grouping> kGroupingNames[] = {{"submit", Grouping::kSubmit},
                                              {"explicit", Grouping::kExplicit}};
constexpr Named<Overflow> kOverflowNames[] = {{"block", Overflow::kBlock},
                                              {"drop_oldest", Overflow::kDropOldest},
                                              {"reject", Overflow::kReject}};

// The value that is called `text`, which was checked against the key's choices.
template <typename Enum, size_t count>
Enum Choice(const std::string& text, const Named<Enum> (&names)[count]) {
  for (const Named<Enum>& entry : names) {
    if (text == entry.name) return entry.value;
  }
  return names[0].value;
}

template <typename Enum, size_t count>
std::string NameOf(Enum value, const Named<Enum> (&names)[count]) {
  for (const Named<Enum>& entry : names) {
    if (entry.value == value) return entry.name;
  }
  return "";
}

std::optional<double> Seconds(const Json& value) {
  if (value.is_null()) return std::nullopt;
  return value.AsDouble();
}

Json SecondsToJson(const std::optional<double>& seconds) {
  return seconds ? Json(*seconds) : Json();
}

int64_t LimitNs(const std::optional<double>& seconds) {
  return seconds ? SecondsToNs(*seconds) : kNoDeadline;
}

// True when `key` is one of the workers' and was assigned.
bool AssignOfWorkers(const std::string& key, const Json& value, PipelineConfig* config) {
  PipelineConfig& c = *config;
  if (key == "num_workers")
    c.num_workers = value.AsInt();
  else if (key == "threads_per_worker")
    c.threads_per_worker = value.AsInt();
  else if (key == "python")
    c.python = value.AsString();
  else if (key == "import_timeout")
    c.import_timeout = value.AsDouble();
  else if (key == "worker_memory")
    c.worker_memory = value.AsInt();
  else if (key == "hide_env")
    c.hide_env = value.AsString();
  else if (key == "worker_gpus")
    c.worker_gpus = value.AsString();
  else
    return false;
  return true;
}

// Assigns checked `value` to the member that is called `key`.
Status Assign(const std::string& key, const Json& value, PipelineConfig* config) {
  PipelineConfig& c = *config;
  if (key == "scorer")
    c.scorer = value.AsString();
  else if (key == "scorer_args")
    c.scorer_args = value;
  else if (key == "manager")
    c.manager = value.AsString();
  else if (key == "manager_args")
    c.manager_args = value;
  else if (key == "dispatch")
    c.dispatch = value.AsString();
  else if (key == "data_sources")
    c.data_sources = value;
  else if (key == "unknown_rewards")
    c.unknown_rewards = Choice(value.AsString(), kUnknownNames);
  else if (key == "preset")
    c.preset = value.AsString();
  else if (key == "fields")
    c.fields = value;
  else if (key == "on_error") {
    RL_ASSIGN_OR_RETURN(c.on_error, OnError::Parse(value.is_null() ? "null" : value.AsString()));
  } else if (key == "timeout")
    c.timeout = Seconds(value);
  else if (key == "total_timeout")
    c.total_timeout = Seconds(value);
  else if (key == "queue_timeout")
    c.queue_timeout = Seconds(value);
  else if (key == "max_attempts")
    c.max_attempts = value.AsInt();
  else if (key == "retry_delay")
    c.retry_delay = value.AsDouble();
  else if (key == "seed")
    c.seed = value.AsInt();
  else if (key == "grouping")
    c.grouping = Choice(value.AsString(), kGroupingNames);
  else if (key == "group_size")
    c.group_size = value.AsInt();
  else if (key == "group_deadline")
    c.group_deadline = Seconds(value);
  else if (key == "threads")
    c.threads = value.AsInt();
  else if (key == "max_concurrent")
    c.max_concurrent = value.AsInt();
  else if (key == "backlog_items")
    c.backlog_items = value.AsInt();
  else if (key == "backlog_bytes")
    c.backlog_bytes = value.AsInt();
  else if (key == "overflow")
    c.overflow = Choice(value.AsString(), kOverflowNames);
  else if (key == "uncollected_items")
    c.uncollected_items = value.AsInt();
  else if (key == "uncollected_bytes")
    c.uncollected_bytes = value.AsInt();
  else if (!AssignOfWorkers(key, value, config))
    return Internal("the configuration key '" + key + "' has no member");
  return Status();
}

}  // namespace

Result<PipelineConfig> PipelineConfig::FromJson(const Json& values) {
  PipelineConfig config;
  if (values.is_null()) return config;
  if (!values.is_object()) {
    return InvalidArgument("a configuration must be an object of keys, not " +
                           std::string(values.TypeName()));
  }
  for (const auto& [name, value] : values.AsObject()) {
    RL_RETURN_IF_ERROR(CheckConfigValue(name, value));
    RL_RETURN_IF_ERROR(Assign(name, value, &config));
    if (name == "timeout") config.timeout_given = true;
  }
  if (config.scorer.empty() && config.scorer_args.size() > 0) {
    return InvalidArgument("scorer_args are given, but no scorer",
                           "name the scorer that takes them");
  }
  return config;
}

Json PipelineConfig::ToJson() const {
  const Json values = Json::MakeObject({
      {"scorer", scorer},
      {"scorer_args", scorer_args},
      {"manager", manager},
      {"manager_args", manager_args},
      {"dispatch", dispatch},
      {"data_sources", data_sources},
      {"unknown_rewards", NameOf(unknown_rewards, kUnknownNames)},
      {"preset", preset},
      {"fields", fields},
      {"on_error", on_error.ToString()},
      {"timeout", SecondsToJson(timeout)},
      {"total_timeout", SecondsToJson(total_timeout)},
      {"queue_timeout", SecondsToJson(queue_timeout)},
      {"max_attempts", max_attempts},
      {"retry_delay", retry_delay},
      {"seed", seed},
      {"grouping", NameOf(grouping, kGroupingNames)},
      {"group_size", group_size},
      {"group_deadline", SecondsToJson(group_deadline)},
      {"threads", threads},
      {"num_workers", num_workers},
      {"threads_per_worker", threads_per_worker},
      {"python", python},
      {"worker_memory", worker_memory},
      {"hide_env", hide_env},
      {"worker_gpus", worker_gpus},
      {"import_timeout", import_timeout},
      {"max_concurrent", max_concurrent},
      {"backlog_items", backlog_items},
      {"backlog_bytes", backlog_bytes},
      {"overflow", NameOf(overflow, kOverflowNames)},
      {"uncollected_items", uncollected_items},
      {"uncollected_bytes", uncollected_bytes},
  });
  Json ordered = Json::MakeObject();
  for (const ConfigKey& key : ConfigKeys()) {
    const Json* value = values.Find(key.name);
    ordered.Set(key.name, value ? *value : Json());
  }
  return ordered;
}

Json PipelineConfig::ScoringKeys() const {
  Json all = ToJson();
  for (const ConfigKey& key : ConfigKeys()) {
    if (!key.affects_scores) all.Remove(key.name);
  }
  return all;
}

SelectorOptions PipelineConfig::ToSelectorOptions() const {
  SelectorOptions options;
  options.scorer = scorer;
  options.scorer_args = scorer_args;
  options.dispatch = dispatch;
  if (data_sources.is_object()) {
    for (const auto& [source, target] : data_sources.AsObject())
      options.data_sources.emplace_back(source, target);
  }
  options.unknown_rewards = unknown_rewards;
  return options;
}

PipelineOptions PipelineConfig::ToPipelineOptions() const {
  PipelineOptions options;
  options.on_error = on_error;
  options.grouping = grouping;
  options.group_size = group_size;
  options.group_deadline_ns = LimitNs(group_deadline);
  options.timeout_ns = LimitNs(timeout);
  options.total_timeout_ns = LimitNs(total_timeout);
  options.queue_timeout_ns = LimitNs(queue_timeout);
  options.max_attempts = static_cast<int>(max_attempts);
  options.retry_delay_ns = SecondsToNs(retry_delay);
  options.unite_extra = unite_extra;
  options.seed = static_cast<uint64_t>(seed);
  options.backlog_items = backlog_items;
  options.backlog_bytes = backlog_bytes;
  options.overflow = overflow;
  options.uncollected_items = uncollected_items;
  options.uncollected_bytes = uncollected_bytes;
  options.max_concurrent = max_concurrent;
  return options;
}

EngineOptions PipelineConfig::ToEngineOptions() const {
  EngineOptions options;
  options.threads = static_cast<int>(threads > 0 ? threads : num_workers);
  options.max_concurrent = max_concurrent;
  return options;
}

}  // namespace rewardloop
