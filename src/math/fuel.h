// Fuel: the budget of one verdict, counted in work and never in seconds, so that a verdict is the same on every machine.
#pragma once

#include <cstdint>

namespace rewardloop::math {

// About 1 ns each: one residue multiplication is 1 unit, an operation on a ball of b bits about 4 + b / 16.
class Fuel {
 public:
  static constexpr int64_t kDefaultUnits = 2'000'000;

  explicit Fuel(int64_t units = kDefaultUnits) : total_(units), left_(units) {}

  // False when the budget is used up: stop and report kLimit.
  bool Spend(int64_t units) {
    left_ -= units;
    return left_ >= 0;
  }
  bool empty() const { return left_ < 0; }
  int64_t left() const { return left_ < 0 ? 0 : left_; }
  int64_t used() const { return left_ < 0 ? total_ : total_ - left_; }

 private:
  int64_t total_;
  int64_t left_;
};

}  // namespace rewardloop::math
