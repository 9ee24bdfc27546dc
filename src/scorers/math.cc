// math: equality of mathematical answers, by the verifier of rewardloop/math.h.
#include "rewardloop/math.h"

#include <map>
#include <string>
#include <utility>

#include "scorers/answer/ascii.h"
#include "scorers/answer/gold.h"
#include "scorers/builtin.h"
#include "scorers/math_judge.h"

namespace rewardloop {
namespace {

// Policies that are switches, by the name users give them. absolute_digits is a number and stands
// apart.
struct Switch {
  const char* name;
  bool math::Policy::* member;
  const char* doc;
};
constexpr Switch kSwitches[] = {
    {"gold_precision", &math::Policy::gold_precision,
     "A decimal ground truth with 2 or more fraction digits takes any value that rounds to it."},
    {"rounded_ok", &math::Policy::rounded_ok,
     "An irrational ground truth takes its correctly rounded decimal with at least 4 significant "
     "digits."},
    {"percent_as_number", &math::Policy::percent_as_number,
     "50% equals 50 even when the ground truth is a plain number."},
    {"unit_required", &math::Policy::unit_required,
     "A ground truth with a unit wants a unit in the answer."},
    {"ordered_lists", &math::Policy::ordered_lists, "A list without brackets is ordered."},
    {"relation_for_set", &math::Policy::relation_for_set,
     "An unsolved inequality is accepted for the interval that it describes."},
    {"base_value", &math::Policy::base_value, "1011_2 equals 11."},
    {"allow_unevaluated", &math::Policy::allow_unevaluated,
     "An answer may leave a sum, product or integral unevaluated."},
    {"unreduced_quotients", &math::Policy::unreduced_quotients,
     "An integer quotient that is left undivided (3245/5) equals its value."},
    {"last_expression", &math::Policy::last_expression,
     "Without a box or an announced answer, the last number or formula of the text is taken."},
    {"repair_gold", &math::Policy::repair_gold,
     "Damage in a ground truth is repaired: control characters that were commands, missing closing "
     "braces."},
    {"strict_names", &math::Policy::strict_names, "Function and variable names must agree."},
    {"symmetric", &math::Policy::symmetric,
     "Freedoms of the ground truth are given to both sides, so that the verdict does not depend on "
     "which is which."},
    {"consistent_steps", &math::Policy::consistent_steps,
     "An answer whose steps contradict its value (x = 3+3 = 7) is different."},
};

class Math : public Scorer, public MathJudge {
 public:
  explicit Math(const math::Options& options) : cache_(options) {}

  bool JudgePair(std::string_view gold, std::string_view text,
                 RewardResult* result) const override {
    if (answer::Trimmed(gold).empty()) return false;
    const std::shared_ptr<const math::CompiledGold> compiled = cache_.Get(gold);
    if (!compiled->usable()) return false;
    const math::MathVerdict said = math::Verify(*compiled, text);
    if (!said.scored()) return false;
    const bool none = IsNoAnswer(*compiled, text, said);
    result->status = ItemStatus::kScored;
    result->score = none ? 0 : said.score;
    result->valid = true;
    result->reason = none ? answer::NoAnswer().reason : std::string(said.reason);
    if (!none) result->extracted = Extracted(text, said);
    return true;
  }

  Verdict Score(const RewardItem& item, ScoreContext& context) const override {
    if (answer::IsMissing(item.ground_truth)) return answer::NoGroundTruth(item);
    std::vector<std::string> golds;
    const int count = answer::VisitGolds(item.ground_truth, [&](std::string_view gold) {
      if (!answer::Trimmed(gold).empty()) golds.emplace_back(gold);
    });
    if (count < 0)
      return answer::BadGroundTruth(item, "an answer, its text, or a list of accepted answers");
    const std::shared_ptr<const math::CompiledGold> gold =
        golds.size() == 1 ? cache_.Get(golds.front())
                          : std::make_shared<const math::CompiledGold>(
                                std::span<const std::string>(golds), cache_.options());
    if (!gold->usable()) return BadGold(item, gold->bad_reason());
    const std::string* text = item.Response();
    if (!text) return answer::NoAnswer();
    const math::MathVerdict said = math::Verify(*gold, *text);
    if (context.explanation) Explained(*gold, *text, context);
    if (IsNoAnswer(*gold, *text, said)) return answer::NoAnswer();
    return AsVerdict(item, *text, said);
  }

 private:
  // Words that nobody declared as an answer ("I do not know") are none, unless the ground truth is
  // a text too.
  static bool IsNoAnswer(const math::CompiledGold& gold, std::string_view text,
                         const math::MathVerdict& said) {
    return said.anchor == math::Anchor::kWhole && said.outcome == math::Outcome::kDifferent &&
           said.reason == "type_mismatch" && math::Explain(gold, text).prediction_type == "text";
  }

  static Verdict BadGold(const RewardItem& item, std::string_view reason) {
    Verdict verdict = answer::BadGroundTruth(item, "an answer that can be read");
    if (!reason.empty()) verdict.error->message += " (" + std::string(reason) + ")";
    return verdict;
  }

  std::optional<std::string> Extracted(std::string_view text, const math::MathVerdict& said) const {
    std::optional<std::string> extracted;
    if (said.anchor == math::Anchor::kBoxes) {
      extracted = math::Extract(text, cache_.options()).text;
    } else if (said.outcome != math::Outcome::kNoAnswer && said.span.begin >= 0 &&
               said.span.end >= said.span.begin) {
      const auto begin = static_cast<size_t>(said.span.begin);
      extracted = std::string(text.substr(begin, static_cast<size_t>(said.span.end) - begin));
    }
    if (extracted && extracted->size() > answer::kMaxShownBytes &&
        said.outcome == math::Outcome::kLimit) {
      extracted = answer::Shown(*extracted);
    }
    return extracted;
  }

