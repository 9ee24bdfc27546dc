#include "rewardloop/config.h"

#include <gtest/gtest.h>

namespace rewardloop {
namespace {

Result<PipelineConfig> FromText(std::string_view json) {
  return PipelineConfig::FromJson(*Json::Parse(json));
}

std::string ErrorOf(std::string_view yaml) {
  const auto source = ParseConfigYaml(yaml, "rewards.yaml");
  if (!source.ok()) return source.status().ToString();
  const ScorerRegistry scorers = ScorerRegistry::WithBuiltins();
  const ManagerRegistry managers = ManagerRegistry::WithBuiltins();
  return ResolveConfig(*source, &scorers, &managers).status().ToString();
}

TEST(ConfigKeysTest, EveryKeyHasAMemberThatTakesItsDefault) {
  for (const ConfigKey& key : ConfigKeys()) {
    const auto config = PipelineConfig::FromJson(Json::MakeObject({{key.name, key.default_value}}));
    ASSERT_TRUE(config.ok()) << key.name << ": " << config.status().message();
    EXPECT_EQ(*config->ToJson().Find(key.name), *PipelineConfig().ToJson().Find(key.name))
        << key.name;
    EXPECT_EQ(*PipelineConfig().ToJson().Find(key.name), key.default_value) << key.name;
    EXPECT_FALSE(key.doc.empty()) << key.name;
  }
}

TEST(PipelineConfigTest, ValuesRoundTrip) {
  const auto config =
      FromText(R"({"scorer": "gsm8k", "scorer_args": {"method": "flexible"}, "timeout": 2.5,
      "total_timeout": null, "on_error": "value:-1", "overflow": "drop_oldest", "threads": 3, "fields": {"response": "pred"}})");
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(config->timeout, 2.5);
  EXPECT_EQ(config->on_error.value, -1);
  EXPECT_EQ(config->ToPipelineOptions().timeout_ns, 2'500'000'000);
  EXPECT_EQ(config->ToPipelineOptions().total_timeout_ns, kNoDeadline);
  EXPECT_EQ(config->ToPipelineOptions().overflow, Overflow::kDropOldest);
  EXPECT_EQ(config->ToEngineOptions().threads, 3);
  const auto again = PipelineConfig::FromJson(config->ToJson());
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->ToJson(), config->ToJson());
}

TEST(PipelineConfigTest, NumWorkersSizesThePoolWhereThreadsDoNot) {
  EXPECT_EQ(FromText(R"({"num_workers": 2})")->ToEngineOptions().threads, 2);
  EXPECT_EQ(FromText(R"({"num_workers": 2, "threads": 5})")->ToEngineOptions().threads, 5);
}

TEST(PipelineConfigTest, NullIsAPolicyForMissingScores) {
  EXPECT_EQ(FromText(R"({"on_error": null})")->on_error.policy, OnError::Policy::kNull);
  EXPECT_EQ(FromText(R"({"on_error": "null"})")->on_error.policy, OnError::Policy::kNull);
  EXPECT_EQ(FromText(R"({"on_error": "zero"})")->on_error.policy, OnError::Policy::kValue);
}

TEST(PipelineConfigTest, MustHold6UnknownKeysComeWithASuggestion) {
  const auto config = FromText(R"({"max_concurent": 3})");
  ASSERT_FALSE(config.ok());
  EXPECT_NE(config.status().message().find("'max_concurent'"), std::string::npos);
  EXPECT_NE(config.status().hint().find("'max_concurrent'"), std::string::npos);
}

TEST(PipelineConfigTest, WrongValuesSayWhatWasExpected) {
  EXPECT_EQ(FromText(R"({"timeout": "ten"})").status().message(),
            "'timeout' must be a number or null, not \"ten\"");
  EXPECT_EQ(FromText(R"({"threads": -1})").status().message(),
            "'threads' must be at least 0, not -1");
  EXPECT_EQ(FromText(R"({"threads": 1.5})").status().message(),
            "'threads' must be an integer, not 1.5");
  EXPECT_EQ(FromText(R"({"overflow": "bloc"})").status().hint(), "did you mean 'block'?");
  EXPECT_FALSE(FromText(R"({"on_error": "maybe"})").ok());
  EXPECT_FALSE(FromText(R"({"fields": {"response": 3}})").ok());
  EXPECT_FALSE(FromText(R"({"scorer_args": {"method": "strict"}})").ok());
}

TEST(PipelineConfigTest, ResumeComparesWhatDecidesScoresOnly) {
  const Json keys = PipelineConfig().ScoringKeys();
  for (const char* const key : {"scorer", "scorer_args", "manager", "dispatch", "data_sources",
                                "fields", "preset", "seed"}) {
    EXPECT_NE(keys.Find(key), nullptr) << key;
  }
  for (const char* const key :
       {"threads", "timeout", "backlog_items", "on_error", "max_concurrent"}) {
    EXPECT_EQ(keys.Find(key), nullptr) << key;
  }
}

TEST(ConfigYamlTest, ValuesHaveTheirTypes) {
  const auto source = ParseConfigYaml(
      "schema: 1\nscorer: gsm8k\nscorer_args: {method: flexible}\ntimeout: 5\nretry_delay: 0.25\n"
      "data_sources:\n  \"12\": math\n  yes: 'gsm8k'\nqueue_timeout: ~\n",
      "rewards.yaml");
  ASSERT_TRUE(source.ok()) << source.status().message();
  EXPECT_EQ(
      source->values.Dump(),
      R"({"scorer":"gsm8k","scorer_args":{"method":"flexible"},"timeout":5,"retry_delay":0.25,)"
      R"("data_sources":{"12":"math","yes":"gsm8k"},"queue_timeout":null})");
  EXPECT_EQ(source->OriginOf("timeout"), "rewards.yaml:4:1");
  EXPECT_EQ(source->OriginOf("scorer_args.method"), "rewards.yaml:3:15");
  EXPECT_EQ(source->OriginOf("seed"), "default");
}

TEST(ConfigYamlTest, ErrorsNameFileLineAndColumn) {
  EXPECT_EQ(ErrorOf("scorer: gsm8k\nmax_concurent: 3\n"),
            "rewards.yaml:2:1: unknown configuration key 'max_concurent' (did you mean "
            "'max_concurrent'?)");
  EXPECT_EQ(ErrorOf("\ntimeout: ten\n"),
            "rewards.yaml:2:1: 'timeout' must be a number or null, not \"ten\"");
  EXPECT_EQ(ErrorOf("timeout: 1\ntimeout: 2\n").substr(0, 18), "rewards.yaml:2:1: ");
  EXPECT_EQ(ErrorOf("scorer: [1\n").substr(0, 13), "rewards.yaml:");
  EXPECT_EQ(ErrorOf("- a\n- b\n").substr(0, 18), "rewards.yaml:1:1: ");
  EXPECT_EQ(ErrorOf("schema: 99\n").substr(0, 18), "rewards.yaml:1:1: ");
  EXPECT_EQ(ErrorOf("scorer: gsm9k\n"),
            "rewards.yaml:1:1: " +
                ScorerRegistry::WithBuiltins().Make("gsm9k", Json()).status().ToString());
}

TEST(ConfigYamlTest, WrongArgumentsPointAtTheirLine) {
  const std::string error = ErrorOf("scorer: gsm8k\nscorer_args:\n  method: flexibel\n");
  EXPECT_EQ(error.substr(0, 18), "rewards.yaml:3:3: ") << error;
  EXPECT_NE(error.find("flexible"), std::string::npos) << error;
  const std::string unknown = ErrorOf("scorer: gsm8k\nscorer_args:\n  methd: strict\n");
  EXPECT_EQ(unknown.substr(0, 18), "rewards.yaml:3:3: ") << unknown;
  EXPECT_NE(unknown.find("'method'"), std::string::npos) << unknown;
  const std::string source = ErrorOf("data_sources:\n  mine: gsm8k\n  yours: gsm9k\n");
  EXPECT_EQ(source.substr(0, 18), "rewards.yaml:3:3: ") << source;
}

TEST(ConfigYamlTest, HostileFilesAreErrors) {
  EXPECT_FALSE(ParseConfigYaml(std::string(100'000, '['), "f").ok());
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int j = 0; j < 9; ++j) bomb += ", " + last;
    bomb += "]\n";
  }
  const auto source = ParseConfigYaml(bomb, "bomb.yaml");
  ASSERT_FALSE(source.ok());
  EXPECT_NE(source.status().message().find("too many values"), std::string::npos);
  EXPECT_FALSE(ReadConfigFile("/nonexistent.yaml").ok());
}

TEST(ConfigSourceTest, FlagsWinAndSayWhereTheyCameFrom) {
  auto source = *ParseConfigYaml("scorer: gsm8k\nscorer_args: {method: strict}\n", "f");
  source.Set("scorer_args.method", "flexible", "--scorer-arg");
  EXPECT_EQ(source.values.Find("scorer_args")->Dump(), R"({"method":"flexible"})");
  EXPECT_EQ(source.OriginOf("scorer_args.method"), "--scorer-arg");
  EXPECT_EQ(source.OriginOf("scorer_args.other"), "f:2:1");
  source.Set("scorer_args", Json::MakeObject(), "--scorer-args");
  EXPECT_EQ(source.OriginOf("scorer_args.method"), "--scorer-args");
}

TEST(BuildPipelineTest, AMissingPythonFileIsNamed) {
  EXPECT_TRUE(IsPythonFunctionName("my.py:fn"));
  EXPECT_TRUE(IsPythonFunctionName("/path with space/my.py:fn"));
  EXPECT_TRUE(IsPythonFunctionName("pkg.mod:fn"));
  EXPECT_FALSE(IsPythonFunctionName("verl/gsm8k"));
  EXPECT_FALSE(IsPythonFunctionName("gsm8k"));
  PipelineConfig config;
  config.scorer = "no_such_file.py:fn";
  const auto built = BuildPipeline(config, Engine::Make(), ScorerRegistry::WithBuiltins(),
                                   ManagerRegistry::WithBuiltins());
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.status().code(), StatusCode::kNotFound);
  EXPECT_NE(built.status().message().find("no_such_file.py"), std::string::npos);
}

TEST(BuildPipelineTest, ScoresAnItem) {
  const auto config = FromText(R"({"scorer": "gsm8k"})");
  auto built = BuildPipeline(*config, Engine::Make(config->ToEngineOptions()),
                             ScorerRegistry::WithBuiltins(), ManagerRegistry::WithBuiltins());
  ASSERT_TRUE(built.ok()) << built.status().message();
  RewardItem item;
  item.item_id = "1";
  item.outputs.emplace_back().text = "so #### 72";
  item.ground_truth = "72";
  const auto handle = built->pipeline->Submit({item});
  ASSERT_TRUE(handle.ok()) << handle.status().message();
  const auto collected = built->pipeline->Collect(*handle, 60'000'000'000);
  ASSERT_TRUE(collected.ok()) << collected.status().message();
  EXPECT_EQ(collected->results.at(0).score, 1.0);
}

TEST(ConfigSchemaTest, NamesEveryKeyAndNoOther) {
  const Json schema = ConfigSchema();
  const Json* properties = schema.Find("properties");
  ASSERT_NE(properties, nullptr);
  EXPECT_EQ(properties->size(), ConfigKeys().size() + 1);  // and `schema`
  for (const ConfigKey& key : ConfigKeys())
    EXPECT_NE(properties->Find(key.name), nullptr) << key.name;
  EXPECT_EQ(*schema.Find("additionalProperties"), Json(false));
}

}  // namespace
}  // namespace rewardloop
