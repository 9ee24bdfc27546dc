// verl/math_reward: verl.utils.reward_score.math_reward.compute_score.
#include "math/string_graders/math_reward.h"
#include "scorers/builtin.h"
#include "scorers/verl_explain.h"

namespace rewardloop {
namespace {

class VerlMathReward : public Scorer {
 public:
  Verdict Score(const RewardItem& item, ScoreContext& context) const override {
    const std::string* response = item.Response();
    // The origin swallows every exception, that of a missing text included.
    if (!response) return Verdict::Scored(0, "no_answer");
    std::optional<std::string_view> gold;
    if (item.ground_truth.is_string()) gold = item.ground_truth.AsString();
    string_graders::StringVerdict graded = string_graders::GradeMathReward(*response, gold);
    ExplainExtraction(graded.extracted,
                      "the text after the last '\\boxed ', else the last \\boxed{...}", &context);
    if (graded.extracted.answer && context.explanation) {
      if (gold) {
        ExplainComparison(graded.answer_form, graded.gold_form, graded.correct, &context);
      } else {
        context.Explain("compare", "the ground truth is no text, so nothing equals it");
      }
    }
    Verdict verdict = Verdict::Scored(graded.correct ? 1 : 0, std::string(graded.reason));
    verdict.extracted = std::move(graded.extracted.answer);
    return verdict;
  }
};

}  // namespace

ScorerSpec VerlMathRewardSpec() {
  ScorerSpec spec;
  spec.name = "verl/math_reward";
  spec.version = "1";
  spec.summary =
      "verl's math_reward, bit for bit: string equality after Hendrycks MATH normalisation";
  spec.doc =
      "Takes the last \\boxed{...} and compares it with the ground truth as text, after both lost "
      "units, spaces and \\left, "
      "and got braces around the arguments of \\frac and \\sqrt. '1,000' is not '1000', '-1/2' is "
      "not '-\\frac{1}{2}'. Never "
      "raises: whatever goes wrong scores 0.\nExample: response '\\boxed{1/2}' with ground truth "
      "'\\frac{1}{2}' scores 1.";
  spec.make = [](const Json&) -> Result<std::unique_ptr<Scorer>> {
    return std::unique_ptr<Scorer>(new VerlMathReward());
  };
  return spec;
}

}  // namespace rewardloop
