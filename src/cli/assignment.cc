#include "cli/args.h"

namespace rewardloop::cli {

Result<std::pair<std::string, Json>> ParseAssignment(const std::string& flag,
                                                     const std::string& argument) {
  const size_t equals = argument.find('=');
  if (equals == std::string::npos || equals == 0) {
    return InvalidArgument(flag + " '" + argument + "': expected NAME=VALUE");
  }
  const std::string value = argument.substr(equals + 1);
  const auto json = Json::Parse(value);
  return std::pair(argument.substr(0, equals), json.ok() ? *json : Json(value));
}

}  // namespace rewardloop::cli
