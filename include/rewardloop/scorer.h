// Scorer: judges one answer. The unit that rules, judges and user code are written as.
#pragma once

#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "rewardloop/clock.h"
#include "rewardloop/executor.h"
#include "rewardloop/item.h"
#include "rewardloop/result.h"
#include "rewardloop/status.h"
#include "rewardloop/task.h"

namespace rewardloop {

// One step of an explanation: what was found where, what was compared with what.
struct ExplainStep {
  std::string stage;   // "extract", "normalize", "compare", ...
  std::string detail;  // one line for a person
  // Byte range in the response that the step speaks of; -1 when it speaks of none.
  int64_t begin = -1;
  int64_t end = -1;
};

// What a scorer may use while it judges one attempt of one item. Lives until that attempt ends.
//
// Not thread-safe: belongs to the attempt.
class REWARDLOOP_EXPORT ScoreContext {
 public:
  ScoreContext(Executor* executor, int64_t deadline_ns, std::stop_token stop, uint64_t seed)
      : executor_(executor), deadline_ns_(deadline_ns), stop_(std::move(stop)), seed_(seed) {}

  // Null only where a scorer is called directly, without an engine (rl.verify): then Sleep() returns false at once.
  Executor* executor() const { return executor_; }
  // When this attempt is over, in the executor's clock; kNoDeadline when there is none.
  int64_t deadline_ns() const { return deadline_ns_; }
  // Set when the attempt's result is no longer wanted: its deadline passed or it was cancelled.
  const std::stop_token& stop() const { return stop_; }
  // Hash of run seed, item id and sample index; the only randomness a scorer may use.
  uint64_t seed() const { return seed_; }
  // That of one item, for calls that judge several: it must not depend on which items come together.
  uint64_t SeedOf(const RewardItem& item) const { return ItemSeed(run_seed, item); }
  static uint64_t ItemSeed(uint64_t run_seed, const RewardItem& item);

  // What an attempt may take, for scorers that end late calls themselves.
  struct Limits {
    int64_t timeout_ns = kNoDeadline;         // of the execution
    int64_t queue_deadline_ns = kNoDeadline;  // when it must have begun
  };
  // For scorers that hand calls to workers of their own, where a call may wait for its turn or be kept from running by
  // others: from now on the scorer, not the engine, ends what is late, as the returned limits say. deadline_ns() then is
  // that of all attempts together, at which stop() is still requested. Idempotent.
  Limits TakeOverDeadline();
  // Says when the execution really began, for the result's timing; the last call counts. From any thread,
  // before the attempt's task ends.
  void MarkStarted(int64_t now_ns) { started_ns_ = now_ns; }
  // 0: it was never said.
  int64_t started_ns() const { return started_ns_; }

  // The four below are set by whoever runs the attempt, before it begins.
  uint64_t run_seed = 0;
  Limits limits;
  int64_t total_deadline_ns = kNoDeadline;
  std::function<void()> on_take_over;

  // Suspends the coroutine for `duration_ns` of the executor's clock without holding a thread.
  // Yields true when the time has passed, false as soon as stop() is requested.
  Task<bool> Sleep(int64_t duration_ns);

  // Collects the steps of an explanation; null (the usual case) when nobody asked, so test before formatting.
  std::vector<ExplainStep>* explanation = nullptr;
  void Explain(std::string stage, std::string detail, int64_t begin = -1, int64_t end = -1) {
    if (explanation) explanation->push_back({std::move(stage), std::move(detail), begin, end});
  }

 private:
  Executor* executor_;
  int64_t deadline_ns_;
  std::stop_token stop_;
  uint64_t seed_;
  int64_t started_ns_ = 0;
};

// How a scorer spends its time, which decides how the engine runs it.
enum class Execution {
  kCpu,    // Score() computes and returns: runs in chunks on the CPU pool, one thread each
  kAsync,  // ScoreAsync() waits (timers, network): many in flight, no thread held
};

// Thread-safe: Score() and ScoreAsync() are called from many threads at once on one object. Keep per-call state on the
// stack or in the coroutine.
class REWARDLOOP_EXPORT Scorer {
 public:
  virtual ~Scorer() = default;

  virtual Execution execution() const { return Execution::kCpu; }

  // Judges `item`, whose bytes stay valid until the call returns and no longer. An exception thrown from here becomes
  // error(exception), a NaN or infinite score error(non_finite). Must be deterministic in (item, arguments, seed).
  // "No answer found" is a score; a ground truth that is missing or cannot be read is unscorable.
  virtual Verdict Score(const RewardItem& item, ScoreContext& context) const = 0;

  // As Score(), for scorers with execution() == kAsync. Runs on the executor; `item` and `context` outlive the task.
  // When context.stop() is requested the task must end soon; its verdict is then dropped.
  virtual Task<Verdict> ScoreAsync(const RewardItem& item, ScoreContext& context) const;

  // Judges several items in one call, one verdict per item in the order of `items`; for scorers that are cheaper that way.
  // Which items come together carries no meaning. The default asks item by item, and an exception concerns its item alone;
  // overridden, an exception or a wrong number of verdicts is the error of all of them. Used by the manager `batch`.
  virtual Task<std::vector<Verdict>> ScoreBatch(std::vector<const RewardItem*> items, ScoreContext& context) const;

  // What is called a change of behaviour: part of the digest and of `scorer_version`. Set by the registry.
  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }
  void SetIdentity(std::string name, std::string version) {
    name_ = std::move(name);
    version_ = std::move(version);
  }

 private:
  std::string name_;
  std::string version_;
};

// One argument of a scorer or manager, as users name it.
struct ArgSpec {
  std::string name;
  // "number", "integer", "boolean", "string", "array", "object" or "any"; null is allowed where the default is null.
  std::string type;
  Json default_value;
  std::string doc;                   // one sentence
  std::vector<std::string> choices;  // allowed strings, empty: any
};

// Everything the registry, the documentation and the command line know of a scorer. One per file of src/scorers.
struct ScorerSpec {
  std::string name;
  std::string version;  // changes when a verdict changes
  std::string summary;  // one line
  std::string doc;      // what it does, what it needs, an example
  std::vector<ArgSpec> args;
  // Receives an object with every argument of `args`, validated, defaults filled in.
  std::function<Result<std::unique_ptr<Scorer>>(const Json& args)> make;
  // False for scorers with side effects or that ask a model: they are never deduplicated.
  bool pure = true;
  // Set instead of `make` for scorers that are a Python function, run in worker processes: "pkg.mod:fn", called with
  // (response, ground_truth, **args).
  std::string function = {};
};

}  // namespace rewardloop
