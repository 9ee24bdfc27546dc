// Intake: the thread that reads rows and submits them, never further ahead of the output than the
// backlog allows.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cli/row_source.h"
#include "cli/row_window.h"
#include "io/id_table.h"
#include "io/resume.h"
#include "rewardloop/config.h"

namespace rewardloop::cli {

// What is kept of a row while it is scored.
struct Slot {
  int64_t ordinal = 0;
  int64_t line_number = 0;
  std::string line;
  RowShape shape;
  std::string item_id;
  std::string data_source;
  std::string group_id;
  int64_t bytes = 0;  // against the backlog
};

// Rows that go through the pipeline together, and those among them that need no scoring.
struct Batch {
  BatchHandle handle;  // of `slots`, when there are any
  std::vector<Slot> slots;
  struct Refused {
    Slot slot;
    Status why;
  };
  std::vector<Refused> refused;  // JSON, but no item
  struct Kept {
    int64_t ordinal;
    int64_t offset;
  };
  std::vector<Kept> kept;  // done in an earlier run
  bool empty() const { return slots.empty() && refused.empty() && kept.empty(); }
};

struct IntakeOptions {
  int64_t max_rows = 4096;  // read and not written
  int64_t max_bytes = int64_t{256} << 20;
  bool keep_groups = false;  // group members must be submitted together: the manager sees groups
};

// Take(), Release() and the like are for one other thread.
class Intake {
 public:
  Intake(RowSource* source, BuiltPipeline* built, const DoneRows* done, IntakeOptions options);
  ~Intake();  // stops and joins

  void Start();
  // No more rows: what is gathered and not submitted is given up.
  void Stop();

  // Moves what has been submitted to `out`; waits up to `timeout_ns` when there is nothing. False:
  // nothing will come.
  bool Take(std::deque<Batch>* out, int64_t timeout_ns);
  // `rows` rows of `bytes` are written.
  void Release(int64_t rows, int64_t bytes);
  // Why reading ended early; ok at the end of the input. Valid once Take() returned false.
  Status status() const;
  bool stopped() const;
  // Everything was read and submitted.
  bool reached_end() const;

 private:
  static constexpr int64_t kNoOrdinal = RowWindow::kNoOrdinal;

  void Loop();
  Status ReadAll();
  Status AddRow(Row row);
  void Hold(Slot slot, RewardItem item);
  // Of the chunk, the rows with an ordinal below `end`.
  Status SubmitBefore(int64_t end);
  Status SubmitChunk();
  int64_t held_rows() const {
    return static_cast<int64_t>(chunk_.slots.size() + chunk_.refused.size());
  }
  // False when Stop() was called.
  Result<bool> WaitForRoom(const Row& row, int64_t bytes);

  RowSource* const source_;
  BuiltPipeline* const built_;
  const DoneRows* const done_;
  const IntakeOptions options_;

  // Of the reading thread.
  IdTable ids_;
  Batch chunk_;
  std::vector<RewardItem> items_;
  RowWindow window_;
  int64_t first_unit_ordinal_ = kNoOrdinal;  // of the chunk's rows that must not be parted

  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable ready_;
  std::deque<Batch> submitted_;
  int64_t rows_ = 0;
  int64_t bytes_ = 0;
  bool stop_ = false;
  bool ended_ = false;
  bool reached_end_ = false;
  Status status_;
  std::thread thread_;
};

}  // namespace rewardloop::cli
