// Version of the library and how it was built.
#pragma once

#include <string>
#include <string_view>

#include "rewardloop/export.h"

namespace rewardloop {

// Version of the schemas that are written to disk (JSONL sidecar, configuration). A reader refuses a higher one.
inline constexpr int kSchemaVersion = 1;

struct BuildInfo {
  std::string version;     // "0.1.0"
  std::string compiler;    // "GNU 12.2.0"
  std::string build_type;  // "Release"
  std::string sanitizer;   // "address", "thread" or empty
};

// "0.1.0". The command line, the Python extension and the library of one installation have the same; parts that differ
// refuse to work together.
REWARDLOOP_EXPORT std::string_view Version();
REWARDLOOP_EXPORT BuildInfo GetBuildInfo();

}  // namespace rewardloop
