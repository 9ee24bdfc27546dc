// What an exception of a scorer or manager says of its item.
#pragma once

#include <exception>
#include <utility>
#include <vector>

#include "rewardloop/scorer.h"

namespace rewardloop {

// error(exception) with the exception's type and text. `exception` must not be null.
Verdict VerdictOfException(const std::exception_ptr& exception);

// One verdict per item, asked one by one: after a stop the rest is cancelled, and an exception concerns its item alone.
// `judge` has bool Waits(item), Verdict Now(item) and Task<Verdict> Later(item); it is kept until the task ends.
template <typename Judge>
Task<std::vector<Verdict>> OneByOne(std::vector<const RewardItem*> items, const ScoreContext& context, Judge judge) {
  std::vector<Verdict> verdicts;
  verdicts.reserve(items.size());
  for (const RewardItem* item : items) {
    Verdict verdict = Verdict::Of(ItemStatus::kCancelled, "cancelled", "");
    if (!context.stop().stop_requested()) {
      try {
        if (judge.Waits(*item)) {
          verdict = co_await judge.Later(*item);
        } else {
          verdict = judge.Now(*item);
        }
      } catch (...) {
        verdict = VerdictOfException(std::current_exception());
      }
    }
    verdicts.push_back(std::move(verdict));
  }
  co_return verdicts;
}

}  // namespace rewardloop
