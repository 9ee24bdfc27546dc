// Resuming a run: which rows of an output file are done, and whether the file is of this run at
// all.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "io/id_table.h"
#include "rewardloop/json.h"

namespace rewardloop {

// The file beside `output` that says what made it.
std::string SidecarPath(const std::string& output);

// 128 bits of the bytes of a regular file as 32 hexadecimal digits, and its size: {"bytes":,
// "hash":}.
Result<Json> FingerprintFile(const std::string& path);

// kInvalidArgument when `output` may not be continued as the run that `now` describes: there is no
// sidecar, or it names another input, configuration or scorer; the message names the first
// difference. Only the keys "schema", "input", "config", "scorers" and "timing" are compared.
Status CheckSidecar(const std::string& output, const Json& now);

// Row of an earlier run that is kept.
struct DoneRow {
  std::string item_id;
  Json columns;  // status, score, reason, extracted, components, data_source and what else was
                 // asked for
};

struct DoneRows {
  IdTable ordinals;             // item_id -> index into offsets
  std::deque<int64_t> offsets;  // where each row begins
  int64_t bytes = 0;            // whole rows of the file; what follows is torn
  int64_t dropped = 0;          // rows without a score, which run again
};

// Reads the rows of `output` that have a score. Rows without one, those that `keep` (null: all) does
// not want, and all but the first of an id are taken out of the file (which is replaced in one
// step); a torn last line is left to be cut. kDataLoss: a line is not a row of ours. `row` is called for each kept row; `columns` names what
// it wants to see besides id, status and score.
Result<DoneRows> ReadDoneRows(const std::string& output, const std::vector<std::string>& columns,
                              const std::function<void(const DoneRow&)>& row,
                              const std::function<bool(const DoneRow&)>& keep = nullptr);

}  // namespace rewardloop
