// Fuzz target: two answers, split at the first zero byte or in the middle. The decision ends within its fuel, is the same
// twice, and an answer that can be read equals itself.
#include <cstdlib>

#include "rewardloop/math.h"

using namespace rewardloop::math;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  size_t split = text.find('\0');
  if (split == text.npos) split = size / 2;
  const std::string_view left = text.substr(0, split);
  const std::string_view right = text.substr(split + (split < size && text[split] == '\0'));
  const Options options;
  const CompiledGold gold(left, options);
  const MathVerdict first = Compare(gold, right);
  const MathVerdict second = Compare(gold, right);
  if (first.outcome != second.outcome || first.fuel_used != second.fuel_used) std::abort();
  if (gold.usable() && left.find("box") == left.npos && left.find("<answer>") == left.npos && left.size() <= 40 &&
      Compare(gold, left).outcome == Outcome::kDifferent)
    std::abort();
  return 0;
}
