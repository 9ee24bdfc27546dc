// qa_em: exact match of free-text answers after normalisation.
#include <algorithm>

#include "scorers/answer/gold.h"
#include "scorers/answer/normalize.h"
#include "scorers/answer/qa_answer.h"
#include "scorers/builtin.h"

namespace rewardloop {
namespace {

// Structured golds keep their brackets; JSON ones are compared as JSON, so that only values count.
bool SameStructure(std::string_view gold, std::string_view answer) {
  if (answer::NormalizeStructure(gold) == answer::NormalizeStructure(answer)) return true;
  const Result<Json> gold_json = Json::Parse(gold);
  if (!gold_json.ok()) return false;
  const Result<Json> answer_json = Json::Parse(answer);
  return answer_json.ok() && *gold_json == *answer_json;
}

bool Matches(std::string_view gold, std::string_view answer) {
  if (answer::IsStructured(gold)) return SameStructure(gold, answer);
  return answer::NormalizeText(gold) == answer::NormalizeText(answer);
}

class QaEm : public Scorer {
 public:
  Verdict Score(const RewardItem& item, ScoreContext& context) const override {
    answer::QaCase opened = answer::OpenQaCase(item, context);
    if (opened.verdict) return std::move(*opened.verdict);
    std::string_view matched;
    auto compare = [&](std::string_view gold) {
      for (std::string_view reading : opened.answers) {
        const bool equal = Matches(gold, reading);
        if (equal && matched.empty()) matched = reading;
        if (context.explanation) {
          context.Explain("compare", "'" + answer::Shown(answer::NormalizeText(reading)) +
                                         (equal ? "' = '" : "' is not '") +
                                         answer::Shown(answer::NormalizeText(gold)) + "'");
        }
      }
    };
    if (item.ground_truth.is_bool()) {
      compare(item.ground_truth.AsBool() ? "true" : "false");
      compare(item.ground_truth.AsBool() ? "yes" : "no");
    } else {
      answer::VisitGolds(item.ground_truth, compare);
    }
    const bool equal = !matched.empty();
    Verdict verdict = Verdict::Scored(equal ? 1 : 0, equal ? "equal" : "not_equal");
    verdict.extracted = std::string(equal ? matched : opened.answers.front());
    return verdict;
  }
};

}  // namespace

ScorerSpec QaEmSpec() {
  ScorerSpec spec;
  spec.name = "qa_em";
  spec.version = "1";
  spec.summary = "Exact match of free-text answers after normalisation";
  spec.doc =
      "Pays 1 when the normalised answer is one of the normalised ground truths, else 0.\n"
      "\n"
      "The answer is the last <answer>...</answer>, else the last \\boxed{...}, else what follows "
      "the last \"the answer is\" "
      "or \"Answer:\", else the whole text; thinking is not read.\n"
      "\n"
      "Normalised as for SQuAD: lower case, punctuation and articles removed, white space "
      "collapsed. What would change a "
      "value stays: the minus sign (-5 is not 5), a decimal point (3.5 is not 35), symbols (C++ is "
      "not C, 5% is not 5). "
      "1,000 is 1000. Ground truths with brackets that carry meaning, such as [1, 2], keep them.\n"
      "\n"
      "Ground truth: a text, a number, true or false (yes or no), a list of accepted ones, or "
      "{\"target\": text or list}.\n"
      "Reasons: equal, not_equal, no_answer, thinking_not_closed, limit_answer_bytes.";
  spec.make = [](const Json&) -> Result<std::unique_ptr<Scorer>> {
    return std::unique_ptr<Scorer>(new QaEm());
  };
  return spec;
}

}  // namespace rewardloop
