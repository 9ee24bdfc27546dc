// One output row: the columns of the input as they were written, then what became of the row.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rewardloop/result.h"

namespace rewardloop {

// Columns that an output row adds, in this order ("timing" only when asked for). Input columns of
// these names move under `input`; an `item_id` that is the row's id as it stands stays where it is.
const std::vector<std::string>& OutputColumns();

// What of OutputColumns() an input row has.
struct RowShape {
  bool has_id = false;     // an `item_id` that is the row's id as it stands
  bool has_other = false;  // any other, an `item_id` that is not the id included
};

// Appends `line` (a valid JSON object) with the columns of `result` and a newline to `out`.
void AppendOutputRow(std::string_view line, const RowShape& shape, const RewardResult& result,
                     bool timing, std::string* out);

}  // namespace rewardloop
