#include "scorers/inline_calls.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "async/thread_executor.h"
#include "rewardloop/simulator.h"
#include "scorers/user_function.h"

namespace rewardloop {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
using Kind = InlineCalls::Reply::Kind;

// The test plays the fetching threads too, between the steps of the simulator.
class InlineCallsTest : public testing::Test {
 protected:
  struct Caller {
    explicit Caller(Executor* executor) : context(executor, kNoDeadline, stop.get_token(), 7) {}
    std::stop_source stop;
    ScoreContext context;
    std::optional<InlineCalls::Reply> reply;

    Kind kind() const { return reply.value().kind; }
  };

  void Make(InlineOptions options) {
    options.name = "fn";
    calls_ = InlineCalls::Make(simulator_.get(), log_.get(), nullptr, std::move(options));
  }
  std::shared_ptr<Caller> Start(int64_t timeout_ns = kNoDeadline, int64_t queue_deadline_ns = kNoDeadline) {
    auto caller = std::make_shared<Caller>(simulator_.get());
    Spawn(calls_->Call("[]", 1, caller->context, {timeout_ns, queue_deadline_ns}),
          [caller](std::optional<InlineCalls::Reply> reply, std::exception_ptr) { caller->reply = std::move(reply); });
    return caller;
  }
  uint64_t FetchOne() {
    const auto works = calls_->Fetch(1);
    EXPECT_TRUE(works && works->size() == 1 && !works->front().cancel);
    return works->front().id;
  }

