// RowWindow: which rows of a file are submitted together. The rows of a session (and of a group,
// where the manager sees groups) are judged together, so they must not be torn apart.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "cli/row_source.h"
#include "io/id_table.h"

namespace rewardloop::cli {

// Windows end where the rows say, never where the machine is slow, so that the same file always
// gives the same scores or the same error. Not thread-safe.
class RowWindow {
 public:
  static constexpr int64_t kMaxRows = 256;
  static constexpr int64_t kMaxBytes = int64_t{1} << 20;
  // Of a run whose backlog has `backlog_rows` and `backlog_bytes`.
  RowWindow(int64_t backlog_rows, int64_t backlog_bytes, bool keep_groups)
      : max_rows_(std::min(kMaxRows, backlog_rows)),
        max_bytes_(std::min(kMaxBytes, backlog_bytes)),
        keep_groups_(keep_groups) {}

  // True when a new window begins with `row`. To be asked for every row, once, in order.
  bool BeginsWith(const Row& row);
  // Not ok when the session of `row` was in an earlier window. For rows that are items.
  Status Join(const RowSource& source, const Row& row);

  // The row goes on with the session (or group) of the row that joined last.
  bool Continues(const RewardItem& item) const;
  // The item must not be parted from others.
  bool HasUnit(const RewardItem& item) const { return !UnitOf(item).empty(); }
  // Of the first row of the unit that joined last; kNoOrdinal when that was a row on its own.
  static constexpr int64_t kNoOrdinal = std::numeric_limits<int64_t>::max();
  int64_t unit_ordinal() const { return unit_ordinal_; }
  int64_t unit_line() const { return unit_line_; }
  // What joined before `line` is submitted.
  void CutBefore(int64_t line) { first_line_ = line; }

 private:
  std::string UnitOf(const RewardItem& item) const;

  const int64_t max_rows_, max_bytes_;
  const bool keep_groups_;
  IdTable sessions_;  // session to the line of its first row
  std::string unit_;  // session or group of the row that joined last
  int64_t unit_line_ = 0;
  int64_t unit_ordinal_ = kNoOrdinal;
  int64_t first_line_ = 0;
  int64_t rows_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace rewardloop::cli
