#include "rewardloop/result.h"

#include "rewardloop/item.h"

namespace rewardloop {

std::string_view ItemStatusName(ItemStatus status) {
  switch (status) {
    case ItemStatus::kScored: return "scored";
    case ItemStatus::kUnscorable: return "unscorable";
    case ItemStatus::kTimeout: return "timeout";
    case ItemStatus::kError: return "error";
    case ItemStatus::kJudgeError: return "judge_error";
    case ItemStatus::kRejected: return "rejected";
    case ItemStatus::kCancelled: return "cancelled";
  }
  return "error";
}

Verdict Verdict::Scored(double score, std::string reason) {
  Verdict verdict;
  verdict.status = ItemStatus::kScored;
  verdict.score = score;
  verdict.reason = std::move(reason);
  return verdict;
}

Verdict Verdict::Unscorable(std::string error_class, std::string message) {
  return Of(ItemStatus::kUnscorable, std::move(error_class), std::move(message));
}

Verdict Verdict::Error(std::string error_class, std::string message, bool retryable) {
  return Of(ItemStatus::kError, std::move(error_class), std::move(message), retryable);
}

Verdict Verdict::Of(ItemStatus status, std::string error_class, std::string message, bool retryable) {
  Verdict verdict;
  verdict.status = status;
  verdict.reason = error_class;
  verdict.error = RewardError{std::move(error_class), std::move(message), retryable};
  return verdict;
}

namespace {

size_t JsonBytes(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::kString: return sizeof(Json) + value.AsString().size();
    case Json::Kind::kBigInt: return sizeof(Json) + value.BigIntText().size();
    case Json::Kind::kArray: {
      size_t bytes = sizeof(Json);
      for (const Json& element : value.AsArray()) bytes += JsonBytes(element);
      return bytes;
    }
    case Json::Kind::kObject: {
      size_t bytes = sizeof(Json);
      for (const auto& [key, member] : value.AsObject()) bytes += key.size() + sizeof(key) + JsonBytes(member);
      return bytes;
    }
    default: return sizeof(Json);
  }
}

}  // namespace

size_t RewardItem::ByteSize() const {
  size_t bytes = sizeof(RewardItem) + item_id.size() + data_source.size();
  for (const Output& output : outputs) {
    bytes += sizeof(Output) + (output.text ? output.text->size() : 0) + output.token_ids.size() * sizeof(int32_t) +
             output.stop_reason.size();
  }
  bytes += JsonBytes(prompt) + JsonBytes(ground_truth) + JsonBytes(extra_info);
  if (group_id) bytes += group_id->size();
  return bytes;
}

}  // namespace rewardloop
