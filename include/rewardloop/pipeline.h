// AsyncRewardPipeline: samples go in as they finish, rewards come out in order, groups as they complete.
//
//   submit -> intake (validate, bound) -> schedule by resource -> score -> group -> deliver (collect | stream | groups)
//
// How many items run at once is a matter of resources, never of how they were submitted: sixteen submits of one item and one
// submit of sixteen run alike.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rewardloop/engine.h"
#include "rewardloop/item.h"
#include "rewardloop/result.h"
#include "rewardloop/reward_manager.h"

namespace rewardloop {

// What becomes of a missing score when results are delivered. Whatever it is, status and error stay as they are.
struct OnError {
  enum class Policy {
    kRaise,      // Collected::status names the items; all results are handed over
    kNull,       // the score stays absent
    kValue,      // the score becomes `value`, policy_value is set, and it is counted
    kDropGroup,  // all members of a group with a missing score are masked; lists keep their length
  };
  Policy policy = Policy::kRaise;
  double value = 0;

  // "raise", "null", "zero", "value:<number>" or "drop_group".
  static Result<OnError> Parse(std::string_view text);
  std::string ToString() const;
};

enum class Overflow {
  kBlock,       // submit waits for room
  kDropOldest,  // the oldest items that have not started end as rejected
  kReject,      // the new items that do not fit end as rejected
};

enum class Grouping {
  kSubmit,    // a group without group_size closes with the submit that brought it
  kExplicit,  // ... with CloseGroup() or the end of the step
};

struct PipelineOptions {
  // --- What results mean
  OnError on_error = {};
  Grouping grouping = Grouping::kSubmit;
  int64_t group_size = 0;                      // for items without one; 0: see `grouping`
  int64_t group_deadline_ns = kNoDeadline;     // from a group's first item: then it is delivered as it is
  int64_t timeout_ns = kNoDeadline;            // execution of one attempt
  int64_t total_timeout_ns = kNoDeadline;      // all attempts, from the first start
  int64_t queue_timeout_ns = kNoDeadline;      // wait before the first start; its expiry is `rejected`
  int max_attempts = 1;                        // retryable errors are tried again up to this often
  int64_t retry_delay_ns = 100'000'000;        // before the second attempt; doubles each time
  uint64_t seed = 0;
  bool unite_extra = true;                     // Collect gives all rows the same extra keys, missing ones null

  // --- What it may use
  int64_t backlog_items = 4096;                // accepted, without a result
  int64_t backlog_bytes = int64_t{256} << 20;
  Overflow overflow = Overflow::kBlock;
  int64_t uncollected_items = 65536;           // finished, delivered by no view; past it submit fails: "collect first"
  int64_t uncollected_bytes = int64_t{1} << 30;
  int64_t max_concurrent = 0;                  // waiting scorers in flight; 0: the engine's number

  // Called for every event of an item's life, from the thread where it happens, with the pipeline's lock held: must be
  // quick and must not call the pipeline. For traces and the simulator's event log.
  std::function<void(const struct PipelineEvent&)> on_event = nullptr;
  // Called once, without a lock, when the pipeline is closed and no work is left, or is destroyed. May block: ends what
  // belongs to this pipeline alone, such as the workers of a user function.
  std::function<void()> on_closed = nullptr;
};

struct PipelineEvent {
  enum class Kind {
    kSubmitted,
    kStarted,
    kRetry,
    kFinished,
    kDelivered,
    kGroupDelivered,
    kStepBegan,     // the last three speak of a step: item_id is empty
    kSamplingDone,
    kStepEnded,
  };
  Kind kind;
  int64_t time_ns;
  int64_t step;
  int64_t submit;
  std::string_view item_id;   // or the group's id
  ItemStatus status;          // with kFinished
  int32_t attempt;
};

// Names a submit. A plain number: copying it copies no work.
struct BatchHandle {
  int64_t submit = 0;
  int64_t step = 0;
  int64_t size = 0;
};

struct Collected {
  std::vector<RewardResult> results;  // all, in input order
  // Not ok only under on_error = raise with rows without a score; names the first of them and says how many.
  Status status;
};

// Trajectories of one prompt, as they are handed to the trainer.
struct Group {
  int64_t step = 0;
  std::string group_id;
  std::vector<RewardResult> results;      // in the order in which they were submitted
  std::vector<bool> valid;                // has a score one may train on
  bool complete = true;                   // false: closed before all members had arrived or ended
  int64_t expected = 0;                   // members it should have; 0 when nobody said
  std::vector<std::string> missing;       // ids of members that were submitted but have no result
};

// Timeline of a step. Head start and tail are as the field defines them; null without the marks they need.
struct StepMetrics {
  int64_t items = 0;
  double submit_s = 0;                             // inside submit
  double collect_wait_s = 0;                       // waiting in collect
  double reward_s = 0;                             // sum over items of started to finished
  std::optional<double> overlap_ratio;             // 1 - collect_wait / (submit + reward)
  std::optional<double> reward_head_start_s;       // first item's start since the step's start
  std::optional<double> reward_tail_after_sample_s;  // last item's finish since sampling_done; negative: before it
  std::optional<double> reward_share_in_sampling;  // of the time in which any reward was computed, the part before it
};

enum class CloseMode { kDrain, kCancel };

// Thread-safe: all methods may be called from any thread. Blocking calls never hold up each other.
class REWARDLOOP_EXPORT AsyncRewardPipeline {
 public:
  // Closes with kCancel.
  virtual ~AsyncRewardPipeline() = default;

