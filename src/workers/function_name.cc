#include "workers/function_name.h"

namespace rewardloop::workers {
namespace {

// Identifiers with dots between them. Python allows letters of other scripts too.
bool IsDottedName(std::string_view text) {
  bool at_start = true;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
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

std::optional<FunctionName> ParseFunctionName(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view where = text.substr(0, colon);
  FunctionName name{.text = std::string(text), .path = {}, .module = {}, .attribute = std::string(text.substr(colon + 1))};
  if (where.size() > 3 && where.ends_with(".py")) {
    name.path = where;
    return name;
  }
  if (!IsDottedName(where) || !IsDottedName(name.attribute)) return std::nullopt;
  name.module = where;
  return name;
}

}  // namespace rewardloop::workers
