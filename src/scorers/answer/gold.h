// The ground truth of an item as the rule scorers take it.
#pragma once

#include <string>
#include <string_view>

#include "rewardloop/item.h"
#include "rewardloop/result.h"

namespace rewardloop::answer {

// A member of a ground truth object that holds the accepted answers.
inline constexpr std::string_view kTargetKey = "target";

// Calls `visit(std::string_view text)` for each accepted answer of a ground truth: a string, a
// number, a list of such, or an object with one of them under "target". Returns how many there
// were; -1 when the value has another form.
template <typename Visit>
int VisitGolds(const Json& gold, const Visit& visit, bool nested = false) {
  switch (gold.kind()) {
    case Json::Kind::kNull:
      return 0;
    case Json::Kind::kString:
      visit(std::string_view(gold.AsString()));
      return 1;
    case Json::Kind::kInt:
    case Json::Kind::kDouble: {
      const std::string text = gold.Dump();
      visit(std::string_view(text));
      return 1;
    }
    case Json::Kind::kBigInt:
      visit(std::string_view(gold.BigIntText()));
      return 1;
    case Json::Kind::kArray: {
      if (nested) return -1;
      int count = 0;
      for (const Json& element : gold.AsArray()) {
        const int visited = VisitGolds(element, visit, true);
        if (visited < 0) return -1;
        count += visited;
      }
      return count;
    }
    case Json::Kind::kObject: {
      const Json* target = gold.Find(kTargetKey);
      return target && !target->is_object() ? VisitGolds(*target, visit, nested) : -1;
    }
    case Json::Kind::kBool:
      return -1;
  }
  return -1;
}

// Null, blank text, an empty list, or a list of nothing else.
bool IsMissing(const Json& gold);

Verdict NoGroundTruth(const RewardItem& item);
// `wanted` says what a ground truth of this scorer looks like, e.g. "a number".
Verdict BadGroundTruth(const RewardItem& item, std::string_view wanted);

// Score 0 with nothing extracted.
Verdict NoAnswer(std::string reason = "no_answer");

// At most kMaxShownBytes of `text`, cut at a character, for messages.
inline constexpr size_t kMaxShownBytes = 200;
std::string Shown(std::string_view text);

}  // namespace rewardloop::answer
