// gdpo: every dimension of the reward travels with the result, to be normalised dimension by dimension.
#include <string>

#include "managers/builtin.h"
#include "managers/verdicts.h"
#include "managers/wrapper.h"

namespace rewardloop {
namespace {

// A number of the verdict as a dimension: a component, a number or truth value of the extra info, or the score itself.
std::optional<double> Dimension(const Verdict& verdict, const std::string& key) {
  if (const Component* component = FindComponent(verdict, key)) return component->value;
  if (const Json* extra = verdict.extra.Find(key)) {
    if (extra->is_number()) return extra->AsDouble();
    if (extra->is_bool()) return extra->AsBool() ? 1 : 0;
  }
  if (key == "score") return verdict.score;
  return std::nullopt;
}

class GdpoManager : public WrappingManager {
 public:
  GdpoManager(std::shared_ptr<const RewardManager> inner, std::vector<std::string> keys, std::vector<double> weights)
      : WrappingManager(std::move(inner)), keys_(std::move(keys)), weights_(std::move(weights)) {}

 protected:
  Verdict Shape(const RewardItem& item, Verdict verdict) const override {
    if (verdict.status != ItemStatus::kScored) return verdict;
    if (keys_.empty()) {
      AddNumbersOfExtra(&verdict);
    } else if (std::optional<Verdict> failed = KeepKeys(&verdict)) {
      return std::move(*failed);
    }
    return verdict;
  }

 private:
  static void AddNumbersOfExtra(Verdict* verdict) {
    if (!verdict->extra.is_object()) return;
    for (const auto& [key, value] : verdict->extra.AsObject()) {
      if (value.is_number()) SetComponent(verdict, key, value.AsDouble());
    }
  }

  // Leaves exactly `keys_` as components and, with weights, makes the score of them.
  std::optional<Verdict> KeepKeys(Verdict* verdict) const {
    std::vector<Component> kept;
    double sum = 0;
    for (size_t i = 0; i < keys_.size(); ++i) {
      const std::optional<double> value = Dimension(*verdict, keys_[i]);
      if (!value) {
        return Verdict::Error("missing_component", "the scorer gave no number called '" + keys_[i] + "'");
      }
      kept.push_back({keys_[i], *value});
      if (!weights_.empty()) sum += weights_[i] * *value;
    }
    verdict->components = std::move(kept);
    if (weights_.empty()) return std::nullopt;
    if (!FindComponent(*verdict, "score")) SetComponent(verdict, "score", verdict->score);
    verdict->score = sum;
    return std::nullopt;
  }

  const std::vector<std::string> keys_;
  const std::vector<double> weights_;
};

Result<std::vector<std::string>> ParseKeys(const Json& args) {
  std::vector<std::string> keys;
  const Json& given = *args.Find("keys");
  if (given.is_null()) return keys;
  if (given.size() == 0) return InvalidArgument("keys is empty", "leave it out to take all numbers");
  for (const Json& key : given.AsArray()) {
    if (!key.is_string()) return InvalidArgument("keys must be strings, got " + key.Dump());
    for (const std::string& earlier : keys) {
      if (earlier == key.AsString()) return InvalidArgument("keys names '" + earlier + "' twice");
    }
    keys.push_back(key.AsString());
  }
  return keys;
}

Result<std::vector<double>> ParseWeights(const Json& args, size_t keys) {
  std::vector<double> weights;
  const Json& given = *args.Find("weights");
  if (given.is_null()) return weights;
  if (given.size() != keys) {
    return InvalidArgument("weights has " + std::to_string(given.size()) + " numbers, keys has " + std::to_string(keys) +
                           " names", "give one weight for each key");
  }
  for (const Json& weight : given.AsArray()) {
    if (!weight.is_number()) return InvalidArgument("weights must be numbers, got " + weight.Dump());
    weights.push_back(weight.AsDouble());
  }
  return weights;
}

Result<std::unique_ptr<RewardManager>> Make(const Json& args, const ManagerSpec::Deps& deps) {
  RL_ASSIGN_OR_RETURN(std::vector<std::string> keys, ParseKeys(args));
  RL_ASSIGN_OR_RETURN(std::vector<double> weights, ParseWeights(args, keys.size()));
  RL_ASSIGN_OR_RETURN(std::shared_ptr<RewardManager> inner, MakeInnerManager(args, deps));
  return std::unique_ptr<RewardManager>(new GdpoManager(std::move(inner), std::move(keys), std::move(weights)));
}

}  // namespace

ManagerSpec GdpoManagerSpec() {
  ManagerSpec spec;
  spec.name = "gdpo";
  spec.summary = "Per-dimension rewards travel as components";
  spec.doc =
      "Every number that the scorer gives, as a component or in its extra info, becomes a component of the result, for an "
      "advantage that normalises each dimension by itself. The score is the scorer's. With `keys`, the components are exactly "
      "those, in that order (truth values count 0 and 1), and a missing one is error(missing_component). With `weights` too, "
      "the score is their weighted sum and the scorer's own is kept as the component `score`. Example: "
      "{\"keys\": [\"format_reward\", \"accuracy_reward\"]}.";
  spec.args = {
      {"keys", "array", nullptr, "Names of the dimensions; absent: every number.", {}},
      {"weights", "array", nullptr, "One number for each key; makes the score of the dimensions.", {}},
  };
  for (ArgSpec& arg : InnerManagerArgs()) spec.args.push_back(std::move(arg));
  spec.make = Make;
  return spec;
}

}  // namespace rewardloop
