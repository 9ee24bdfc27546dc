// WorkerPool with real workers and many threads: for the sanitizers, and for what the simulator cannot show.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "async/thread_executor.h"
#include "base/random.h"
#include "workers/launcher_host.h"
#include "workers/pool.h"

namespace rewardloop::workers {
namespace {

using Kind = CallReply::Kind;

constexpr int64_t kSecond = 1'000'000'000;

constexpr char kFunctions[] = R"py(
import asyncio, os, time
def blocking(item):
    kind = item["item_id"]
    if kind == "die": os.kill(os.getpid(), 9)
    if kind == "hang":
        while True: pass
    time.sleep(0.01)
    return 1
async def later(item):
    kind = item["item_id"]
    if kind == "die": os.kill(os.getpid(), 9)
    if kind == "hang": await asyncio.sleep(1000)
    await asyncio.sleep(0.01)
    return 1
)py";

struct Real {
  explicit Real(const char* function) {
    executor = std::make_unique<ThreadExecutor>(2);
    log = Log::Make(executor.get(), [](const LogRecord&) {});
    PoolOptions options;
    options.name = function;
    options.workers = 2;
    options.threads = 4;
    options.max_concurrent = 32;
    options.hello = Json::MakeObject({{"protocol", int64_t{kProtocol}},
                                      {"name", function},
                                      {"module", ""},
                                      {"attribute", function},
                                      {"path", "/no/f.py"},
                                      {"source", kFunctions},
                                      {"arguments", Json::MakeObject()},
                                      {"form", Json()},
                                      {"threads", int64_t{4}},
                                      {"memory", int64_t{0}},
                                      {"network", true},
                                      {"sys_path", Json()}});
    Result<std::unique_ptr<WorkerHost>> host =
        StartLauncher({.interpreter = *FindInterpreter("python3"), .hidden_env = {}, .gpus = ""});
    pool = WorkerPool::Make(executor.get(), log.get(), std::move(*host), std::move(options));
  }
  ~Real() { pool->Close(); }

  struct Outcome {
    std::atomic<int> answers{0};
    Kind kind = Kind::kBroken;
    std::stop_source stop;
  };
  std::shared_ptr<Outcome> Call(const std::string& kind, int64_t timeout_ns) {
    auto outcome = std::make_shared<Outcome>();
    CallRequest request{.payload = CallPayload(R"([{"item_id":")" + kind + "\"}]"), .items = 1, .seed = 1, .label = kind};
    ++in_flight;
    Spawn(pool->Call(std::move(request), {.timeout_ns = timeout_ns}, outcome->stop.get_token(), [](int64_t) {}),
          [this, outcome](std::optional<CallReply> reply, const std::exception_ptr&) {
            outcome->kind = reply->kind;
            ++outcome->answers;
            std::lock_guard<std::mutex> lock(mutex);
            --in_flight;
            changed.NotifyAll();
          });
    return outcome;
  }
  bool WaitForAll() {
    std::unique_lock<std::mutex> lock(mutex);
    return executor->WaitUntil(lock, changed, [&] { return in_flight == 0; }, executor->clock().NowNs() + 120 * kSecond);
  }

  std::unique_ptr<Executor> executor;
  std::unique_ptr<Log> log;
  std::shared_ptr<WorkerPool> pool;
  std::mutex mutex;
  WaitPoint changed;
  std::atomic<int> in_flight{0};
};

void EveryCallIsAnsweredOnce(const char* function) {
  Real real(function);
  ASSERT_TRUE(real.pool->Start().ok());
  std::vector<std::shared_ptr<Real::Outcome>> outcomes[3];
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t) {
    callers.emplace_back([&, t] {
      SplitMix64 draw(static_cast<uint64_t>(t));
      for (int i = 0; i < 60; ++i) {
        const uint64_t fate = draw.Below(60);
        outcomes[t].push_back(real.Call(fate == 0 ? "die" : fate == 1 ? "hang" : "healthy", 2 * kSecond));
        if (draw.Below(6) == 0) outcomes[t][draw.Below(outcomes[t].size())]->stop.request_stop();
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  ASSERT_TRUE(real.WaitForAll());
  int verdicts = 0;
  for (const auto& some : outcomes) {
    for (const auto& outcome : some) {
      EXPECT_EQ(outcome->answers, 1);
      EXPECT_NE(outcome->kind, Kind::kBroken);
      verdicts += outcome->kind == Kind::kVerdicts;
    }
  }
  EXPECT_GE(verdicts, 100);
}

TEST(PoolThreads, BlockingCallsOfManyThreadsAreAnsweredOnceSlow) { EveryCallIsAnsweredOnce("blocking"); }
TEST(PoolThreads, AsyncCallsOfManyThreadsAreAnsweredOnceSlow) { EveryCallIsAnsweredOnce("later"); }

TEST(PoolThreads, ACallThatIsWithdrawnWhileItComesInGoesOnOnce) {
  Real real("later");
  ASSERT_TRUE(real.pool->Start().ok());
  constexpr int kCalls = 25;
  std::atomic<int> over{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      std::atomic<std::stop_source*> to_stop{nullptr};
      std::atomic<int> stopped{0};
      std::thread stopping([&] {
        while (stopped < kCalls) {
          if (std::stop_source* stop = to_stop.exchange(nullptr)) stopped += stop->request_stop();
        }
      });
      for (int i = 0; i < kCalls; ++i) {
        std::stop_source stop;
        std::atomic<int> answers{0};
        to_stop = &stop;
        Spawn(real.pool->Call({.payload = CallPayload(R"([{"item_id":"healthy"}])"), .items = 1, .seed = 1, .label = "healthy"},
                              {.timeout_ns = kNoDeadline}, stop.get_token(), [](int64_t) {}),
              [&](std::optional<CallReply>, const std::exception_ptr&) { ++answers; });
        while (answers == 0 || stopped <= i) std::this_thread::yield();
        over += answers;
      }
      stopping.join();
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(over, 4 * kCalls);
}

TEST(PoolThreads, CloseRacesWithCallsAndCancellations) {
  for (int round = 0; round < 3; ++round) {
    Real real("later");
    ASSERT_TRUE(real.pool->Start().ok());
    std::vector<std::shared_ptr<Real::Outcome>> outcomes;
    for (int i = 0; i < 40; ++i) outcomes.push_back(real.Call(i % 2 ? "hang" : "healthy", kNoDeadline));
    std::thread canceller([&] {
      for (const auto& outcome : outcomes) outcome->stop.request_stop();
    });
    real.pool->Close();
    canceller.join();
    EXPECT_TRUE(real.WaitForAll());
    for (const auto& outcome : outcomes) EXPECT_EQ(outcome->answers, 1);
  }
}

}  // namespace
}  // namespace rewardloop::workers