  static Result<std::unique_ptr<AsyncRewardPipeline>> Make(std::shared_ptr<Engine> engine,
                                                           std::shared_ptr<RewardManager> manager,
                                                           PipelineOptions options = {});

  // Accepts `items` and returns at once unless the backlog is full and overflow is kBlock; a submit larger than the backlog
  // enters in parts. All or nothing is validated before: kInvalidArgument names a duplicate id, a session split over
  // submits, a group that came with an earlier submit; kResourceExhausted: collect first; kFailedPrecondition: closed.
  // Without `step`, the items belong to the pipeline's own step 0. While it waits for room, `interrupted` (when given) is
  // asked every 50 ms; once it says true the submit is withdrawn, its items are cancelled, and kCancelled is returned.
  virtual Result<BatchHandle> Submit(std::vector<RewardItem> items, int64_t step = 0,
                                     const std::function<bool()>& interrupted = {}) = 0;

  // Waits until all items of `handle` ended and hands over their results in input order, once. kDeadlineExceeded after
  // `timeout_ns`: the handle stays valid. kNotFound: not a handle of this pipeline, or delivered already.
  virtual Result<Collected> Collect(const BatchHandle& handle, int64_t timeout_ns = kNoDeadline) = 0;
  // Next result of `handle` in order of completion; nullopt after the last. A handle is either collected or streamed.
  virtual Result<std::optional<RewardResult>> Next(const BatchHandle& handle, int64_t timeout_ns = kNoDeadline) = 0;
  // Next group of `step` that is complete (or closed); nullopt when no more can come: no group is open, every item has
  // ended, and the step's sampling is done or the step is over (step 0 has no such marks and needs none).
  // kDataLoss, once: groups were dropped because nobody took them (see uncollected_items).
  virtual Result<std::optional<Group>> NextGroup(int64_t step = 0, int64_t timeout_ns = kNoDeadline) = 0;
  // True when Collect would not wait.
  virtual bool Ready(const BatchHandle& handle) const = 0;
  // Calls `callback` once, on the executor, as soon as Collect, Next or NextGroup would not wait (at once when that is so
  // already, or when the handle or step is not known). For event loops; it must be quick.
  virtual void WhenReady(const BatchHandle& handle, std::function<void()> callback) = 0;
  virtual void WhenNext(const BatchHandle& handle, std::function<void()> callback) = 0;
  virtual void WhenGroup(int64_t step, std::function<void()> callback) = 0;

  // A step's sampling begins now. Steps may overlap.
  virtual int64_t BeginStep() = 0;
  // No more samples will come for `step`.
  virtual Status SamplingDone(int64_t step) = 0;
  // Closes the step's open groups as they are.
  virtual Status EndStep(int64_t step) = 0;
  virtual Result<StepMetrics> MetricsOf(int64_t step) const = 0;

  // Grouping::kExplicit: no more members of this group will come. kNotFound: no such open group.
  virtual Status CloseGroup(const std::string& group_id, int64_t step = 0) = 0;

  // Ends all items of `handle` that have no result as `cancelled`, their work too. Results stay collectable.
  virtual Status Cancel(const BatchHandle& handle) = 0;
  // The holder of `handle` is gone. Items of a group go on, since NextGroup() can still deliver them; the others are
  // cancelled, forgotten and counted.
  virtual void Drop(const BatchHandle& handle) = 0;

  // No more submits. kDrain waits for all accepted items, kCancel ends them. Results stay collectable afterwards.
  // kDeadlineExceeded: work was still going on at the deadline.
  virtual Status Close(CloseMode mode, int64_t timeout_ns = kNoDeadline) = 0;

  // Accepted without a result, and finished but delivered by no view.
  virtual int64_t backlog_items() const = 0;
  virtual int64_t backlog_bytes() const = 0;
  virtual int64_t uncollected_items() const = 0;
  virtual const PipelineOptions& options() const = 0;
  virtual Engine& engine() = 0;
};

// Input order restored by id: results[i] belongs to items[i]. Errors name the id that is missing, doubled or unknown.
REWARDLOOP_EXPORT Result<std::vector<RewardResult>> ReorderById(const std::vector<RewardItem>& items,
                                                                std::vector<RewardResult> results);

}  // namespace rewardloop
