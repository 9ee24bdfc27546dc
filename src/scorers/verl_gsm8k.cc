// verl/gsm8k: verl.utils.reward_score.gsm8k.compute_score.
#include "math/string_graders/gsm8k.h"
#include "scorers/builtin.h"
#include "scorers/python_error.h"
#include "scorers/verl_explain.h"

namespace rewardloop {
namespace {

using string_graders::Gsm8kMethod;

class VerlGsm8k : public Scorer {
 public:
  VerlGsm8k(Gsm8kMethod method, double format_score, double score)
      : method_(method), format_score_(format_score), score_(score) {}

  Verdict Score(const RewardItem& item, ScoreContext& context) const override {
    const std::string* response = item.Response();
    if (!response) return RaisedVerdict(TypeError("object of type 'NoneType' has no len()"));
    string_graders::Extraction found = string_graders::ExtractGsm8k(*response, method_);
    ExplainExtraction(found,
                      method_ == Gsm8kMethod::kStrict
                          ? "the number after the last '#### ' of the last 300 characters"
                          : "the last number of the last 300 characters",
                      &context);
    if (!found.answer) return Verdict::Scored(0, "no_answer");
    const Json& truth = item.ground_truth;
    // A truth that is no text equals no answer, the number 5 included.
    const bool equal = truth.is_string() && *found.answer == truth.AsString();
    if (context.explanation) {
      ExplainComparison(*found.answer, truth.is_string() ? truth.AsString() : truth.Dump(), equal,
                        &context);
    }
    Verdict verdict =
        Verdict::Scored(equal ? score_ : format_score_, equal ? "equal_string" : "not_equal");
    verdict.extracted = std::move(found.answer);
    return verdict;
  }

 private:
  const Gsm8kMethod method_;
  const double format_score_;
  const double score_;
};

}  // namespace

ScorerSpec VerlGsm8kSpec() {
  ScorerSpec spec;
  spec.name = "verl/gsm8k";
  spec.version = "1";
  spec.summary = "verl's gsm8k rule, bit for bit: the last number as text";
  spec.doc =
      "Takes the number after the last '#### ' (strict) or the last number (flexible) of the last "
      "300 characters and compares "
      "it with the ground truth as text: '72.0' is not '72'. Under strict, commas are deleted from "
      "the answer, never from the "
      "ground truth.\nExample: response '... #### 1,000' with ground truth '1000' scores 1.";
  spec.args = {
      {"method", "string", "strict", "How the answer is found.", {"strict", "flexible"}},
      {"format_score", "number", 0.0, "Score of a wrong answer in the right form.", {}},
      {"score", "number", 1.0, "Score of a right answer.", {}},
  };
  spec.make = [](const Json& args) -> Result<std::unique_ptr<Scorer>> {
    const bool strict = args.Find("method")->AsString() == "strict";
    return std::unique_ptr<Scorer>(
        new VerlGsm8k(strict ? Gsm8kMethod::kStrict : Gsm8kMethod::kFlexible,
                      args.Find("format_score")->AsDouble(), args.Find("score")->AsDouble()));
  };
  return spec;
}

}  // namespace rewardloop
