// Verdict and RewardResult: what a scorer says of an item, and what the engine delivers for it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rewardloop/json.h"

namespace rewardloop {

// What became of an item. A score exists only with kScored; no other status is ever turned into a number unless the user
// names a policy for it (pipeline.h, OnError).
enum class ItemStatus : uint8_t {
  kScored,      // a verdict was reached ("no parsable answer" is one: 0)
  kUnscorable,  // cannot be judged: no_ground_truth, bad_ground_truth, no_scorer, unknown
  kTimeout,     // an attempt, or all attempts together, took too long
  kError,       // the scorer failed: exception, non_finite, bad_return, no_score, poison, ...
  kJudgeError,  // the judge failed: unparsable, unavailable
  kRejected,    // shed, dropped, or waited too long in the queue
  kCancelled,
};
inline constexpr int kItemStatusCount = 7;

// "scored", "unscorable", "timeout", "error", "judge_error", "rejected", "cancelled".
REWARDLOOP_EXPORT std::string_view ItemStatusName(ItemStatus status);

struct RewardError {
  std::string error_class;  // one of the table in docs/statuses.md, e.g. "no_ground_truth"
  std::string message;
  bool retryable = false;
};

// A named part of a reward: a dimension, a rubric part, a penalty.
struct Component {
  std::string name;
  double value;
};

// A scorer's answer for one item, before the engine adds identity and timing.
struct REWARDLOOP_EXPORT Verdict {
  ItemStatus status = ItemStatus::kError;
  double score = 0;  // meaningful only with kScored
  std::vector<Component> components;
  Json extra;  // object or null; keys in a stable order
  std::optional<std::string> extracted;
  std::string reason;  // a code: what decided, e.g. "equal_exact", "no_answer"
  std::optional<RewardError> error;

  static Verdict Scored(double score, std::string reason = "");
  static Verdict Unscorable(std::string error_class, std::string message);
  static Verdict Error(std::string error_class, std::string message, bool retryable = false);
  static Verdict Of(ItemStatus status, std::string error_class, std::string message, bool retryable = false);
};

// 128 bits, not cryptographic, of what was scored.
using Digest = std::array<uint64_t, 2>;

// Monotonic nanoseconds of the engine's clock; 0 where the stage was never reached.
struct Timing {
  int64_t queued_ns = 0;    // accepted by submit
  int64_t started_ns = 0;   // the first attempt began
  int64_t finished_ns = 0;  // the verdict was there
  int32_t attempts = 0;
};

struct REWARDLOOP_EXPORT RewardResult {
  std::string item_id;
  ItemStatus status = ItemStatus::kCancelled;
  // Present iff status == kScored, or a named on_error policy put a value here (then `policy_value` is set).
  std::optional<double> score;
  bool policy_value = false;
  // The score may be trained on: it is present and no policy masked it (drop_group).
  bool valid = false;
  std::vector<Component> components;
  Json extra;  // object
  std::optional<std::string> extracted;
  std::string reason;
  std::optional<RewardError> error;
  Digest digest{};
  Timing timing;
  std::string scorer;          // name of the scorer that judged, empty when none did
  std::string scorer_version;  // "1" or "1+<content hash>"
  // Identity beyond item_id: (step, submit) and group.
  int64_t step = 0;
  int64_t submit = 0;
  std::optional<std::string> group_id;
};

}  // namespace rewardloop
