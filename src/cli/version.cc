// `rewardloop version`.
#include "rewardloop/version.h"

#include "cli/console.h"
#include "cli/options.h"

namespace rewardloop::cli {

int RunVersion(const Args& args, const Registries& registries) {
  const BuildInfo build = GetBuildInfo();
  if (!args.version_json) {
    std::string text =
        "rewardloop " + build.version + " (" + build.compiler + ", " + build.build_type;
    if (!build.sanitizer.empty()) text += ", sanitizer " + build.sanitizer;
    return Print(text + ")\n") ? kExitDone : kExitUsage;
  }
  Json scorers = Json::MakeObject();
  for (const ScorerSpec& spec : registries.scorers.specs()) scorers.Set(spec.name, spec.version);
  Json managers = Json::MakeArray();
  for (const ManagerSpec& spec : registries.managers.specs())
    managers.MutableArray().push_back(spec.name);
  const Json report =
      Json::MakeObject({{"version", build.version},
                        {"schema", kSchemaVersion},
                        {"build", Json::MakeObject({{"compiler", build.compiler},
                                                    {"type", build.build_type},
                                                    {"sanitizer", build.sanitizer}})},
                        {"scorers", std::move(scorers)},
                        {"managers", std::move(managers)}});
  return Print(report.Dump() + "\n") ? kExitDone : kExitUsage;
}

}  // namespace rewardloop::cli
