#include "cli/row_window.h"

namespace rewardloop::cli {

std::string RowWindow::UnitOf(const RewardItem& item) const {
  if (item.session_id) return "s" + *item.session_id;
  return keep_groups_ && item.group_id ? "g" + *item.group_id : "";
}

bool RowWindow::Continues(const RewardItem& item) const {
  return !unit_.empty() && UnitOf(item) == unit_;
}

bool RowWindow::BeginsWith(const Row& row) {
  const bool full = rows_ >= max_rows_ || bytes_ >= max_bytes_;
  const bool begins = full && !Continues(row.item);
  if (begins) {
    rows_ = bytes_ = 0;
    first_line_ = row.line_number;
  }
  ++rows_;
  bytes_ += static_cast<int64_t>(row.line.size() + row.item.ByteSize());
  return begins;
}

Status RowWindow::Join(const RowSource& source, const Row& row) {
  if (!Continues(row.item)) {
    unit_ = UnitOf(row.item);
    unit_line_ = row.line_number;
    unit_ordinal_ = unit_.empty() ? kNoOrdinal : row.ordinal;
  }
  if (!row.item.session_id) return Status();
  const int64_t line = std::min<int64_t>(row.line_number, IdTable::kAbsent - 1);
  const uint32_t before = sessions_.Insert(*row.item.session_id, static_cast<uint32_t>(line));
  if (before == IdTable::kAbsent || before >= first_line_) return Status();
  return InvalidArgument(
      source.Place(row) + ": session '" + *row.item.session_id + "' stands in line " +
          std::to_string(before) + " already, too far above: its rows are judged together",
      "sort the rows so that those of a session follow each other");
}

}  // namespace rewardloop::cli
