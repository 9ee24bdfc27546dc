#include <gtest/gtest.h>

#include <map>

#include "managers/test_managers.h"

namespace rewardloop {
namespace {

// The limiters of an engine, nothing else of it.
class LimiterEngine : public Engine {
 public:
  Executor& executor() override { return *simulator_; }
  const EngineOptions& options() const override { return options_; }
  Result<std::shared_ptr<Limiter>> DefineLimiter(const std::string& name, const LimiterOptions& options) override {
    auto& limiter = limiters[name];
    if (!limiter) limiter = Limiter::Make(options, simulator_.get());
    if (!(limiter->options() == options)) return AlreadyExists("limiter '" + name + "' has other limits");
    return limiter;
  }
  std::shared_ptr<Limiter> AddLimiter(const std::string& name, const LimiterOptions& options) override {
    auto limiter = Limiter::Make(options, simulator_.get());
    held[name] = limiter;
    return limiter;
  }
  std::shared_ptr<Limiter> FindLimiter(const std::string& name) const override {
    auto found = limiters.find(name);
    if (found != limiters.end()) return found->second;
    auto other = held.find(name);
    return other == held.end() ? nullptr : other->second.lock();
  }
  Metrics& metrics() override { std::abort(); }
  Log& log() override { std::abort(); }

  std::map<std::string, std::shared_ptr<Limiter>> limiters;
  std::map<std::string, std::weak_ptr<Limiter>> held;

