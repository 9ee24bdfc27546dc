// The command `rewardloop`.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "cli/args.h"

int main(int argc, char** argv) {
  try {
    return rewardloop::cli::RunCommand(
        std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  } catch (const std::bad_alloc&) {
    std::fputs("error: out of memory\nhint: a smaller --backlog-bytes needs less\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: internal: %s\n", error.what());
  }
  return rewardloop::cli::kExitInternal;
}