  const std::unique_ptr<Simulator> simulator_ = Simulator::Make();
  const std::unique_ptr<Log> log_ = Log::Make(simulator_.get(), nullptr);
  std::shared_ptr<InlineCalls> calls_;
};

TEST_F(InlineCallsTest, AReplyReachesItsCallerAndNoOther) {
  Make({});
  const auto first = Start();
  const auto second = Start();
  const auto works = calls_->Fetch(8);
  ASSERT_TRUE(works && works->size() == 2);
  calls_->Complete((*works)[1].id, "two");
  simulator_->RunUntilIdle();
  EXPECT_FALSE(first->reply);
  EXPECT_EQ(second->reply->text, "two");
  calls_->Complete((*works)[0].id, "one");
  calls_->Complete((*works)[0].id, "again");  // dropped
  simulator_->RunUntilIdle();
  EXPECT_EQ(first->kind(), Kind::kReturned);
  EXPECT_EQ(first->reply->text, "one");
}

TEST_F(InlineCallsTest, TimeCountsFromTheFetchNotFromTheCall) {
  Make({});
  const auto caller = Start(kSecond);
  simulator_->RunFor(5 * kSecond);
  EXPECT_FALSE(caller->reply);
  FetchOne();
  EXPECT_EQ(caller->context.started_ns(), simulator_->clock().NowNs());
  simulator_->RunFor(kSecond - 1);
  EXPECT_FALSE(caller->reply);
  simulator_->RunFor(1);
  EXPECT_EQ(caller->kind(), Kind::kTimeout);
}

TEST_F(InlineCallsTest, LateThreadsAreLostUntilTheyComeBackAndAtTheBoundCallsAreRefused) {
  Make({.threads = 2});
  const auto first = Start(kSecond);
  const auto second = Start(kSecond);
  const auto waiting = Start(kSecond);
  const uint64_t id = FetchOne();
  FetchOne();
  simulator_->RunFor(kSecond);
  EXPECT_EQ(first->kind(), Kind::kTimeout);
  EXPECT_EQ(second->kind(), Kind::kTimeout);
  EXPECT_EQ(calls_->lost(), 2);
  simulator_->RunUntilIdle();
  EXPECT_EQ(waiting->kind(), Kind::kNoThread);
  const auto refused = Start(kSecond);
  simulator_->RunUntilIdle();
  EXPECT_EQ(refused->kind(), Kind::kNoThread);
  EXPECT_EQ(VerdictOfFailure(*refused->reply).status, ItemStatus::kRejected);

  calls_->Complete(id, "late");
  EXPECT_EQ(calls_->lost(), 1);
  const auto next = Start(kSecond);
  calls_->Complete(FetchOne(), "fine");
  simulator_->RunUntilIdle();
  EXPECT_EQ(next->reply->text, "fine");
}

TEST_F(InlineCallsTest, ALateAsyncCallIsCancelledAndLosesNoThread) {
  Make({.threads = 1, .cancellable = true});
  const auto caller = Start(kSecond);
  const uint64_t id = FetchOne();
  simulator_->RunFor(kSecond);
  EXPECT_EQ(caller->kind(), Kind::kTimeout);
  EXPECT_EQ(calls_->lost(), 0);
  const auto works = calls_->Fetch(8);
  ASSERT_TRUE(works && works->size() == 1);
  EXPECT_TRUE(works->front().cancel);
  EXPECT_EQ(works->front().id, id);
  calls_->Complete(id, "cancelled");  // nobody waits
  simulator_->RunUntilIdle();
}

TEST_F(InlineCallsTest, AQueueTimeOutRejectsWhatWasNotFetched) {
  Make({});
  const auto caller = Start(kSecond, simulator_->clock().NowNs() + kSecond);
  simulator_->RunFor(kSecond);
  EXPECT_EQ(caller->kind(), Kind::kQueueTimeout);
  const auto other = Start(kSecond, simulator_->clock().NowNs() + kSecond);
  const uint64_t id = FetchOne();  // the first one is gone
  simulator_->RunFor(kSecond / 2);
  calls_->Complete(id, "in time");
  simulator_->RunUntilIdle();
  EXPECT_EQ(other->reply->text, "in time");
}

TEST_F(InlineCallsTest, AStopRequestEndsWaitingAndRunningCalls) {
  Make({.threads = 2});
  const auto running = Start();
  const uint64_t id = FetchOne();
  const auto queued = Start();
  running->stop.request_stop();
  queued->stop.request_stop();
  simulator_->RunUntilIdle();
  EXPECT_EQ(running->kind(), Kind::kCancelled);
  EXPECT_EQ(queued->kind(), Kind::kCancelled);
  EXPECT_EQ(calls_->lost(), 1);
  calls_->Complete(id, "late");
  EXPECT_EQ(calls_->lost(), 0);
}

TEST_F(InlineCallsTest, ClosingEndsAllCallsAndLetsThreadsGo) {
  Make({});
  const auto running = Start();
  FetchOne();
  const auto queued = Start();
  calls_->Close();
  const auto late = Start();
  simulator_->RunUntilIdle();
  EXPECT_EQ(running->kind(), Kind::kCancelled);
  EXPECT_EQ(queued->kind(), Kind::kCancelled);
  EXPECT_EQ(late->kind(), Kind::kCancelled);
  EXPECT_FALSE(calls_->Fetch(1));
}

TEST(InlineCallsThreads, ACallThatIsGivenUpWhileItComesInGoesOnOnce) {
  const auto executor = std::make_unique<ThreadExecutor>(2);
  const std::unique_ptr<Log> log = Log::Make(executor.get(), nullptr);
  const auto calls = InlineCalls::Make(executor.get(), log.get(), nullptr, {.name = "fn", .cancellable = true});
  std::atomic<std::stop_source*> to_stop{nullptr};
  std::atomic<bool> over{false};
  std::atomic<int> answers{0}, stopped{0};
  std::thread stopping([&] {
    while (!over) {
      if (std::stop_source* stop = to_stop.exchange(nullptr)) stopped += stop->request_stop();
    }
  });
  constexpr int kCalls = 100;
  for (int i = 0; i < kCalls; ++i) {
    std::stop_source stop;
    ScoreContext context(executor.get(), kNoDeadline, stop.get_token(), 7);
    to_stop = &stop;
    Spawn(calls->Call("[]", 1, context, {kNoDeadline, kNoDeadline}),
          [&](std::optional<InlineCalls::Reply> reply, const std::exception_ptr&) {
            EXPECT_EQ(reply->kind, Kind::kCancelled);
            ++answers;
          });
    while (answers <= i || stopped <= i) std::this_thread::yield();
  }
  over = true;
  stopping.join();
  EXPECT_EQ(answers, kCalls);
}

TEST(VerdictsOfReply, ReadsEveryFieldAndKeepsStatuses) {
  const auto verdicts = VerdictsOfReply(
      R"([{"status": "scored", "score": 0.5, "components": {"a": 1}, "extra": {"k": [1]}, "extracted": "x", "reason": "r"},
          {"status": "timeout", "class": "timeout", "message": "late"}, {"status": "no such", "class": "c", "message": "m"}])",
      3, "fn");
  ASSERT_EQ(verdicts.size(), 3u);
  EXPECT_EQ(verdicts[0].score, 0.5);
  EXPECT_EQ(verdicts[0].components[0].name, "a");
  EXPECT_EQ(verdicts[0].extra.Dump(), R"({"k":[1]})");
  EXPECT_EQ(*verdicts[0].extracted, "x");
  EXPECT_EQ(verdicts[0].reason, "r");
  EXPECT_EQ(verdicts[1].status, ItemStatus::kTimeout);
  EXPECT_EQ(verdicts[2].status, ItemStatus::kError);
}

