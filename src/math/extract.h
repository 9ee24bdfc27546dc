// Finds the answer in a completion. One candidate, chosen by where it stands, never by whether it parses well.
#pragma once

#include <cstddef>
#include <string_view>

#include "math/arena.h"
#include "rewardloop/math.h"

namespace rewardloop::math {

struct ExtractOptions {
  std::string_view think_end = "</think>";
  bool join_boxes = true;       // neighbouring boxes form one list
  bool choice = false;          // the gold is a choice letter
  bool text = false;            // the gold is words
  bool last_expression = true;  // without an anchor, take the last formula or number
};

struct Found {
  Anchor anchor = Anchor::kNone;
  size_t begin = 0;  // bytes of the completion
  size_t end = 0;
  std::string_view text;  // the answer; joined boxes live in the arena
};

// Reads from the end and stops at the answer. Linear time at worst.
Found FindAnswer(std::string_view completion, const ExtractOptions& options, Arena* arena);

// The answer in a gold: its last box or boxes; else all of it, without the sentence around "answer is".
Found FindGold(std::string_view gold, Arena* arena);

// Start of the part that may be read: behind the last think_end. npos when thinking never ends.
size_t WindowBegin(std::string_view completion, std::string_view think_end);

}  // namespace rewardloop::math
