#include <gtest/gtest.h>

#include "managers/test_managers.h"

namespace rewardloop {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

// Scorers with a fixed answer: `half`, `quarter`, `neg`, `nan`, `no_truth`, `flaky`, `throws`, `rich`, and `slow1`, `slow2`
// that wait 1 s and 2 s.
ScorerRegistry Fixed() {
  ScorerRegistry registry;
  auto add = [&](std::string name, std::function<Verdict(const RewardItem&)> judge, int64_t delay_ns = 0) {
    ScorerSpec spec;
    spec.name = std::move(name);
    spec.version = "1";
    spec.make = [judge, delay_ns](const Json&) -> Result<std::unique_ptr<Scorer>> {
      if (delay_ns > 0) return std::unique_ptr<Scorer>(new WaitingScorer(delay_ns, judge));
      return std::unique_ptr<Scorer>(new CpuScorer(judge));
    };
    EXPECT_TRUE(registry.Register(std::move(spec)).ok());
  };
  auto score = [](double value) { return [value](const RewardItem&) { return Verdict::Scored(value); }; };
  add("half", score(0.5));
  add("quarter", score(0.25));
  add("neg", score(-1));
  add("nan", score(std::numeric_limits<double>::quiet_NaN()));
  add("no_truth", [](const RewardItem&) { return Verdict::Unscorable("no_ground_truth", "no truth"); });
  add("flaky", [](const RewardItem&) { return Verdict::Of(ItemStatus::kJudgeError, "unavailable", "down", true); });
  add("throws", [](const RewardItem&) -> Verdict { throw std::runtime_error("boom"); });
  add("rich", [](const RewardItem&) {
    Verdict verdict = Verdict::Scored(1, "fine");
    verdict.components.push_back({"style", 0.75});
    verdict.extra.Set("n", 3);
    verdict.extracted = "42";
    return verdict;
  });
  add("slow1", score(0.5), kSecond);
  add("slow2", score(0.25), 2 * kSecond);
  add("slow_flaky", [](const RewardItem&) { return Verdict::Of(ItemStatus::kJudgeError, "unavailable", "down", true); },
      kSecond);
  return registry;
}

struct WeightedManager : testing::Test {
  ScorerRegistry registry = Fixed();
  Runner runner;

  ManagerSpec::Deps Deps() {
    ManagerSpec::Deps deps;
    deps.registry = &registry;
    return deps;
  }
  Verdict Run(const std::string& args) {
    const auto manager = MakeManager("weighted", args, Deps());
    return runner.Run(*manager, Item("a"));
  }
};

TEST_F(WeightedManager, SumsWeightedScoresAndKeepsEachPart) {
  const Verdict verdict = Run(R"({"parts": [{"scorer": "half", "weight": 2}, {"scorer": "quarter"}]})");
  EXPECT_EQ(verdict.score, 1.25);
  EXPECT_EQ(verdict.reason, "weighted_sum");
  EXPECT_EQ(ComponentOf(verdict, "half"), 0.5);
  EXPECT_EQ(ComponentOf(verdict, "quarter"), 0.25);
  EXPECT_TRUE(verdict.extra.is_null());
}

TEST_F(WeightedManager, NormalizeDividesByTheWeights) {
  const Verdict verdict =
      Run(R"({"normalize": true, "parts": [{"scorer": "half", "weight": 3}, {"scorer": "quarter", "weight": 1}]})");
  EXPECT_EQ(verdict.score, 0.4375);  // (3 * 0.5 + 0.25) / 4
}

TEST_F(WeightedManager, PartsKeepTheirComponentsExtraAndName) {
  const Verdict verdict = Run(R"({"parts": [{"scorer": "half"}, {"scorer": "rich", "name": "judge"}]})");
  EXPECT_EQ(verdict.score, 1.5);
  EXPECT_EQ(ComponentOf(verdict, "judge"), 1);
  EXPECT_EQ(ComponentOf(verdict, "judge.style"), 0.75);
  EXPECT_EQ(verdict.extra.Dump(), R"({"judge":{"n":3}})");
  EXPECT_EQ(verdict.extracted, "42");
}

TEST_F(WeightedManager, ShutGateMakesTheTotalZero) {
  const Verdict verdict = Run(R"({"parts": [{"scorer": "half"}, {"scorer": "quarter", "gate": {"min": 0.3}}]})");
  EXPECT_EQ(verdict.status, ItemStatus::kScored);
  EXPECT_EQ(verdict.score, 0);
  EXPECT_EQ(verdict.reason, "gated");
  EXPECT_EQ(verdict.extra.Dump(), R"({"gated_by":["quarter"]})");
  EXPECT_EQ(ComponentOf(verdict, "half"), 0.5);  // what it would have been can still be seen
}

TEST_F(WeightedManager, OpenGateChangesNothing) {
  const Verdict verdict = Run(R"({"parts": [{"scorer": "half"}, {"scorer": "quarter", "gate": {"min": 0.25}}]})");
  EXPECT_EQ(verdict.score, 0.75);
  EXPECT_TRUE(verdict.extra.is_null());
}

TEST_F(WeightedManager, GateSetsOrLimitsTheTotal) {
  EXPECT_EQ(Run(R"({"parts": [{"scorer": "half", "gate": {"min": 1, "otherwise": -1}}]})").score, -1);
  EXPECT_EQ(Run(R"({"parts": [{"scorer": "half", "gate": {"min": 1, "max_total": 0.2}}]})").score, 0.2);
  EXPECT_EQ(Run(R"({"parts": [{"scorer": "half", "gate": {"min": 1, "max_total": 0.9}}]})").score, 0.5);
  // A gate of weight 0 only gates. The lowest of two shut gates holds.
  EXPECT_EQ(Run(R"({"parts": [{"scorer": "half", "gate": {"min": 1, "max_total": 0.4}},
                              {"scorer": "neg", "weight": 0, "gate": {"min": 0, "otherwise": 0.1}}]})")
                .score,
            0.1);
}