 private:
  std::unique_ptr<Simulator> simulator_ = Simulator::Make();
  EngineOptions options_;
};

struct RateLimitedManager : testing::Test {
  LimiterEngine engine;
  Runner runner;
  ManagerSpec::Deps Deps() {
    ManagerSpec::Deps deps;
    deps.scorers = Always([](const RewardItem&) { return Verdict::Scored(1); });
    deps.engine = &engine;
    return deps;
  }
};

TEST_F(RateLimitedManager, DefinesTheLimiterThatItsItemsPass) {
  const auto manager = MakeManager(
      "rate_limited",
      R"({"name": "judge", "max_rpm": 600, "max_tpm": 9e4, "max_concurrent": 8, "estimated_tokens_per_request": 2000})",
      Deps());
  ASSERT_TRUE(engine.FindLimiter("judge"));
  EXPECT_EQ(engine.FindLimiter("judge")->options(),
            (LimiterOptions{.max_concurrent = 8, .max_rpm = 600, .max_tpm = 9e4}));
  const LimiterUse use = manager->Limiter(Item("a", "x", 17));
  EXPECT_EQ(use.name, "judge");
  EXPECT_EQ(use.tokens, 2000);
  EXPECT_EQ(runner.Run(*manager, Item("a")).score, 1);
}

TEST_F(RateLimitedManager, WithoutAnEstimateAnItemCostsItsLength) {
  const auto manager = MakeManager("rate_limited", R"({"max_tpm": 100})", Deps());
  EXPECT_EQ(manager->Limiter(Item("a", "x", 17)).tokens, 17);
  EXPECT_EQ(runner.Run(*manager, Item("a", "x", 17)).score, 1);
  // Its length is not known: neither guessed nor free.
  EXPECT_EQ(ErrorClass(runner.Run(*manager, Item("b", "some text"))), "no_length");
}

TEST_F(RateLimitedManager, LengthDoesNotMatterWithoutTokenLimit) {
  const auto manager = MakeManager("rate_limited", R"({"max_rpm": 100})", Deps());
  EXPECT_EQ(runner.Run(*manager, Item("b", "some text")).score, 1);
}

TEST_F(RateLimitedManager, OneNameIsOneLimiterAndOtherLimitsAreAnError) {
  const auto first = MakeManager("rate_limited", R"({"name": "n", "max_rpm": 60})", Deps());
  const auto second = MakeManager("rate_limited", R"({"name": "n", "max_rpm": 60})", Deps());
  EXPECT_EQ(first->Limiter(Item("a")).name, second->Limiter(Item("a")).name);
  EXPECT_EQ(engine.limiters.size(), 1u);
  for (const char* args : {R"({"name": "n", "max_rpm": 61})", R"({"name": "n", "max_rpm": 60, "max_concurrent": 1})",
                           R"({"name": "n"})"}) {
    EXPECT_EQ(WhyNot("rate_limited", args, Deps()).code(), StatusCode::kAlreadyExists) << args;
  }
}

TEST_F(RateLimitedManager, UnnamedLimitersAreApart) {
  const auto first = MakeManager("rate_limited", R"({"max_rpm": 60})", Deps());
  const auto second = MakeManager("rate_limited", R"({"max_rpm": 61})", Deps());
  EXPECT_NE(first->Limiter(Item("a")).name, second->Limiter(Item("a")).name);
  EXPECT_EQ(engine.FindLimiter(first->Limiter(Item("a")).name)->options(), (LimiterOptions{.max_rpm = 60}));
  EXPECT_EQ(engine.FindLimiter(second->Limiter(Item("a")).name)->options(), (LimiterOptions{.max_rpm = 61}));
}

TEST_F(RateLimitedManager, UnnamedLimitersGoWithTheirManager) {
  auto manager = MakeManager("rate_limited", R"({"max_rpm": 60})", Deps());
  const std::string name = manager->Limiter(Item("a")).name;
  EXPECT_TRUE(engine.FindLimiter(name));
  manager.reset();
  EXPECT_FALSE(engine.FindLimiter(name));
  EXPECT_TRUE(engine.limiters.empty());
}

TEST_F(RateLimitedManager, WithoutLimitsThereIsNoLimiter) {
  const auto manager = MakeManager("rate_limited", R"({"timeout": 300})", Deps());
  EXPECT_EQ(manager->Limiter(Item("a")).name, "");
  EXPECT_TRUE(engine.limiters.empty());
  EXPECT_EQ(manager->timeout_ns(), 300'000'000'000);
}

TEST_F(RateLimitedManager, ShortestTimeoutOfTheNestHolds) {
  const auto manager = MakeManager(
      "rate_limited", R"({"timeout": 3, "manager": "rate_limited", "manager_args": {"timeout": 2}})", Deps());
  EXPECT_EQ(manager->timeout_ns(), 2'000'000'000);
  EXPECT_EQ(MakeManager("naive", "{}", Deps())->timeout_ns(), std::nullopt);
}

TEST_F(RateLimitedManager, LimitsAnyManagerAndWrappersPassTheLimitOn) {
  const auto manager = MakeManager(
      "dapo", R"({"manager": "rate_limited", "manager_args": {"name": "n", "max_rpm": 60, "manager": "batch"}})", Deps());
  EXPECT_EQ(manager->Limiter(Item("a")).name, "n");
  EXPECT_EQ(manager->granularity(), Granularity::kBatch);
  EXPECT_NE(WhyNot("rate_limited",
                   R"({"max_rpm": 5, "manager": "rate_limited", "manager_args": {"max_rpm": 60}})", Deps())
                .message()
                .find("rate limit of its own"),
            std::string::npos);
}

TEST_F(RateLimitedManager, ChecksItsArgumentsAtConstruction) {
  for (const char* args : {R"({"max_rpm": 0})", R"({"max_tpm": -1})", R"({"max_concurrent": 0})", R"({"timeout": 0})",
                           R"({"estimated_tokens_per_request": 0, "max_tpm": 3})", R"({"name": "", "max_rpm": 3})",
                           R"({"max_rps": 3})"}) {
    EXPECT_EQ(WhyNot("rate_limited", args, Deps()).code(), StatusCode::kInvalidArgument) << args;
  }
  ManagerSpec::Deps no_engine = Deps();
  no_engine.engine = nullptr;
  EXPECT_EQ(WhyNot("rate_limited", R"({"max_rpm": 3})", no_engine).code(), StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace rewardloop
