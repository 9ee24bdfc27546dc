#include "rewardloop/clock.h"

#include <chrono>
#include <cmath>

namespace rewardloop {
namespace {

class SteadyClock final : public Clock {
 public:
  int64_t NowNs() const override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
};

}  // namespace

Clock& Clock::Real() {
  static SteadyClock clock;
  return clock;
}

int64_t SecondsToNs(double seconds) {
  if (std::isnan(seconds) || seconds <= 0) return 0;
  if (seconds >= 9e9) return kNoDeadline;
  return static_cast<int64_t>(std::llround(seconds * 1e9));
}

int64_t DeadlineAfter(int64_t now_ns, int64_t duration_ns) {
  return duration_ns > kNoDeadline - now_ns ? kNoDeadline : now_ns + duration_ns;
}

}  // namespace rewardloop
