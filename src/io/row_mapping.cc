#include "io/row_mapping.h"

#include <algorithm>

#include "base/suggest.h"

namespace rewardloop {
namespace {

enum Field : size_t {
  kItemId,
  kDataSource,
  kPrompt,
  kResponse,
  kGroundTruth,
  kExtraInfo,
  kGroupId,
  kGroupSize,
  kRolloutId,
  kSessionId,
  kIndex,
  kTokenIds,
  kNumTokens,
  kStopReason,
  kFieldCount,
};

using Paths = std::vector<std::string>;

// Where rows of `preset` keep each field; the first path that a row has is taken. Formats of the
// programs: the rollout dumps of verl's trainer and the rows of its data sets; the completions
// table and data sets of TRL; the data sets and generations of OpenRLHF; slime's Sample as a
// dictionary; chat data with an answer column.
std::vector<Paths> PathsOfPreset(std::string_view preset) {
  std::vector<Paths> paths = {
      {"item_id"},      {"data_source"}, {"prompt"},   {"response", "outputs", "solution_str"},
      {"ground_truth"}, {"extra_info"},  {"group_id"}, {"group_size"},
      {"rollout_id"},   {"session_id"},  {"index"},    {"token_ids"},
      {"num_tokens"},   {"stop_reason"},
  };
  if (preset == "verl") {
    paths[kPrompt] = {"input", "prompt"};
    paths[kResponse] = {"output", "response", "solution_str"};
    paths[kGroundTruth] = {"gts", "reward_model.ground_truth", "ground_truth"};
    paths[kGroupId] = {"uid", "group_id"};
    paths[kIndex] =
        {};  // verl's index is the row of the data set, the same for all samples of a prompt
  } else if (preset == "trl") {
    paths[kResponse] = {"completion"};
    paths[kGroundTruth] = {"solution", "ground_truth", "answer"};
    paths[kDataSource] = {"data_source", "source"};
  } else if (preset == "openrlhf") {
    paths[kPrompt] = {"input", "prompt"};
    paths[kResponse] = {"output", "response"};
    paths[kGroundTruth] = {"label", "labels", "answer"};
    paths[kDataSource] = {"datasource", "data_source"};
  } else if (preset == "slime") {
    paths[kGroundTruth] = {"label"};
    paths[kGroupId] = {"group_index"};
    paths[kDataSource] = {"data_source", "metadata.data_source", "metadata.rm_type"};
    paths[kExtraInfo] = {"metadata"};
    paths[kNumTokens] = {"response_length"};
    paths[kStopReason] = {"status"};
  } else if (preset == "chat") {
    paths[kPrompt] = {"messages"};
    paths[kResponse] = {"messages"};
    paths[kGroundTruth] = {"answer", "ground_truth", "solution", "label"};
  }
  return paths;
}

std::vector<std::string> SplitPath(const std::string& path) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (true) {
    const size_t dot = path.find('.', begin);
    parts.push_back(path.substr(begin, dot - begin));
    if (dot == std::string::npos) return parts;
    begin = dot + 1;
  }
}

Status WrongType(std::string_view field, std::string_view expected, const Json& value) {
  return InvalidArgument("`" + std::string(field) + "` must be " + std::string(expected) +
                         ", not " + std::string(value.TypeName()));
}

// Text of a chat message's content: a string, or parts of which the text ones are joined.
bool ContentText(const Json& content, std::optional<std::string>* text) {
  if (content.is_null()) return true;
  if (content.is_string()) {
    *text = content.AsString();
    return true;
  }
  if (!content.is_array()) return false;
  std::string joined;
  for (const Json& part : content.AsArray()) {
    if (part.is_string()) joined += part.AsString();
    const Json* piece = part.Find("text");
    if (piece && piece->is_string()) joined += piece->AsString();
  }
  *text = std::move(joined);
  return true;
}

bool IsMessages(const Json& value) {
  return value.is_array() && value.size() > 0 && value.AsArray()[0].is_object() &&
         value.AsArray()[0].Find("role");
}

// Where the type is right and the value is not.
Status WrongValue(std::string_view field, std::string_view expected, const Json& value) {
  return InvalidArgument("`" + std::string(field) + "` must be " + std::string(expected) +
                         ", not " + value.Dump());
}

Status TokenIds(const Json& value, std::vector<int32_t>* ids) {
  if (value.is_null()) return Status();
  if (!value.is_array()) return WrongType("token_ids", "an array of integers", value);
  for (const Json& id : value.AsArray()) {
    const bool whole = id.is_int() || id.kind() == Json::Kind::kBigInt;
    if (!whole) return WrongType("token_ids", "an array of integers", id);
    if (!id.is_int() || id.AsInt() < INT32_MIN || id.AsInt() > INT32_MAX)
      return WrongValue("token_ids", "an array of 32-bit integers", id);
    ids->push_back(static_cast<int32_t>(id.AsInt()));
  }
  return Status();
}

Status NumTokens(const Json& value, std::optional<int64_t>* count) {
  if (value.is_null()) return Status();
  if (!value.is_int()) return WrongType("num_tokens", "an integer", value);
  if (value.AsInt() < 0) return WrongValue("num_tokens", "at least 0", value);
  *count = value.AsInt();
  return Status();
}

Status OutputOf(const Json& value, Output* output) {
  if (value.is_null()) return Status();
  if (value.is_string()) {
    output->text = value.AsString();
    return Status();
  }
  if (!value.is_object()) return WrongType("outputs", "an array of texts or objects", value);
  for (const auto& [name, member] : value.AsObject()) {
    if (name == "text" || name == "content") {
      if (!ContentText(member, &output->text))
        return WrongType("outputs[].text", "text or null", member);
    } else if (name == "token_ids") {
      RL_RETURN_IF_ERROR(TokenIds(member, &output->token_ids));
    } else if (name == "num_tokens") {
      RL_RETURN_IF_ERROR(NumTokens(member, &output->num_tokens));
    } else if (name == "stop_reason" && member.is_string()) {
      output->stop_reason = member.AsString();
    }
  }
  return Status();
}

// One text, an object with `text`, chat messages (the last assistant message is the answer), or a
// list of outputs.
Status Outputs(const Json& value, RewardItem* item) {
  if (IsMessages(value)) {
    Output& output = item->outputs.emplace_back();
    const Json::Array& messages = value.AsArray();
    for (size_t i = messages.size(); i-- > 0;) {
      const Json* role = messages[i].Find("role");
      if (!role || !(*role == Json("assistant"))) continue;
      const Json* content = messages[i].Find("content");
      if (content && !ContentText(*content, &output.text)) {
        return WrongType("content of the last assistant message", "text or null", *content);
      }
      return Status();
    }
    return InvalidArgument("there is no assistant message, so no response");
  }
  if (value.is_array()) {
    for (const Json& element : value.AsArray())
      RL_RETURN_IF_ERROR(OutputOf(element, &item->outputs.emplace_back()));
    return Status();
  }
  if (!value.is_null() && !value.is_string() && !value.is_object()) {
    return WrongType("response", "text or null", value);
  }
  return OutputOf(value, &item->outputs.emplace_back());
}

// Ids may be text or whole numbers.
Status IdText(std::string_view field, const Json& value, std::string* id) {
  if (value.is_string())
    *id = value.AsString();
  else if (value.is_int() || value.kind() == Json::Kind::kBigInt)
    *id = value.Dump();
  else
    return WrongType(field, "text or an integer", value);
  return Status();
}

Status OptionalId(std::string_view field, const Json* value, std::optional<std::string>* id) {
  if (!value || value->is_null()) return Status();
  return IdText(field, *value, &id->emplace());
}

Status OptionalInt(std::string_view field, const Json* value, int64_t minimum,
                   std::optional<int64_t>* out) {
  if (!value || value->is_null()) return Status();
  if (!value->is_int()) return WrongType(field, "an integer", *value);
  if (value->AsInt() < minimum)
    return WrongValue(field, "at least " + std::to_string(minimum), *value);
  *out = value->AsInt();
  return Status();
}

// Messages before the last assistant one: what it answered.
Json PromptOfMessages(const Json& messages) {
  if (!IsMessages(messages)) return messages;
  Json::Array before = messages.AsArray();
  for (size_t i = before.size(); i-- > 0;) {
    const Json* role = before[i].Find("role");
    if (role && *role == Json("assistant")) {
      before.resize(i);
      break;
    }
  }
  return Json(std::move(before));
}

// What to do about a row without a response, judged by the columns it has.
std::string MissingResponseHint(const Json& row) {
  const Paths own_names = PathsOfPreset("")[kResponse];
  for (const std::string& own : own_names) {
    if (row.Find(own))
      return "the row has `" + own + "`: name it with --field response=" + own;
  }
  for (const std::string& preset : PresetNames()) {
    const Paths candidates = PathsOfPreset(preset)[kResponse];
    for (const std::string& path : candidates) {
      const Json* value = row.Find(path);
      if (value && (value->is_string() || IsMessages(*value))) {
        return "rows of " + preset + " have `" + path + "`: use --preset " + preset +
               ", or --field response=COLUMN";
      }
    }
  }
  return "name the column with --field response=COLUMN";
}

}  // namespace

