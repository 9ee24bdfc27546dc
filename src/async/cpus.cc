#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>

#include "rewardloop/engine.h"

namespace rewardloop {
namespace {

// CPUs that the cgroup's quota allows, rounded up; 0 when there is no quota.
int QuotaCpus() {
  // cgroup v2: "max 100000" or "150000 100000".
  if (std::ifstream v2("/sys/fs/cgroup/cpu.max"); v2) {
    std::string quota;
    double period = 0;
    if (v2 >> quota >> period && quota != "max" && period > 0) {
      return static_cast<int>(std::ceil(std::atof(quota.c_str()) / period));
    }
    return 0;
  }
  double quota = -1, period = 0;
  std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") >> quota;
  std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_period_us") >> period;
  return quota > 0 && period > 0 ? static_cast<int>(std::ceil(quota / period)) : 0;
}

}  // namespace

int AvailableCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  if (const int quota = QuotaCpus(); quota > 0) cpus = std::min(cpus, quota);
  return std::max(cpus, 1);
}

}  // namespace rewardloop
