// `rewardloop list`: what can be named in a configuration.
#include <algorithm>

#include "base/suggest.h"
#include "cli/console.h"
#include "cli/options.h"
#include "cli/spec_text.h"
#include "io/row_mapping.h"
#include "scorers/dispatch.h"

namespace rewardloop::cli {
namespace {

const std::vector<std::string> kSections = {"scorers", "managers", "dispatch", "presets"};

Json DispatchJson() {
  Json tables = Json::MakeObject();
  for (const std::string& name : DispatchTable::Names()) {
    const auto table = DispatchTable::Named(name);
    if (!table.ok()) continue;
    Json entries = Json::MakeArray();
    for (const DispatchEntry* entry : table->entries()) {
      Json row = Json::MakeObject({{"data_source", entry->pattern}});
      row.Set("scorer", entry->scorer.empty() ? Json() : Json(entry->scorer));
      if (!entry->args.is_null()) row.Set("args", entry->args);
      if (!entry->why_none.empty()) row.Set("why", entry->why_none);
      entries.MutableArray().push_back(std::move(row));
    }
    tables.Set(name, std::move(entries));
  }
  return tables;
}

std::string DispatchText() {
  std::string text;
  for (const std::string& name : DispatchTable::Names()) {
    const auto table = DispatchTable::Named(name);
    if (!table.ok()) continue;
    text += "dispatch table " + name + "\n";
    for (const DispatchEntry* entry : table->entries()) {
      text += "  " + entry->pattern + " -> " +
              (entry->scorer.empty() ? "none: " + entry->why_none : entry->scorer) + "\n";
    }
  }
  return text;
}

Json PresetsJson() {
  Json presets = Json::MakeObject();
  for (const std::string& name : PresetNames()) {
    const auto map = FieldMap::Make(name, Json());
    Json fields = Json::MakeObject();
    for (const std::string& field : FieldNames()) {
      const auto& paths = map->PathsOf(field);
      fields.Set(field, Json(Json::Array(paths.begin(), paths.end())));
    }
    presets.Set(name, std::move(fields));
  }
  return presets;
}

std::string PresetsText() {
  std::string text;
  for (const std::string& name : PresetNames()) {
    text += "preset " + name + "\n";
    const std::string lines = DescribePreset(name);
    for (size_t begin = 0; begin < lines.size();) {
      const size_t end = lines.find('\n', begin);
      text += "  " + lines.substr(begin, end - begin) + "\n";
      begin = end + 1;
    }
  }
  return text;
}

}  // namespace

int RunList(const Args& args, const Registries& registries) {
  const ListArgs& list = args.list;
  if (!list.scorer.empty()) {
    const ScorerSpec* spec = registries.scorers.Find(list.scorer);
    if (const auto text = FunctionText(list.scorer, list.json); !spec && text) return Print(*text) ? kExitDone : kExitUsage;
    if (!spec) return Fail(registries.scorers.Make(list.scorer, Json()).status());
    return Print(list.json ? ScorerJson(*spec).Dump() + "\n" : ScorerText(*spec)) ? kExitDone
                                                                                  : kExitUsage;
  }
  if (!list.what.empty() &&
      std::find(kSections.begin(), kSections.end(), list.what) == kSections.end()) {
    return Fail(InvalidArgument("there is no list of '" + list.what + "'",
                                SuggestionFor(list.what, kSections)));
  }
  const auto wanted = [&](const char* section) {
    return list.what.empty() || list.what == section;
  };
  if (list.json) {
    Json report = Json::MakeObject();
    if (wanted("scorers")) {
      Json scorers = Json::MakeArray();
      for (const ScorerSpec& spec : registries.scorers.specs())
        scorers.MutableArray().push_back(ScorerJson(spec));
      report.Set("scorers", std::move(scorers));
    }
    if (wanted("managers")) {
      Json managers = Json::MakeArray();
      for (const ManagerSpec& spec : registries.managers.specs())
        managers.MutableArray().push_back(ManagerJson(spec));
      report.Set("managers", std::move(managers));
    }
    if (wanted("dispatch")) report.Set("dispatch", DispatchJson());
    if (wanted("presets")) report.Set("presets", PresetsJson());
    return Print(report.Dump() + "\n") ? kExitDone : kExitUsage;
  }
  std::string text;
  if (wanted("scorers")) {
    text += "scorers\n";
    for (const ScorerSpec& spec : registries.scorers.specs())
      text += SummaryLine(spec.name, spec.summary);
  }
  if (wanted("managers")) {
    text += "managers\n";
    for (const ManagerSpec& spec : registries.managers.specs())
      text += SummaryLine(spec.name, spec.summary);
  }
  if (wanted("dispatch")) text += DispatchText();
  if (wanted("presets")) text += PresetsText();
  return Print(text) ? kExitDone : kExitUsage;
}

}  // namespace rewardloop::cli
