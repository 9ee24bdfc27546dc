// `path/to/file.py:fn` and `pkg.mod:fn`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rewardloop::workers {

struct FunctionName {
  std::string text;       // as the user wrote it
  std::string path;       // of a file; empty for a module
  std::string module;     // of a module; empty for a file
  std::string attribute;  // "fn", "Class.method"
};

// Nullopt when `text` has neither form.
std::optional<FunctionName> ParseFunctionName(std::string_view text);

}  // namespace rewardloop::workers
