// The scorer of a function that runs in the caller's process.
#include "scorers/function_scorer.h"
#include "scorers/inline_calls.h"
#include "scorers/user_function.h"

namespace rewardloop {
namespace {

class InlineScorer final : public FunctionScorer {
 public:
  InlineScorer(std::shared_ptr<InlineCalls> calls, bool is_batch)
      : FunctionScorer(calls->options().name, is_batch), calls_(std::move(calls)) {}

 protected:
  Task<std::vector<Verdict>> Call(std::vector<const RewardItem*> items, ScoreContext& context,
                                  ScoreContext::Limits limits) const override {
    Task<InlineCalls::Reply> call = calls_->Call(UserItems(items, context), static_cast<uint32_t>(items.size()), context, limits);
    const InlineCalls::Reply reply = co_await std::move(call);
    if (reply.kind == InlineCalls::Reply::Kind::kReturned) co_return VerdictsOfReply(reply.text, items.size(), function());
    co_return std::vector<Verdict>(items.size(), VerdictOfFailure(reply));
  }
  // It goes on in its thread: each of its items could take another one.
  bool ends_late_calls() const override { return false; }

 private:
  const std::shared_ptr<InlineCalls> calls_;
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
