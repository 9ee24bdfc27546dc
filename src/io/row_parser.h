// RowParser: one line of JSONL, checked whole, of which only the wanted columns become values.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rewardloop/json.h"

namespace rewardloop {

// One column of a row as it was written. The views are into the line.
struct RawColumn {
  std::string key;           // unescaped
  std::string_view raw_key;  // with its quotes
  std::string_view raw_value;
};

// Splits a line that is known to be a valid JSON object.
std::vector<RawColumn> SplitColumns(std::string_view line);

// Not thread-safe: one per thread.
class RowParser {
 public:
  // Columns of these names become values; `watched` ones are only noticed.
  RowParser(std::vector<std::string> wanted, std::vector<std::string> watched);
  ~RowParser();
  RowParser(const RowParser&) = delete;
  RowParser& operator=(const RowParser&) = delete;

  // Checks all of `line`, which needs kLinePadding bytes of capacity behind its text, and fills
  // `columns` with an object of the wanted columns. `has_watched` tells whether a watched column is
  // there. kInvalidArgument: "COLUMN: what is wrong", the column counted in characters from 1, with
  // a hint where there is one.
  Status Parse(const std::string& line, Json* columns, bool* has_watched);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rewardloop
