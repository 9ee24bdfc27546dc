// PipelineImpl: the state of one pipeline. Its methods live by concern in intake.cc, chunks.cc, attempts.cc, finish.cc,
// groups.cc, delivery.cc and lifecycle.cc.
//
// One mutex guards everything; scoring itself runs without it. Lock order: this mutex, then those of limiters, the log, the
// executor's timers and the metrics. Nothing of the user's runs with it held but options.on_event.
#pragma once

#include <atomic>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "pipeline/attempt.h"
#include "pipeline/batch.h"
#include "pipeline/engine_metrics.h"
#include "pipeline/group_table.h"
#include "pipeline/step_timeline.h"
#include "rewardloop/pipeline.h"

namespace rewardloop {

// A verdict on its way into the batch.
struct Done {
  int32_t index = 0;
  Verdict verdict;
  int64_t started_ns = kNeverNs;
  int64_t finished_ns = 0;
  int32_t attempts = 0;
  Digest digest{};
  bool from_chunk = false;   // its start has not been reported yet
  bool item_is_free = false;  // no work reads the item any more: its memory can go
};

struct StepState {
  StepTimeline timeline;
  GroupTable groups;
  int64_t outstanding = 0;  // items accepted or waiting to be, without a result
  bool marked = false;      // made by BeginStep
  bool sampling_done = false;
  bool ended = false;
  int64_t groups_dropped = 0;  // not yet reported by NextGroup
  std::unordered_map<std::string, int64_t> sessions;  // id -> the submit that brought it
  WaitPoint changed;
  std::vector<std::function<void()>> when_group;

  bool over() const { return (!marked || sampling_done || ended) && outstanding == 0; }
};

// CPU items of one batch that one worker runs in one go.
struct Chunk {
  std::shared_ptr<Batch> batch;
  int32_t begin = 0;
  int32_t end = 0;
};

// A task that takes chunks as long as there are some. The watchdog may take its chunk away when an item overran the time-out.
struct Drainer {
  Chunk chunk;
  std::mutex mutex;  // guards what follows; taken after the pipeline's mutex or alone
  int32_t index = -1;
  int64_t started_ns = kNeverNs;  // of item `index`; kNeverNs: between items
  bool abandoned = false;
  std::vector<Done> done;
};

class PipelineImpl : public std::enable_shared_from_this<PipelineImpl> {
 public:
  PipelineImpl(std::shared_ptr<Engine> engine, std::shared_ptr<RewardManager> manager, PipelineOptions options);
  ~PipelineImpl();

  Result<BatchHandle> Submit(std::vector<RewardItem> items, int64_t step, const std::function<bool()>& interrupted);
  Result<Collected> Collect(const BatchHandle& handle, int64_t timeout_ns);
  Result<std::optional<RewardResult>> Next(const BatchHandle& handle, int64_t timeout_ns);
  Result<std::optional<Group>> NextGroup(int64_t step, int64_t timeout_ns);
  bool Ready(const BatchHandle& handle) const;
  void WhenReady(const BatchHandle& handle, std::function<void()> callback);
  void WhenNext(const BatchHandle& handle, std::function<void()> callback);
  void WhenGroup(int64_t step, std::function<void()> callback);
  int64_t BeginStep();
  Status SamplingDone(int64_t step);
  Status EndStep(int64_t step);
  Result<StepMetrics> MetricsOf(int64_t step) const;
  Status CloseGroup(const std::string& group_id, int64_t step);
  Status Cancel(const BatchHandle& handle);
  void Drop(const BatchHandle& handle);
  Status Close(CloseMode mode, int64_t timeout_ns);
  int64_t backlog_items() const;
  int64_t backlog_bytes() const;
  int64_t uncollected_items() const;
  const PipelineOptions& options() const { return options_; }
  Engine& engine() { return *engine_; }

 private:
  using Lock = std::unique_lock<std::mutex>;
  using BatchPtr = std::shared_ptr<Batch>;
  using AttemptPtr = std::shared_ptr<Attempt>;
  using GroupPtr = std::shared_ptr<TrackedGroup>;

