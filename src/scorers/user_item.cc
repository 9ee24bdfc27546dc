// Items and verdicts as they travel to user functions and back.
#include "scorers/user_function.h"

namespace rewardloop {
namespace {

void AppendKey(std::string_view key, std::string* out) {
  if (out->back() != '{') *out += ',';
  *out += '"';
  *out += key;
  *out += "\":";
}

void AppendText(std::string_view key, std::string_view text, std::string* out) {
  AppendKey(key, out);
  AppendJsonString(text, out);
}

void AppendNumber(std::string_view key, int64_t value, std::string* out) {
  AppendKey(key, out);
  *out += std::to_string(value);
}

void AppendValue(std::string_view key, const Json& value, std::string* out) {
  if (value.is_null()) return;
  AppendKey(key, out);
  value.DumpTo(out);
}

bool IsPlain(const RewardItem& item) {
  if (item.outputs.size() != 1) return false;
  const Output& output = item.outputs[0];
  return output.token_ids.empty() && !output.num_tokens && output.stop_reason.empty();
}

void AppendOutput(const Output& output, std::string* out) {
  *out += '{';
  AppendKey("text", out);
  if (output.text) {
    AppendJsonString(*output.text, out);
  } else {
    *out += "null";
  }
  if (!output.token_ids.empty()) {
    AppendKey("token_ids", out);
    *out += '[';
    for (const int32_t id : output.token_ids) {
      if (out->back() != '[') *out += ',';
      *out += std::to_string(id);
    }
    *out += ']';
  }
  if (output.num_tokens) AppendNumber("num_tokens", *output.num_tokens, out);
  if (!output.stop_reason.empty()) AppendText("stop_reason", output.stop_reason, out);
  *out += '}';
}

std::string Text(const Json& object, std::string_view key) {
  const Json* const value = object.Find(key);
  return value && value->is_string() ? value->AsString() : "";
}

// kError for a name that is none.
ItemStatus StatusNamed(std::string_view name) {
  for (int i = 0; i < kItemStatusCount; ++i) {
    if (ItemStatusName(static_cast<ItemStatus>(i)) == name) return static_cast<ItemStatus>(i);
  }
  return ItemStatus::kError;
}

Verdict Scored(const Json& object, const std::string& function) {
  const Json* const score = object.Find("score");
  if (!score || !score->is_number()) return Verdict::Error("bad_return", "'" + function + "' gave no number");
  const std::string reason = Text(object, "reason");
  Verdict verdict = Verdict::Scored(score->AsDouble(), reason.empty() ? "returned" : reason);
  if (const Json* const components = object.Find("components"); components && components->is_object()) {
    for (const auto& [part, value] : components->AsObject()) {
      if (value.is_number()) verdict.components.push_back({part, value.AsDouble()});
    }
  }
  if (const Json* const extracted = object.Find("extracted"); extracted && extracted->is_string()) {
    verdict.extracted = extracted->AsString();
  }
  if (const Json* const extra = object.Find("extra"); extra && extra->is_object()) verdict.extra = *extra;
  return verdict;
}

}  // namespace

void AppendUserItem(const RewardItem& item, uint64_t seed, std::string* out, std::vector<std::string_view>* texts) {
  *out += '{';
  AppendText("item_id", item.item_id, out);
  if (!item.data_source.empty()) AppendText("data_source", item.data_source, out);
  AppendValue("prompt", item.prompt, out);
  if (IsPlain(item)) {
    const std::optional<std::string>& text = item.outputs[0].text;
    if (text && texts) {
      texts->push_back(*text);
      AppendNumber("text_bytes", static_cast<int64_t>(text->size()), out);
    } else if (text) {
      AppendText("response", *text, out);
    }
  } else {
    AppendKey("outputs", out);
    *out += '[';
    for (const Output& output : item.outputs) {
      if (out->back() != '[') *out += ',';
      AppendOutput(output, out);
    }
    *out += ']';
  }
  AppendValue("ground_truth", item.ground_truth, out);
  AppendValue("extra_info", item.extra_info, out);
  if (item.group_id) AppendText("group_id", *item.group_id, out);
  if (item.group_size) AppendNumber("group_size", *item.group_size, out);
  if (item.rollout_id) AppendText("rollout_id", *item.rollout_id, out);
  if (item.session_id) AppendText("session_id", *item.session_id, out);
  if (item.index) AppendNumber("index", *item.index, out);
  AppendKey("seed", out);
  *out += std::to_string(seed);
  *out += '}';
}

std::string UserItems(const std::vector<const RewardItem*>& items, const ScoreContext& context,
                      std::vector<std::string_view>* texts) {
  std::string json = "[";
  for (const RewardItem* item : items) {
    if (json.size() > 1) json += ',';
    AppendUserItem(*item, context.SeedOf(*item), &json, texts);
  }
  json += ']';
  return json;
}

std::vector<Verdict> VerdictsOfReply(std::string_view json, size_t count, const std::string& function) {
  const Result<Json> parsed = Json::Parse(json);
  if (!parsed.ok() || !parsed->is_array() || parsed->size() != count) {
    const std::string why = parsed.ok() ? "a reply of another form" : parsed.status().message();
    return std::vector<Verdict>(count, Verdict::Error("bad_return", "'" + function + "' gave a value that cannot be read: " + why));
  }
  std::vector<Verdict> verdicts;
  verdicts.reserve(count);
  for (const Json& object : parsed->AsArray()) {
    if (object.is_number()) {  // a score and nothing else
      verdicts.push_back(Verdict::Scored(object.AsDouble(), "returned"));
      continue;
    }
    if (!object.is_object()) {
      verdicts.push_back(Verdict::Error("bad_return", "'" + function + "' gave a verdict that is a " + std::string(object.TypeName())));
      continue;
    }
    const ItemStatus status = StatusNamed(Text(object, "status"));
    verdicts.push_back(status == ItemStatus::kScored
                           ? Scored(object, function)
                           : Verdict::Of(status, Text(object, "class"), Text(object, "message")));
  }
  return verdicts;
}

}  // namespace rewardloop
