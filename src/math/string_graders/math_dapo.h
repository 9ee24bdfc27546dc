// verl's math_dapo: a Minerva answer line first, then the last box.
#pragma once

#include <optional>
#include <string_view>

#include "math/string_graders/verdict.h"

namespace rewardloop::string_graders {

// Stands for "no answer line"; an answer that normalises to it counts as none, too.
inline constexpr std::string_view kInvalidAnswer = "[INVALID]";

struct MathDapoOptions {
  bool strict_box_verify = false;  // the box alone
  // Where the window for the box starts, as a Python slice start on the clipped text; absent: its
  // last 100 characters.
  std::optional<int64_t> box_window_start;
};

struct MathDapoVerdict {
  StringVerdict verdict;
  // The origin's `pred`: the normalised answer line, the box's content, "[INVALID]", or absent
  // (strict, no box).
  std::optional<std::string> pred;
  bool used_box = false;
};

// Content of the last "\boxed{...}" of `text`.
Extraction ExtractDapoBox(std::string_view text);

// The last 300 characters, which is all that is graded.
std::string_view ClipMathDapo(std::string_view response);

// Grades the last 300 characters of `response`. A box is compared with `gold` without
// normalisation. `gold` is absent for null: under strict_box_verify it equals "no box"; otherwise
// it must be there.
MathDapoVerdict GradeMathDapo(std::string_view response, std::optional<std::string_view> gold,
                              const MathDapoOptions& options = {});

}  // namespace rewardloop::string_graders
