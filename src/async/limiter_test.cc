#include "rewardloop/limiter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "async/thread_executor.h"
#include "async/token_bucket.h"
#include "rewardloop/simulator.h"

namespace rewardloop {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMs = 1'000'000;

// Requests against one limiter on the simulator, first in first out; notes when each was granted.
struct Bench {
  explicit Bench(LimiterOptions options)
      : simulator(Simulator::Make({.shuffle = false})),
        limiter(Limiter::Make(options, simulator.get())) {}

  // A request that holds its slot for `hold_ns`.
  Limiter::Ticket Request(double tokens = 0, int64_t hold_ns = 0) {
    const size_t index = granted_ns.size();
    granted_ns.push_back(-1);
    return limiter->Acquire(tokens, [this, index, hold_ns] {
      granted_ns[index] = simulator->clock().NowNs();
      order.push_back(index);
      if (hold_ns == 0) return limiter->Release();
      simulator->PostAt(simulator->clock().NowNs() + hold_ns, [this] { limiter->Release(); });
    });
  }

  std::unique_ptr<Simulator> simulator;
  std::shared_ptr<Limiter> limiter;
  std::vector<int64_t> granted_ns;
  std::vector<size_t> order;
};

TEST(Limiter, CallbackNeverRunsInsideAcquire) {
  Bench bench({});
  bench.Request();
  EXPECT_EQ(bench.granted_ns[0], -1);
  EXPECT_EQ(bench.limiter->in_flight(), 1);
  bench.simulator->RunUntilIdle();
  EXPECT_EQ(bench.granted_ns[0], 0);
  EXPECT_EQ(bench.limiter->in_flight(), 0);
  EXPECT_EQ(bench.limiter->max_in_flight(), 1);
}

TEST(Limiter, MaxConcurrentIsReachedAndNeverExceeded) {
  Bench bench({.max_concurrent = 4});
  for (int i = 0; i < 100; ++i) bench.Request(0, kSecond);
  EXPECT_EQ(bench.limiter->waiting(), 96);
  bench.simulator->RunUntilIdle();
  EXPECT_EQ(bench.limiter->max_in_flight(), 4);
  // Four at a time, a second each.
  for (int i = 0; i < 100; ++i) EXPECT_EQ(bench.granted_ns[i], i / 4 * kSecond) << i;
}

TEST(Limiter, RequestRateIsExactOverAMinute) {
  // 600 a minute: a burst of one second's worth, 10, then one each 100 ms.
  Bench bench({.max_rpm = 600});
  for (int i = 0; i < 700; ++i) bench.Request();
  bench.simulator->RunUntilIdle();
  for (int i = 0; i < 700; ++i) {
    EXPECT_EQ(bench.granted_ns[i], i < 10 ? 0 : (i - 9) * 100 * kMs) << i;
  }
}

TEST(Limiter, SlowRateHoldsAtLeastOneRequest) {
  // 30 a minute is half a request a second; the bucket holds one.
  Bench bench({.max_rpm = 30});
  for (int i = 0; i < 31; ++i) bench.Request();
  bench.simulator->RunUntilIdle();
  for (int i = 0; i < 31; ++i) EXPECT_EQ(bench.granted_ns[i], i * 2 * kSecond) << i;
}

TEST(Limiter, RateThatDoesNotDivideAMinuteLosesNothing) {
  // 7 a minute: request k at ceil(k * 60e9 / 7) ns, without any drift.
  Bench bench({.max_rpm = 7});
  for (int i = 0; i < 1000; ++i) bench.Request();
  bench.simulator->RunUntilIdle();
  for (int64_t i = 0; i < 1000; ++i) EXPECT_EQ(bench.granted_ns[i], (i * 60 * kSecond + 6) / 7) << i;
}

TEST(Limiter, TokenRateIsExactOverAMinute) {
  // 6,000 tokens a minute: 100 a second. Requests of 25: four at once, then one each 250 ms.
  Bench bench({.max_tpm = 6000});
  for (int i = 0; i < 244; ++i) bench.Request(25);
  bench.simulator->RunUntilIdle();
  for (int i = 0; i < 244; ++i) EXPECT_EQ(bench.granted_ns[i], i < 4 ? 0 : (i - 3) * 250 * kMs) << i;
  // 61 seconds' worth were granted within the first minute: the rate and the bucket's contents.
  EXPECT_EQ(bench.granted_ns[243], 60 * kSecond);
}

TEST(Limiter, RequestLargerThanTheBucketProceedsAndLeavesADebt) {
  // 100 tokens a second, requests of 2,000. The first finds a full bucket and leaves 1,900 of debt; each later one waits until
  // the bucket is full again: 2,000 tokens, 20 s.
  Bench bench({.max_tpm = 6000});
  for (int i = 0; i < 4; ++i) bench.Request(2000);
  bench.Request(50);  // needs only 50: the debt of 1,900 and 50 more, 19.5 s
  bench.simulator->RunUntilIdle();
  EXPECT_EQ(bench.granted_ns, (std::vector<int64_t>{0, 20 * kSecond, 40 * kSecond, 60 * kSecond,
                                                    79 * kSecond + 500 * kMs}));
}

TEST(Limiter, LargeRequestWaitsForAFullBucket) {
  Bench bench({.max_tpm = 6000});
  bench.Request(40);    // leaves 60
  bench.Request(2000);  // full after 400 ms
  bench.simulator->RunUntilIdle();
  EXPECT_EQ(bench.granted_ns, (std::vector<int64_t>{0, 400 * kMs}));
}

TEST(Limiter, GrantsInOrderOfArrivalEvenWhenALaterOneWouldFit) {
  Bench bench({.max_tpm = 6000});
  bench.Request(100);  // empties the bucket
  bench.Request(100);  // full after 1 s
  bench.Request(0);    // would fit at once, but is not first
  bench.simulator->RunUntilIdle();
  EXPECT_EQ(bench.order, (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(bench.granted_ns, (std::vector<int64_t>{0, kSecond, kSecond}));
}

TEST(Limiter, TokensAreNotSpentWhileWaitingForASlot) {
  // One slot held for 10 s, 60 requests a minute. Were the second's request token taken in the queue, the bucket (of one)
  // could hold another one by the time the slot is free and the third would start with it.
  Bench bench({.max_concurrent = 1, .max_rpm = 60});
  bench.Request(0, 10 * kSecond);
  bench.Request(0, 0);
  bench.Request(0, 0);
  bench.simulator->RunUntilIdle();
  EXPECT_EQ(bench.granted_ns, (std::vector<int64_t>{0, 10 * kSecond, 11 * kSecond}));
}

TEST(Limiter, SlowestOfTheThreeLimitsDecides) {
  Bench bench({.max_concurrent = 2, .max_rpm = 120, .max_tpm = 6000});
  // Slots: two at a time for 3 s. Requests: two a second. Tokens: 100 a second.
  bench.Request(100, 3 * kSecond);  // at 0
  bench.Request(100, 3 * kSecond);  // tokens: 1 s
  bench.Request(10, 3 * kSecond);   // slot: 3 s
  bench.Request(10, 3 * kSecond);   // slot: 4 s
  bench.simulator->RunUntilIdle();
  EXPECT_EQ(bench.granted_ns, (std::vector<int64_t>{0, kSecond, 3 * kSecond, 4 * kSecond}));
}

TEST(Limiter, IdleTimeFillsTheBucketNoFurtherThanItsCapacity) {
  Bench bench({.max_rpm = 120});
  bench.simulator->RunFor(3600 * kSecond);
  for (int i = 0; i < 4; ++i) bench.Request();
  bench.simulator->RunUntilIdle();
  const int64_t start = 3600 * kSecond;
  EXPECT_EQ(bench.granted_ns,
            (std::vector<int64_t>{start, start, start + 500 * kMs, start + kSecond}));
}

TEST(Limiter, WithdrawnRequestNeverRunsAndCostsNothing) {
  Bench bench({.max_tpm = 6000});
  bench.Request(100);
  const Limiter::Ticket large = bench.Request(1'000'000);
  bench.Request(50);
  EXPECT_TRUE(bench.limiter->Withdraw(large));
  EXPECT_FALSE(bench.limiter->Withdraw(large));
  bench.simulator->RunUntilIdle();
  EXPECT_EQ(bench.granted_ns, (std::vector<int64_t>{0, -1, 500 * kMs}));
}

TEST(Limiter, WithdrawOfTheHeadLetsTheNextOneGoAtOnce) {
  Bench bench({.max_tpm = 6000});
  bench.Request(60);
  const Limiter::Ticket head = bench.Request(100);  // 600 ms
  bench.Request(30);                                // fits into the 40 that are left
  ASSERT_TRUE(bench.limiter->Withdraw(head));
  bench.simulator->RunUntilIdle();
  EXPECT_EQ(bench.granted_ns, (std::vector<int64_t>{0, -1, 0}));
}

TEST(Limiter, GrantedRequestCannotBeWithdrawn) {
  Bench bench({.max_concurrent = 1});
  const Limiter::Ticket ticket = bench.Request();
  EXPECT_FALSE(bench.limiter->Withdraw(ticket));
  EXPECT_FALSE(bench.limiter->Withdraw(ticket + 100));
  bench.simulator->RunUntilIdle();
  EXPECT_EQ(bench.granted_ns[0], 0);
}

TEST(Limiter, DestroyedWhileOneWaitsDropsItsTimer) {
  Bench bench({.max_rpm = 60});
  bench.Request();
  bench.simulator->RunUntilIdle();
  bench.Request();
  bench.limiter.reset();
  bench.simulator->RunUntilIdle();
  EXPECT_EQ(bench.simulator->clock().NowNs(), 0);
  EXPECT_EQ(bench.granted_ns[1], -1);
}

TEST(Limiter, SameRequestsGiveTheSameInstants) {
  auto run = [] {
    Bench bench({.max_concurrent = 7, .max_rpm = 613, .max_tpm = 99'991});
    uint64_t state = 1;
    for (int i = 0; i < 2000; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      bench.Request(static_cast<double>(state >> 52) + 0.3, static_cast<int64_t>((state >> 20) % kSecond));
    }
    bench.simulator->RunUntilIdle();
    return bench.granted_ns;
  };
  EXPECT_EQ(run(), run());
}

TEST(TokenBucket, OddRatesAndCostsAreHarmless) {
  for (double rate : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                      std::numeric_limits<double>::infinity()}) {
    TokenBucket bucket(rate, 0);
    EXPECT_FALSE(bucket.limited());
    EXPECT_EQ(bucket.WaitNs(1e300, 5), 0);
  }
  TokenBucket bucket(60, 0);
  EXPECT_EQ(bucket.WaitNs(std::numeric_limits<double>::quiet_NaN(), 0), 0);
  EXPECT_EQ(bucket.WaitNs(-5, 0), 0);
  EXPECT_EQ(bucket.WaitNs(1e300, 0), 0);  // the bucket is full
  bucket.Take(1e300);                     // counts as 1e12 tokens
  EXPECT_EQ(bucket.WaitNs(1, 0), std::numeric_limits<int64_t>::max());
  TokenBucket fastest(1e300, 0);
  fastest.Take(1e300);
  EXPECT_EQ(fastest.WaitNs(1, 120 * kSecond), 0);
  EXPECT_EQ(fastest.WaitNs(1, 0), 0);  // time that goes back stands still
}

// 16 threads acquire and release on a real thread pool. The count of holders is kept outside of the limiter.
TEST(LimiterThreads, SixteenThreadsNeverExceedTheLimitAndReachIt) {
  constexpr int kThreads = 16;
  constexpr int kEach = 500;
  constexpr int64_t kLimit = 5;
  ThreadExecutor executor(8);
  auto limiter = Limiter::Make({.max_concurrent = kLimit}, &executor);
  std::atomic<int64_t> holders{0}, highest{0}, done{0};
  std::mutex mutex;
  WaitPoint point;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        limiter->Acquire(1, [&] {
          const int64_t now = ++holders;
          int64_t seen = highest.load();
          while (now > seen && !highest.compare_exchange_weak(seen, now)) {
          }
          // Held over another turn of the executor, so that holders overlap.
          executor.Post([&] {
            --holders;
            limiter->Release();
            if (++done == kThreads * kEach) {
              std::lock_guard<std::mutex> lock(mutex);
              point.NotifyAll();
            }
          });
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::unique_lock<std::mutex> lock(mutex);
  executor.WaitUntil(lock, point, [&] { return done == kThreads * kEach; }, kNoDeadline);
  EXPECT_LE(highest.load(), kLimit);
  EXPECT_EQ(limiter->max_in_flight(), kLimit);
  EXPECT_EQ(limiter->in_flight(), 0);
  EXPECT_EQ(limiter->waiting(), 0);
}

// Half of the requests are withdrawn by other threads while they wait: each runs once or not at all, never both.
TEST(LimiterThreads, WithdrawRacesWithGrants) {
  constexpr int kThreads = 16;
  constexpr int kEach = 300;
  ThreadExecutor executor(4);
  auto limiter = Limiter::Make({.max_concurrent = 3, .max_rpm = 60e6, .max_tpm = 60e6}, &executor);
  std::atomic<int64_t> ran{0}, withdrawn{0};
  std::mutex mutex;
  WaitPoint point;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const auto ticket = limiter->Acquire(1, [&] {
          limiter->Release();
          ++ran;
          std::lock_guard<std::mutex> lock(mutex);
          point.NotifyAll();
        });
        if ((i + t) % 2 == 0 && limiter->Withdraw(ticket)) ++withdrawn;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::unique_lock<std::mutex> lock(mutex);
  auto all_ended = [&] { return ran + withdrawn == kThreads * kEach; };
  executor.WaitUntil(lock, point, all_ended, kNoDeadline);
  EXPECT_EQ(limiter->waiting(), 0);
  EXPECT_EQ(limiter->in_flight(), 0);
  EXPECT_LE(limiter->max_in_flight(), 3);
}

}  // namespace
}  // namespace rewardloop
