// The scorer of a function that runs in the caller's process.
#include "scorers/all_of.h"
#include "scorers/inline_calls.h"
#include "scorers/user_function.h"

namespace rewardloop {
namespace {

class InlineScorer final : public Scorer {
 public:
  InlineScorer(std::shared_ptr<InlineCalls> calls, bool is_batch) : calls_(std::move(calls)), is_batch_(is_batch) {}

  Execution execution() const override { return Execution::kAsync; }

  Verdict Score(const RewardItem& item, ScoreContext& context) const override {
    return Verdict::Error("no_engine", "'" + calls_->options().name + "' needs a pipeline");
  }

  Task<Verdict> ScoreAsync(const RewardItem& item, ScoreContext& context) const override {
    const ScoreContext::Limits limits = context.TakeOverDeadline();
    Task<Verdict> one = RunOne(&item, context, limits);
    co_return co_await std::move(one);
  }

  Task<std::vector<Verdict>> ScoreBatch(std::vector<const RewardItem*> items, ScoreContext& context) const override {
    const ScoreContext::Limits limits = context.TakeOverDeadline();
    if (is_batch_) {
      Task<std::vector<Verdict>> together = Run(std::move(items), context, limits);
      co_return co_await std::move(together);
    }
    std::vector<Task<Verdict>> tasks;
    for (const RewardItem* item : items) tasks.push_back(RunOne(item, context, limits));
    Task<std::vector<Verdict>> all = AllOf(std::move(tasks));
    co_return co_await std::move(all);
  }

 private:
  Task<Verdict> RunOne(const RewardItem* item, ScoreContext& context, ScoreContext::Limits limits) const {
    std::vector<const RewardItem*> one(1, item);
    Task<std::vector<Verdict>> task = Run(std::move(one), context, limits);
    std::vector<Verdict> verdicts = co_await std::move(task);
    co_return std::move(verdicts[0]);
  }

  Task<std::vector<Verdict>> Run(std::vector<const RewardItem*> items, ScoreContext& context,
                                 ScoreContext::Limits limits) const {
    Task<InlineCalls::Reply> call = calls_->Call(UserItems(items, context), static_cast<uint32_t>(items.size()), context, limits);
    const InlineCalls::Reply reply = co_await std::move(call);
    if (reply.kind == InlineCalls::Reply::Kind::kReturned) {
      co_return VerdictsOfReply(reply.text, items.size(), calls_->options().name);
    }
    co_return std::vector<Verdict>(items.size(), VerdictOfFailure(reply));
  }

  const std::shared_ptr<InlineCalls> calls_;
  const bool is_batch_;
};

}  // namespace

Verdict VerdictOfFailure(const InlineCalls::Reply& reply) {
  using Kind = InlineCalls::Reply::Kind;
  switch (reply.kind) {
    case Kind::kTimeout: return Verdict::Of(ItemStatus::kTimeout, "timeout", reply.text, true);
    case Kind::kQueueTimeout: return Verdict::Of(ItemStatus::kRejected, "queue_timeout", reply.text);
    case Kind::kNoThread: return Verdict::Of(ItemStatus::kRejected, "no_thread", reply.text);
    case Kind::kReturned:
    case Kind::kCancelled: break;
  }
  return Verdict::Of(ItemStatus::kCancelled, "cancelled", reply.text);
}

std::unique_ptr<Scorer> MakeInlineScorer(std::shared_ptr<InlineCalls> calls, std::string version, bool is_batch) {
  std::string name = calls->options().name;
  auto scorer = std::make_unique<InlineScorer>(std::move(calls), is_batch);
  scorer->SetIdentity(std::move(name), std::move(version));
  return scorer;
}

}  // namespace rewardloop
