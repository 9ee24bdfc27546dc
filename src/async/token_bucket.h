// TokenBucket: how much may be spent by now. Exact integer arithmetic in nanoseconds, so that the instants at which a request
// may start depend on nothing but the requests.
#pragma once

#include <cstdint>

namespace rewardloop {

// Not thread-safe.
class TokenBucket {
 public:
  // A bucket that is full at `now_ns` and holds one second's worth, at least one token. `per_minute` that is not a positive
  // finite number means no limit at all.
  TokenBucket(double per_minute, int64_t now_ns);

  bool limited() const { return refill_per_ns_ > 0; }
  // Nanoseconds from `now_ns` until `tokens` may be taken; 0: now. A request larger than the bucket waits until it is full.
  // Saturates at INT64_MAX. Time that goes back counts as standing still.
  int64_t WaitNs(double tokens, int64_t now_ns);
  // Takes `tokens`, which leaves a debt when there are fewer. Precondition: WaitNs(tokens, now) was 0.
  void Take(double tokens);

 private:
  // A token is kUnitsPerToken units; per_minute tokens a minute are per_minute * kResolution units a nanosecond. Rates and
  // costs that are multiples of 1 / kResolution are exact.
  using Units = __int128;
  static constexpr int64_t kResolution = int64_t{1} << 20;
  static constexpr int64_t kNsPerMinute = 60'000'000'000;
  static constexpr Units kUnitsPerToken = Units{kNsPerMinute} * kResolution;
  // Rates and costs beyond it count as this much, which keeps every product within 128 bits.
  static constexpr double kMaxTokens = 1e12;

  static Units UnitsOf(double tokens);
  void Refill(int64_t now_ns);

  int64_t refill_per_ns_ = 0;
  Units capacity_ = 0;
  Units level_ = 0;  // negative: debt
  int64_t updated_ns_;
};

}  // namespace rewardloop
