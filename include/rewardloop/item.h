// RewardItem: what is to be scored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rewardloop/json.h"

namespace rewardloop {

// One model output of a trajectory.
struct Output {
  std::optional<std::string> text;  // absent: the row had a null response
  std::vector<int32_t> token_ids;
  std::optional<int64_t> num_tokens;  // length in tokens where known; never derived from padding
  std::string stop_reason;

  // num_tokens if given, else the number of token_ids if any, else absent.
  std::optional<int64_t> LengthInTokens() const {
    if (num_tokens) return num_tokens;
    if (!token_ids.empty()) return static_cast<int64_t>(token_ids.size());
    return std::nullopt;
  }
};

// A trajectory with what is needed to judge it. Plain data; scorers see it as const.
//
// `item_id` is the caller's and unique within one submit. Trajectories of one prompt share `group_id`; rows of one rollout
// share `rollout_id`; rows of one session are one trajectory, of which the row with the highest `index` is judged.
struct RewardItem {
  std::string item_id;
  std::string data_source;           // picks the scorer when none is named
  Json prompt;                       // string or chat messages
  std::vector<Output> outputs;       // usually one; the last one is the answer for scorers that look at one
  Json ground_truth;                 // any JSON; null: there is none
  Json extra_info;                   // object or null
  std::optional<std::string> group_id;
  std::optional<int64_t> group_size;  // trajectories in the group
  std::optional<std::string> rollout_id;
  std::optional<std::string> session_id;
  std::optional<int64_t> index;

  // Text of the last output; null when there is no output or its text is null. Valid as long as the item.
  const std::string* Response() const {
    if (outputs.empty() || !outputs.back().text) return nullptr;
    return &*outputs.back().text;
  }
  // Approximate heap bytes, what the backlog counts.
  size_t ByteSize() const;
};

}  // namespace rewardloop
