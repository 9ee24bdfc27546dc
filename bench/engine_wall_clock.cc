// How long the engine takes in real time for work that waits: the three cases of the concurrency promise.
//
//   cmake --build build/release --target engine_wall_clock && build/release/bench/engine_wall_clock
//
// A scorer that awaits one second of the real clock, 2 CPU threads. Checks every score; prints seconds and the ratio to the
// bound that arithmetic gives. Exact versions of the same cases, in virtual time, are tests (src/pipeline/concurrency_test.cc).
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/testing.h"

namespace rewardloop {
namespace {

using testing::kSecond;

struct Case {
  const char* name;
  int items;
  int per_submit;
  int64_t max_concurrent;
  double bound_s;  // ceil(items / max_concurrent) * 1 s
};

// False when a score is missing or wrong.
bool Run(const Case& one) {
  const auto engine = Engine::Make({.threads = 2});
  PipelineOptions options;
  options.max_concurrent = one.max_concurrent;
  const auto pipeline = testing::MakePipeline(
      engine, std::make_shared<testing::ScorerManager>(std::make_shared<testing::TimerScorer>()), std::move(options));
  const int64_t begin_ns = Clock::Real().NowNs();
  std::vector<BatchHandle> handles;
  std::vector<RewardItem> items;
  for (int i = 0; i < one.items; ++i) {
    items.push_back(testing::MakeItem(std::to_string(i)));
    if (static_cast<int>(items.size()) == one.per_submit || i + 1 == one.items) {
      handles.push_back(*pipeline->Submit(std::exchange(items, {})));
    }
  }
  bool right = true;
  for (const BatchHandle& handle : handles) {
    const auto collected = pipeline->Collect(handle);
    right = right && collected.ok() && collected->status.ok();
  }
  const double seconds = static_cast<double>(Clock::Real().NowNs() - begin_ns) * 1e-9;
  std::printf("%-44s %7.3f s  bound %5.1f s  ratio %.3f  %s\n", one.name, seconds, one.bound_s, seconds / one.bound_s,
              right ? "all scored" : "WRONG");
  return right;
}

}  // namespace
}  // namespace rewardloop

int main() {
  const rewardloop::Case cases[] = {
      {"16 items x 1 s, one by one", 16, 1, 256, 1},
      {"16 items x 1 s, one submit", 16, 16, 256, 1},
      {"1,000 items x 1 s, one by one, 256 in flight", 1000, 1, 256, 4},
      {"1,000 items x 1 s, one submit, 256 in flight", 1000, 1000, 256, 4},
  };
  bool right = true;
  for (const auto& one : cases) right = rewardloop::Run(one) && right;
  return right ? 0 : 1;
}
