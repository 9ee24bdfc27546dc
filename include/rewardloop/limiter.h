// Limiter: how many at once, and how many per minute, for one named resource.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "rewardloop/executor.h"

namespace rewardloop {

// 0 means "no such limit". Equality decides whether two definitions of one name agree.
struct LimiterOptions {
  int64_t max_concurrent = 0;  // held from grant to Release
  double max_rpm = 0;          // requests a minute; the bucket holds one second's worth, at least one
  double max_tpm = 0;          // tokens a minute; likewise

  friend bool operator==(const LimiterOptions&, const LimiterOptions&) = default;
};

// Grants in order of arrival: first a concurrency slot, then a request token, then `tokens` of the token bucket. A request
// larger than the bucket waits until the bucket is full, then proceeds and leaves a debt that later ones wait for.
//
// Thread-safe. Callbacks run on the executor, never inside a call of the limiter.
class REWARDLOOP_EXPORT Limiter {
 public:
  virtual ~Limiter() = default;
  using Ticket = uint64_t;

  static std::shared_ptr<Limiter> Make(LimiterOptions options, Executor* executor);

  // Calls `granted` on the executor once the request may start; each grant must be given back by one Release().
  virtual Ticket Acquire(double tokens, std::function<void()> granted) = 0;
  // Withdraws a waiting request, which then never runs. False when it was granted already (it must be released).
  virtual bool Withdraw(Ticket ticket) = 0;
  virtual void Release() = 0;

  virtual const LimiterOptions& options() const = 0;
  // Granted and not released, the highest that was, and how many wait.
  virtual int64_t in_flight() const = 0;
  virtual int64_t max_in_flight() const = 0;
  virtual int64_t waiting() const = 0;
};

}  // namespace rewardloop
