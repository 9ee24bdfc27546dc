// Items as Python gives them (dicts with the field names of RewardItem) to RewardItem.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "rewardloop/item.h"

namespace rewardloop::python {

// Items that were converted once, to be moved into a pipeline.
struct ItemVector {
  std::shared_ptr<std::vector<RewardItem>> items;
};

// Converts a list, tuple or other iterable of mappings. An item without item_id is called "item:<position>". Raises
// ArgumentError that names the item and the field; unknown fields get a suggestion.
std::vector<RewardItem> ItemsFrom(nanobind::handle items);
// One mapping; messages call it `where`.
RewardItem ItemFrom(nanobind::handle item);

}  // namespace rewardloop::python
