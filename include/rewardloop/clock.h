// Clock: the only source of time. Real in production, virtual in the simulator (simulator.h).
#pragma once

#include <cstdint>
#include <limits>

#include "rewardloop/export.h"

namespace rewardloop {

inline constexpr int64_t kNoDeadline = std::numeric_limits<int64_t>::max();

// Thread-safe: implementations must allow calls from any thread.
class REWARDLOOP_EXPORT Clock {
 public:
  virtual ~Clock() = default;
  // Monotonic nanoseconds since an arbitrary origin. Never goes back.
  virtual int64_t NowNs() const = 0;

  // The machine's steady clock; lives as long as the process.
  static Clock& Real();
};

// Seconds as users write them, to nanoseconds. Infinite and huge values become kNoDeadline; never negative.
REWARDLOOP_EXPORT int64_t SecondsToNs(double seconds);
// `now` plus `duration_ns` without overflow.
REWARDLOOP_EXPORT int64_t DeadlineAfter(int64_t now_ns, int64_t duration_ns);

}  // namespace rewardloop
