// InlineCalls: calls of code that runs in the caller's own process, on threads that the caller owns (Python's).
//
// The engine puts calls in and waits as a coroutine; threads of the other side fetch and complete them. Such code cannot be
// killed: a call that is late ends as a time-out all the same, its thread counts as lost until it comes back, and when all
// threads are lost new calls are refused.
#pragma once

#include <coroutine>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rewardloop/executor.h"
#include "rewardloop/log.h"
#include "rewardloop/scorer.h"

namespace rewardloop {

struct InlineOptions {
  std::string name;          // of the function or manager, for messages
  int threads = 8;           // that fetch, of blocking code
  bool cancellable = false;  // async code: late calls are cancelled, no thread is lost
};

// Thread-safe.
class InlineCalls : public std::enable_shared_from_this<InlineCalls> {
 public:
  struct Reply {
    enum class Kind { kReturned, kTimeout, kQueueTimeout, kNoThread, kCancelled };
    Kind kind = Kind::kCancelled;
    std::string text;  // kReturned: what Complete() got; otherwise what happened
  };
  // What a thread fetches: a call to run, or one to cancel (`json` is empty then).
  struct Work {
    uint64_t id = 0;
    bool cancel = false;
    std::string json;
    uint32_t items = 1;
  };

  // `owner` keeps executor and log alive; null when they outlive the calls anyway.
  static std::shared_ptr<InlineCalls> Make(Executor* executor, Log* log, std::shared_ptr<void> owner, InlineOptions options);

  const InlineOptions& options() const { return options_; }

  // Hands `json` to a thread and waits for its reply. Takes over the deadline of `context`.
  Task<Reply> Call(std::string json, uint32_t items, ScoreContext& context, ScoreContext::Limits limits);

  // Up to `most` works; waits for the first. Nullopt after Close(): the thread may end. Blocks.
  std::optional<std::vector<Work>> Fetch(size_t most);
  // The reply of a call that was fetched; dropped when nobody waits any more.
  void Complete(uint64_t id, std::string reply);
  // Ends all calls as cancelled, lets fetching threads go.
  void Close();
  // Threads that run a call which nobody waits for any more.
  int lost() const;

 private:
  struct Pending;
  struct Awaiter;
  using Ptr = std::shared_ptr<Pending>;
  using Lock = std::unique_lock<std::mutex>;

  InlineCalls(Executor* executor, Log* log, std::shared_ptr<void> owner, InlineOptions options);
  void Enqueue(const Ptr& call, std::coroutine_handle<> waiter);
  // Ends `call` for those who wait; it may go on running.
  void GiveUp(const Ptr& call, Reply reply);
  void EndLocked(const Ptr& call, Reply reply);
  void RefuseQueuedLocked();
  bool AllLostLocked() const { return !options_.cancellable && lost_ >= options_.threads; }

  const std::shared_ptr<void> owner_;
  Executor& executor_;
  Log& log_;
  const InlineOptions options_;

  mutable std::mutex mutex_;  // guards what follows
  WaitPoint work_;
  std::deque<Ptr> queue_;            // bounded by the pipeline's max_concurrent
  std::deque<uint64_t> cancelled_;   // bounded by the calls that run
  std::map<uint64_t, Ptr> running_;
  uint64_t next_id_ = 1;
  int lost_ = 0;
  bool closed_ = false;
};

// What a reply that is not kReturned says of each item.
Verdict VerdictOfFailure(const InlineCalls::Reply& reply);

// A scorer that is a function on the caller's threads. `calls` reply with a JSON list of verdicts (user_function.h).
std::unique_ptr<Scorer> MakeInlineScorer(std::shared_ptr<InlineCalls> calls, std::string version, bool is_batch);

}  // namespace rewardloop
