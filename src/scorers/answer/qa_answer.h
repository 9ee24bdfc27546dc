// Free-text answers: where they are, and what they are compared with. Shared by qa_em and qa_f1.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "rewardloop/scorer.h"
#include "scorers/answer/region.h"

namespace rewardloop::answer {

struct QaAnswer {
  Range where;
  std::string_view how;
};

// The last <answer>, else the last \boxed{}, else the last announced answer, else the whole text;
// without surrounding blanks. Nothing when all of them are empty. `text` must be outside of
// thinking (region.h).
std::optional<QaAnswer> FindQaAnswer(std::string_view text, Range region);

// The readings of an answer: all of it, and when it was announced its first sentence too ("Paris.
// It is large.").
std::vector<std::string_view> Readings(std::string_view text, const QaAnswer& found);

// What every free-text scorer does before it compares. Either `verdict` is the result, or `answers`
// are to be compared.
struct QaCase {
  std::optional<Verdict> verdict;
  std::vector<std::string_view> answers;  // readings, views into the item's response
  Range where;
};
QaCase OpenQaCase(const RewardItem& item, ScoreContext& context);

}  // namespace rewardloop::answer
