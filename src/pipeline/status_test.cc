// Law 1: a score exists only if a verdict was reached; each way to have none has its status and error class.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "pipeline/testing.h"
#include "rewardloop/simulator.h"

namespace rewardloop {
namespace {

using testing::kSecond;
using testing::MakeItem;

struct Fixture {
  std::unique_ptr<Simulator> simulator = Simulator::Make();

  Collected Run(std::shared_ptr<const Scorer> scorer, PipelineOptions options = {}, std::vector<RewardItem> items = {}) {
    if (items.empty()) items.push_back(MakeItem("x"));
    const auto pipeline = testing::MakePipeline(Engine::MakeOn(simulator.get()),
                                                std::make_shared<testing::ScorerManager>(std::move(scorer)), options);
    const auto handle = pipeline->Submit(std::move(items));
    EXPECT_TRUE(handle.ok()) << handle.status().ToString();
    return std::move(pipeline->Collect(*handle)).value();
  }
};

void ExpectNoScore(const Collected& collected, ItemStatus status, const std::string& error_class) {
  const RewardResult& result = collected.results.at(0);
  EXPECT_EQ(result.status, status);
  EXPECT_FALSE(result.score.has_value());
  EXPECT_FALSE(result.valid);
  ASSERT_TRUE(result.error.has_value());
  EXPECT_EQ(result.error->error_class, error_class);
  EXPECT_FALSE(collected.status.ok());
  EXPECT_NE(collected.status.message().find("'x'"), std::string::npos);
  EXPECT_NE(collected.status.message().find(error_class), std::string::npos);
}

std::shared_ptr<Scorer> Function(std::function<Verdict(const RewardItem&)> function) {
  return std::make_shared<testing::FunctionScorer>(std::move(function));
}

TEST(Status, ExceptionIsErrorWithTypeAndMessage) {
  const Collected collected = Fixture().Run(Function([](const RewardItem&) -> Verdict { throw std::out_of_range("boom"); }));
  ExpectNoScore(collected, ItemStatus::kError, "exception");
  EXPECT_EQ(collected.results.at(0).error->message, "std::out_of_range: boom");
}

TEST(Status, ExceptionInACoroutineIsErrorToo) {
  auto scorer = std::make_shared<testing::TimerScorer>();
  scorer->verdict = [](const RewardItem&, int) -> Verdict { throw std::runtime_error("late boom"); };
  ExpectNoScore(Fixture().Run(scorer), ItemStatus::kError, "exception");
}

TEST(Status, NanAndInfinityAreErrors) {
  for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    ExpectNoScore(Fixture().Run(Function([value](const RewardItem&) { return Verdict::Scored(value); })),
                  ItemStatus::kError, "non_finite");
  }
  ExpectNoScore(Fixture().Run(Function([](const RewardItem&) {
                  Verdict verdict = Verdict::Scored(1);
                  verdict.components.push_back({"part", std::nan("")});
                  return verdict;
                })),
                ItemStatus::kError, "non_finite");
}

TEST(Status, UnscorableKeepsItsClass) {
  for (const char* error_class : {"no_ground_truth", "bad_ground_truth", "no_scorer", "unknown"}) {
    ExpectNoScore(
        Fixture().Run(Function([=](const RewardItem&) { return Verdict::Unscorable(error_class, "because"); })),
        ItemStatus::kUnscorable, error_class);
  }
}

TEST(Status, JudgeErrorKeepsItsClass) {
  for (const char* error_class : {"unparsable", "unavailable"}) {
    ExpectNoScore(Fixture().Run(Function([=](const RewardItem&) {
                    return Verdict::Of(ItemStatus::kJudgeError, error_class, "because");
                  })),
                  ItemStatus::kJudgeError, error_class);
  }
}

TEST(Status, TimeoutCountsExecutionOfOneAttemptAndStopsTheWork) {
  Fixture fixture;
  auto scorer = std::make_shared<testing::TimerScorer>();
  scorer->delay = [](const RewardItem&) { return 60 * kSecond; };
  const Collected collected = fixture.Run(scorer, {.timeout_ns = 2 * kSecond});
  ExpectNoScore(collected, ItemStatus::kTimeout, "timeout");
  EXPECT_EQ(fixture.simulator->clock().NowNs(), 2 * kSecond);
  EXPECT_EQ(scorer->running(), 0);  // the sleep was cut short: nothing goes on behind our back
}

TEST(Status, TimeoutDoesNotCountTheWaitBefore) {
  Fixture fixture;
  auto scorer = std::make_shared<testing::TimerScorer>();
  std::vector<RewardItem> items;
  for (int i = 0; i < 10; ++i) items.push_back(MakeItem(std::to_string(i)));
  const Collected collected = fixture.Run(scorer, {.timeout_ns = 2 * kSecond, .max_concurrent = 1}, std::move(items));
  EXPECT_TRUE(collected.status.ok());  // the last one waited 9 s and ran 1 s
  EXPECT_EQ(fixture.simulator->clock().NowNs(), 10 * kSecond);
}

TEST(Status, QueueTimeoutIsRejected) {
  Fixture fixture;
  auto scorer = std::make_shared<testing::TimerScorer>();
  std::vector<RewardItem> items;
  for (int i = 0; i < 4; ++i) items.push_back(MakeItem(std::to_string(i)));
  const Collected collected = fixture.Run(
      scorer, {.queue_timeout_ns = kSecond + kSecond / 2, .max_concurrent = 1}, std::move(items));
  EXPECT_EQ(collected.results[0].status, ItemStatus::kScored);
  EXPECT_EQ(collected.results[1].status, ItemStatus::kScored);  // started at 1 s, in time
  for (const int i : {2, 3}) {
    EXPECT_EQ(collected.results[i].status, ItemStatus::kRejected);
    EXPECT_EQ(collected.results[i].error->error_class, "queue_timeout");
    EXPECT_EQ(collected.results[i].timing.finished_ns, kSecond + kSecond / 2);
  }
  EXPECT_EQ(scorer->calls(), 2);
}

TEST(Status, TotalTimeoutBoundsAllAttempts) {
  Fixture fixture;
  auto scorer = std::make_shared<testing::TimerScorer>();
  scorer->verdict = [](const RewardItem&, int) {
    return Verdict::Of(ItemStatus::kJudgeError, "unavailable", "503", /*retryable=*/true);
  };
  const Collected collected =
      fixture.Run(scorer, {.total_timeout_ns = 5 * kSecond, .max_attempts = 100, .retry_delay_ns = kSecond});
  // Attempts at 0-1 and 2-3; the next would start at 3 + 2 = 5 s.
  EXPECT_EQ(scorer->calls(), 2);
  ExpectNoScore(collected, ItemStatus::kJudgeError, "unavailable");
  EXPECT_EQ(collected.results.at(0).timing.attempts, 2);
}

TEST(Status, RetryableErrorIsTriedAgainWithDoublingPause) {
  Fixture fixture;
  auto scorer = std::make_shared<testing::TimerScorer>();
  scorer->verdict = [](const RewardItem&, int call) {
    return call < 3 ? Verdict::Error("exception", "flaky", /*retryable=*/true) : Verdict::Scored(0.25);
  };
  const Collected collected = fixture.Run(scorer, {.max_attempts = 3, .retry_delay_ns = kSecond});
  EXPECT_EQ(collected.results.at(0).score, 0.25);
  EXPECT_EQ(collected.results.at(0).timing.attempts, 3);
  EXPECT_EQ(fixture.simulator->clock().NowNs(), (1 + 1 + 1 + 2 + 1) * kSecond);
}

TEST(Status, AttemptsThatTimeOutAreTriedAgain) {
  Fixture fixture;
  auto scorer = std::make_shared<testing::TimerScorer>();
  scorer->delay = [calls = std::make_shared<int>(0)](const RewardItem&) { return ++*calls == 1 ? 60 * kSecond : kSecond; };
  const Collected collected =
      fixture.Run(scorer, {.timeout_ns = 2 * kSecond, .max_attempts = 2, .retry_delay_ns = kSecond});
  EXPECT_EQ(collected.results.at(0).score, 1.0);
  EXPECT_EQ(fixture.simulator->clock().NowNs(), (2 + 1 + 1) * kSecond);
}

TEST(Status, CpuItemsAreTriedAgainToo) {
  Fixture fixture;
  auto calls = std::make_shared<int>(0);
  const Collected collected = fixture.Run(Function([calls](const RewardItem&) {
                                            return ++*calls == 1 ? Verdict::Error("exception", "flaky", true)
                                                                 : Verdict::Scored(1);
                                          }),
                                          {.max_attempts = 2, .retry_delay_ns = kSecond});
  EXPECT_EQ(collected.results.at(0).score, 1.0);
  EXPECT_EQ(collected.results.at(0).timing.attempts, 2);
}

TEST(Status, WrongNumberOfVerdictsIsBadReturn) {
  class Short final : public RewardManager {
   public:
    Granularity granularity() const override { return Granularity::kBatch; }
    Task<std::vector<Verdict>> RunMany(std::vector<const RewardItem*>, ScoreContext&) const override {
      co_return std::vector<Verdict>(3, Verdict::Scored(1));
    }
  };
  Fixture fixture;
  const auto pipeline = testing::MakePipeline(Engine::MakeOn(fixture.simulator.get()), std::make_shared<Short>());
  const auto handle = *pipeline->Submit({MakeItem("x"), MakeItem("y")});
  const Collected collected = std::move(pipeline->Collect(handle)).value();
  ExpectNoScore(collected, ItemStatus::kError, "bad_return");
  EXPECT_EQ(collected.results.at(0).error->message, "the manager returned 3 verdicts for 2 items");
}

std::vector<RewardItem> OneGoodOneBad() { return {MakeItem("good", "1"), MakeItem("x", "bad")}; }

std::shared_ptr<Scorer> BadFails() {
  return Function([](const RewardItem& item) {
    return *item.Response() == "bad" ? Verdict::Error("exception", "no") : Verdict::Scored(0.5);
  });
}

TEST(OnErrorPolicy, RaiseStillHandsOverAllResults) {
  const Collected collected = Fixture().Run(BadFails(), {}, OneGoodOneBad());
  EXPECT_EQ(collected.status.code(), StatusCode::kDataLoss);
  EXPECT_NE(collected.status.message().find("1 of 2 items have no score"), std::string::npos);
  ASSERT_EQ(collected.results.size(), 2u);
  EXPECT_EQ(collected.results[0].score, 0.5);
}

TEST(OnErrorPolicy, NullLeavesTheScoreAbsent) {
  const Collected collected = Fixture().Run(BadFails(), {.on_error = *OnError::Parse("null")}, OneGoodOneBad());
  EXPECT_TRUE(collected.status.ok());
  EXPECT_FALSE(collected.results[1].score);
}

TEST(OnErrorPolicy, ZeroGivesZerosAndCountsThem) {
  const auto simulator = Simulator::Make();
  const auto engine = Engine::MakeOn(simulator.get());
  const auto pipeline = testing::MakePipeline(engine, std::make_shared<testing::ScorerManager>(BadFails()),
                                              {.on_error = *OnError::Parse("zero")});
  const Collected collected = std::move(pipeline->Collect(*pipeline->Submit(OneGoodOneBad()))).value();
  EXPECT_TRUE(collected.status.ok());
  EXPECT_EQ(collected.results[1].score, 0.0);
  EXPECT_EQ(collected.results[1].status, ItemStatus::kError);  // the status stays what it was
  EXPECT_TRUE(collected.results[1].policy_value);
  EXPECT_FALSE(collected.results[0].policy_value);
  EXPECT_EQ(engine->metrics().Snapshot().policy_values, 1);
}

TEST(OnErrorPolicy, DropGroupMasksAllMembersAndShortensNothing) {
  const auto simulator = Simulator::Make();
  const auto pipeline =
      testing::MakePipeline(Engine::MakeOn(simulator.get()), std::make_shared<testing::ScorerManager>(BadFails()),
                            {.on_error = *OnError::Parse("drop_group")});
  auto items = OneGoodOneBad();
  for (RewardItem& item : items) item.group_id = "g";
  items.push_back(MakeItem("other", "1"));
  items.back().group_id = "h";
  const auto handle = *pipeline->Submit(std::move(items));
  const Collected collected = std::move(pipeline->Collect(handle)).value();
  EXPECT_TRUE(collected.status.ok());
  ASSERT_EQ(collected.results.size(), 3u);
  EXPECT_FALSE(collected.results[0].valid);
  EXPECT_EQ(collected.results[0].score, 0.5);
  EXPECT_FALSE(collected.results[1].valid);
  EXPECT_TRUE(collected.results[2].valid);
  for (int i = 0; i < 2; ++i) {
    const auto group = pipeline->NextGroup();
    EXPECT_EQ((*group)->valid, (*group)->group_id == "g" ? std::vector<bool>(2, false) : std::vector<bool>(1, true));
  }
}

TEST(OnErrorPolicy, ParsesAndPrintsItsNames) {
  for (const char* name : {"raise", "null", "zero", "drop_group", "value:-1.5"}) {
    EXPECT_EQ(OnError::Parse(name)->ToString(), name);
  }
  for (const char* wrong : {"", "none", "value:", "value:nan", "value:1x", "value:inf"}) {
    EXPECT_FALSE(OnError::Parse(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace rewardloop
