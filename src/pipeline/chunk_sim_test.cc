// CPU items on the simulator: seeds explore the order in which chunks run; nothing is lost or run twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "pipeline/testing.h"
#include "rewardloop/simulator.h"

namespace rewardloop {
namespace {

using testing::MakeItem;

// Submits `submits` batches of `size` items and returns the ids in the order in which they were judged.
std::string RunSeed(uint64_t seed, int submits, int size, std::string* log = nullptr) {
  const auto simulator = Simulator::Make({.seed = seed});
  std::vector<std::string> judged;
  const auto scorer = std::make_shared<testing::FunctionScorer>([&](const RewardItem& item) {
    judged.push_back(item.item_id);
    return Verdict::Scored(std::stod(item.item_id));
  });
  PipelineOptions options;
  options.timeout_ns = testing::kSecond;
  options.on_event = [&](const PipelineEvent& event) {
    if (log) *log += std::to_string(static_cast<int>(event.kind)) + " " + std::string(event.item_id) + "\n";
  };
  const auto pipeline =
      testing::MakePipeline(Engine::MakeOn(simulator.get()), std::make_shared<testing::ScorerManager>(scorer), options);
  std::vector<BatchHandle> handles;
  for (int s = 0; s < submits; ++s) {
    std::vector<RewardItem> items;
    for (int i = 0; i < size; ++i) items.push_back(MakeItem(std::to_string(s * size + i)));
    handles.push_back(*pipeline->Submit(std::move(items)));
  }
  for (int s = 0; s < submits; ++s) {
    const auto collected = pipeline->Collect(handles[s]);
    for (int i = 0; i < size; ++i) EXPECT_EQ(collected->results.at(i).score, s * size + i);
  }
  EXPECT_TRUE(pipeline->Close(CloseMode::kDrain).ok());
  std::string order;
  for (const std::string& id : judged) order += id + " ";
  std::sort(judged.begin(), judged.end());
  EXPECT_EQ(std::adjacent_find(judged.begin(), judged.end()), judged.end());
  EXPECT_EQ(judged.size(), static_cast<size_t>(submits * size));
  return order;
}

TEST(ChunkSim, EveryOrderOfFourSingleItemSubmitsOccurs) {
  std::set<std::string> orders;
  for (uint64_t seed = 0; seed < 2000; ++seed) orders.insert(RunSeed(seed, 4, 1));
  EXPECT_EQ(orders.size(), 24u);  // 4!
}

TEST(ChunkSim, ManySubmitsOfManySizesAllEndAndOneSeedIsOneLog) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    for (const int size : {1, 3, 200}) {
      std::string first, second;
      EXPECT_EQ(RunSeed(seed, 40, size, &first), RunSeed(seed, 40, size, &second));
      EXPECT_EQ(first, second);
    }
  }
}

}  // namespace
}  // namespace rewardloop
