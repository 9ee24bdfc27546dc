// Scores two prompts with four answers each and takes the groups as they complete.
#include <cstdio>
#include <string>
#include <vector>

#include "rewardloop/rewardloop.h"

namespace rl = rewardloop;

int main() {
  const rl::ScorerRegistry scorers = rl::ScorerRegistry::WithBuiltins();
  auto selector = rl::ScorerSelector::Make(scorers, {.scorer = "math"});
  if (!selector.ok()) return std::fprintf(stderr, "%s\n", selector.status().ToString().c_str()), 2;

  auto engine = rl::Engine::Make({.threads = 2});
  auto manager = rl::ManagerRegistry::WithBuiltins().Make("naive", {}, {*selector, &scorers, engine.get()});
  if (!manager.ok()) return std::fprintf(stderr, "%s\n", manager.status().ToString().c_str()), 2;
  auto pipeline = rl::AsyncRewardPipeline::Make(engine, *manager, {.on_error = {rl::OnError::Policy::kNull}});
  if (!pipeline.ok()) return std::fprintf(stderr, "%s\n", pipeline.status().ToString().c_str()), 2;

  const std::vector<std::string> answers = {"\\boxed{0.5}", "it is \\boxed{\\frac{1}{2}}", "\\boxed{2}", "no idea"};
  for (size_t i = 0; i < answers.size(); ++i) {  // one submit per sample, as a sampler would
    for (const char* gold : {"1/2", "2"}) {
      rl::RewardItem item;
      item.item_id = std::string(gold) + "#" + std::to_string(i);
      item.group_id = gold;
      item.group_size = 4;
      item.ground_truth = gold;
      item.outputs.push_back({.text = answers[i]});
      if (auto handle = (*pipeline)->Submit({std::move(item)}); !handle.ok()) return 1;
    }
  }
  while (true) {
    auto group = (*pipeline)->NextGroup();
    if (!group.ok() || !*group) break;
    std::printf("group %s:", (*group)->group_id.c_str());
    for (const rl::RewardResult& r : (*group)->results) std::printf(" %g", r.score.value_or(-1));
    std::printf("\n");
  }
}