const std::vector<std::string>& PresetNames() {
  static const std::vector<std::string> names = {"verl", "trl", "openrlhf", "slime", "chat"};
  return names;
}

const std::vector<std::string>& FieldNames() {
  static const std::vector<std::string> names = {
      "item_id",    "data_source", "prompt",     "response",    "ground_truth",
      "extra_info", "group_id",    "group_size", "rollout_id",  "session_id",
      "index",      "token_ids",   "num_tokens", "stop_reason",
  };
  return names;
}

std::string DescribePreset(std::string_view preset) {
  std::string text;
  const std::vector<Paths> paths = PathsOfPreset(preset);
  for (size_t field = 0; field < kFieldCount; ++field) {
    if (paths[field].empty()) continue;
    text += FieldNames()[field] + " = ";
    for (size_t i = 0; i < paths[field].size(); ++i) text += (i == 0 ? "" : ", ") + paths[field][i];
    text += "\n";
  }
  return text;
}

Result<FieldMap> FieldMap::Make(std::string_view preset, const Json& fields) {
  if (!preset.empty() &&
      std::find(PresetNames().begin(), PresetNames().end(), preset) == PresetNames().end()) {
    return InvalidArgument("unknown preset '" + std::string(preset) + "'",
                           SuggestionFor(preset, PresetNames()));
  }
  std::vector<Paths> paths = PathsOfPreset(preset);
  if (fields.is_object()) {
    for (const auto& [name, path] : fields.AsObject()) {
      const std::string field = name == "outputs" || name == "solution_str" ? "response" : name;
      const auto found = std::find(FieldNames().begin(), FieldNames().end(), field);
      if (found == FieldNames().end()) {
        return InvalidArgument("unknown field '" + name + "'", SuggestionFor(name, FieldNames()));
      }
      if (!path.is_string() || path.AsString().empty()) {
        return InvalidArgument("the column of field '" + name + "' must be text that is not empty");
      }
      paths[static_cast<size_t>(found - FieldNames().begin())] = {path.AsString()};
    }
  }
  FieldMap map;
  for (Paths& candidates : paths) {
    Entry& entry = map.entries_.emplace_back();
    for (const std::string& path : candidates) {
      entry.split.push_back(SplitPath(path));
      // A column whose own name has a dot is found too, so both are worth reading.
      for (const std::string& root : {entry.split.back()[0], path}) {
        if (std::find(map.roots_.begin(), map.roots_.end(), root) == map.roots_.end())
          map.roots_.push_back(root);
      }
    }
    entry.paths = std::move(candidates);
  }
  return map;
}

