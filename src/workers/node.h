// What the node has for workers: memory and descriptors.
#pragma once

#include <cstdint>

#include "rewardloop/status.h"

namespace rewardloop::workers {

// Bytes of memory of this machine, or of the container where that is less.
int64_t MemoryOfNode();

// Raises the soft limit of open files to the hard one. kResourceExhausted with both figures when that leaves fewer than
// `needed`, which `what` needs.
Status EnsureDescriptors(int64_t needed, const char* what);

}  // namespace rewardloop::workers
