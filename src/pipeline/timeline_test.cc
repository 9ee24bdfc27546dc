// Head start, tail, overlap and share by hand-computed examples, through the public pipeline, for every granularity and manager.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "pipeline/step_timeline.h"
#include "pipeline/testing.h"
#include "rewardloop/registry.h"
#include "rewardloop/scorer_selector.h"
#include "rewardloop/simulator.h"

namespace rewardloop {
namespace {

using testing::kSecond;
using testing::MakeItem;

TEST(StepTimeline, UnionOfBusyTimeBeforeTheEndOfSampling) {
  StepTimeline timeline;
  timeline.Begin(0);
  timeline.AddItem(2 * kSecond, 4 * kSecond);
  timeline.AddItem(3 * kSecond, 5 * kSecond);   // overlaps the first
  timeline.AddItem(9 * kSecond, 12 * kSecond);  // half before, half after
  timeline.SamplingDone(10 * kSecond);
  timeline.AddSubmit(kSecond);
  timeline.AddCollectWait(2 * kSecond);
  const StepMetrics metrics = timeline.Metrics();
  EXPECT_EQ(metrics.reward_head_start_s, 2.0);
  EXPECT_EQ(metrics.reward_tail_after_sample_s, 2.0);
  EXPECT_EQ(metrics.reward_s, 2.0 + 2.0 + 3.0);
  EXPECT_EQ(metrics.overlap_ratio, 1.0 - 2.0 / (1.0 + 7.0));
  EXPECT_DOUBLE_EQ(*metrics.reward_share_in_sampling, (3.0 + 1.0) / 6.0);
}

TEST(StepTimeline, WithoutMarksNothingIsGuessed) {
  StepTimeline timeline;
  timeline.AddItem(0, kSecond);
  const StepMetrics metrics = timeline.Metrics();
  EXPECT_FALSE(metrics.overlap_ratio);
  EXPECT_FALSE(metrics.reward_head_start_s);
  EXPECT_FALSE(metrics.reward_tail_after_sample_s);
  EXPECT_FALSE(metrics.reward_share_in_sampling);
}

// A user's managers, one per granularity, each 1 s an item.
class UserManager final : public RewardManager {
 public:
  UserManager(Granularity granularity, std::shared_ptr<testing::TimerScorer> scorer)
      : granularity_(granularity), scorer_(std::move(scorer)) {}
  Granularity granularity() const override { return granularity_; }
  Execution execution(const RewardItem&) const override { return Execution::kAsync; }
  Task<Verdict> RunAsync(const RewardItem& item, ScoreContext& context) const override {
    return scorer_->ScoreAsync(item, context);
  }
  Task<std::vector<Verdict>> RunMany(std::vector<const RewardItem*> items, ScoreContext& context) const override {
    co_await context.Sleep(kSecond);
    co_return std::vector<Verdict>(items.size(), Verdict::Scored(1));
  }