TEST_F(WeightedManager, PartWithoutVerdictLeavesTheTotalWithoutScore) {
  const Verdict verdict = Run(R"({"parts": [{"scorer": "half"}, {"scorer": "no_truth"}]})");
  EXPECT_EQ(verdict.status, ItemStatus::kUnscorable);
  EXPECT_EQ(ErrorClass(verdict), "no_ground_truth");
  EXPECT_EQ(verdict.error->message, "part 'no_truth': no truth");
  EXPECT_EQ(ComponentOf(verdict, "half"), 0.5);
}

TEST_F(WeightedManager, FailureThatARetryCannotMendDecides) {
  Verdict verdict = Run(R"({"parts": [{"scorer": "flaky"}, {"scorer": "no_truth"}]})");
  EXPECT_EQ(ErrorClass(verdict), "no_ground_truth");
  EXPECT_FALSE(verdict.error->retryable);
  verdict = Run(R"({"parts": [{"scorer": "half"}, {"scorer": "flaky"}]})");
  EXPECT_EQ(verdict.status, ItemStatus::kJudgeError);
  EXPECT_TRUE(verdict.error->retryable);
}

TEST_F(WeightedManager, ExceptionAndNanConcernTheirPart) {
  Verdict verdict = Run(R"({"parts": [{"scorer": "half"}, {"scorer": "throws"}]})");
  EXPECT_EQ(ErrorClass(verdict), "exception");
  EXPECT_NE(verdict.error->message.find("boom"), std::string::npos);
  verdict = Run(R"({"parts": [{"scorer": "half"}, {"scorer": "nan"}]})");
  EXPECT_EQ(ErrorClass(verdict), "non_finite");
  verdict = Run(R"({"parts": [{"scorer": "half"}, {"scorer": "nan", "optional": true}]})");
  EXPECT_EQ(verdict.score, 0.5);
}

TEST_F(WeightedManager, OptionalPartIsLeftOutAndNamed) {
  const Verdict verdict = Run(R"({"normalize": true,
      "parts": [{"scorer": "half", "weight": 3}, {"scorer": "no_truth", "weight": 5, "optional": true}]})");
  EXPECT_EQ(verdict.score, 0.5);  // 3 * 0.5 / 3
  EXPECT_EQ(verdict.extra.Dump(), R"({"missing_parts":{"no_truth":"unscorable"}})");
}

TEST_F(WeightedManager, NothingButMissingOptionalPartsIsNoVerdict) {
  const Verdict verdict = Run(R"({"parts": [{"scorer": "no_truth", "optional": true}]})");
  EXPECT_EQ(verdict.status, ItemStatus::kUnscorable);
  EXPECT_EQ(ErrorClass(verdict), "missing_part");
}

