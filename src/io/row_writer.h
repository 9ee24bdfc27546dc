// One output row: the columns of the input as they were written, then what became of the row.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rewardloop/result.h"

namespace rewardloop {

// Columns that an output row adds, in this order ("timing" only when asked for). Input columns of these names move under
// `input`; an `item_id` that is the row's id as it stands stays where it is.
const std::vector<std::string>& OutputColumns();

// Appends `line` (a valid JSON object) with the columns of `result` and a newline to `out`. `has_output_column`: the line has a
// column of OutputColumns(), as RowParser found out.
void AppendOutputRow(std::string_view line, bool has_output_column, const RewardResult& result, bool timing,
                     std::string* out);

}  // namespace rewardloop
