#include "async/token_bucket.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rewardloop {

TokenBucket::TokenBucket(double per_minute, int64_t now_ns) : updated_ns_(now_ns) {
  if (!(per_minute > 0) || std::isinf(per_minute)) return;
  refill_per_ns_ = std::max<int64_t>(1, std::llround(std::min(per_minute, kMaxTokens) * kResolution));
  capacity_ = std::max(kUnitsPerToken, Units{refill_per_ns_} * 1'000'000'000);
  level_ = capacity_;
}

TokenBucket::Units TokenBucket::UnitsOf(double tokens) {
  if (!(tokens > 0)) return 0;
  return Units{std::llround(std::min(tokens, kMaxTokens) * kResolution)} * kNsPerMinute;
}

void TokenBucket::Refill(int64_t now_ns) {
  if (now_ns <= updated_ns_) return;
  const Units elapsed = Units{now_ns} - updated_ns_;
  updated_ns_ = now_ns;
  // A timer comes up to a nanosecond late; what that adds beyond a full bucket is kept, or slow rates would drift.
  const Units full = capacity_ + refill_per_ns_ - 1;
  // Compared before multiplied: the product could overflow.
  if (elapsed > (full - level_) / refill_per_ns_) {
    level_ = full;
  } else {
    level_ += elapsed * refill_per_ns_;
  }
}

int64_t TokenBucket::WaitNs(double tokens, int64_t now_ns) {
  if (!limited()) return 0;
  Refill(now_ns);
  const Units missing = std::min(UnitsOf(tokens), capacity_) - level_;
  if (missing <= 0) return 0;
  const Units wait = (missing + refill_per_ns_ - 1) / refill_per_ns_;
  return static_cast<int64_t>(std::min<Units>(wait, std::numeric_limits<int64_t>::max()));
}

void TokenBucket::Take(double tokens) {
  if (limited()) level_ -= UnitsOf(tokens);
}

}  // namespace rewardloop
