#include "cli/spec_text.h"

#include "workers/function_name.h"

namespace rewardloop::cli {
namespace {

Json ArgsJson(const std::vector<ArgSpec>& args) {
  Json list = Json::MakeArray();
  for (const ArgSpec& arg : args) {
    Json entry = Json::MakeObject(
        {{"name", arg.name}, {"type", arg.type}, {"default", arg.default_value}, {"doc", arg.doc}});
    if (!arg.choices.empty())
      entry.Set("choices", Json(Json::Array(arg.choices.begin(), arg.choices.end())));
    list.MutableArray().push_back(std::move(entry));
  }
  return list;
}

std::string ArgsText(const std::vector<ArgSpec>& args) {
  if (args.empty()) return "takes no arguments\n";
  std::string text = "arguments:\n";
  for (const ArgSpec& arg : args) {
    text +=
        "  " + arg.name + ": " + arg.type + " = " + arg.default_value.Dump() + "\n      " + arg.doc;
    for (size_t i = 0; i < arg.choices.size(); ++i)
      text += (i == 0 ? " One of " : ", ") + arg.choices[i];
    text += "\n";
  }
  return text;
}

std::string Block(const std::string& heading, const std::string& summary, const std::string& doc) {
  std::string text = heading + "\n" + summary + "\n";
  if (!doc.empty()) text += "\n" + doc + (doc.back() == '\n' ? "" : "\n");
  return text + "\n";
}

}  // namespace

std::string SummaryLine(const std::string& name, const std::string& summary) {
  std::string line = "  " + name;
  line.resize(std::max<size_t>(line.size() + 2, 24), ' ');
  return line + summary + "\n";
}

std::string ScorerText(const ScorerSpec& spec) {
  return Block("scorer " + spec.name + ", version " + spec.version, spec.summary, spec.doc) +
         ArgsText(spec.args);
}

std::string ManagerText(const ManagerSpec& spec) {
  return Block("manager " + spec.name, spec.summary, spec.doc) + ArgsText(spec.args);
}

Json ScorerJson(const ScorerSpec& spec) {
  return Json::MakeObject({{"name", spec.name},
                           {"version", spec.version},
                           {"summary", spec.summary},
                           {"doc", spec.doc},
                           {"args", ArgsJson(spec.args)},
                           {"pure", spec.pure}});
}

Json ManagerJson(const ManagerSpec& spec) {
  return Json::MakeObject({{"name", spec.name},
                           {"summary", spec.summary},
                           {"doc", spec.doc},
                           {"args", ArgsJson(spec.args)}});
}

std::optional<std::string> FunctionText(const std::string& name, bool json) {
  const auto function = workers::ParseFunctionName(name);
  if (!function) return std::nullopt;
  const std::string place = function->path.empty() ? function->module : function->path;
  const std::string flags = "--scorer " + name + " --scorer-arg NAME=VALUE";
  if (json) {
    return Json::MakeObject({{"name", name}, {"function", function->attribute}, {"from", place}, {"usage", flags}}).Dump() + "\n";
  }
  return "Python function '" + function->attribute + "' of " + place +
         "\n\nRuns in worker processes (docs/user-functions.md). Its keyword parameters are its arguments:\n\n    " + flags +
         "\n    scorer_args: {NAME: VALUE}                  in YAML and Python\n\n"
         "One that it does not have is an error that lists those it has. See what it does with a row:\n\n"
         "    rewardloop explain FILE --row 1 --scorer " + name + "\n";
}

}  // namespace rewardloop::cli
