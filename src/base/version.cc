#include "rewardloop/version.h"

// CMake passes these to this file only, so that a new version compiles one file.
#ifndef REWARDLOOP_VERSION
#error "REWARDLOOP_VERSION must be defined by the build (src/base/CMakeLists.txt)"
#endif

namespace rewardloop {

std::string_view Version() { return REWARDLOOP_VERSION; }

BuildInfo GetBuildInfo() {
  return {REWARDLOOP_VERSION, REWARDLOOP_COMPILER, REWARDLOOP_BUILD_TYPE, REWARDLOOP_SANITIZER};
}

}  // namespace rewardloop
