// A progress line on a terminal.
#pragma once

#include <cstdint>
#include <string>

#include "cli/options.h"
#include "rewardloop/clock.h"

namespace rewardloop::cli {

// Not thread-safe.
class Progress {
 public:
  Progress(ProgressWhen when, Clock* clock);
  // Whether a line would be drawn.
  static bool Enabled(ProgressWhen when);
  // Draws at most a few times a second. `fraction` below 0: unknown.
  void Update(int64_t rows, double fraction, int64_t without_score);
  // Removes the line, so that other text can be printed.
  void Clear();

 private:
  const bool enabled_;
  Clock* const clock_;
  const int64_t started_ns_;
  int64_t drawn_ns_ = 0;
  bool visible_ = false;
};

}  // namespace rewardloop::cli
