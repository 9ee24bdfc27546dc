// Fuzz target: the extractor never crashes, and a span lies inside the completion.
#include <cstdlib>

#include "math/extract.h"

using rewardloop::math::Anchor;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  rewardloop::math::Arena arena(8u << 20);
  rewardloop::math::ExtractOptions options;
  if (size) {
    options.join_boxes = data[0] & 1;
    options.choice = data[0] & 2;
    options.last_expression = data[0] & 4;
  }
  const auto found = rewardloop::math::FindAnswer(text, options, &arena);
  if (found.anchor != Anchor::kNone && (found.begin > found.end || found.end > size)) std::abort();
  arena.Reset();
  rewardloop::math::FindGold(text, &arena);
  return 0;
}