  // Ended steps whose metrics can still be asked for.
  static constexpr size_t kMaxEndedSteps = 1024;
  static constexpr int32_t kChunkItems = 64;
  // After so many chunks, or so long, a drainer lets tasks of others go first.
  static constexpr int kChunksPerTurn = 16;
  static constexpr int64_t kTurnNs = 2'000'000;
  static constexpr int64_t kFlushAfterNs = 1'000'000;
  static constexpr int64_t kInterruptPollNs = 50'000'000;

  // The lock, tried for a moment before the thread goes to sleep for it: it is never held for long.
  Lock LockSoon() const;
  int64_t Now() const { return executor_.clock().NowNs(); }
  void Post(std::function<void()> task) { executor_.Post(std::move(task)); }
  // Methods called ...Locked need mutex_.
  Result<StepState*> FindStepLocked(int64_t step) const;
  Result<BatchPtr> FindBatchLocked(const BatchHandle& handle) const;
  void EmitStepLocked(PipelineEvent::Kind kind, int64_t step, int64_t time_ns);
  void EmitLocked(PipelineEvent::Kind kind, const Batch& batch, int32_t index, int64_t time_ns, int32_t attempt = 0);

  // intake.cc
  Status CheckItems(const std::vector<RewardItem>& items) const;
  static Result<std::vector<int32_t>> SessionLeaders(const std::vector<RewardItem>& items);
  BatchPtr MakeBatch(std::vector<RewardItem> items, std::vector<int32_t> leaders, int64_t step) const;
  Status RegisterLocked(const BatchPtr& batch, StepState& step);
  Status RegisterGroupsLocked(const BatchPtr& batch, StepState& step);
  Status RegisterSessionsLocked(const Batch& batch, StepState& step);
  bool HasRoomLocked(const Batch& batch) const;
  void AdmitSomeLocked(const BatchPtr& batch, int64_t now_ns);
  bool DropOldestLocked();
  void RejectPendingLocked(const BatchPtr& batch, int32_t end, const char* error_class, const std::string& message);

  // chunks.cc: CPU items without limits, many to a task
  void ScheduleLocked(const BatchPtr& batch, int32_t begin, int32_t end);
  void PostChunksLocked(const BatchPtr& batch, int32_t begin, int32_t end);
  void PostDrainersLocked();
  void Drain();
  // False when the watchdog took the chunk away meanwhile.
  bool RunChunk(Drainer& drainer);
  void FinishChunkLocked(Drainer& drainer);
  bool LingerLocked(Lock* lock);
  void ArmWatchdogLocked();
  void RunWatchdog();
  ScoreContext MakeContext(const RewardItem& item, int64_t deadline_ns, std::stop_token stop) const;
  Digest MakeDigest(const RewardItem& item) const;

  // attempts.cc: everything that waits for a limit, a timer or the network
  void StartAttemptLocked(Attempt::Kind kind, std::vector<ItemRef> items, GroupPtr group);
  void AcquireLocked(const AttemptPtr& attempt);
  void OnSlot(const AttemptPtr& attempt);
  void OnLimiter(const AttemptPtr& attempt);
  void Run(const AttemptPtr& attempt, Lock lock);
  void OnVerdicts(const AttemptPtr& attempt, std::vector<Verdict> verdicts);
  // The scorer ends late calls itself: only the deadline of all attempts is left to the pipeline.
  void OnTakeOver(const AttemptPtr& attempt);
  void OnDeadline(const AttemptPtr& attempt);
  bool RetryLocked(const AttemptPtr& attempt, std::vector<ItemRef> items, int64_t now_ns);
  void ReleaseLocked(Attempt& attempt);
  void RememberAttemptLocked(const AttemptPtr& attempt);
  void ForgetAttemptLocked(const AttemptPtr& attempt);
  // Stops or withdraws `attempt` when none of its items wants it any more; true: call its stop source without the lock.
  bool AbandonLocked(const AttemptPtr& attempt);

