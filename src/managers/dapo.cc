// dapo: the raw reward plus a soft penalty for responses that come near the length limit.
#include <algorithm>
#include <string>

#include "managers/builtin.h"
#include "managers/verdicts.h"
#include "managers/wrapper.h"
#include "rewardloop/registry.h"

namespace rewardloop {
namespace {

struct OverlongBuffer {
  bool enable = false;
  int64_t len = 0;
  double penalty_factor = 1;
  bool log = false;
  int64_t max_resp_len = 0;

  // Falls linearly from 0 at max_resp_len - len to -penalty_factor at max_resp_len, and goes on falling beyond.
  double Penalty(int64_t length) const {
    const int64_t exceed = length - (max_resp_len - len);
    const double penalty = static_cast<double>(-exceed) / static_cast<double>(len) * penalty_factor;
    return penalty < 0 ? penalty : 0;
  }
};

class DapoManager : public WrappingManager {
 public:
  DapoManager(std::shared_ptr<const RewardManager> inner, OverlongBuffer buffer)
      : WrappingManager(std::move(inner)), buffer_(buffer) {}

 protected:
  std::optional<Verdict> Refuse(const RewardItem& item) const override {
    if (!buffer_.enable || ResponseLength(item)) return std::nullopt;
    return NoLength(item, "the overlong penalty of manager 'dapo'");
  }

  Verdict Shape(const RewardItem& item, Verdict verdict) const override {
    if (verdict.status != ItemStatus::kScored) return verdict;
    SetComponent(&verdict, "score", verdict.score);
    if (!buffer_.enable) return verdict;
    const double penalty = buffer_.Penalty(*ResponseLength(item));
    SetComponent(&verdict, "overlong_reward", penalty);
    if (buffer_.log) {
      verdict.extra.Set("overlong_reward", penalty);
      verdict.extra.Set("overlong", penalty < 0);
    }
    verdict.score += penalty;
    return verdict;
  }

 private:
  const OverlongBuffer buffer_;
};

const std::vector<ArgSpec>& BufferArgs() {
  static const std::vector<ArgSpec> specs = {
      {"enable", "boolean", true, "Whether long responses are punished.", {}},
      {"len", "integer", nullptr, "Length in tokens of the zone before max_resp_len in which the penalty grows.", {}},
      {"penalty_factor", "number", 1.0, "Penalty at max_resp_len.", {}},
      {"log", "boolean", false, "Adds overlong_reward and overlong to the extra info.", {}},
  };
  return specs;
}

Result<OverlongBuffer> ParseBuffer(const Json& args) {
  OverlongBuffer buffer;
  const Json* given = args.Find("overlong_buffer");
  if (given->is_null()) return buffer;
  RL_ASSIGN_OR_RETURN(Json checked, ValidateArgs("overlong_buffer", BufferArgs(), *given));
  buffer.enable = checked.Find("enable")->AsBool();
  buffer.penalty_factor = checked.Find("penalty_factor")->AsDouble();
  buffer.log = checked.Find("log")->AsBool();
  if (!buffer.enable) return buffer;
  const Json& len = *checked.Find("len");
  const Json& max_resp_len = *args.Find("max_resp_len");
  if (len.is_null()) return InvalidArgument("overlong_buffer needs len, the length of the buffer in tokens");
  if (max_resp_len.is_null()) return InvalidArgument("overlong_buffer needs max_resp_len, the longest response in tokens");
  buffer.len = len.AsInt();
  buffer.max_resp_len = max_resp_len.AsInt();
  if (buffer.len <= 0) {
    return InvalidArgument("overlong_buffer.len must be greater than 0, got " + std::to_string(buffer.len));
  }
  if (buffer.penalty_factor < 0) {
    return InvalidArgument("overlong_buffer.penalty_factor must not be negative, got " + Json(buffer.penalty_factor).Dump(),
                           "it is the size of the penalty; the reward falls by it");
  }
  if (buffer.max_resp_len < buffer.len) {
    return InvalidArgument("max_resp_len (" + std::to_string(buffer.max_resp_len) +
                           ") must be at least overlong_buffer.len (" + std::to_string(buffer.len) + ")");
  }
  return buffer;
}

Result<std::unique_ptr<RewardManager>> Make(const Json& args, const ManagerSpec::Deps& deps) {
  RL_ASSIGN_OR_RETURN(OverlongBuffer buffer, ParseBuffer(args));
  RL_ASSIGN_OR_RETURN(std::shared_ptr<RewardManager> inner, MakeInnerManager(args, deps));
  return std::unique_ptr<RewardManager>(new DapoManager(std::move(inner), buffer));
}

}  // namespace

ManagerSpec DapoManagerSpec() {
  ManagerSpec spec;
  spec.name = "dapo";
  spec.summary = "Raw reward plus DAPO's soft overlong penalty";
  spec.doc =
      "With overlong_buffer, a response of `length` tokens is punished by min(-(length - (max_resp_len - len)) / len * "
      "penalty_factor, 0): nothing up to max_resp_len - len, penalty_factor at max_resp_len, more beyond. The length comes "
      "from the data (num_tokens, else token_ids, of all outputs); an item without one ends as unscorable(no_length). The "
      "reward is the sum; the components `score` (raw) and `overlong_reward` keep its parts apart. Example: "
      "{\"max_resp_len\": 20480, \"overlong_buffer\": {\"len\": 4096, \"penalty_factor\": 1.0}}.";
  spec.args = {
      {"overlong_buffer", "object", nullptr, "{enable, len, penalty_factor, log}; absent: no penalty.", {}},
      {"max_resp_len", "integer", nullptr, "Longest response in tokens; needed with overlong_buffer.", {}},
  };
  for (ArgSpec& arg : InnerManagerArgs()) spec.args.push_back(std::move(arg));
  spec.make = Make;
  return spec;
}

}  // namespace rewardloop
