// ScoreRun: from rows to output rows. Reading, scoring and writing overlap; memory is bounded by
// the backlog.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "cli/intake.h"
#include "cli/progress.h"
#include "cli/summary.h"
#include "io/ordered_output.h"
#include "io/row_parser.h"

namespace rewardloop::cli {

struct RunOutcome {
  Status status;             // why it ended early
  bool interrupted = false;  // by a signal; what was in flight is written
  int64_t fresh_rows = 0;    // scored by this run
};

// Not thread-safe.
class ScoreRun {
 public:
  struct Parts {
    BuiltPipeline* built;
    RowSource* source;
    Intake* intake;
    OrderedOutput* output;
    Summary* summary;
    Progress* progress;
    Clock* clock;
    OnError on_error;
    bool timing;
  };
  explicit ScoreRun(const Parts& parts);
  RunOutcome Run();

 private:
  struct Pending {
    Batch batch;
    bool streaming = false;
    std::vector<bool> arrived;
    std::unordered_map<std::string, size_t> by_id;
    size_t left = 0;
  };

  Status Step(bool* more);
  Status AcceptNew(std::deque<Batch> batches);
  // Waits a little for the oldest batch and takes what is there of it.
  Status Advance();
  // Takes what has ended of all batches, so that nothing finished stays in memory for long.
  Status Sweep();
  Status CollectWhole(Pending* pending, int64_t timeout_ns, bool* done);
  Status Stream(Pending* pending, int64_t timeout_ns);
  Status Deliver(Slot* slot, const RewardResult& result);
  void Refuse(const Status& why, RewardResult* result) const;
  void Summarize(const Slot& slot, const RewardResult& result);
  void NoticeSignal();

  const Parts parts_;
  RowParser parser_;
  std::deque<Pending> pending_;
  RunOutcome outcome_;
  int64_t drain_deadline_ns_ = kNoDeadline;
  bool cancelled_ = false;
  bool cut_short_ = false;  // rows were given up
  int64_t next_sweep_ns_ = 0;
  int64_t released_rows_ = 0, released_bytes_ = 0;
  std::string scratch_;
};

}  // namespace rewardloop::cli