 private:
  const Granularity granularity_;
  const std::shared_ptr<testing::TimerScorer> scorer_;
};

// Samples at 3, 6, 9 and 12 s, each judged in 1 s; sampling ends with the last.
void ExpectTimesOfFourSamples(Simulator* simulator, std::shared_ptr<Engine> engine, std::shared_ptr<RewardManager> manager) {
  const auto pipeline = testing::MakePipeline(std::move(engine), std::move(manager));
  simulator->RunFor(100 * kSecond);  // the clock's origin must not matter
  const int64_t step = pipeline->BeginStep();
  std::vector<BatchHandle> handles;
  for (int i = 0; i < 4; ++i) {
    simulator->RunFor(3 * kSecond);
    handles.push_back(*pipeline->Submit({MakeItem(std::to_string(i))}, step));
  }
  ASSERT_TRUE(pipeline->SamplingDone(step).ok());
  for (const BatchHandle& handle : handles) {
    const Result<Collected> collected = pipeline->Collect(handle);
    ASSERT_TRUE(collected.ok());
    EXPECT_EQ(collected->results[0].status, ItemStatus::kScored);
  }
  const StepMetrics metrics = *pipeline->MetricsOf(step);
  EXPECT_EQ(metrics.items, 4);
  EXPECT_DOUBLE_EQ(*metrics.reward_head_start_s, 3.0);
  EXPECT_DOUBLE_EQ(*metrics.reward_tail_after_sample_s, 1.0);
  EXPECT_DOUBLE_EQ(metrics.reward_s, 4.0);
  EXPECT_DOUBLE_EQ(metrics.collect_wait_s, 1.0);
  EXPECT_DOUBLE_EQ(*metrics.overlap_ratio, 0.75);
  EXPECT_DOUBLE_EQ(*metrics.reward_share_in_sampling, 0.75);
}

TEST(StepMetrics, StreamedStepOfFourSamples) {
  for (const Granularity granularity : {Granularity::kItem, Granularity::kBatch, Granularity::kGroup}) {
    const auto simulator = Simulator::Make();
    ExpectTimesOfFourSamples(simulator.get(), Engine::MakeOn(simulator.get()),
                             std::make_shared<UserManager>(granularity, std::make_shared<testing::TimerScorer>()));
  }
}

TEST(StepMetrics, EveryBuiltInManagerHasTheSameTimes) {
  ScorerRegistry scorers;
  ScorerSpec spec;
  spec.name = "timer";
  spec.version = "1";
  spec.make = [](const Json&) -> Result<std::unique_ptr<Scorer>> {
    auto scorer = std::make_unique<testing::TimerScorer>();
    scorer->verdict = [](const RewardItem&, int) {
      Verdict verdict = Verdict::Scored(1.0);
      verdict.components = {{"part", 1.0}};
      return verdict;
    };
    return std::unique_ptr<Scorer>(std::move(scorer));
  };
  ASSERT_TRUE(scorers.Register(spec).ok());
  const std::map<std::string, std::string> arguments = {
      {"naive", "{}"}, {"batch", "{}"}, {"dapo", "{}"}, {"gdpo", "{}"}, {"rate_limited", R"({"max_concurrent": 2})"},
      {"weighted", R"({"parts": [{"name": "part", "scorer": "timer", "weight": 1}]})"}};
  const ManagerRegistry managers = ManagerRegistry::WithBuiltins();
  for (const ManagerSpec& manager : managers.specs()) {
    if (manager.name == "remote") continue;  // has processes, which no simulator runs
    SCOPED_TRACE(manager.name);
    const auto simulator = Simulator::Make();
    const std::shared_ptr<Engine> engine = Engine::MakeOn(simulator.get());
    ManagerSpec::Deps deps;
    deps.scorers = *ScorerSelector::Make(scorers, {.scorer = "timer"});
    deps.registry = &scorers;
    deps.engine = engine.get();
    const auto made = managers.Make(manager.name, *Json::Parse(arguments.at(manager.name)), deps);
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    ExpectTimesOfFourSamples(simulator.get(), engine, *made);
  }
}

TEST(StepMetrics, RewardsBeforeTheEndOfSamplingHaveANegativeTail) {
  const auto simulator = Simulator::Make();
  const auto pipeline = testing::MakePipeline(
      Engine::MakeOn(simulator.get()), std::make_shared<UserManager>(Granularity::kItem, std::make_shared<testing::TimerScorer>()));
  const int64_t step = pipeline->BeginStep();
  const auto handle = *pipeline->Submit({MakeItem("a")}, step);
  simulator->RunFor(5 * kSecond);
  ASSERT_TRUE(pipeline->SamplingDone(step).ok());
  ASSERT_TRUE(pipeline->Collect(handle).ok());
  const StepMetrics metrics = *pipeline->MetricsOf(step);
  EXPECT_DOUBLE_EQ(*metrics.reward_tail_after_sample_s, -4.0);
  EXPECT_DOUBLE_EQ(*metrics.overlap_ratio, 1.0);
  EXPECT_DOUBLE_EQ(*metrics.reward_share_in_sampling, 1.0);
}

TEST(StepMetrics, TheOwnStepHasNoMarks) {
  const auto simulator = Simulator::Make();
  const auto pipeline = testing::MakePipeline(
      Engine::MakeOn(simulator.get()), std::make_shared<UserManager>(Granularity::kItem, std::make_shared<testing::TimerScorer>()));
  ASSERT_TRUE(pipeline->Collect(*pipeline->Submit({MakeItem("a")})).ok());
  EXPECT_FALSE(pipeline->MetricsOf(0)->overlap_ratio);
  EXPECT_FALSE(pipeline->MetricsOf(0)->reward_head_start_s);
  EXPECT_EQ(pipeline->SamplingDone(0).code(), StatusCode::kFailedPrecondition);
}

TEST(Histogram, QuantilesAreUpperBoundsWithinAQuarter) {
  Histogram histogram;
  for (int i = 1; i <= 1000; ++i) histogram.Add(i * 1'000'000);
  for (const double q : {0.5, 0.9, 0.99}) {
    const double exact = q * 1e9;
    EXPECT_GE(histogram.Quantile(q), exact);
    EXPECT_LE(histogram.Quantile(q), exact * 1.25);
  }
  EXPECT_EQ(histogram.Quantile(1.0), 1'000'000'000);
  EXPECT_EQ(histogram.count(), 1000);
  for (int i = 1; i < Histogram::kBuckets; ++i) EXPECT_GT(Histogram::UpperBound(i), Histogram::UpperBound(i - 1));
}

}  // namespace
}  // namespace rewardloop
