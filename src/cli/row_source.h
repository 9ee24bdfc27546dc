// RowSource: the rows of a file as items to score, each with where it stands.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/line_reader.h"
#include "io/row_mapping.h"
#include "io/row_parser.h"
#include "io/row_writer.h"
#include "rewardloop/item.h"

namespace rewardloop::cli {

struct Row {
  int64_t ordinal = 0;      // from 0
  int64_t line_number = 0;  // from 1
  std::string line;         // as written
  RowShape shape;
  Json columns;  // the mapped columns and the extra ones that were asked for
  RewardItem item;
  Status problem;  // not ok: the row is JSON, but no item; `item` has an id all the same
};

// Not thread-safe.
class RowSource {
 public:
  static Result<std::unique_ptr<RowSource>> Open(const std::string& path, FieldMap fields,
                                                 std::vector<std::string> extra_columns,
                                                 int interrupt_fd);

  // The next row; false at the end. An error reads "file:line:col: what is wrong". Behind a line
  // that is no row (kInvalidArgument) the next call goes on; any other error is the input's end.
  Result<bool> Next(Row* row);

  bool HasBufferedRow() const { return reader_->HasBufferedLine(); }
  const LineReader& reader() const { return *reader_; }
  const FieldMap& fields() const { return fields_; }
  // "file:line:1"
  std::string Place(const Row& row) const;

 private:
  RowSource(std::unique_ptr<LineReader> reader, FieldMap fields, std::vector<std::string> wanted);

  std::unique_ptr<LineReader> reader_;
  FieldMap fields_;
  RowParser parser_;
  int64_t next_ordinal_ = 0;
};

}  // namespace rewardloop::cli
