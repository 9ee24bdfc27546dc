#include "workers/environment.h"

#include <gtest/gtest.h>

#include <map>

#include "workers/test_environment.h"

namespace rewardloop::workers {
namespace {

using testing::ScopedVariable;

std::map<std::string, std::string> Variables(const std::vector<std::string>& hidden, const std::string& gpus = "") {
  const auto list = WorkerEnvironment(hidden, gpus);
  return {list.begin(), list.end()};
}

TEST(Environment, IsTheCallersWithoutWhatIsHidden) {
  const ScopedVariable kept("RL_TEST_KEPT", "a=b");
  const ScopedVariable name("RL_TEST_TOKEN", "secret");
  const ScopedVariable one("RL_TEST_AWS_KEY", "1");
  const ScopedVariable two("RL_TEST_AWS_", "2");
  const auto all = Variables({});
  EXPECT_EQ(all.at("RL_TEST_KEPT"), "a=b");
  EXPECT_EQ(all.at("RL_TEST_TOKEN"), "secret");
  const auto some = Variables({"RL_TEST_TOKEN", "RL_TEST_AWS_*", "RL_TEST_KEP"});
  EXPECT_EQ(some.count("RL_TEST_KEPT"), 1u) << "a name is not a prefix";
  EXPECT_EQ(some.count("RL_TEST_TOKEN"), 0u);
  EXPECT_EQ(some.count("RL_TEST_AWS_KEY"), 0u);
  EXPECT_EQ(some.count("RL_TEST_AWS_"), 0u);
}

TEST(Environment, NumericLibrariesUseOneThreadWhateverTheCallerHas) {
  const ScopedVariable caller("OMP_NUM_THREADS", "16");
  const auto variables = Variables({});
  for (const char* name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS"}) {
    EXPECT_EQ(variables.at(name), "1") << name;
  }
}

TEST(Environment, HashSeedIsFixedUnlessTheCallerChoseOne) {
  {
    const ScopedVariable none("PYTHONHASHSEED", std::nullopt);
    EXPECT_EQ(Variables({}).at("PYTHONHASHSEED"), "0");
  }
  const ScopedVariable chosen("PYTHONHASHSEED", "7");
  EXPECT_EQ(Variables({}).at("PYTHONHASHSEED"), "7");
}

TEST(Environment, GpusAreHiddenUnlessAskedFor) {
  const ScopedVariable caller("CUDA_VISIBLE_DEVICES", "2,3");
  EXPECT_EQ(Variables({}).at("CUDA_VISIBLE_DEVICES"), "");
  EXPECT_EQ(Variables({}, "1").at("CUDA_VISIBLE_DEVICES"), "1");
  EXPECT_EQ(Variables({}, "1").at("HIP_VISIBLE_DEVICES"), "1");
  EXPECT_EQ(Variables({}, "all").at("CUDA_VISIBLE_DEVICES"), "2,3");
}

}  // namespace
}  // namespace rewardloop::workers
