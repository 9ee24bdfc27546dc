#include "managers/verdicts.h"

#include <string>

namespace rewardloop {

const Component* FindComponent(const Verdict& verdict, std::string_view name) {
  for (const Component& component : verdict.components) {
    if (component.name == name) return &component;
  }
  return nullptr;
}

void SetComponent(Verdict* verdict, std::string_view name, double value) {
  for (Component& component : verdict->components) {
    if (component.name != name) continue;
    component.value = value;
    return;
  }
  verdict->components.push_back({std::string(name), value});
}

std::optional<int64_t> ResponseLength(const RewardItem& item) {
  if (item.outputs.empty()) return std::nullopt;
  int64_t length = 0;
  for (const Output& output : item.outputs) {
    const std::optional<int64_t> tokens = output.LengthInTokens();
    if (!tokens) return std::nullopt;
    length += *tokens;
  }
  return length;
}

Verdict NoLength(const RewardItem& item, std::string_view what) {
  return Verdict::Unscorable("no_length", std::string(what) + " needs the response's length in tokens, but item '" +
                                              item.item_id + "' has an output without num_tokens and token_ids");
}

}  // namespace rewardloop
