// What a pipeline says through its engine's log.
#include <gtest/gtest.h>

#include <algorithm>

#include "pipeline/testing.h"
#include "rewardloop/simulator.h"

namespace rewardloop {
namespace {

using testing::MakeItem;

TEST(LogMessages, ItemsWithoutAScorerAreSaidOncePerDataSourceWithCounts) {
  const auto simulator = Simulator::Make();
  std::vector<std::string> said;
  EngineOptions engine_options;
  engine_options.log_sink = [&](const LogRecord& record) {
    EXPECT_EQ(record.level, LogLevel::kWarning);
    said.push_back(LogText(record));
  };
  const auto engine = Engine::MakeOn(simulator.get(), engine_options);
  const auto scorer = std::make_shared<testing::FunctionScorer>([](const RewardItem& item) {
    if (item.data_source == "known") return Verdict::Scored(1);
    if (item.data_source == "unreadable") return Verdict::Unscorable("bad_ground_truth", "another matter");
    return Verdict::Unscorable("no_scorer", "nobody scores '" + item.data_source + "'");
  });
  const auto pipeline = testing::MakePipeline(engine, std::make_shared<testing::ScorerManager>(scorer));
  std::vector<RewardItem> items;
  const char* const sources[] = {"a", "known", "a", "b", "a", "unreadable", "a"};
  for (const char* source : sources) {
    items.push_back(MakeItem(std::to_string(items.size())));
    items.back().data_source = source;
  }
  const auto handle = pipeline->Submit(std::move(items));
  ASSERT_TRUE(pipeline->Collect(*handle).ok());
  ASSERT_TRUE(pipeline->Close(CloseMode::kDrain).ok());
  std::sort(said.begin(), said.end());
  EXPECT_EQ(said, (std::vector<std::string>{"nobody scores 'a'", "nobody scores 'a' (3 times)", "nobody scores 'b'"}));
}

}  // namespace
}  // namespace rewardloop
