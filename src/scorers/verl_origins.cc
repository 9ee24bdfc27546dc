// verl's rules that evaluate model text (SymPy's parser): the origin is called, in a worker process without network.
#include "scorers/builtin.h"

namespace rewardloop {
namespace {

ScorerSpec OriginSpec(const char* name, const char* function, const char* summary, const char* doc, std::vector<ArgSpec> args) {
  ScorerSpec spec;
  spec.name = name;
  spec.version = "1";
  spec.summary = summary;
  spec.doc = std::string(doc) +
             "\nThis rule hands model text to SymPy's parser, which evaluates it as code. It is therefore never chosen by a "
             "dispatch table, and runs in worker processes that can be killed and have no network; files of the user are "
             "within their reach. `math` judges the same answers without evaluating anything. Needs the Python packages that "
             "the origin needs, in the interpreter that `python` names.";
  spec.args = std::move(args);
  spec.function = function;
  return spec;
}

}  // namespace

ScorerSpec VerlGeo3kSpec() {
  return OriginSpec("verl/geo3k", "verl.utils.reward_score.geo3k:compute_score", "verl's own geometry3k rule, called as it is",
                    "Calls verl's geo3k rule: mathruler's comparison, and a share for the think format.",
                    {{"use_boxed", "boolean", true, "The answer is taken from \\boxed{}.", {}},
                     {"format_score", "number", 0.1, "Share of the format in the score.", {}}});
}

ScorerSpec VerlPrimeMathSpec() {
  return OriginSpec("verl/prime_math", "verl.utils.reward_score.prime_math:compute_score", "verl's own PRIME math rule, called as it is",
                    "Calls verl's prime_math rule; of the three values that it returns the first is the score.", {});
}

ScorerSpec VerlMathVerifySpec() {
  return OriginSpec("verl/math_verify", "verl.utils.reward_score.math_verify:compute_score",
                    "verl's own Math-Verify rule, called as it is",
                    "Calls verl's math_verify rule, which has a process pool of its own.",
                    {{"timeout_score", "number", 0, "Score of an answer that Math-Verify does not judge in time.", {}},
                     {"timeout", "number", 30.0, "Seconds that Math-Verify may take.", {}}});
}

}  // namespace rewardloop
