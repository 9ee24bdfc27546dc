// naive, batch, the registry, and what a user's own manager may leave out.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "scorers/all_of.h"
#include "managers/test_managers.h"

namespace rewardloop {
namespace {

// Knows two data sources; notes the batches that it is asked for.
class BatchScorer : public Scorer {
 public:
  Verdict Score(const RewardItem& item, ScoreContext& context) const override { return Verdict::Scored(-1); }
  Task<std::vector<Verdict>> ScoreBatch(std::vector<const RewardItem*> items, ScoreContext& context) const override {
    std::string ids;
    std::vector<Verdict> verdicts;
    for (const RewardItem* item : items) {
      ids += item->item_id;
      verdicts.push_back(Verdict::Scored(static_cast<double>(item->item_id[0])));
    }
    batches.push_back(ids);
    if (ids.find('!') != std::string::npos) throw std::runtime_error("batch failed");
    if (ids.find('?') != std::string::npos) verdicts.pop_back();
    co_return verdicts;
  }
  mutable std::vector<std::string> batches;
};

class TwoScorers : public ScorerSelector {
 public:
  const Scorer* Select(const RewardItem& item) const override {
    if (item.data_source == "batch") return &batch;
    return item.data_source == "plain" ? &plain : nullptr;
  }
  Status Admit(const RewardItem& item) const override {
    return item.data_source == "refused" ? InvalidArgument("refused") : Status();
  }
  Verdict NoScorer(const RewardItem& item) const override { return Verdict::Unscorable("no_scorer", item.data_source); }

