// qa_f1: overlap of words between a free-text answer and the ground truth.
#include <algorithm>

#include "scorers/answer/gold.h"
#include "scorers/answer/normalize.h"
#include "scorers/answer/qa_answer.h"
#include "scorers/builtin.h"

namespace rewardloop {
namespace {

using Words = std::vector<std::string>;

Words SortedTokens(std::string_view text) {
  Words words = answer::Tokens(answer::NormalizeText(text));
  std::sort(words.begin(), words.end());
  return words;
}

struct Overlap {
  double f1 = 0;
  size_t common = 0;
  size_t answer = 0;
  size_t gold = 0;
};

// Both sorted. F1 = 2 * common / (words of both), the harmonic mean of precision and recall.
Overlap OverlapOf(const Words& answer, const Words& gold) {
  Overlap overlap{0, 0, answer.size(), gold.size()};
  for (size_t i = 0, j = 0; i < answer.size() && j < gold.size();) {
    if (answer[i] == gold[j]) {
      ++overlap.common;
      ++i;
      ++j;
    } else if (answer[i] < gold[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  if (overlap.common > 0) {
    overlap.f1 = 2.0 * static_cast<double>(overlap.common) /
                 static_cast<double>(answer.size() + gold.size());
  }
  return overlap;
}

class QaF1 : public Scorer {
 public:
  Verdict Score(const RewardItem& item, ScoreContext& context) const override {
    answer::QaCase opened = answer::OpenQaCase(item, context);
    if (opened.verdict) return std::move(*opened.verdict);
    std::vector<Words> readings;
    for (std::string_view reading : opened.answers) readings.push_back(SortedTokens(reading));
    Overlap best;
    size_t chosen = 0;
    auto compare = [&](std::string_view gold) {
      const Words wanted = SortedTokens(gold);
      for (size_t i = 0; i < readings.size(); ++i) {
        const Overlap overlap = OverlapOf(readings[i], wanted);
        if (overlap.f1 > best.f1) {
          best = overlap;
          chosen = i;
        }
      }
    };
    if (item.ground_truth.is_bool()) {
      compare(item.ground_truth.AsBool() ? "true" : "false");
      compare(item.ground_truth.AsBool() ? "yes" : "no");
    } else {
      answer::VisitGolds(item.ground_truth, compare);
    }
    if (context.explanation) {
      context.Explain("compare", std::to_string(best.common) + " common words of " +
                                     std::to_string(best.answer) + " in the answer and " +
                                     std::to_string(best.gold) + " in the best ground truth");
    }
    Verdict verdict = Verdict::Scored(best.f1, best.f1 == 1  ? "equal"
                                               : best.f1 > 0 ? "overlap"
                                                             : "no_overlap");
    verdict.extracted = std::string(opened.answers[chosen]);
    return verdict;
  }
};

}  // namespace

ScorerSpec QaF1Spec() {
  ScorerSpec spec;
  spec.name = "qa_f1";
  spec.version = "1";
  spec.summary = "Word overlap (F1) of free-text answers";
  spec.doc =
      "Pays the F1 of the answer's words against the ground truth's, the best over all ground "
      "truths.\n"
      "\n"
      "Answer and normalisation as for qa_em. In scripts without spaces between words (Chinese, "
      "Japanese, Thai, ...) each "
      "character is a word. F1 is 2 * common / (words in the answer + words in the ground truth), "
      "words counted with their "
      "repetitions.\n"
      "\n"
      "Ground truth: as for qa_em.\n"
      "Reasons: equal, overlap, no_overlap, no_answer, thinking_not_closed, limit_answer_bytes.";
  spec.make = [](const Json&) -> Result<std::unique_ptr<Scorer>> {
    return std::unique_ptr<Scorer>(new QaF1());
  };
  return spec;
}

}  // namespace rewardloop
