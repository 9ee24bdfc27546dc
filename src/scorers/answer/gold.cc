#include "scorers/answer/gold.h"

#include "scorers/answer/ascii.h"

namespace rewardloop::answer {

bool IsMissing(const Json& gold) {
  if (gold.is_null()) return true;
  if (gold.is_string()) return Trimmed(gold.AsString()).empty();
  if (gold.is_array()) {
    for (const Json& element : gold.AsArray()) {
      if (element.is_array() || !IsMissing(element)) return false;
    }
    return true;
  }
  if (gold.is_object()) {
    const Json* target = gold.Find(kTargetKey);
    return gold.size() == 0 || (target && !target->is_object() && IsMissing(*target));
  }
  return false;
}

Verdict NoGroundTruth(const RewardItem& item) {
  return Verdict::Unscorable("no_ground_truth", "item '" + item.item_id + "' has no ground truth");
}

Verdict BadGroundTruth(const RewardItem& item, std::string_view wanted) {
  return Verdict::Unscorable("bad_ground_truth", "the ground truth of item '" + item.item_id +
                                                     "' is not " + std::string(wanted) + ": " +
                                                     Shown(item.ground_truth.Dump()));
}

Verdict NoAnswer(std::string reason) { return Verdict::Scored(0, std::move(reason)); }

std::string Shown(std::string_view text) {
  if (text.size() <= kMaxShownBytes) return std::string(text);
  size_t end = kMaxShownBytes;
  while (end > 0 && (text[end] & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace rewardloop::answer
