// ConfigSource: values with where they came from, and the checks that can point there.
#include "base/suggest.h"
#include "config/values.h"
#include "io/row_mapping.h"
#include "rewardloop/config.h"

namespace rewardloop {
namespace {

// `status` with the place of `path` in front, unless it was a default.
Status At(const ConfigSource& source, const std::string& path, const Status& status) {
  const std::string origin = source.OriginOf(path);
  if (status.ok() || origin == "default") return status;
  return Status(status.code(), origin + ": " + status.message(), status.hint());
}

// Checks one by one, so that the message can point at the argument that is wrong.
Status CheckArgs(const ConfigSource& source, const std::string& key, const std::string& owner,
                 const std::vector<ArgSpec>& specs, const Json& args) {
  if (!args.is_object()) return Status();
  for (const auto& [name, value] : args.AsObject()) {
    const auto checked = ValidateArgs(owner, specs, Json::MakeObject({{name, value}}));
    // Others may be required: only complaints that name this argument are this argument's.
    if (!checked.ok() && checked.status().message().find(name) != std::string::npos) {
      return At(source, key + "." + name, checked.status());
    }
  }
  return At(source, key, ValidateArgs(owner, specs, args).status());
}

Status CheckScorer(const ConfigSource& source, const PipelineConfig& config,
                   const ScorerRegistry& registry) {
  if (config.scorer.empty() || IsPythonFunctionName(config.scorer)) return Status();
  const ScorerSpec* spec = registry.Find(config.scorer);
  if (!spec) return At(source, "scorer", registry.Make(config.scorer, Json()).status());
  return CheckArgs(source, "scorer_args", "scorer '" + config.scorer + "'", spec->args,
                   config.scorer_args);
}

// One by one for the same reason.
Status CheckDataSources(const ConfigSource& source, const PipelineConfig& config,
                        const ScorerRegistry& registry) {
  if (!config.scorer.empty()) return Status();
  SelectorOptions options = config.ToSelectorOptions();
  for (const auto& entry : config.ToSelectorOptions().data_sources) {
    options.data_sources = {entry};
    const auto selector = ScorerSelector::Make(registry, options);
    if (!selector.ok()) return At(source, "data_sources." + entry.first, selector.status());
  }
  return Status();
}

Status CheckManager(const ConfigSource& source, const PipelineConfig& config,
                    const ManagerRegistry& registry) {
  const ManagerSpec* spec = registry.Find(config.manager);
  if (spec)
    return CheckArgs(source, "manager_args", "manager '" + config.manager + "'", spec->args,
                     config.manager_args);
  std::vector<std::string> names;
  for (const ManagerSpec& known : registry.specs()) names.push_back(known.name);
  return At(
      source, "manager",
      NotFound("unknown manager '" + config.manager + "'", SuggestionFor(config.manager, names)));
}

}  // namespace

void ConfigSource::Set(std::string_view path, Json value, std::string where) {
  if (values.is_null()) values = Json::MakeObject();
  const size_t dot = path.find('.');
  const std::string_view key = path.substr(0, dot);
  if (dot == std::string_view::npos) {
    // Members set before belong to the value that is replaced.
    const std::string prefix = std::string(key) + ".";
    for (auto entry = origin.lower_bound(prefix);
         entry != origin.end() && entry->first.rfind(prefix, 0) == 0;) {
      entry = origin.erase(entry);
    }
    values.Set(key, std::move(value));
  } else {
    const Json* present = values.Find(key);
    Json object = present && present->is_object() ? *present : Json::MakeObject();
    object.Set(path.substr(dot + 1), std::move(value));
    values.Set(key, std::move(object));
  }
  origin[std::string(path)] = std::move(where);
}

std::string ConfigSource::OriginOf(std::string_view path) const {
  auto found = origin.find(std::string(path));
  if (found == origin.end()) {
    const size_t dot = path.find('.');
    if (dot != std::string_view::npos) found = origin.find(std::string(path.substr(0, dot)));
  }
  return found == origin.end() ? "default" : found->second;
}

Result<PipelineConfig> ResolveConfig(const ConfigSource& source, const ScorerRegistry* scorers,
                                     const ManagerRegistry* managers) {
  if (source.values.is_object()) {
    for (const auto& [name, value] : source.values.AsObject()) {
      RL_RETURN_IF_ERROR(At(source, name, CheckConfigValue(name, value)));
    }
  }
  auto parsed = PipelineConfig::FromJson(source.values);
  if (!parsed.ok()) return At(source, "scorer_args", parsed.status());
  const PipelineConfig& config = *parsed;
  const auto fields = FieldMap::Make(config.preset, config.fields);
  if (!fields.ok()) return At(source, "fields", fields.status());
  if (scorers) {
    RL_RETURN_IF_ERROR(CheckScorer(source, config, *scorers));
    RL_RETURN_IF_ERROR(CheckDataSources(source, config, *scorers));
  }
  if (managers) RL_RETURN_IF_ERROR(CheckManager(source, config, *managers));
  return parsed;
}

}  // namespace rewardloop
