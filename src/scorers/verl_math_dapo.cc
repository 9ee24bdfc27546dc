// verl/math_dapo: verl.utils.reward_score.math_dapo.compute_score.
#include <algorithm>
#include <limits>

#include "math/string_graders/math_dapo.h"
#include "math/string_graders/minerva.h"
#include "scorers/builtin.h"
#include "scorers/python_error.h"
#include "scorers/verl_explain.h"

namespace rewardloop {
namespace {

using string_graders::MathDapoOptions;
using string_graders::MathDapoVerdict;

// Where pause_tokens_index puts the box window, or what the origin raises when it comes to use it.
struct BoxWindow {
  std::optional<int64_t> start;
  std::optional<PythonError> error;
};

constexpr size_t kPauseTokens = 4;
constexpr int64_t kWindowChars = 100;

BoxWindow BoxWindowOf(const Json& pause_tokens_index) {
  if (pause_tokens_index.is_null()) return {};
  const Json::Array& indices = pause_tokens_index.AsArray();
  if (indices.size() != kPauseTokens) return {{}, PythonError{"AssertionError", ""}};
  const Json& last = indices.back();
  switch (last.kind()) {
    case Json::Kind::kInt:
      return {
          std::max(last.AsInt(), std::numeric_limits<int64_t>::min() + kWindowChars) - kWindowChars,
          {}};
    case Json::Kind::kBool:
      return {(last.AsBool() ? 1 : 0) - kWindowChars, {}};
    case Json::Kind::kBigInt:  // a slice start is clamped to the text
      return {last.BigIntText()[0] == '-' ? std::numeric_limits<int64_t>::min()
                                          : std::numeric_limits<int64_t>::max(),
              {}};
    case Json::Kind::kDouble:
      return {{}, TypeError("slice indices must be integers or None or have an __index__ method")};
    default:
      return {{},
              TypeError("unsupported operand type(s) for -: '" + std::string(PythonTypeName(last)) +
                        "' and 'int'")};
  }
}

class VerlMathDapo : public Scorer {
 public:
  VerlMathDapo(bool strict_box_verify, BoxWindow window) : window_(std::move(window)) {
    options_.strict_box_verify = strict_box_verify;
    options_.box_window_start = window_.start;
  }

  Verdict Score(const RewardItem& item, ScoreContext& context) const override {
    const std::string* response = item.Response();
    if (!response) return RaisedVerdict(TypeError("'NoneType' object is not subscriptable"));
    const Json& truth = item.ground_truth;
    const bool strict = options_.strict_box_verify;
    if (!strict && !truth.is_string()) return RaisedVerdict(NoAttribute(truth, "split"));
    if (window_.error && (strict || LacksAnswerLine(*response)))
      return RaisedVerdict(*window_.error);
    std::optional<std::string_view> gold;
    if (truth.is_string()) gold = truth.AsString();
    MathDapoVerdict graded = string_graders::GradeMathDapo(*response, gold, options_);
    // Without text as truth, only "no box" and null are the same.
    if (!gold) graded.verdict.correct = truth.is_null() && !graded.pred;
    Explain(graded, &context);
    return ToVerdict(std::move(graded));
  }

 private:
  // Whether the origin would go on to the box.
  static bool LacksAnswerLine(std::string_view response) {
    const auto clipped = string_graders::ClipMathDapo(response);
    return string_graders::GradeMinerva(clipped, "").answer_form == string_graders::kInvalidAnswer;
  }

  static void Explain(const MathDapoVerdict& graded, ScoreContext* context) {
    if (!context->explanation) return;
    const auto& verdict = graded.verdict;
    ExplainExtraction(verdict.extracted,
                      graded.used_box ? "the last \\boxed{...} of the window"
                                      : "the line after the last 'Answer:'",
                      context);
    if (verdict.extracted.answer) {
      ExplainComparison(verdict.answer_form, verdict.gold_form, verdict.correct, context);
    }
  }

  static Verdict ToVerdict(MathDapoVerdict graded) {
    Verdict verdict =
        Verdict::Scored(graded.verdict.correct ? 1 : -1, std::string(graded.verdict.reason));
    verdict.extra = Json::MakeObject({{"acc", graded.verdict.correct}});
    verdict.extra.Set("pred", graded.pred ? Json(std::move(*graded.pred)) : Json());
    verdict.extracted = std::move(graded.verdict.extracted.answer);
    return verdict;
  }

  MathDapoOptions options_;
  const BoxWindow window_;
};

}  // namespace

ScorerSpec VerlMathDapoSpec() {
  ScorerSpec spec;
  spec.name = "verl/math_dapo";
  spec.version = "1";
  spec.summary = "verl's math_dapo, bit for bit: 'Answer:' line, then \\boxed{...}; wrong is -1";
  spec.doc =
      "Reads the last 300 characters. The line after the last 'Answer:' is compared with the "
      "ground truth after Minerva's "
      "normalisation of both; without one, the last \\boxed{...} of the last 100 characters is "
      "compared as it stands. Right "
      "is 1, anything else -1. extra: acc (boolean), pred (text or null).\n"
      "Example: response 'Answer: x = 5' with ground truth '5' scores 1.";
  spec.args = {
      {"strict_box_verify", "boolean", false, "Look at the box alone.", {}},
      {"pause_tokens_index",
       "array",
       nullptr,
       "Four numbers; the box is looked for from the last one minus 100 on, counted in the last "
       "300 characters.",
       {}},
  };
  spec.make = [](const Json& args) -> Result<std::unique_ptr<Scorer>> {
    return std::unique_ptr<Scorer>(new VerlMathDapo(args.Find("strict_box_verify")->AsBool(),
                                                    BoxWindowOf(*args.Find("pause_tokens_index"))));
  };
  return spec;
}

}  // namespace rewardloop
