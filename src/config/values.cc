#include "config/values.h"

#include "base/suggest.h"

namespace rewardloop {
namespace {

// Largest number of threads, attempts and the like: beyond it is a slip of the keyboard.
constexpr int64_t kLargestCount = int64_t{1} << 31;

std::string Quoted(const Json& value) {
  std::string text = value.Dump();
  if (text.size() > 80) text = text.substr(0, 77) + "...";
  return text;
}

std::string Expected(const ConfigKey& key) {
  if (!key.choices.empty()) {
    std::string text = "one of";
    for (size_t i = 0; i < key.choices.size(); ++i) {
      text += (i == 0 ? " '" : ", '") + key.choices[i] + "'";
    }
    return text;
  }
  std::string text =
      key.type == "number" || key.type == "string" ? "a " + key.type : "an " + key.type;
  if (key.type == "string") text = "text";
  if (key.nullable) text += " or null";
  return text;
}

bool TypeFits(const ConfigKey& key, const Json& value) {
  if (value.is_null()) return key.nullable;
  if (key.type == "string") return value.is_string();
  if (key.type == "object") return value.is_object();
  if (key.type == "integer") return value.is_int();
  return value.is_int() || value.is_double();
}

Status CheckNumber(const ConfigKey& key, const Json& value) {
  const double number = value.AsDouble();
  if (key.minimum && !(number >= *key.minimum)) {
    return InvalidArgument("'" + key.name + "' must be at least " +
                           Quoted(Json(static_cast<int64_t>(*key.minimum))) + ", not " +
                           Quoted(value));
  }
  const bool is_count =
      key.name == "threads" || key.name == "num_workers" || key.name == "max_attempts" ||
      key.name == "threads_per_worker";
  if (is_count && value.AsInt() >= kLargestCount) {
    return InvalidArgument("'" + key.name + "' must be below " + std::to_string(kLargestCount) +
                           ", not " + Quoted(value));
  }
  return Status();
}

Status CheckMembers(const ConfigKey& key, const Json& value) {
  for (const auto& [name, member] : value.AsObject()) {
    if (key.name == "fields" && !member.is_string()) {
      return InvalidArgument("'fields." + name + "' must be the name of a column, not " +
                             Quoted(member));
    }
    if (key.name == "data_sources" && !member.is_string() && !member.is_object()) {
      return InvalidArgument("'data_sources." + name +
                             "' must be a scorer's name or {scorer, args}, not " + Quoted(member));
    }
  }
  return Status();
}

}  // namespace

Status CheckConfigValue(const std::string& name, const Json& value) {
  const ConfigKey* key = FindConfigKey(name);
  if (!key) {
    std::vector<std::string> names;
    for (const ConfigKey& known : ConfigKeys()) names.push_back(known.name);
    return InvalidArgument("unknown configuration key '" + name + "'", SuggestionFor(name, names));
  }
  if (!TypeFits(*key, value)) {
    return InvalidArgument("'" + name + "' must be " + Expected(*key) + ", not " + Quoted(value));
  }
  if (value.is_null()) return Status();
  if (!key->choices.empty()) {
    for (const std::string& choice : key->choices) {
      if (choice == value.AsString()) return Status();
    }
    const std::string nearest = NearestName(value.AsString(), key->choices);
    return InvalidArgument("'" + name + "' must be " + Expected(*key) + ", not " + Quoted(value),
                           nearest.empty() ? "" : "did you mean '" + nearest + "'?");
  }
  if (name == "on_error") {
    const auto policy = OnError::Parse(value.AsString());
    return policy.ok() ? Status()
                       : InvalidArgument("'on_error': " + policy.status().message(),
                                         policy.status().hint());
  }
  if (key->type == "object") return CheckMembers(*key, value);
  if (key->type == "integer" || key->type == "number") return CheckNumber(*key, value);
  return Status();
}

}  // namespace rewardloop
