// A WorkerPool on the simulator, with scripted workers and calls whose outcomes are recorded.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "rewardloop/simulator.h"
#include "workers/pool.h"
#include "workers/testing.h"

namespace rewardloop::workers::testing {

struct Outcome {
  int answers = 0;  // 1 once it is done
  int starts = 0;   // calls of `started`
  CallReply reply;
  int64_t done_ns = 0;
  std::stop_source stop;

  bool done() const { return answers == 1; }
};
using OutcomePtr = std::shared_ptr<Outcome>;

struct PoolUnderTest {
  explicit PoolUnderTest(PoolOptions options, HostScript script = {}, uint64_t seed = 1)
      : simulator(Simulator::Make({.seed = seed})) {
    log = Log::Make(simulator.get(), [this](const LogRecord& record) { logged.push_back(LogText(record)); });
    auto scripted = std::make_unique<ScriptedHost>(simulator.get(), std::move(script));
    host = scripted.get();
    if (options.name.empty()) options.name = "f.py:fn";
    options.hello = Json::MakeObject();
    pool = WorkerPool::Make(simulator.get(), log.get(), std::move(scripted), std::move(options));
  }
  ~PoolUnderTest() {
    pool->Close();
    simulator->RunUntilIdle();
  }

  int64_t Now() const { return simulator->clock().NowNs(); }

  // `json` names the call: workers answer with it.
  OutcomePtr Call(std::string json, int64_t timeout_ns = kNoDeadline, int64_t queue_deadline_ns = kNoDeadline) {
    auto outcome = std::make_shared<Outcome>();
    CallRequest request{.payload = json, .items = 1, .seed = 0, .label = json};
    CallLimits limits{timeout_ns, queue_deadline_ns};
    Spawn(pool->Call(std::move(request), limits, outcome->stop.get_token(), [outcome](int64_t) { ++outcome->starts; }),
          [this, outcome](std::optional<CallReply> reply, const std::exception_ptr&) {
            ++outcome->answers;
            outcome->reply = std::move(*reply);
            outcome->done_ns = Now();
          });
    return outcome;
  }
  std::vector<OutcomePtr> Calls(const std::string& prefix, int count, int64_t timeout_ns = kNoDeadline) {
    std::vector<OutcomePtr> outcomes;
    for (int i = 0; i < count; ++i) outcomes.push_back(Call(prefix + std::to_string(i), timeout_ns));
    return outcomes;
  }

  std::vector<std::string> logged;
  std::unique_ptr<Simulator> simulator;
  std::unique_ptr<Log> log;
  ScriptedHost* host = nullptr;  // the pool's
  std::shared_ptr<WorkerPool> pool;
};

inline bool Starts(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

}  // namespace rewardloop::workers::testing