TEST_F(WeightedManager, WaitingPartsRunAtTheSameTime) {
  const Verdict verdict =
      Run(R"({"parts": [{"scorer": "slow1"}, {"scorer": "half"}, {"scorer": "slow2", "weight": 4}]})");
  EXPECT_EQ(verdict.score, 2);
  EXPECT_EQ(runner.NowSeconds(), 2);
  ASSERT_EQ(verdict.components.size(), 3u);
  EXPECT_EQ(verdict.components[0].name, "slow1");
  EXPECT_EQ(verdict.components[1].name, "half");
}

TEST_F(WeightedManager, NobodyIsAskedInVain) {
  const Verdict verdict = Run(R"({"parts": [{"scorer": "slow1"}, {"scorer": "no_truth"}]})");
  EXPECT_EQ(ErrorClass(verdict), "no_ground_truth");
  EXPECT_EQ(runner.NowSeconds(), 0);
  // Not even when the part that failed may be tried again: that one says what to do.
  EXPECT_EQ(ErrorClass(Run(R"({"parts": [{"scorer": "slow1"}, {"scorer": "flaky"}]})")), "unavailable");
}

TEST_F(WeightedManager, StopEndsWaitingParts) {
  const auto manager = MakeManager("weighted", R"({"parts": [{"scorer": "slow2"}, {"scorer": "slow1"}]})", Deps());
  runner.simulator->PostAt(kSecond / 2, [&] { runner.stop.request_stop(); });
  const RewardItem item = Item("a");
  EXPECT_EQ(runner.Run(*manager, item).status, ItemStatus::kCancelled);
  EXPECT_EQ(runner.NowSeconds(), 0.5);
}

TEST_F(WeightedManager, PartWithoutScorerIsChosenByDataSource) {
  ManagerSpec::Deps deps = Deps();
  deps.scorers = Always([](const RewardItem& item) { return Verdict::Scored(item.data_source == "gsm8k" ? 1 : 0); });
  const auto manager = MakeManager(
      "weighted", R"({"parts": [{"name": "answer"}, {"scorer": "half", "weight": 0.2}]})", deps);
  RewardItem item = Item("a");
  item.data_source = "gsm8k";
  const Verdict verdict = runner.Run(*manager, item);
  EXPECT_EQ(verdict.score, 1.1);
  EXPECT_EQ(ComponentOf(verdict, "answer"), 1);
}

TEST_F(WeightedManager, VersionChangesWithPartsAndWeights) {
  auto version = [&](const char* args) {
    const auto manager = MakeManager("weighted", args, Deps());
    return manager->ScorerOf(Item("a"))->version();
  };
  const std::string base = version(R"({"parts": [{"scorer": "half"}]})");
  EXPECT_EQ(base, version(R"({"parts": [{"scorer": "half"}]})"));
  EXPECT_NE(base, version(R"({"parts": [{"scorer": "quarter"}]})"));
  EXPECT_NE(base, version(R"({"parts": [{"scorer": "half", "weight": 2}]})"));
  EXPECT_TRUE(base.starts_with("1+"));
}

TEST_F(WeightedManager, ChecksItsArgumentsAtConstruction) {
  const struct {
    const char* args;
    const char* message;
  } kCases[] = {
      {"{}", "parts must be a list"},
      {R"({"parts": []})", "parts must be a list"},
      {R"({"parts": [{"scorer": "hallf"}]})", "parts[0]: no scorer is named 'hallf'"},
      {R"({"parts": [{"scorer": "half"}, {"scorer": "half"}]})", "parts[1] is called 'half'"},
      {R"({"parts": [{"scorer": "half", "wait": 1}]})", "parts[0] has no argument 'wait'"},
      {R"({"parts": [{"scorer": "half", "gate": {"max": 1}}]})", "parts[0].gate has no argument 'max'"},
      {R"({"parts": [{"scorer": "half", "gate": {"otherwise": 1, "max_total": 1}}]})", "both otherwise and max_total"},
      {R"({"parts": [{"scorer": "half", "optional": true, "gate": {"min": 1}}]})", "optional and has a gate"},
      {R"({"parts": [{"name": "x"}]})", "names no scorer"},
      {R"({"parts": ["half"]})", "parts[0]"},
  };
  for (const auto& c : kCases) {
    const Status status = WhyNot("weighted", c.args, Deps());
    EXPECT_FALSE(status.ok()) << c.args;
    EXPECT_NE(status.message().find(c.message), std::string::npos) << status.ToString();
  }
}

}  // namespace
}  // namespace rewardloop
