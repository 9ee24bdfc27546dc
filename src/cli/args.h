// The command line: what may be written, and what it means.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"

namespace rewardloop::cli {

// Runs one command: parses `arguments` (without the program's name), reads the configuration file
// that they name, does what they ask and returns the exit status.
int RunCommand(const std::vector<std::string>& arguments);

// `argument` as NAME=VALUE; VALUE is JSON where it can be read as such, else text. What `specs`
// (null: unknown) declares as a string is text whatever it looks like. kInvalidArgument without a
// "=".
Result<std::pair<std::string, Json>> ParseAssignment(const std::string& flag,
                                                     const std::string& argument,
                                                     const std::vector<ArgSpec>* specs = nullptr);

}  // namespace rewardloop::cli
