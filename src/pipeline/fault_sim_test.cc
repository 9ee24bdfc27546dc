// The public pipeline under random delays, failures, deadlines, retries, cancels and a full backlog, in virtual time: nothing is
// lost or doubled, one seed is one event log, and the limits hold.
#include <gtest/gtest.h>

#include <chrono>
#include <map>

#include "base/random.h"
#include "pipeline/testing.h"
#include "rewardloop/registry.h"
#include "rewardloop/simulator.h"

namespace rewardloop {
namespace {

using testing::kSecond;
using testing::MakeItem;

constexpr int kItems = 2000;
constexpr int kSeeds = 100;
constexpr int64_t kInFlight = 16;
constexpr int64_t kJudgeLimit = 4;

// Items whose id says so pass the limiter "judge".
class LimitedManager final : public RewardManager {
 public:
  explicit LimitedManager(std::shared_ptr<const Scorer> scorer) : scorer_(std::move(scorer)) {}
  Execution execution(const RewardItem&) const override { return Execution::kAsync; }
  const Scorer* ScorerOf(const RewardItem&) const override { return scorer_.get(); }
  LimiterUse Limiter(const RewardItem& item) const override {
    return item.item_id.ends_with('j') ? LimiterUse{"judge", 1} : LimiterUse{};
  }
  Task<Verdict> RunAsync(const RewardItem& item, ScoreContext& context) const override {
    return scorer_->ScoreAsync(item, context);
  }

 private:
  std::shared_ptr<const Scorer> scorer_;
};

// What a scorer does with an item, drawn from the seed, the item and how often it was asked.
class FaultyScorer final : public Scorer {
 public:
  explicit FaultyScorer(uint64_t seed) : seed_(seed) {}
  Execution execution() const override { return Execution::kAsync; }
  Verdict Score(const RewardItem&, ScoreContext&) const override { return Verdict::Error("wrong_call", "is async"); }
  Task<Verdict> ScoreAsync(const RewardItem& item, ScoreContext& context) const override {
    uint64_t hash = seed_ ^ static_cast<uint64_t>(++calls_[item.item_id]);
    for (const char c : item.item_id) hash = Mix64(hash ^ static_cast<unsigned char>(c));
    SplitMix64 draw(hash);
    int* const judge_running = item.item_id.ends_with('j') ? &running_judge_ : nullptr;
    max_running_ = std::max(max_running_, ++running_);
    if (judge_running) max_running_judge_ = std::max(max_running_judge_, ++*judge_running);
    // Every tenth takes longer than the time-out of 1.5 s.
    const int64_t most = draw.Below(10) == 0 ? 4 * kSecond : kSecond;
    const bool slept = co_await context.Sleep(static_cast<int64_t>(draw.Below(static_cast<uint64_t>(most))));
    --running_;
    if (judge_running) --*judge_running;
    if (!slept) co_return Verdict::Of(ItemStatus::kCancelled, "cancelled", "");
    switch (draw.Below(12)) {
      case 0: throw std::runtime_error("faulty");
      case 1: co_return Verdict::Scored(std::numeric_limits<double>::quiet_NaN());
      case 2: co_return Verdict::Unscorable("no_ground_truth", "");
      case 3:
      case 4: co_return Verdict::Of(ItemStatus::kJudgeError, "unavailable", "", true);
      default: co_return Verdict::Scored(static_cast<double>(item.item_id.size()));
    }
  }

  int max_running() const { return max_running_; }
  int max_running_judge() const { return max_running_judge_; }

 private:
  const uint64_t seed_;
  mutable std::map<std::string, int> calls_;
  mutable int running_ = 0, running_judge_ = 0, max_running_ = 0, max_running_judge_ = 0;
};

struct Outcome {
  std::string log;  // of all events
  std::vector<std::string> problems;
  std::map<std::string, int> statuses;
  int64_t virtual_ns = 0;
  int max_running = 0;
  int max_running_judge = 0;
};

struct Limits {
  int64_t in_flight = kInFlight;
  int64_t judge = kJudgeLimit;
};

const char* NameOf(PipelineEvent::Kind kind) {
  switch (kind) {
    case PipelineEvent::Kind::kSubmitted: return "submitted";
    case PipelineEvent::Kind::kStarted: return "started";
    case PipelineEvent::Kind::kRetry: return "retry";
    case PipelineEvent::Kind::kFinished: return "finished";
    case PipelineEvent::Kind::kDelivered: return "delivered";
    default: return "other";
  }
}

// Counts the events of each item.
struct Ledger {
  struct Entry {
    int started = 0, finished = 0, delivered = 0;
  };
  std::map<std::string, Entry> items;
  std::string log;
  std::vector<std::string> problems;

