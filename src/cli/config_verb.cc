// `rewardloop config show` and `config schema`.
#include "cli/console.h"
#include "cli/options.h"

namespace rewardloop::cli {

int RunConfigShow(const Args& args, const Registries& registries) {
  const auto config = ResolveConfig(args.config, &registries.scorers, &registries.managers);
  if (!config.ok()) return Fail(config.status());
  const Json values = config->ToJson();
  if (args.config_verb.json) {
    Json origins = Json::MakeObject();
    for (const auto& [key, value] : values.AsObject()) origins.Set(key, args.config.OriginOf(key));
    for (const auto& [path, where] : args.config.origin) origins.Set(path, where);
    return Print(Json::MakeObject({{"values", values}, {"origin", std::move(origins)}}).Dump() +
                 "\n")
               ? kExitDone
               : kExitUsage;
  }
  // JSON values are YAML as well, so this is a file that can be used again.
  std::string text = "schema: " + std::to_string(kSchemaVersion) + "\n";
  for (const auto& [key, value] : values.AsObject()) {
    std::string line = key + ": " + value.Dump();
    std::string where = args.config.OriginOf(key);
    for (const auto& [path, origin] : args.config.origin) {
      if (path.compare(0, key.size() + 1, key + ".") != 0) continue;
      where = where == "default" || where == origin ? origin : where + ", " + origin;
    }
    if (line.size() < 40) line.resize(40, ' ');
    text += line + "  # " + where + "\n";
  }
  return Print(text) ? kExitDone : kExitUsage;
}

int RunConfigSchema() { return Print(ConfigSchema().Dump() + "\n") ? kExitDone : kExitUsage; }

}  // namespace rewardloop::cli
