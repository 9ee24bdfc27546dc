#include "cli/args.h"

namespace rewardloop::cli {

Result<std::pair<std::string, Json>> ParseAssignment(const std::string& flag,
                                                     const std::string& argument,
                                                     const std::vector<ArgSpec>* specs) {
  const size_t equals = argument.find('=');
  if (equals == std::string::npos || equals == 0) {
    return InvalidArgument(flag + " '" + argument + "': expected NAME=VALUE");
  }
  const std::string name = argument.substr(0, equals);
  const std::string value = argument.substr(equals + 1);
  const auto json = Json::Parse(value);
  bool is_text = !json.ok();
  for (size_t i = 0; specs && i < specs->size(); ++i) {
    const ArgSpec& spec = (*specs)[i];
    if (spec.name != name || spec.type != "string") continue;
    const bool stands_for_null = value == "null" && spec.default_value.is_null();
    is_text = is_text || (!json->is_string() && !stands_for_null);
  }
  return std::pair(name, is_text ? Json(value) : *json);
}

}  // namespace rewardloop::cli