  Verdict AsVerdict(const RewardItem& item, const std::string& text,
                    const math::MathVerdict& said) const {
    if (said.outcome == math::Outcome::kBadGold) return BadGold(item, said.reason);
    std::optional<std::string> extracted = Extracted(text, said);
    if (said.outcome == math::Outcome::kUnknown) {
      Verdict verdict =
          Verdict::Unscorable("unknown", "neither equal nor different could be shown for item '" +
                                             item.item_id + "' (" + std::string(said.reason) + ")");
      verdict.extracted = std::move(extracted);
      return verdict;
    }
    Verdict verdict = Verdict::Scored(said.score, std::string(said.reason));
    verdict.extracted = std::move(extracted);
    return verdict;
  }

  static void Explained(const math::CompiledGold& gold, const std::string& text,
                        ScoreContext& context) {
    const math::Explanation told = math::Explain(gold, text);
    const math::MathVerdict& said = told.verdict;
    if (said.outcome == math::Outcome::kNoAnswer) {
      context.Explain("extract", "no answer found: " + std::string(said.reason));
      return;
    }
    context.Explain(
        "extract",
        "'" + answer::Shown(told.extracted) + "' by " + std::string(math::AnchorName(said.anchor)),
        said.span.begin, said.span.end);
    context.Explain("read",
                    "the answer as " + told.prediction_type + " " +
                        answer::Shown(told.prediction_form) + ", the ground truth as " +
                        told.gold_type + " " + answer::Shown(told.gold_form),
                    said.span.begin, said.span.end);
    context.Explain("compare",
                    std::string(math::OutcomeName(said.outcome)) + " (" + std::string(said.reason) +
                        ", by " + std::string(said.rule) + ", " + std::to_string(said.fuel_used) +
                        " units of work)",
                    said.span.begin, said.span.end);
  }

  mutable math::GoldCache cache_;  // thread-safe; golds come again with every member of a group
};

Result<std::unique_ptr<Scorer>> MakeMath(const Json& args) {
  RL_ASSIGN_OR_RETURN(const math::Profile profile,
                      math::ParseProfile(args.Find("profile")->AsString()));
  math::Options options = math::Options::ForProfile(profile);
  options.think_end = args.Find("think_end")->AsString();
  options.fuel = args.Find("fuel")->AsInt();
  if (options.fuel < 1)
    return InvalidArgument("fuel must be at least 1", "1000000 is about a millisecond");
  const bool has_policies = profile == math::Profile::kDefault ||
                            profile == math::Profile::kStrict ||
                            profile == math::Profile::kMathVerify;
  const auto refuse = [&](const char* name) {
    return InvalidArgument(
        std::string(name) + " has no effect in profile " + std::string(math::ProfileName(profile)),
        "leave it out, or take profile default, strict or math_verify");
  };
  for (const Switch& policy : kSwitches) {
    const Json* value = args.Find(policy.name);
    if (value->is_null()) continue;
    if (!has_policies) return refuse(policy.name);
    options.policy.*policy.member = value->AsBool();
  }
  if (const Json* digits = args.Find("absolute_digits"); !digits->is_null()) {
    if (!has_policies) return refuse("absolute_digits");
    if (digits->AsInt() < -1 || digits->AsInt() > 100)
      return InvalidArgument("absolute_digits must be -1 to 100");
    options.policy.absolute_digits = static_cast<int>(digits->AsInt());
  }
  return std::unique_ptr<Scorer>(new Math(options));
}

}  // namespace

const MathJudge* AsMathJudge(const Scorer& scorer) { return dynamic_cast<const Math*>(&scorer); }

ScorerSpec MathSpec() {
  ScorerSpec spec;
  spec.name = "math";
  spec.version = "1";
  spec.summary =
      "Mathematical answers: numbers, expressions, sets, intervals, equations, units, ...";
  spec.doc =
      "Pays 1 when the answer of the completion is mathematically equal to the ground truth, else "
      "0; unscorable(unknown) when "
      "neither could be shown.\n"
      "\n"
      "The answer is the last \\boxed{...} (boxes that belong together are joined), else a "
      "declared one, else the last number "
      "or formula; thinking is not read. Equality is decided by exact arithmetic first; "
      "docs/math.md has the rules for each "
      "kind of answer, the profiles and the reason codes. Nothing evaluates model text.\n"
      "\n"
      "Ground truth: LaTeX or plain text (\"\\\\frac{1}{2}\", \"0.5\", \"[1, 2)\"), a number, or a "
      "list of accepted answers.\n"
      "Example: ground truth \"1/2\", completion \"so \\\\boxed{0.5}\": 1.";
  spec.args = {
      {"profile",
       "string",
       "default",
       "Whose notion of equality; the string graders of verl are bit-exact.",
       {"default", "strict", "math_verify", "math_reward", "math_dapo", "gsm8k_strict",
        "gsm8k_flexible", "minerva"}},
      {"think_end",
       "string",
       "</think>",
       "All up to the last one of these is not read; empty: read all.",
       {}},
      {"fuel",
       "integer",
       int64_t{2'000'000},
       "Budget of one verdict in units of about a nanosecond.",
       {}},
      {"absolute_digits",
       "integer",
       nullptr,
       "Absolute tolerance of half a unit in this decimal place; -1: none; null: as the profile.",
       {}},
  };
  for (const Switch& policy : kSwitches) {
    spec.args.push_back(
        {policy.name, "boolean", nullptr, std::string(policy.doc) + " Null: as the profile.", {}});
  }
  spec.make = MakeMath;
  return spec;
}

}  // namespace rewardloop
