#include "rewardloop/registry.h"

#include <gtest/gtest.h>

namespace rewardloop {
namespace {

class Constant : public Scorer {
 public:
  explicit Constant(double score) : score_(score) {}
  Verdict Score(const RewardItem&, ScoreContext&) const override { return Verdict::Scored(score_); }

 private:
  double score_;
};

ScorerSpec ConstantSpec(std::string name) {
  ScorerSpec spec;
  spec.name = std::move(name);
  spec.version = "7";
  spec.args = {{"score", "number", 1.0, "The score.", {}}};
  spec.make = [](const Json& args) -> Result<std::unique_ptr<Scorer>> {
    if (args.Find("score")->AsDouble() < 0)
      return InvalidArgument("score is negative", "use 0 or more");
    return std::unique_ptr<Scorer>(new Constant(args.Find("score")->AsDouble()));
  };
  return spec;
}

const std::vector<ArgSpec> kSpecs = {
    {"method", "string", "strict", "How.", {"strict", "flexible"}},
    {"count", "integer", 3, "How many.", {}},
    {"limit", "number", nullptr, "Bound.", {}},
};

TEST(ValidateArgs, FillsDefaultsInTheOrderOfTheSpecs) {
  auto args = ValidateArgs("scorer 'x'", kSpecs, Json::MakeObject({{"count", 5}}));
  ASSERT_TRUE(args.ok());
  EXPECT_EQ(args->Dump(), R"({"method":"strict","count":5,"limit":null})");
  EXPECT_EQ(ValidateArgs("x", kSpecs, Json())->Dump(),
            R"({"method":"strict","count":3,"limit":null})");
}

TEST(ValidateArgs, UnknownKeySuggestsTheNearest) {
  auto args = ValidateArgs("scorer 'x'", kSpecs, Json::MakeObject({{"metod", "strict"}}));
  ASSERT_FALSE(args.ok());
  EXPECT_EQ(args.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(args.status().message(), "scorer 'x' has no argument 'metod'");
  EXPECT_EQ(args.status().hint(), "did you mean 'method'?");
}

TEST(ValidateArgs, WrongChoiceNamesTheChoices) {
  auto args = ValidateArgs("scorer 'x'", kSpecs, Json::MakeObject({{"method", "flexibel"}}));
  ASSERT_FALSE(args.ok());
  EXPECT_EQ(args.status().message(),
            "scorer 'x': argument 'method' must be one of 'strict', 'flexible', got 'flexibel'");
  EXPECT_EQ(args.status().hint(), "did you mean 'flexible'?");
}

TEST(ValidateArgs, WrongTypes) {
  for (const Json& bad : {Json("3"), Json(2.5), Json(true), Json(nullptr), Json::MakeArray()}) {
    auto args = ValidateArgs("x", kSpecs, Json::MakeObject({{"count", bad}}));
    ASSERT_FALSE(args.ok()) << bad.Dump();
    EXPECT_NE(args.status().message().find("'count' must be integer, got"), std::string::npos);
  }
  EXPECT_FALSE(ValidateArgs("x", kSpecs, Json::MakeObject({{"limit", "1"}})).ok());
  EXPECT_FALSE(ValidateArgs("x", kSpecs, Json::MakeArray()).ok());
  EXPECT_FALSE(ValidateArgs("x", kSpecs, Json("method")).ok());
}

TEST(ValidateArgs, WholeDoubleIsAnIntegerAndNullIsAllowedWhereItIsTheDefault) {
  auto args = ValidateArgs("x", kSpecs, Json::MakeObject({{"count", 4.0}, {"limit", nullptr}}));
  ASSERT_TRUE(args.ok());
  EXPECT_TRUE(args->Find("count")->is_int());
  EXPECT_EQ(args->Find("count")->AsInt(), 4);
}

TEST(ScorerRegistry, RegistersFindsAndMakes) {
  ScorerRegistry registry;
  ASSERT_TRUE(registry.Register(ConstantSpec("b")).ok());
  ASSERT_TRUE(registry.Register(ConstantSpec("a")).ok());
  ASSERT_EQ(registry.specs().size(), 2u);
  EXPECT_EQ(registry.specs()[0].name, "a");
  EXPECT_EQ(registry.Register(ConstantSpec("a")).code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(registry.Find("c"), nullptr);

  auto scorer = registry.Make("b", Json::MakeObject({{"score", 0.25}}));
  ASSERT_TRUE(scorer.ok());
  EXPECT_EQ((*scorer)->name(), "b");
  EXPECT_EQ((*scorer)->version(), "7");
  RewardItem item;
  ScoreContext context(nullptr, kNoDeadline, {}, 0);
  EXPECT_EQ((*scorer)->Score(item, context).score, 0.25);
}

TEST(ScorerRegistry, ErrorsNameTheScorerAndSuggest) {
  ScorerRegistry registry;
  ASSERT_TRUE(registry.Register(ConstantSpec("constant")).ok());
  auto unknown = registry.Make("constnat", Json());
  EXPECT_EQ(unknown.status().code(), StatusCode::kNotFound);
  EXPECT_EQ(unknown.status().hint(), "did you mean 'constant'?");
  auto refused = registry.Make("constant", Json::MakeObject({{"score", -1}}));
  EXPECT_EQ(refused.status().ToString(), "scorer 'constant': score is negative (use 0 or more)");
}

TEST(ScorerRegistry, EveryBuiltinIsDocumentedAndMadeFromItsDefaults) {
  ScorerRegistry registry = ScorerRegistry::WithBuiltins();
  for (const ScorerSpec& spec : registry.specs()) {
    EXPECT_FALSE(spec.version.empty()) << spec.name;
    EXPECT_FALSE(spec.summary.empty()) << spec.name;
    EXPECT_FALSE(spec.doc.empty()) << spec.name;
    for (const ArgSpec& arg : spec.args)
      EXPECT_FALSE(arg.doc.empty()) << spec.name << " " << arg.name;
    if (!spec.function.empty()) continue;  // needs a pipeline's workers: below
    EXPECT_TRUE(registry.Make(spec.name, Json()).ok())
        << spec.name << ": " << registry.Make(spec.name, Json()).status().ToString();
  }
}

class Fixed : public Scorer {
 public:
  Verdict Score(const RewardItem&, ScoreContext&) const override { return Verdict::Scored(1); }
};

TEST(ScorerRegistry, FunctionsNeedAPipeline) {
  ScorerRegistry registry = ScorerRegistry::WithBuiltins();
  for (const char* name : {"my.py:fn", "pkg.mod:fn", "verl/geo3k"}) {
    const auto made = registry.Make(name, Json());
    ASSERT_FALSE(made.ok()) << name;
    EXPECT_EQ(made.status().code(), StatusCode::kFailedPrecondition) << made.status().ToString();
  }
}

TEST(ScorerRegistry, FunctionsAreMadeByTheMakerWithCheckedArguments) {
  ScorerRegistry registry = ScorerRegistry::WithBuiltins();
  std::string seen;
  registry.SetFunctionMaker([&](const std::string& function, const std::string& form, const Json& args,
                                int64_t workers) -> Result<std::shared_ptr<Scorer>> {
    seen = function + "|" + form + "|" + args.Dump() + "|" + std::to_string(workers);
    auto scorer = std::make_shared<Fixed>();
    scorer->SetIdentity(function, "1+abc");
    return std::shared_ptr<Scorer>(scorer);
  });
  ASSERT_TRUE(registry.Make("my.py:fn", Json::MakeObject({{"bias", 2}})).ok());
  EXPECT_EQ(seen, "my.py:fn||{\"bias\":2}|0");
  const auto origin = registry.Make("verl/geo3k", Json());
  ASSERT_TRUE(origin.ok());
  EXPECT_EQ(seen, "verl.utils.reward_score.geo3k:compute_score|origin|{\"use_boxed\":true,\"format_score\":0.1}|0");
  EXPECT_EQ((*origin)->name(), "verl/geo3k");
  EXPECT_EQ((*origin)->version(), "1+abc");
  EXPECT_FALSE(registry.Make("verl/geo3k", Json::MakeObject({{"use_box", true}})).ok());
}

}  // namespace
}  // namespace rewardloop
