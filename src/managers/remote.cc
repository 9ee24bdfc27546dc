// remote: a user's function in processes of its own.
#include "managers/builtin.h"

namespace rewardloop {
namespace {

class RemoteManager : public RewardManager {
 public:
  explicit RemoteManager(std::shared_ptr<const Scorer> scorer) : scorer_(std::move(scorer)) {}

  Execution execution(const RewardItem& item) const override { return scorer_->execution(); }
  const Scorer* ScorerOf(const RewardItem& item) const override { return scorer_.get(); }
  Verdict Run(const RewardItem& item, ScoreContext& context) const override { return scorer_->Score(item, context); }
  Task<Verdict> RunAsync(const RewardItem& item, ScoreContext& context) const override {
    return scorer_->ScoreAsync(item, context);
  }

 private:
  const std::shared_ptr<const Scorer> scorer_;
};

Result<std::unique_ptr<RewardManager>> Make(const Json& args, const ManagerSpec::Deps& deps) {
  const std::string& function = args.Find("function")->AsString();
  if (!IsPythonFunctionName(function)) {
    return InvalidArgument("manager 'remote': function '" + function + "' names no Python function",
                           "write path/to/file.py:fn or pkg.mod:fn");
  }
  const int64_t workers = args.Find("num_workers")->AsInt();
  if (workers < 0) return InvalidArgument("manager 'remote': num_workers must not be negative");
  RL_ASSIGN_OR_RETURN(std::shared_ptr<Scorer> scorer,
                      deps.registry->MakeFunction(function, "", *args.Find("function_args"), workers));
  return std::unique_ptr<RewardManager>(new RemoteManager(std::move(scorer)));
}

}  // namespace

ManagerSpec RemoteManagerSpec() {
  return {
      .name = "remote",
      .summary = "A Python function in worker processes of its own, whatever the data source",
      .doc = "Runs `function` for every item in processes that can be killed, also where a built-in scorer exists for the "
             "item's data source, with a number of workers of its own.",
      .args = {{"function", "string", "", "path/to/file.py:fn or pkg.mod:fn.", {}},
               {"function_args", "object", nullptr, "Keywords of the function.", {}},
               {"num_workers", "integer", 0, "Worker processes; 0: the pipeline's num_workers.", {}}},
      .make = Make,
  };
}

}  // namespace rewardloop