  // finish.cc
  bool FinishLocked(const BatchPtr& batch, Done&& done);
  bool FinishNotScoredLocked(const BatchPtr& batch, int32_t index, Verdict verdict);
  void FillResult(Batch& batch, Done&& done);
  void LogNoScorerLocked(const Batch& batch, int32_t index);
  void CountFinishedLocked();
  void NotifyLocked(Batch& batch);
  void FireLocked(std::vector<std::function<void()>>* callbacks);
  // Ends items [begin, end) that have no result and returns the attempts to stop without the lock.
  std::vector<AttemptPtr> EndItemsLocked(const BatchPtr& batch, int32_t begin, int32_t end, const Verdict& verdict,
                                         const std::function<bool(int32_t)>& wanted);

  // groups.cc
  void MaybeGroupLocked(const GroupPtr& group);
  void SettleGroupLocked(const GroupPtr& group);
  void CloseOpenGroupsLocked(StepState& step);
  void OnGroupDeadline(const GroupPtr& group);
  void ReleaseMembersLocked(TrackedGroup& group);
  void BoundRetainedLocked();

  // delivery.cc
  void DeliverRowLocked(Batch& batch, int32_t index, int64_t now_ns);
  void ApplyPolicy(RewardResult* result, bool group_masked, int64_t* policy_values) const;
  bool GroupMaskedLocked(const Batch& batch, int32_t index) const;
  Status RaiseStatus(const std::vector<RewardResult>& results) const;
  void LingerLocked(const BatchPtr& batch);

  // lifecycle.cc
  void RunOnClosed();

  const std::shared_ptr<Engine> engine_;
  Executor& executor_;
  EngineMetrics* const metrics_;
  const std::shared_ptr<RewardManager> manager_;
  const PipelineOptions options_;
  const int64_t timeout_ns_;  // of one attempt: the pipeline's or the manager's, whichever is shorter
  const std::shared_ptr<Limiter> slots_;  // items in flight

  mutable std::mutex mutex_;
  WaitPoint room_;  // backlog shrank, work ended, closing
  std::unordered_map<int64_t, BatchPtr> batches_;  // not yet collected, streamed or dropped
  std::map<int64_t, std::unique_ptr<StepState>> steps_;
  std::deque<int64_t> ended_steps_;      // bounded: kMaxEndedSteps
  std::deque<ItemRef> oldest_queued_;    // bounded: backlog; only under kDropOldest
  std::deque<int64_t> lingering_;        // bounded: uncollected_items
  std::deque<Chunk> chunks_;            // bounded: backlog
  std::atomic<size_t> queued_chunks_ = 0;  // their number, for a look without the lock
  int drainers_ = 0;                    // posted, running or lingering, but for those that are stuck
  int posted_drainers_ = 0;             // of these, have not begun
  bool drainer_lingers_ = false;        // one of them waits a moment for more
  std::list<std::shared_ptr<Drainer>> watched_;  // that run; only with a time-out
  std::vector<ItemRef> finished_;        // since the last CountFinishedLocked
  int64_t next_submit_ = 1;
  int64_t next_step_ = 1;
  int64_t outstanding_ = 0;  // of all steps
  int64_t backlog_items_ = 0;
  int64_t backlog_bytes_ = 0;
  int64_t waiting_for_siblings_ = 0;  // of the backlog: members whose group is not whole
  int64_t uncollected_items_ = 0;
  int64_t uncollected_bytes_ = 0;
  int64_t retained_rows_ = 0;   // collected, but a group will still read them
  int64_t lingering_rows_ = 0;  // delivered in groups, handle never used
  int64_t active_work_ = 0;     // chunks and attempts that are not over
  bool watchdog_armed_ = false;
  std::function<void()> on_closed_;  // empty once it ran
  bool closed_ = false;
  bool cancelling_ = false;
};

}  // namespace rewardloop
