#include "workers/node.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace rewardloop::workers {

int64_t MemoryOfNode() {
  int64_t bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  // Control groups, version 2 and 1. "max" is no number; version 1 says so by a huge one.
  for (const char* const path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    int64_t limit = 0;
    if (file >> limit && limit > 0) bytes = std::min(bytes, limit);
  }
  return bytes;
}

Status EnsureDescriptors(int64_t needed, const char* what) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return Status();
  if (limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    (void)getrlimit(RLIMIT_NOFILE, &limit);
  }
  if (limit.rlim_cur == RLIM_INFINITY || static_cast<int64_t>(limit.rlim_cur) >= needed) return Status();
  return ResourceExhausted(std::string(what) + " need " + std::to_string(needed) + " open files, and this process may have " +
                               std::to_string(limit.rlim_cur),
                           "use fewer, or raise the limit (ulimit -Hn)");
}

}  // namespace rewardloop::workers
