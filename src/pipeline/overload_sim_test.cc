// More than can be done: memory stays within the caps, whatever the overflow policy, and so does what nobody collects. Two
// pipelines and many threads share one limit.
#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <deque>
#include <thread>

#include "base/sanitizers.h"
#include "pipeline/testing.h"
#include "rewardloop/registry.h"
#include "rewardloop/simulator.h"

namespace rewardloop {
namespace {

using testing::kSecond;
using testing::MakeItem;

#if REWARDLOOP_SANITIZED
constexpr bool kMemoryIsOurs = false;  // a sanitizer's shadow and quarantine are not
#else
constexpr bool kMemoryIsOurs = true;
#endif

int64_t ResidentBytes() {
  long long pages = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (!file) return 0;
  if (std::fscanf(file, "%lld %lld", &pages, &resident) != 2) resident = 0;
  std::fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

constexpr int64_t kItemBytes = 256 << 10;
constexpr int64_t kCap = int64_t{64} << 20;

// Ten items of 256 KiB are offered for one that can be scored, for 60 s of virtual time.
struct Overload {
  std::unique_ptr<Simulator> simulator = Simulator::Make();
  std::unique_ptr<AsyncRewardPipeline> pipeline;
  int64_t base_bytes = 0;
  int64_t peak_bytes = 0;
  int64_t peak_backlog_bytes = 0;
  int submitted = 0, scored = 0, rejected = 0, other = 0;

  explicit Overload(Overflow overflow) {
    auto scorer = std::make_shared<testing::TimerScorer>();
    scorer->delay = [](const RewardItem&) { return 2 * kSecond / 5; };
    PipelineOptions options;
    options.on_error = *OnError::Parse("null");
    options.overflow = overflow;
    options.backlog_bytes = kCap;
    options.max_concurrent = 4;  // ten items a second
    pipeline = testing::MakePipeline(Engine::MakeOn(simulator.get()), std::make_shared<testing::ScorerManager>(scorer),
                                     std::move(options));
    base_bytes = ResidentBytes();
  }

  void Offer(int items_per_second, int seconds) {
    std::deque<BatchHandle> handles;
    for (int i = 0; i < items_per_second * seconds; ++i) {
      const auto handle = pipeline->Submit({MakeItem("item-" + std::to_string(i), std::string(kItemBytes, 'x'))});
      ASSERT_TRUE(handle.ok()) << handle.status().ToString();
      ++submitted;
      handles.push_back(*handle);
      simulator->RunFor(kSecond / items_per_second);
      while (!handles.empty() && pipeline->Ready(handles.front())) CollectFirst(&handles);
      peak_bytes = std::max(peak_bytes, ResidentBytes() - base_bytes);
      peak_backlog_bytes = std::max(peak_backlog_bytes, pipeline->backlog_bytes());
    }
    while (!handles.empty()) CollectFirst(&handles);
  }

  void CollectFirst(std::deque<BatchHandle>* handles) {
    const auto collected = pipeline->Collect(handles->front());
    handles->pop_front();
    ASSERT_TRUE(collected.ok());
    const RewardResult& result = collected->results.at(0);
    if (result.status == ItemStatus::kScored) {
      ++scored;
    } else if (result.status == ItemStatus::kRejected) {
      ++rejected;
      EXPECT_FALSE(result.score);
      EXPECT_TRUE(result.error && !result.error->message.empty());
    } else {
      ++other;
    }
  }

  void ExpectBounded() const {
    EXPECT_EQ(other, 0);
    EXPECT_EQ(scored + rejected, submitted);  // each is reported, dropped ones too
    EXPECT_LE(peak_backlog_bytes, kCap);
    EXPECT_GT(peak_backlog_bytes, kCap * 9 / 10);  // the cap was what bound it
    if (kMemoryIsOurs) {
      EXPECT_LE(peak_bytes, kCap + kCap / 10) << "of " << kCap;
    }
  }
};

TEST(OverloadSim, TenfoldOverloadInBytesStaysWithinTheCapWithReject) {
  Overload overload(Overflow::kReject);
  overload.Offer(100, 60);
  overload.ExpectBounded();
  // Sixty seconds at ten a second, and what the backlog held at the end: 64 MiB are at most 256 items.
  EXPECT_GE(overload.scored, 600);
  EXPECT_LE(overload.scored, 600 + 256);
}

TEST(OverloadSim, TenfoldOverloadInBytesStaysWithinTheCapWithDropOldest) {
  Overload overload(Overflow::kDropOldest);
  overload.Offer(100, 60);
  overload.ExpectBounded();
  EXPECT_GE(overload.scored, 600);
  EXPECT_LE(overload.scored, 600 + 256);
}

TEST(OverloadSim, TenfoldOverloadInBytesStaysWithinTheCapWithBlock) {
  Overload overload(Overflow::kBlock);
  overload.Offer(100, 10);
  overload.ExpectBounded();
  EXPECT_EQ(overload.scored, 1000);  // nothing is lost: submit waited
  EXPECT_EQ(overload.rejected, 0);
}

TEST(OverloadSim, ResultsThatNobodyCollectsAreBoundedInBytes) {
  const auto simulator = Simulator::Make();
  auto scorer = std::make_shared<testing::FunctionScorer>([](const RewardItem&) {
    Verdict verdict = Verdict::Scored(1);
    verdict.extra.Set("long", std::string(kItemBytes, 'y'));
    return verdict;
  });
  PipelineOptions options;
  options.uncollected_bytes = kCap;
  const auto pipeline = testing::MakePipeline(Engine::MakeOn(simulator.get()),
                                              std::make_shared<testing::ScorerManager>(scorer), options);
  const int64_t base_bytes = ResidentBytes();
  int64_t peak_bytes = 0;
  std::vector<BatchHandle> handles;
  Status refused;
  for (int i = 0; i < 10'000 && refused.ok(); ++i) {
    auto handle = pipeline->Submit({MakeItem("item-" + std::to_string(i))});
    if (handle.ok()) handles.push_back(*handle);
    refused = handle.status();
    simulator->RunUntilIdle();
    peak_bytes = std::max(peak_bytes, ResidentBytes() - base_bytes);
  }
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(refused.ToString().find("collect first"), std::string::npos) << refused.ToString();
  EXPECT_LE(handles.size(), static_cast<size_t>(kCap / kItemBytes) + 1);
  EXPECT_GE(handles.size(), static_cast<size_t>(kCap / kItemBytes) - 2);
  if (kMemoryIsOurs) {
    EXPECT_LE(peak_bytes, kCap + kCap / 10);
  }
  // Nothing is lost by it, and after collecting there is room again.
  for (const BatchHandle& handle : handles) EXPECT_EQ(pipeline->Collect(handle)->results.at(0).score, 1.0);
  EXPECT_TRUE(pipeline->Submit({MakeItem("again")}).ok());
}

// Sixteen threads submit to two pipelines of one engine whose items share one limiter, on real threads.
TEST(SharedLimits, TwoPipelinesAndSixteenThreadsNeverExceedALimitAndReachIt) {
  constexpr int kThreads = 16;
  constexpr int kSubmits = 12;
  constexpr int kPerSubmit = 5;
  constexpr int kLimit = 6;
  auto scorer = std::make_shared<testing::TimerScorer>();
  scorer->delay = [](const RewardItem&) { return int64_t{1'000'000}; };
  const auto engine = Engine::Make({.threads = 4});
  ManagerRegistry managers = ManagerRegistry::WithBuiltins();
  ManagerSpec::Deps deps;
  deps.scorers = ScorerSelector::Of(scorer);
  deps.engine = engine.get();
  const Json args = *Json::Parse(R"({"name": "judge", "max_concurrent": 6})");
  std::vector<std::unique_ptr<AsyncRewardPipeline>> pipelines;
  for (int p = 0; p < 2; ++p) {
    PipelineOptions options;
    options.backlog_items = 40;  // full again and again
    pipelines.push_back(testing::MakePipeline(engine, *managers.Make("rate_limited", args, deps), options));
  }
  EXPECT_EQ(managers.Make("rate_limited", *Json::Parse(R"({"name": "judge", "max_concurrent": 7})"), deps).status().code(),
            StatusCode::kAlreadyExists);
  std::atomic<int> scored = 0, misplaced = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      AsyncRewardPipeline& pipeline = *pipelines[t % 2];
      for (int s = 0; s < kSubmits; ++s) {
        std::vector<RewardItem> items;
        for (int i = 0; i < kPerSubmit; ++i) {
          items.push_back(MakeItem(std::to_string(t) + "/" + std::to_string(s) + "/" + std::to_string(i)));
        }
        const auto handle = pipeline.Submit(std::move(items));
        const auto collected = pipeline.Collect(*handle);
        for (int i = 0; i < kPerSubmit; ++i) {
          const RewardResult& result = collected->results.at(i);
          scored += result.score == 1.0;
          misplaced += result.item_id != std::to_string(t) + "/" + std::to_string(s) + "/" + std::to_string(i);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(scored, kThreads * kSubmits * kPerSubmit);
  EXPECT_EQ(misplaced, 0);
  EXPECT_EQ(scorer->max_running(), kLimit);
  EXPECT_EQ(engine->FindLimiter("judge")->max_in_flight(), kLimit);
  EXPECT_EQ(engine->FindLimiter("judge")->in_flight(), 0);
}

}  // namespace
}  // namespace rewardloop
