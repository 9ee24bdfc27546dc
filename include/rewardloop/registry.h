// Lookup by name of scorers and dispatch tables.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rewardloop/scorer.h"

namespace rewardloop {

// Validates `args` (an object or null) against `specs`: unknown keys are errors that suggest the nearest name, wrong types
// and choices are errors that say what was expected. Returns an object with all arguments in the order of `specs`.
// `owner` names what the arguments belong to in messages, e.g. "scorer 'gsm8k'".
REWARDLOOP_EXPORT Result<Json> ValidateArgs(std::string_view owner, const std::vector<ArgSpec>& specs, const Json& args);

// Scorers by name: the built-in ones of scorer_list.inc plus what the user registers.
//
// Thread-compatible: register before sharing.
class REWARDLOOP_EXPORT ScorerRegistry {
 public:
  // With all built-in scorers.
  static ScorerRegistry WithBuiltins();

  // kAlreadyExists when the name is taken.
  Status Register(ScorerSpec spec);
  // Null when unknown. Valid until the next Register().
  const ScorerSpec* Find(std::string_view name) const;
  // A new scorer; `name` may be a Python function's too. kNotFound with a suggestion for an unknown name, kInvalidArgument for bad arguments.
  Result<std::shared_ptr<Scorer>> Make(std::string_view name, const Json& args) const;
  // All, sorted by name.
  const std::vector<ScorerSpec>& specs() const { return specs_; }

  // Makes scorers of Python functions: `function` is "file.py:fn" or "pkg.mod:fn", `form` is empty or "origin" (see
  // ScorerSpec::function), `workers` 0 or a number of worker processes of its own.
  using FunctionMaker = std::function<Result<std::shared_ptr<Scorer>>(const std::string& function, const std::string& form,
                                                                      const Json& args, int64_t workers)>;
  // BuildPipeline() sets one for each pipeline. Without one kFailedPrecondition.
  void SetFunctionMaker(FunctionMaker maker) { function_maker_ = std::move(maker); }
  Result<std::shared_ptr<Scorer>> MakeFunction(const std::string& function, const std::string& form, const Json& args,
                                               int64_t workers) const;

 private:

  std::vector<ScorerSpec> specs_;
  FunctionMaker function_maker_;
};

// The name among `candidates` nearest to `name`, or "" when none is near. For "did you mean".
REWARDLOOP_EXPORT std::string NearestName(std::string_view name, const std::vector<std::string>& candidates);

// True for `path/to/file.py:fn` and `pkg.mod:fn`.
REWARDLOOP_EXPORT bool IsPythonFunctionName(std::string_view name);

}  // namespace rewardloop
