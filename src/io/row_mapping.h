// FieldMap: which column of a row is which field of a RewardItem. One mapping for the command line
// and Python.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rewardloop/item.h"
#include "rewardloop/json.h"

namespace rewardloop {

// Names of the presets: "verl", "trl", "openrlhf", "slime", "chat".
const std::vector<std::string>& PresetNames();
// What each preset looks for, as lines "field = path, path" for help and docs.
std::string DescribePreset(std::string_view preset);
// Names of the fields that may be mapped.
const std::vector<std::string>& FieldNames();

// Thread-safe after construction.
class FieldMap {
 public:
  // `preset` empty: rewardloop's own names. `fields` is an object {field: "dotted.path"} or null,
  // laid over the preset. kInvalidArgument with a suggestion for an unknown field or preset.
  static Result<FieldMap> Make(std::string_view preset, const Json& fields);

  // The item that `row`, an object, describes. A row without an item_id gets `default_id`.
  // kInvalidArgument says which field is of the wrong type, kNotFound that there is no response;
  // `item_id` is then set all the same where it could be read.
  Status ToItem(const Json& row, std::string default_id, RewardItem* item) const;

  // Top-level columns that ToItem() may read.
  const std::vector<std::string>& roots() const { return roots_; }
  // The paths that are tried for `field`, in order.
  const std::vector<std::string>& PathsOf(std::string_view field) const;

 private:
  struct Entry {
    std::vector<std::string> paths;
    std::vector<std::vector<std::string>> split;  // paths at their dots
  };
  const Json* Find(const Json& row, size_t field) const;

  std::vector<Entry> entries_;  // by index into FieldNames()
  std::vector<std::string> roots_;
};

}  // namespace rewardloop