TEST(VerdictsOfReply, ANumberIsAScoreAndNothingElse) {
  const auto verdicts = VerdictsOfReply("[0.25,1,{\"status\": \"error\", \"class\": \"exception\", \"message\": \"m\"}]", 3, "fn");
  ASSERT_EQ(verdicts.size(), 3u);
  EXPECT_EQ(verdicts[0].status, ItemStatus::kScored);
  EXPECT_EQ(verdicts[0].score, 0.25);
  EXPECT_EQ(verdicts[0].reason, "returned");
  EXPECT_EQ(verdicts[1].score, 1);
  EXPECT_EQ(verdicts[2].status, ItemStatus::kError);
}

TEST(VerdictsOfReply, AReplyThatCannotBeReadIsAnErrorOfEveryItem) {
  for (const char* reply : {"", "[", "[1]", "[null,true]", "{}", "[{}]", R"([{"status":"scored"},{"status":"scored","score":"1"}])"}) {
    for (const Verdict& verdict : VerdictsOfReply(reply, 2, "fn")) {
      EXPECT_EQ(verdict.status, ItemStatus::kError) << reply;
      EXPECT_EQ(verdict.error->error_class, "bad_return") << reply;
    }
  }
}

TEST(UserItem, HasWhatTheRowHasAndNoMore) {
  RewardItem item;
  item.item_id = "a\"b";
  item.outputs.emplace_back().text = "text";
  item.ground_truth = Json::BigInt("123456789012345678901234567890");
  std::string json;
  AppendUserItem(item, 18446744073709551615u, &json);
  EXPECT_EQ(json, R"({"item_id":"a\"b","response":"text","ground_truth":123456789012345678901234567890,"seed":18446744073709551615})");
  std::vector<std::string_view> texts;
  json.clear();
  AppendUserItem(item, 1, &json, &texts);
  EXPECT_EQ(json, R"({"item_id":"a\"b","text_bytes":4,"ground_truth":123456789012345678901234567890,"seed":1})");
  EXPECT_EQ(texts, std::vector<std::string_view>{"text"});
  item.outputs[0].token_ids = {1, 2};
  item.group_id = "g";
  item.index = 3;
  json.clear();
  AppendUserItem(item, 18446744073709551615u, &json);
  EXPECT_EQ(json, R"({"item_id":"a\"b","outputs":[{"text":"text","token_ids":[1,2]}],)"
                  R"("ground_truth":123456789012345678901234567890,"group_id":"g","index":3,"seed":18446744073709551615})");
}

}  // namespace
}  // namespace rewardloop
