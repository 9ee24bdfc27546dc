// WorkerPool: runs the calls of one user function in worker processes that can be killed.
//
// A call runs on a worker together with others. When one is late, blame.h says who keeps the worker busy: that call ends as
// a time-out. A coroutine is interrupted, and the others go on; where that does not help, the worker is killed and the calls
// that it kept from running run again, each alone. When a worker dies, the calls that it had run
// again, each alone; one with which a worker dies a second time is poison. There is always one warm worker more than calls
// are spread over, so that such calls start at once.
#pragma once

#include <coroutine>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "rewardloop/executor.h"
#include "rewardloop/json.h"
#include "rewardloop/log.h"
#include "rewardloop/task.h"
#include "workers/blame.h"
#include "workers/frames.h"
#include "workers/host.h"

namespace rewardloop::workers {

struct PoolOptions {
  std::string name;      // of the function, for messages
  Json hello;            // what a worker is told first (worker.py)
  int workers = 1;       // over which calls are spread; one more is kept warm
  int threads = 8;       // calls of a blocking function at once, a worker
  int64_t max_concurrent = 256;  // calls of an async function at once, all workers together
  int64_t import_timeout_ns = 120'000'000'000;
};

// What the first worker said of the function.
struct FunctionInfo {
  bool is_async = false;
  bool is_batch = false;
  std::string form;
  std::string file;
  std::string digest;  // of the file, where the worker read it; may be empty
  std::string python;  // version
};

struct CallRequest {
  std::string payload;  // CallPayload()
  uint32_t items = 1;
  uint64_t seed = 0;
  std::string label;   // item id, for messages
};

struct CallReply {
  enum class Kind { kVerdicts, kTimeout, kPoison, kQueueTimeout, kCancelled, kBroken };
  Kind kind = Kind::kCancelled;
  std::string text;  // kVerdicts: JSON list of verdicts; otherwise what happened
};

// How long a call may take, of the pipeline's options.
struct CallLimits {
  int64_t timeout_ns = kNoDeadline;         // of its execution on a worker
  int64_t queue_deadline_ns = kNoDeadline;  // when it must have started
};

// Thread-safe.
class WorkerPool : public std::enable_shared_from_this<WorkerPool> {
 public:
  static constexpr int kMaxStartFailures = 5;      // in a row, then the pool gives up
  static constexpr int64_t kFirstRestartDelayNs = 100'000'000;  // doubles each time
  // A worker that lives this long has started; starts that fail further apart than this are not in a row.
  static constexpr int64_t kSettledNs = 30'000'000'000;
  // A coroutine that was interrupted must have let go of its loop by then.
  static constexpr int64_t kInterruptGraceNs = 150'000'000;
  // A call that nobody wants any more may go on this long before its worker is given up.
  static constexpr int64_t kCancelGraceNs = 1'000'000'000;

  // `executor` and `log` outlive the pool.
  static std::shared_ptr<WorkerPool> Make(Executor* executor, Log* log, std::unique_ptr<WorkerHost> host, PoolOptions options);
  ~WorkerPool();

  // Starts all workers and waits until the first has loaded the function. Blocks; not for tasks of the
  // executor. kInvalidArgument with what the worker said when the function cannot be loaded.
  Result<FunctionInfo> Start();

  // Runs a call. Ends soon after `stop` is requested. `started` is called whenever it is handed to a worker: at most twice,
  // or three times when it kills workers.
  Task<CallReply> Call(CallRequest request, CallLimits limits, std::stop_token stop, std::function<void(int64_t now_ns)> started);

  // Ends all calls as cancelled and all workers. Blocks until they are gone. Idempotent.
  void Close();

 private:
  struct PendingCall;
  struct Worker;
  using CallPtr = std::shared_ptr<PendingCall>;
  using WorkerPtr = std::shared_ptr<Worker>;
  using Lock = std::unique_lock<std::mutex>;
  struct Awaiter;

  WorkerPool(Executor* executor, Log* log, std::unique_ptr<WorkerHost> host, PoolOptions options);

  void Enqueue(const CallPtr& call, std::coroutine_handle<> waiter);
  void Withdraw(const CallPtr& call);
  void CompleteLocked(const CallPtr& call, CallReply reply);
  void ResumeLocked();

  // pool_dispatch.cc
  void DispatchLocked();
  size_t SendLocked(const WorkerPtr& worker, std::deque<CallPtr>* queue, size_t most, bool alone);
  size_t CapacityLocked() const;
  void StartWorkersLocked();
  void StartWorkerLocked();
  void FailQueuedLocked();

  // pool_events.cc
  void OnFrame(const WorkerPtr& worker, uint8_t kind, std::string_view body);
  void OnReadyLocked(const WorkerPtr& worker, const Json& info);
  void OnRepliesLocked(const WorkerPtr& worker, std::string_view body);
  void OnTextLocked(const WorkerPtr& worker, const Json& text);
  void OnExit(const WorkerPtr& worker, const std::string& how);
  void LoseLocked(const WorkerPtr& worker, const std::string& how);
  void OnStartFailureLocked(const Worker& worker, const std::string& why);
  void RunAgainLocked(const CallPtr& call);

  // pool_deadlines.cc
  void ArmTickLocked();
  void Tick();
  void CheckQueueLocked(std::deque<CallPtr>* queue, int64_t now_ns);
  void CheckWorkerLocked(const WorkerPtr& worker, int64_t now_ns);
  bool InterruptLocked(const WorkerPtr& worker, const BoardSnapshot& board, uint64_t call, int64_t now_ns);
  void CheckInterruptedLocked(const WorkerPtr& worker, int64_t now_ns);
  void JudgeOverdueLocked(const WorkerPtr& worker, int64_t now_ns);
  void TimeOutLocked(const WorkerPtr& worker, uint64_t id, int64_t now_ns);
  void RetireLocked(const WorkerPtr& worker, int64_t now_ns);
  void KillLocked(const WorkerPtr& worker);

  Executor& executor_;
  Log& log_;
  const std::unique_ptr<WorkerHost> host_;
  const PoolOptions options_;

  std::mutex mutex_;  // taken before the host's
  WaitPoint changed_;
  FunctionInfo info_;
  bool loaded_ = false;   // the first worker is ready
  bool closed_ = false;
  Status broken_;         // not ok: no worker can be started
  int start_failures_ = 0;
  int64_t last_failure_ns_ = 0;
  bool restart_waits_ = false;
  uint64_t next_call_ = 1;
  int64_t shortest_timeout_ns_ = kNoDeadline;
  bool tick_armed_ = false;
  std::vector<WorkerPtr> workers_;    // starting, ready or retiring; bounded by MaxWorkers()
  std::deque<CallPtr> queue_;         // bounded by the pipeline's max_concurrent
  std::deque<CallPtr> alone_queue_;   // to run again, each alone on a worker
  std::vector<std::coroutine_handle<>> to_resume_;
};

}  // namespace rewardloop::workers