  void Note(const PipelineEvent& event) {
    log += std::to_string(event.time_ns) + " " + NameOf(event.kind) + " " + std::string(event.item_id) + " " +
           std::to_string(event.submit) + " " + std::to_string(event.attempt) + " " +
           std::string(ItemStatusName(event.status)) + "\n";
    Entry& entry = items[std::string(event.item_id)];
    switch (event.kind) {
      case PipelineEvent::Kind::kStarted:
        ++entry.started;
        if (entry.finished > 0) Complain("started after its end", event);
        break;
      case PipelineEvent::Kind::kFinished:
        if (++entry.finished > 1) Complain("ended twice", event);
        break;
      case PipelineEvent::Kind::kDelivered:
        if (++entry.delivered > 1) Complain("delivered twice", event);
        if (entry.finished != 1) Complain("delivered before its end", event);
        break;
      default:
        break;
    }
  }
  void Complain(const char* what, const PipelineEvent& event) {
    problems.push_back(std::string(event.item_id) + " " + what);
  }
};

PipelineOptions OptionsOf(uint64_t seed, const Limits& limits) {
  PipelineOptions options;
  options.on_error = *OnError::Parse("null");
  options.timeout_ns = 3 * kSecond / 2;
  options.total_timeout_ns = 5 * kSecond;
  options.queue_timeout_ns = seed % 2 == 0 ? kNoDeadline : 6 * kSecond;
  options.max_attempts = 3;
  options.retry_delay_ns = kSecond / 20;
  options.backlog_items = 100;
  options.overflow = static_cast<Overflow>(seed % 3);
  options.max_concurrent = limits.in_flight;
  options.seed = seed;
  return options;
}

// One run of 2,000 items through the public pipeline. `limits` is what the resources are given; the check always holds them
// against kInFlight and kJudgeLimit.
Outcome RunSeed(uint64_t seed, const Limits& limits = {}) {
  Outcome outcome;
  Ledger ledger;
  const auto simulator = Simulator::Make({.seed = seed});
  const auto scorer = std::make_shared<FaultyScorer>(seed);
  auto engine = Engine::MakeOn(simulator.get());
  (void)engine->DefineLimiter("judge", {.max_concurrent = limits.judge, .max_rpm = 1200});
  PipelineOptions options = OptionsOf(seed, limits);
  options.on_event = [&](const PipelineEvent& event) { ledger.Note(event); };
  const auto pipeline = testing::MakePipeline(engine, std::make_shared<LimitedManager>(scorer), options);

  SplitMix64 draw(seed + 1000);
  std::vector<std::pair<BatchHandle, std::vector<std::string>>> submits;
  for (int next = 0; next < kItems;) {
    std::vector<RewardItem> items;
    std::vector<std::string> ids;
    const int end = std::min<int>(kItems, next + 1 + static_cast<int>(draw.Below(60)));
    for (; next < end; ++next) {
      ids.push_back(std::to_string(next) + (draw.Below(3) == 0 ? "j" : "x"));
      items.push_back(MakeItem(ids.back()));
    }
    const auto handle = pipeline->Submit(std::move(items));
    if (!handle.ok()) {
      outcome.problems.push_back(handle.status().ToString());
      return outcome;
    }
    submits.emplace_back(*handle, std::move(ids));
    if (draw.Below(20) == 0) (void)pipeline->Cancel(submits[draw.Below(submits.size())].first);
    if (draw.Below(4) == 0) simulator->RunFor(static_cast<int64_t>(draw.Below(kSecond)));
  }
  int64_t delivered = 0;
  for (const auto& [handle, ids] : submits) {
    const auto collected = pipeline->Collect(handle, 3600 * kSecond);
    if (!collected.ok()) {
      outcome.problems.push_back(collected.status().ToString());
      continue;
    }
    for (size_t i = 0; i < collected->results.size(); ++i) {
      const RewardResult& result = collected->results[i];
      if (result.item_id != ids.at(i)) outcome.problems.push_back("out of order: " + result.item_id);
      if (result.score.has_value() != (result.status == ItemStatus::kScored)) {
        outcome.problems.push_back("score against status: " + result.item_id);
      }
      ++outcome.statuses[std::string(ItemStatusName(result.status))];
    }
    delivered += static_cast<int64_t>(collected->results.size());
  }
  (void)pipeline->Close(CloseMode::kDrain);
  outcome.virtual_ns = simulator->clock().NowNs();
  outcome.log = std::move(ledger.log);
  outcome.problems.insert(outcome.problems.end(), ledger.problems.begin(), ledger.problems.end());
  if (delivered != kItems) outcome.problems.push_back("delivered " + std::to_string(delivered));
  if (ledger.items.size() != kItems) outcome.problems.push_back("events of " + std::to_string(ledger.items.size()));
  for (const auto& [id, entry] : ledger.items) {
    if (entry.finished != 1 || entry.delivered != 1) outcome.problems.push_back("not ended and delivered once: " + id);
    if (entry.started > 3) outcome.problems.push_back("more than max_attempts: " + id);
  }
  if (pipeline->backlog_items() != 0 || pipeline->backlog_bytes() != 0) outcome.problems.push_back("backlog left over");
  if (pipeline->uncollected_items() != 0) outcome.problems.push_back("uncollected left over");
  outcome.max_running = scorer->max_running();
  outcome.max_running_judge = scorer->max_running_judge();
  if (outcome.max_running > kInFlight) {
    outcome.problems.push_back(std::to_string(outcome.max_running) + " in flight at once, the limit is " +
                               std::to_string(kInFlight));
  }
  if (outcome.max_running_judge > kJudgeLimit) {
    outcome.problems.push_back(std::to_string(outcome.max_running_judge) + " at the judge at once, the limit is " +
                               std::to_string(kJudgeLimit));
  }
  return outcome;
}

TEST(FaultSim, HundredSeedsOfTwoThousandItemsLoseAndDoubleNothing) {
  const auto begin = std::chrono::steady_clock::now();
  std::map<std::string, int> statuses;
  int64_t virtual_ns = 0;
  int max_running = 0, max_running_judge = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Outcome outcome = RunSeed(seed);
    ASSERT_TRUE(outcome.problems.empty()) << "seed " << seed << ": " << outcome.problems.front();
    for (const auto& [status, count] : outcome.statuses) statuses[status] += count;
    virtual_ns += outcome.virtual_ns;
    max_running = std::max(max_running, outcome.max_running);
    max_running_judge = std::max(max_running_judge, outcome.max_running_judge);
  }
  // No seed exceeds a limit, and they are reached.
  EXPECT_EQ(max_running, kInFlight);
  EXPECT_EQ(max_running_judge, kJudgeLimit);
  // Every way to end was among them.
  for (const char* status : {"scored", "unscorable", "timeout", "error", "judge_error", "rejected", "cancelled"}) {
    EXPECT_GT(statuses[status], 100) << status;
  }
  // No real sleep: hours of virtual time have passed.
  const auto spent = std::chrono::steady_clock::now() - begin;
  EXPECT_GT(virtual_ns, std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count());
}

TEST(FaultSim, OneSeedIsOneEventLogByteForByte) {
  for (uint64_t seed = 0; seed < kSeeds; seed += 4) {
    const Outcome first = RunSeed(seed);
    ASSERT_GT(first.log.size(), 100'000u);
    ASSERT_EQ(first.log, RunSeed(seed).log) << "seed " << seed;
  }
  EXPECT_NE(RunSeed(1).log, RunSeed(4).log);
}

TEST(FaultSim, PlantedOffByOneInTheConcurrencyIsCaught) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const Outcome slots = RunSeed(seed, {.in_flight = kInFlight + 1});
    ASSERT_FALSE(slots.problems.empty()) << seed;
    EXPECT_NE(slots.problems.front().find("17 in flight at once"), std::string::npos) << slots.problems.front();
    const Outcome judge = RunSeed(seed, {.judge = kJudgeLimit + 1});
    ASSERT_FALSE(judge.problems.empty()) << seed;
    EXPECT_NE(judge.problems.front().find("5 at the judge at once"), std::string::npos) << judge.problems.front();
    // One too few is no less a fault: it shows in that the limit is not reached.
    EXPECT_LT(RunSeed(seed, {.judge = kJudgeLimit - 1}).max_running_judge, kJudgeLimit);
  }
}

}  // namespace
}  // namespace rewardloop
