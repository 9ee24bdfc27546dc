#include "managers/inline_manager.h"

#include <utility>

#include "scorers/all_of.h"
#include "scorers/user_function.h"

namespace rewardloop {
namespace {

Json VerdictToJson(const Verdict& verdict) {
  Json components = Json::MakeObject();
  for (const Component& component : verdict.components) components.Set(component.name, component.value);
  Json error;
  if (verdict.error) {
    error = Json::MakeObject({{"class", verdict.error->error_class}, {"message", verdict.error->message}});
  }
  return Json::MakeObject({
      {"status", ItemStatusName(verdict.status)},
      {"score", verdict.status == ItemStatus::kScored ? Json(verdict.score) : Json()},
      {"components", components},
      {"extra", verdict.extra.is_object() ? verdict.extra : Json::MakeObject()},
      {"extracted", verdict.extracted ? Json(*verdict.extracted) : Json()},
      {"reason", verdict.reason},
      {"error", error},
  });
}

class InlineManager final : public RewardManager {
 public:
  InlineManager(std::shared_ptr<InlineCalls> calls, InlineManagerOptions options,
                std::shared_ptr<const ScorerSelector> scorers)
      : calls_(std::move(calls)), options_(options), scorers_(std::move(scorers)) {}

  Granularity granularity() const override { return options_.granularity; }
  size_t max_batch() const override { return options_.max_batch; }
  Execution execution(const RewardItem& item) const override { return Execution::kAsync; }
  Status Admit(const RewardItem& item) const override {
    return options_.with_verdicts ? scorers_->Admit(item) : Status();
  }
  const Scorer* ScorerOf(const RewardItem& item) const override {
    return options_.with_verdicts ? scorers_->Select(item) : nullptr;
  }

  Task<Verdict> RunAsync(const RewardItem& item, ScoreContext& context) const override {
    std::vector<const RewardItem*> one(1, &item);
    Task<std::vector<Verdict>> many = RunMany(std::move(one), context);
    std::vector<Verdict> verdicts = co_await std::move(many);
    co_return std::move(verdicts[0]);
  }

  Task<std::vector<Verdict>> RunMany(std::vector<const RewardItem*> items, ScoreContext& context) const override {
    const ScoreContext::Limits limits = context.TakeOverDeadline();
    std::string json = "{\"items\":" + UserItems(items, context) + ",\"verdicts\":";
    if (options_.with_verdicts) {
      std::vector<Task<Verdict>> tasks;
      for (const RewardItem* item : items) tasks.push_back(Judge(item, context));
      Task<std::vector<Verdict>> all = AllOf(std::move(tasks));
      const std::vector<Verdict> verdicts = co_await std::move(all);
      Json::Array list;
      for (const Verdict& verdict : verdicts) list.push_back(VerdictToJson(verdict));
      Json(std::move(list)).DumpTo(&json);
    } else {
      json += "null";
    }
    json += '}';
    Task<InlineCalls::Reply> call = calls_->Call(std::move(json), static_cast<uint32_t>(items.size()), context, limits);
    const InlineCalls::Reply reply = co_await std::move(call);
    if (reply.kind == InlineCalls::Reply::Kind::kReturned) {
      co_return VerdictsOfReply(reply.text, items.size(), calls_->options().name);
    }
    co_return std::vector<Verdict>(items.size(), VerdictOfFailure(reply));
  }

 private:
  Task<Verdict> Judge(const RewardItem* item, ScoreContext& context) const {
    const Scorer* const scorer = scorers_->Select(*item);
    if (!scorer) co_return scorers_->NoScorer(*item);
    if (scorer->execution() == Execution::kCpu) co_return scorer->Score(*item, context);
    Task<Verdict> task = scorer->ScoreAsync(*item, context);
    co_return co_await std::move(task);
  }

  const std::shared_ptr<InlineCalls> calls_;
  const InlineManagerOptions options_;
  const std::shared_ptr<const ScorerSelector> scorers_;
};

}  // namespace

std::unique_ptr<RewardManager> MakeInlineManager(std::shared_ptr<InlineCalls> calls, InlineManagerOptions options,
                                                 std::shared_ptr<const ScorerSelector> scorers) {
  return std::make_unique<InlineManager>(std::move(calls), options, std::move(scorers));
}

}  // namespace rewardloop
