#include "rewardloop/registry.h"

#include "workers/function_name.h"

#include <algorithm>
#include <cmath>

#include "base/suggest.h"
#include "scorers/builtin.h"

namespace rewardloop {
namespace {

std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

// `value` as the argument type wants it, or nothing when it is of another type.
std::optional<Json> AsType(const Json& value, const ArgSpec& spec) {
  if (value.is_null())
    return spec.default_value.is_null() ? std::optional<Json>(value) : std::nullopt;
  if (spec.type == "any") return value;
  if (spec.type == "boolean") return value.is_bool() ? std::optional<Json>(value) : std::nullopt;
  if (spec.type == "string") return value.is_string() ? std::optional<Json>(value) : std::nullopt;
  if (spec.type == "array") return value.is_array() ? std::optional<Json>(value) : std::nullopt;
  if (spec.type == "object") return value.is_object() ? std::optional<Json>(value) : std::nullopt;
  if (spec.type == "number") return value.is_number() ? std::optional<Json>(value) : std::nullopt;
  if (spec.type == "integer") {
    if (value.is_int()) return value;
    // Configuration formats write 3 as 3.0; below 2^53 that is exact.
    if (value.is_double() && std::floor(value.AsDouble()) == value.AsDouble() &&
        std::abs(value.AsDouble()) < 9007199254740992.0) {
      return Json(static_cast<int64_t>(value.AsDouble()));
    }
  }
  return std::nullopt;
}

std::string Expectation(const ArgSpec& spec) {
  std::string text = spec.type;
  if (!spec.choices.empty()) {
    text = "one of";
    for (size_t i = 0; i < spec.choices.size(); ++i) {
      text += (i == 0 ? " " : ", ") + Quoted(spec.choices[i]);
    }
  }
  if (spec.default_value.is_null() && spec.type != "any") text += " or null";
  return text;
}

Result<Json> Checked(std::string_view owner, const ArgSpec& spec, const Json& value) {
  const std::string where = std::string(owner) + ": argument " + Quoted(spec.name);
  std::optional<Json> typed = AsType(value, spec);
  if (!typed) {
    return InvalidArgument(where + " must be " + Expectation(spec) + ", got " +
                           std::string(value.TypeName()) + " " + value.Dump());
  }
  if (!spec.choices.empty() && typed->is_string() &&
      std::find(spec.choices.begin(), spec.choices.end(), typed->AsString()) ==
          spec.choices.end()) {
    return InvalidArgument(
        where + " must be " + Expectation(spec) + ", got " + Quoted(typed->AsString()),
        SuggestionFor(typed->AsString(), spec.choices));
  }
  return std::move(*typed);
}

bool NameLess(const ScorerSpec& spec, std::string_view name) { return spec.name < name; }

}  // namespace

Result<Json> ValidateArgs(std::string_view owner, const std::vector<ArgSpec>& specs,
                          const Json& args) {
  if (!args.is_null() && !args.is_object()) {
    return InvalidArgument(std::string(owner) +
                           ": arguments must be an object of name: value, got " +
                           std::string(args.TypeName()));
  }
  if (args.is_object()) {
    for (const auto& [key, value] : args.AsObject()) {
      auto is_key = [&key = key](const ArgSpec& spec) { return spec.name == key; };
      if (std::any_of(specs.begin(), specs.end(), is_key)) continue;
      std::vector<std::string> known;
      for (const ArgSpec& spec : specs) known.push_back(spec.name);
      return InvalidArgument(std::string(owner) + " has no argument " + Quoted(key),
                             known.empty() ? "it takes no arguments" : SuggestionFor(key, known));
    }
  }
  Json checked = Json::MakeObject();
  for (const ArgSpec& spec : specs) {
    const Json* given = args.Find(spec.name);
    if (!given) {
      checked.Set(spec.name, spec.default_value);
      continue;
    }
    RL_ASSIGN_OR_RETURN(Json value, Checked(owner, spec, *given));
    checked.Set(spec.name, std::move(value));
  }
  return checked;
}

ScorerRegistry ScorerRegistry::WithBuiltins() {
  ScorerRegistry registry;
#define RL_SCORER(factory) registry.specs_.push_back(factory());
#include "scorers/scorer_list.inc"
#undef RL_SCORER
  std::sort(registry.specs_.begin(), registry.specs_.end(),
            [](const ScorerSpec& a, const ScorerSpec& b) { return a.name < b.name; });
  return registry;
}

Status ScorerRegistry::Register(ScorerSpec spec) {
  if (spec.name.empty() || (!spec.make && spec.function.empty())) {
    return InvalidArgument("a scorer needs a name and a make function");
  }
  auto place = std::lower_bound(specs_.begin(), specs_.end(), spec.name, NameLess);
  if (place != specs_.end() && place->name == spec.name) {
    return AlreadyExists("a scorer named " + Quoted(spec.name) + " is registered already",
                         "choose another name");
  }
  specs_.insert(place, std::move(spec));
  return Status();
}

const ScorerSpec* ScorerRegistry::Find(std::string_view name) const {
  auto place = std::lower_bound(specs_.begin(), specs_.end(), name, NameLess);
  return place != specs_.end() && place->name == name ? &*place : nullptr;
}

Result<std::shared_ptr<Scorer>> ScorerRegistry::Make(std::string_view name,
                                                     const Json& args) const {
  const ScorerSpec* spec = Find(name);
  if (!spec && IsPythonFunctionName(name)) return MakeFunction(std::string(name), "", args, 0);
  if (!spec) {
    std::vector<std::string> names;
    for (const ScorerSpec& known : specs_) names.push_back(known.name);
    return NotFound("no scorer is named " + Quoted(name), SuggestionFor(name, names));
  }
  const std::string owner = "scorer " + Quoted(name);
  RL_ASSIGN_OR_RETURN(Json checked, ValidateArgs(owner, spec->args, args));
  if (!spec->function.empty()) {
    RL_ASSIGN_OR_RETURN(std::shared_ptr<Scorer> scorer, MakeFunction(spec->function, "origin", checked, 0));
    scorer->SetIdentity(spec->name, spec->version + scorer->version().substr(1));
    return scorer;
  }
  Result<std::unique_ptr<Scorer>> made = spec->make(checked);
  if (!made.ok()) {
    const Status status = made.status();
    return Status(status.code(), owner + ": " + status.message(), status.hint());
  }
  std::shared_ptr<Scorer> scorer = std::move(*made);
  scorer->SetIdentity(spec->name, spec->version);
  return scorer;
}

Result<std::shared_ptr<Scorer>> ScorerRegistry::MakeFunction(const std::string& function, const std::string& form,
                                                             const Json& args, int64_t workers) const {
  if (!function_maker_) {
    return FailedPrecondition("'" + function + "' runs in worker processes, which only a pipeline has",
                              "use it as a pipeline's scorer");
  }
  return function_maker_(function, form, args, workers);
}

bool IsPythonFunctionName(std::string_view name) { return workers::ParseFunctionName(name).has_value(); }

}  // namespace rewardloop