  BatchScorer batch;
  CpuScorer plain{[](const RewardItem& item) -> Verdict {
    if (item.item_id == "x") throw std::runtime_error("x failed");
    return Verdict::Scored(0.5);
  }};
};

RewardItem Of(std::string id, std::string data_source) {
  RewardItem item = Item(std::move(id));
  item.data_source = std::move(data_source);
  return item;
}

struct Managers : testing::Test {
  std::shared_ptr<TwoScorers> scorers = std::make_shared<TwoScorers>();
  Runner runner;
  ManagerSpec::Deps Deps() {
    ManagerSpec::Deps deps;
    deps.scorers = scorers;
    return deps;
  }
};

TEST_F(Managers, NaiveAsksTheItemsScorer) {
  const auto manager = MakeManager("naive", "{}", Deps());
  EXPECT_EQ(manager->name(), "naive");
  EXPECT_EQ(runner.Run(*manager, Of("a", "plain")).score, 0.5);
  EXPECT_EQ(manager->ScorerOf(Of("a", "plain")), &scorers->plain);
  EXPECT_FALSE(manager->Admit(Of("a", "refused")).ok());
  EXPECT_TRUE(manager->Admit(Of("a", "plain")).ok());
  const Verdict nobody = runner.Run(*manager, Of("a", "unknown"));
  EXPECT_EQ(nobody.status, ItemStatus::kUnscorable);
  EXPECT_EQ(ErrorClass(nobody), "no_scorer");
}

TEST_F(Managers, NaiveRunsAWaitingScorerAsOne) {
  ManagerSpec::Deps deps;
  deps.scorers = ScorerSelector::Of(std::make_shared<WaitingScorer>(
      3'000'000'000, [](const RewardItem&) { return Verdict::Scored(0.75); }));
  const auto manager = MakeManager("naive", "{}", deps);
  EXPECT_EQ(manager->execution(Item("a")), Execution::kAsync);
  EXPECT_EQ(runner.Run(*manager, Item("a")).score, 0.75);
  EXPECT_EQ(runner.NowSeconds(), 3);
}

TEST_F(Managers, BatchAsksEachScorerOnceAndKeepsTheOrder) {
  const auto manager = MakeManager("batch", "{}", Deps());
  EXPECT_EQ(manager->granularity(), Granularity::kBatch);
  const auto verdicts = runner.RunMany(*manager, {Of("a", "batch"), Of("b", "plain"), Of("c", "nobody"),
                                                  Of("d", "batch"), Of("x", "plain")});
  EXPECT_EQ(scorers->batch.batches, std::vector<std::string>{"ad"});
  ASSERT_EQ(verdicts.size(), 5u);
  EXPECT_EQ(verdicts[0].score, 'a');
  EXPECT_EQ(verdicts[1].score, 0.5);
  EXPECT_EQ(ErrorClass(verdicts[2]), "no_scorer");
  EXPECT_EQ(verdicts[3].score, 'd');
  // Item by item underneath: the exception is x's alone.
  EXPECT_EQ(ErrorClass(verdicts[4]), "exception");
  EXPECT_EQ(verdicts[4].error->message, "std::runtime_error: x failed");
}

TEST_F(Managers, FailureOfABatchCallConcernsItsScorersItems) {
  const auto manager = MakeManager("batch", R"({"max_batch": 4})", Deps());
  EXPECT_EQ(manager->max_batch(), 4u);
  auto verdicts = runner.RunMany(*manager, {Of("a", "batch"), Of("b", "plain"), Of("!", "batch")});
  EXPECT_EQ(ErrorClass(verdicts[0]), "exception");
  EXPECT_EQ(verdicts[1].score, 0.5);
  EXPECT_EQ(ErrorClass(verdicts[2]), "exception");
  verdicts = runner.RunMany(*manager, {Of("a", "batch"), Of("b", "plain"), Of("?", "batch")});
  EXPECT_EQ(ErrorClass(verdicts[0]), "bad_return");
  EXPECT_NE(verdicts[0].error->message.find("1 verdicts for a batch of 2"), std::string::npos);
  EXPECT_EQ(verdicts[1].score, 0.5);
  EXPECT_EQ(WhyNot("batch", R"({"max_batch": 0})", Deps()).code(), StatusCode::kInvalidArgument);
}

TEST_F(Managers, DefaultScoreBatchStopsWhenNobodyWantsIt) {
  runner.stop.request_stop();
  const auto verdicts = runner.RunMany(*MakeManager("batch", "{}", Deps()), {Of("a", "plain"), Of("b", "plain")});
  EXPECT_EQ(verdicts[0].status, ItemStatus::kCancelled);
  EXPECT_EQ(verdicts[1].status, ItemStatus::kCancelled);
}

TEST(ManagerRegistry, BuiltinsAreSortedDocumentedAndMade) {
  const ManagerRegistry registry = ManagerRegistry::WithBuiltins();
  std::vector<std::string> names;
  for (const ManagerSpec& spec : registry.specs()) {
    names.push_back(spec.name);
    EXPECT_FALSE(spec.summary.empty()) << spec.name;
    EXPECT_FALSE(spec.doc.empty()) << spec.name;
    for (const ArgSpec& arg : spec.args) EXPECT_FALSE(arg.doc.empty()) << spec.name << "." << arg.name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"batch", "dapo", "gdpo", "naive", "rate_limited", "remote", "weighted"}));
}

TEST(ManagerRegistry, UnknownNameSuggestsTheNearest) {
  const Status status = ManagerRegistry::WithBuiltins().Make("rate_limit", Json(), {}).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_NE(status.hint().find("rate_limited"), std::string::npos) << status.hint();
  EXPECT_EQ(ManagerRegistry::WithBuiltins().Find("limit"), nullptr);
}

TEST(ManagerRegistry, EveryManagerRefusesToWorkWithoutScorers) {
  const ManagerRegistry registry = ManagerRegistry::WithBuiltins();
  for (const ManagerSpec& spec : registry.specs()) {
    EXPECT_FALSE(WhyNot(spec.name, "{}", {}).ok()) << spec.name;
  }
}

TEST(RemoteManager, AsksItsFunctionWhateverTheDataSource) {
  ScorerRegistry scorers = ScorerRegistry::WithBuiltins();
  std::string seen;
  scorers.SetFunctionMaker([&](const std::string& function, const std::string&, const Json& args,
                               int64_t workers) -> Result<std::shared_ptr<Scorer>> {
    seen = function + " " + args.Dump() + " " + std::to_string(workers);
    auto made = scorers.Make("gsm8k", Json());
    if (made.ok()) (*made)->SetIdentity(function, "1+x");
    return made;
  });
  ManagerSpec::Deps deps;
  deps.registry = &scorers;
  const auto manager = ManagerRegistry::WithBuiltins().Make(
      "remote", *Json::Parse(R"({"function": "my.py:fn", "function_args": {"a": 1}, "num_workers": 3})"), deps);
  ASSERT_TRUE(manager.ok()) << manager.status().ToString();
  EXPECT_EQ(seen, "my.py:fn {\"a\":1} 3");
  RewardItem item;
  item.data_source = "math";
  EXPECT_EQ((*manager)->ScorerOf(item)->name(), "my.py:fn");
  const auto refused = ManagerRegistry::WithBuiltins().Make("remote", *Json::Parse(R"({"function": "gsm8k"})"), deps);
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
}

// --- A user's own

// Overrides one item.
class Constant : public RewardManager {
 public:
  explicit Constant(double value) : value_(value) {}
  Verdict Run(const RewardItem& item, ScoreContext& context) const override {
    if (item.item_id == "bad") throw std::invalid_argument("bad item");
    return Verdict::Scored(value_);
  }