const std::vector<std::string>& FieldMap::PathsOf(std::string_view field) const {
  const auto found = std::find(FieldNames().begin(), FieldNames().end(), field);
  return entries_[static_cast<size_t>(found - FieldNames().begin())].paths;
}

const Json* FieldMap::Find(const Json& row, size_t field) const {
  const Entry& entry = entries_[field];
  for (size_t i = 0; i < entry.paths.size(); ++i) {
    if (const Json* whole = row.Find(entry.paths[i])) return whole;
    if (entry.split[i].size() == 1) continue;
    const Json* value = &row;
    for (const std::string& part : entry.split[i]) {
      value = value->Find(part);
      if (!value) break;
    }
    if (value) return value;
  }
  return nullptr;
}

Status FieldMap::ToItem(const Json& row, std::string default_id, RewardItem* item) const {
  item->item_id = std::move(default_id);
  if (!row.is_object())
    return InvalidArgument("an item must be an object, not " + std::string(row.TypeName()));
  const Json* id = Find(row, kItemId);
  if (id && !id->is_null()) RL_RETURN_IF_ERROR(IdText("item_id", *id, &item->item_id));

  if (const Json* source = Find(row, kDataSource); source && !source->is_null()) {
    if (!source->is_string()) return WrongType("data_source", "text", *source);
    item->data_source = source->AsString();
  }
  if (const Json* truth = Find(row, kGroundTruth)) item->ground_truth = *truth;
  if (const Json* extra = Find(row, kExtraInfo); extra && !extra->is_null()) {
    if (!extra->is_object()) return WrongType("extra_info", "an object", *extra);
    item->extra_info = *extra;
  }
  RL_RETURN_IF_ERROR(OptionalId("group_id", Find(row, kGroupId), &item->group_id));
  RL_RETURN_IF_ERROR(OptionalInt("group_size", Find(row, kGroupSize), 1, &item->group_size));
  RL_RETURN_IF_ERROR(OptionalId("rollout_id", Find(row, kRolloutId), &item->rollout_id));
  RL_RETURN_IF_ERROR(OptionalId("session_id", Find(row, kSessionId), &item->session_id));
  RL_RETURN_IF_ERROR(OptionalInt("index", Find(row, kIndex), INT64_MIN, &item->index));

  const Json* response = Find(row, kResponse);
  if (!response) {
    std::string looked_for;
    for (const std::string& path : entries_[kResponse].paths)
      looked_for += (looked_for.empty() ? "`" : ", `") + path + "`";
    return NotFound("the response is missing: there is no column " + looked_for,
                    MissingResponseHint(row));
  }
  RL_RETURN_IF_ERROR(Outputs(*response, item));
  if (const Json* prompt = Find(row, kPrompt)) {
    item->prompt = prompt == response ? PromptOfMessages(*prompt) : *prompt;
  }
  if (item->outputs.empty()) return Status();
  Output& last = item->outputs.back();
  if (const Json* ids = Find(row, kTokenIds)) RL_RETURN_IF_ERROR(TokenIds(*ids, &last.token_ids));
  if (const Json* count = Find(row, kNumTokens))
    RL_RETURN_IF_ERROR(NumTokens(*count, &last.num_tokens));
  if (const Json* reason = Find(row, kStopReason); reason && reason->is_string())
    last.stop_reason = reason->AsString();
  return Status();
}

}  // namespace rewardloop