 private:
  double value_;
};

// Overrides a group: ranks the members by the length of their text, best 1, worst 0.
class Ranker : public RewardManager {
 public:
  Granularity granularity() const override { return Granularity::kGroup; }
  Task<std::vector<Verdict>> RunMany(std::vector<const RewardItem*> items, ScoreContext& context) const override {
    std::vector<Verdict> verdicts;
    for (const RewardItem* item : items) {
      double shorter = 0;
      for (const RewardItem* other : items) shorter += other->Response()->size() < item->Response()->size();
      verdicts.push_back(Verdict::Scored(shorter / static_cast<double>(items.size() - 1)));
    }
    co_return verdicts;
  }
};

ManagerSpec Spec(std::string name, std::function<std::unique_ptr<RewardManager>(const Json&)> make) {
  ManagerSpec spec;
  spec.name = std::move(name);
  spec.args = {{"value", "number", 1.0, "The reward.", {}}};
  spec.make = [make](const Json& args, const ManagerSpec::Deps&) -> Result<std::unique_ptr<RewardManager>> {
    return make(args);
  };
  return spec;
}

TEST_F(Managers, UsersOwnIsMadeAndWrappedByName) {
  ManagerRegistry registry = ManagerRegistry::WithBuiltins();
  ASSERT_TRUE(registry.Register(Spec("constant", [](const Json& args) {
                return std::make_unique<Constant>(args.Find("value")->AsDouble());
              })).ok());
  EXPECT_EQ(registry.Register(ManagerSpec{}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(registry.Register(Spec("naive", [](const Json&) { return nullptr; })).code(), StatusCode::kAlreadyExists);
  const auto manager = registry.Make(
      "dapo", *Json::Parse(R"({"manager": "constant", "manager_args": {"value": 3},
                               "max_resp_len": 10, "overlong_buffer": {"len": 5}})"), Deps());
  ASSERT_TRUE(manager.ok()) << manager.status().ToString();
  EXPECT_EQ(runner.Run(**manager, Item("a", "x", 10)).score, 2);
  EXPECT_EQ((*manager)->name(), "dapo");
}

TEST_F(Managers, ManagerOfOneItemWorksOnABatchToo) {
  const auto verdicts = runner.RunMany(Constant(0.5), {Item("a"), Item("bad"), Item("c")});
  EXPECT_EQ(verdicts[0].score, 0.5);
  EXPECT_EQ(ErrorClass(verdicts[1]), "exception");
  EXPECT_EQ(verdicts[2].score, 0.5);
}

TEST_F(Managers, GroupManagerRanksMembers) {
  const auto verdicts = runner.RunMany(Ranker(), {Item("a", "xx"), Item("b", "x"), Item("c", "xxxx"), Item("d", "xx")});
  ASSERT_EQ(verdicts.size(), 4u);
  EXPECT_EQ(verdicts[0].score, 1.0 / 3);
  EXPECT_EQ(verdicts[1].score, 0);
  EXPECT_EQ(verdicts[2].score, 1);
  EXPECT_EQ(verdicts[3].score, 1.0 / 3);
}

TEST_F(Managers, ManagerThatOverridesNothingSaysSo) {
  class Nothing : public RewardManager {};
  Nothing nothing;
  nothing.SetName("mine");
  const Verdict verdict = runner.Run(nothing, Item("a"));
  EXPECT_EQ(verdict.status, ItemStatus::kError);
  EXPECT_EQ(ErrorClass(verdict), "unimplemented");
  EXPECT_NE(verdict.error->message.find("'mine'"), std::string::npos);
}

// --- AllOf

Task<Verdict> Wait(ScoreContext* context, int64_t duration_ns, double score) {
  bool slept = true;
  if (duration_ns > 0) slept = co_await context->Sleep(duration_ns);
  if (!slept) co_return Verdict::Of(ItemStatus::kCancelled, "cancelled", "");
  if (score < 0) throw std::runtime_error("negative");
  co_return Verdict::Scored(score);
}

TEST(AllOf, YieldsInOrderWhenTheLastEnded) {
  const auto simulator = Simulator::Make();
  ScoreContext context(simulator.get(), kNoDeadline, {}, 0);
  std::vector<Task<Verdict>> tasks;
  tasks.push_back(Wait(&context, 3, 1));
  tasks.push_back(Wait(&context, 0, 2));
  tasks.push_back(Wait(&context, 5, -1));
  tasks.push_back(Wait(&context, 1, 4));
  std::optional<std::vector<Verdict>> verdicts;
  Spawn(AllOf(std::move(tasks)), [&](auto done, std::exception_ptr) { verdicts = std::move(done); });
  EXPECT_FALSE(verdicts);
  simulator->RunUntilIdle();
  ASSERT_TRUE(verdicts);
  EXPECT_EQ(simulator->clock().NowNs(), 5);
  EXPECT_EQ((*verdicts)[0].score, 1);
  EXPECT_EQ((*verdicts)[1].score, 2);
  EXPECT_EQ(ErrorClass((*verdicts)[2]), "exception");
  EXPECT_EQ((*verdicts)[3].score, 4);
}

TEST(AllOf, TasksThatNeverWaitEndAtOnce) {
  std::vector<Task<Verdict>> tasks;
  for (int i = 0; i < 1000; ++i) tasks.push_back(Wait(nullptr, 0, i));
  double sum = 0;
  Spawn(AllOf(std::move(tasks)), [&](std::optional<std::vector<Verdict>> done, std::exception_ptr) {
    for (const Verdict& verdict : *done) sum += verdict.score;
  });
  EXPECT_EQ(sum, 499'500);
  bool ended = false;
  Spawn(AllOf({}), [&](auto done, std::exception_ptr) { ended = done && done->empty(); });
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace rewardloop
