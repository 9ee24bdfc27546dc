// The only file that sees CLI11.
#include "cli/args.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>

#include "base/suggest.h"
#include "cli/console.h"
#include "io/row_mapping.h"
#include "rewardloop/version.h"

namespace rewardloop::cli {
namespace {

std::string FlagOf(const std::string& key) {
  std::string flag = "--" + key;
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

// Text of a flag as the value of `key`.
Result<Json> ValueOf(const ConfigKey& key, const std::string& text) {
  if (key.type == "string") return Json(text);
  const bool is_null = text == "null" || text == "none";
  if (is_null && key.nullable) return Json();
  auto json = Json::Parse(text);
  if (!json.ok()) {
    return InvalidArgument(FlagOf(key.name) + " '" + text + "': expected " +
                           (key.type == "object"    ? "a JSON object"
                            : key.type == "integer" ? "an integer"
                                                    : "a number") +
                           (key.nullable ? " or null" : ""));
  }
  return json;
}

// Flags of one subcommand that set configuration keys. The file is read first, whatever the order
// of the arguments.
struct ConfigFlags {
  std::string file;
  std::vector<std::pair<const ConfigKey*, std::string>> values;
  std::vector<std::string> scorer_args, manager_args, fields, data_sources;

  Result<ConfigSource> Resolve(const Registries& registries) const {
    ConfigSource source;
    source.values = Json::MakeObject();
    if (!file.empty()) {
      RL_ASSIGN_OR_RETURN(source, ReadConfigFile(file));
    }
    for (const auto& [key, text] : values) {
      RL_ASSIGN_OR_RETURN(Json value, ValueOf(*key, text));
      // Arguments of another scorer do not fit a scorer that a flag puts in its place.
      const bool replaced = (key->name == "scorer" || key->name == "manager") &&
                            source.values.Find(key->name) &&
                            !(*source.values.Find(key->name) == value);
      if (replaced) source.values.Remove(key->name + "_args");
      source.Set(key->name, std::move(value), FlagOf(key->name));
    }
    const auto named = [&](const char* key, const char* otherwise) {
      const Json* name = source.values.Find(key);
      return name && name->is_string() ? name->AsString() : std::string(otherwise);
    };
    const ScorerSpec* scorer = registries.scorers.Find(named("scorer", ""));
    const ManagerSpec* manager = registries.managers.Find(named("manager", "naive"));
    RL_RETURN_IF_ERROR(SetMembers("--scorer-arg", "scorer_args", scorer_args,
                                  scorer ? &scorer->args : nullptr, &source));
    RL_RETURN_IF_ERROR(SetMembers("--manager-arg", "manager_args", manager_args,
                                  manager ? &manager->args : nullptr, &source));
    std::vector<ArgSpec> texts;
    for (const std::string& field : FieldNames()) texts.push_back({field, "string", "", "", {}});
    RL_RETURN_IF_ERROR(SetMembers("--field", "fields", fields, &texts, &source));
    RL_RETURN_IF_ERROR(SetMembers("--data-source", "data_sources", data_sources, nullptr, &source));
    return source;
  }

 private:
  static Status SetMembers(const std::string& flag, const std::string& key,
                           const std::vector<std::string>& assignments,
                           const std::vector<ArgSpec>* specs, ConfigSource* source) {
    for (const std::string& assignment : assignments) {
      RL_ASSIGN_OR_RETURN(auto member, ParseAssignment(flag, assignment, specs));
      source->Set(key + "." + member.first, std::move(member.second), flag);
    }
    return Status();
  }
};

void AddConfigFlags(CLI::App* app, ConfigFlags* flags) {
  app->add_option("-c,--config", flags->file, "YAML file of the keys below; flags win over it")
      ->type_name("FILE")
      ->envname("REWARDLOOP_CONFIG")
      ->group("Configuration");
  for (const ConfigKey& key : ConfigKeys()) {
    std::string names = FlagOf(key.name);
    if (key.name == "threads") names = "-j," + names;
    std::string help = key.doc;
    if (!key.default_value.is_null() && !(key.default_value == Json("")))
      help += " [" + TextOf(key.default_value) + "]";
    const std::string type = key.type == "object" ? "JSON" : key.type == "string" ? "NAME" : "N";
    app->add_option_function<std::string>(
           names,
           [flags, key_pointer = &key](const std::string& text) {
             flags->values.emplace_back(key_pointer, text);
           },
           help)
        ->type_name(type)
        ->group(key.section);
  }
  const auto add_list = [&](const char* name, std::vector<std::string>* values, const char* help,
                            const char* section) {
    app->add_option(name, *values, help)
        ->type_name("NAME=VALUE")
        ->take_all()
        ->allow_extra_args(false)
        ->group(section);
  };
  add_list("--scorer-arg", &flags->scorer_args, "One argument of the scorer; may be repeated.",
           "What judges");
  add_list("--manager-arg", &flags->manager_args, "One argument of the manager; may be repeated.",
           "What judges");
  add_list("--data-source", &flags->data_sources, "The scorer of one data source; may be repeated.",
           "What judges");
  add_list("--field", &flags->fields,
           "The column of one field, e.g. response=pred; may be repeated.", "Where columns are");
}

Result<Allowance> ParseAllowance(const std::string& text) {
  Allowance allowance;
  std::string number = text;
  if (!number.empty() && number.back() == '%') {
    allowance.is_percent = true;
    number.pop_back();
  }
  const auto value = Json::Parse(number);
  if (!value.ok() || !value->is_number() || value->AsDouble() < 0) {
    return InvalidArgument("--max-unscored '" + text +
                           "': expected a number of rows, or a share like 2%");
  }
  allowance.value = value->AsDouble();
  return allowance;
}

// Everything that CLI11 fills and that needs a second look.
struct Parsed {
  Args args;
  std::map<const CLI::App*, ConfigFlags> config;
  std::string max_unscored = "0";
  bool show_version = false;
};

void AddScore(CLI::App* root, Parsed* parsed) {
  CLI::App* app = root->add_subcommand("score", "Score the rows of a JSONL file");
  ScoreArgs& score = parsed->args.score;
  app->add_option("FILE", score.input, "JSONL, plain or gzip; - is standard input")->required();
  app->add_option("-o,--output", score.output, "JSONL with the results; - is standard output [-]")
      ->type_name("FILE");
  app->add_flag("--resume", score.resume,
                "Keep the rows of --output that have a score, run the others");
  app->add_option("--max-unscored", parsed->max_unscored,
                  "Rows without a score before the exit status is 1: N or P% [0]")
      ->type_name("N");
  app->add_flag("--timing", score.timing, "Add when each row was queued, started and finished");
  app->add_option("--summary-json", score.summary_json, "Write the summary as JSON")
      ->type_name("FILE");
  app->add_option("--metrics", score.metrics, "Write counts and latencies as JSON")
      ->type_name("FILE");
  app->add_option("--trace", score.trace,
                  "Write a timeline for chrome://tracing or ui.perfetto.dev")
      ->type_name("FILE");
  app->add_option("--progress", score.progress, "auto, always or never [auto]")
      ->type_name("WHEN")
      ->transform(CLI::CheckedTransformer(
                      std::map<std::string, ProgressWhen>{{"auto", ProgressWhen::kAuto},
                                                          {"always", ProgressWhen::kAlways},
                                                          {"never", ProgressWhen::kNever}})
                      .description(""));
  app->add_flag("-q,--quiet", score.quiet, "No progress and no summary");
  AddConfigFlags(app, &parsed->config[app]);
  app->callback([parsed] { parsed->args.verb = Verb::kScore; });
  app->footer(
      "Examples:\n"
      "  rewardloop score rollouts.jsonl --scorer gsm8k -o scored.jsonl\n"
      "  rewardloop score rollouts.jsonl.gz --field response=pred --scorer math -o scored.jsonl "
      "--resume\n"
      "  zcat dump.jsonl.gz | rewardloop score - --preset verl --scorer verl/gsm8k --scorer-arg "
      "method=flexible");
}

void AddExplain(CLI::App* root, Parsed* parsed) {
  CLI::App* app =
      root->add_subcommand("explain", "Show what a scorer does, or how one row got its score");
  ExplainArgs& explain = parsed->args.explain;
  app->add_option("TARGET", explain.target,
                  "A scorer, a manager, or a JSONL file with --row or --id");
  app->add_option("--row", explain.row, "Line of the file, from 1")->type_name("N");
  app->add_option("--id", explain.id, "item_id of the row")->type_name("ID");
  app->add_option("--response", explain.response, "Judge this text instead of a row")
      ->type_name("TEXT");
  app->add_option("--ground-truth", explain.ground_truth, "Its truth: text, or JSON")
      ->type_name("TEXT");
  app->add_option("--source", explain.data_source, "Its data source")->type_name("NAME");
  app->add_flag("--json", explain.json, "Print JSON");
  AddConfigFlags(app, &parsed->config[app]);
  app->callback([parsed] { parsed->args.verb = Verb::kExplain; });
  app->footer(
      "Examples:\n"
      "  rewardloop explain gsm8k\n"
      "  rewardloop explain rollouts.jsonl --row 17 --scorer gsm8k\n"
      "  rewardloop explain --scorer math --response 'so \\boxed{0.5}' --ground-truth 1/2");
}

void AddCheck(CLI::App* root, Parsed* parsed) {
  CLI::App* app = root->add_subcommand("check", "Check configuration and rows without scoring");
  CheckArgs& check = parsed->args.check;
  app->add_option("FILE", check.input,
                  "JSONL, plain or gzip; - is standard input; without it the configuration only");
  app->add_option("--score-column", check.score_column,
                  "Rewards to check for the rollout contract [score or reward]")
      ->type_name("NAME");
  app->add_option("--trial", check.trial,
                  "Score the first N rows twice, in two orders: errors and scores that change [0]")
      ->type_name("N")
      ->check(CLI::Range(int64_t{0}, int64_t{100'000}));
  app->add_flag("--json", check.json, "Print JSON");
  AddConfigFlags(app, &parsed->config[app]);
  app->callback([parsed] { parsed->args.verb = Verb::kCheck; });
}

void AddDiff(CLI::App* root, Parsed* parsed) {
  CLI::App* app =
      root->add_subcommand("diff", "Compare two scored files, or two recipes on one file");
  DiffArgs& diff = parsed->args.diff;
  app->add_option("FIRST", diff.first, "A scored file; with --a and --b a file to score")
      ->required();
  app->add_option("SECOND", diff.second, "The scored file to compare with");
  app->add_option("--a", diff.recipe_a, "First recipe: a scorer, or a YAML file")
      ->type_name("RECIPE");
  app->add_option("--b", diff.recipe_b, "Second recipe")->type_name("RECIPE");
  const auto add_list = [&](const char* name, std::vector<std::string>* values, const char* help) {
    app->add_option(name, *values, help)
        ->type_name("NAME=VALUE")
        ->take_all()
        ->allow_extra_args(false);
  };
  add_list("--a-arg", &diff.args_a, "One argument of the first scorer; may be repeated");
  add_list("--b-arg", &diff.args_b, "One argument of the second scorer; may be repeated");
  app->add_option("--tolerance", diff.tolerance, "Scores this near are equal [0]")->type_name("X");
  app->add_option("--limit", diff.limit, "Changed rows to show [20]")->type_name("N");
  app->add_option("--max-changed", diff.max_changed, "Exit with 1 when more rows changed")
      ->type_name("N");
  app->add_flag("--json", diff.json, "Print JSON");
  AddConfigFlags(app, &parsed->config[app]);
  app->callback([parsed] { parsed->args.verb = Verb::kDiff; });
  app->footer(
      "Examples:\n"
      "  rewardloop diff before.jsonl after.jsonl\n"
      "  rewardloop diff rollouts.jsonl --a verl/gsm8k --b gsm8k");
}

void AddOthers(CLI::App* root, Parsed* parsed) {
  CLI::App* list =
      root->add_subcommand("list", "List scorers, managers, dispatch tables and presets");
  list->add_option("WHAT", parsed->args.list.what,
                   "scorers, managers, dispatch or presets; without it all");
  list->add_option("--scorer", parsed->args.list.scorer, "One scorer with its arguments")
      ->type_name("NAME");
  list->add_flag("--json", parsed->args.list.json, "Print JSON");
  list->callback([parsed] { parsed->args.verb = Verb::kList; });

  CLI::App* config =
      root->add_subcommand("config", "Show the effective configuration, or its schema");
  config->require_subcommand(1);
  CLI::App* show =
      config->add_subcommand("show", "Every key with its value and where it comes from");
  show->add_flag("--json", parsed->args.config_verb.json, "Print JSON");
  AddConfigFlags(show, &parsed->config[show]);
  show->callback([parsed] { parsed->args.verb = Verb::kConfigShow; });
  CLI::App* schema = config->add_subcommand("schema", "JSON Schema of a configuration file");
  schema->callback([parsed] { parsed->args.verb = Verb::kConfigSchema; });

  CLI::App* version =
      root->add_subcommand("version", "Show the version, the build and the scorers' versions");
  version->add_flag("--json", parsed->args.version_json, "Print JSON");
  version->callback([parsed] { parsed->args.verb = Verb::kVersion; });
}

// "--max_concurrent" is as good as "--max-concurrent".
std::string WithDashes(std::string argument) {
  if (argument.size() < 3 || argument.compare(0, 2, "--") != 0) return argument;
  const size_t end = std::min(argument.find('='), argument.size());
  std::replace(argument.begin(), argument.begin() + static_cast<std::ptrdiff_t>(end), '_', '-');
  return argument;
}

// The deepest subcommand that was named.
const CLI::App* ActiveApp(const CLI::App* app) {
  for (const CLI::App* child : app->get_subcommands()) return ActiveApp(child);
  return app;
}

std::string SuggestionForArgument(const CLI::App& app, const std::string& message,
                                  const std::vector<std::string>& args) {
  std::vector<std::string> flags, verbs;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  for (const CLI::App* child : app.get_subcommands([](const CLI::App*) { return true; }))
    verbs.push_back(child->get_name());
  for (const std::string& argument : args) {
    const std::string name = argument.substr(0, argument.find('='));
    if (name.empty() || message.find(name) == std::string::npos) continue;
    const std::string nearest = NearestName(name, name[0] == '-' ? flags : verbs);
    if (!nearest.empty() && nearest != name) return "did you mean " + nearest + "?";
  }
  std::string command = app.get_name();
  for (const CLI::App* parent = app.get_parent(); parent; parent = parent->get_parent()) {
    command = parent->get_name() + " " + command;
  }
  return command + " -h shows what is possible";
}

int Dispatch(const Args& args, const Registries& registries) {
  switch (args.verb) {
    case Verb::kScore:
      return RunScore(args, registries);
    case Verb::kExplain:
      return RunExplain(args, registries);
    case Verb::kCheck:
      return RunCheck(args, registries);
    case Verb::kDiff:
      return RunDiff(args, registries);
    case Verb::kList:
      return RunList(args, registries);
    case Verb::kConfigShow:
      return RunConfigShow(args, registries);
    case Verb::kConfigSchema:
      return RunConfigSchema();
    case Verb::kVersion:
      return RunVersion(args, registries);
    case Verb::kNone:
      break;
  }
  return Fail(InvalidArgument("no command given", "rewardloop -h shows them"));
}

}  // namespace

int RunCommand(const std::vector<std::string>& arguments) {
  CLI::App root("Rewards and advantages for RL post-training of language models.", "rewardloop");
  Parsed parsed;
  root.get_formatter()->column_width(34);
  root.set_help_flag("-h,--help", "Show this help");
  root.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  root.add_flag("--version", parsed.show_version, "Show the version");
  root.require_subcommand(0, 1);
  root.footer(
      "Exit status: 0 done; 1 rows without a score or a threshold exceeded; 2 wrong usage, "
      "configuration or input, or\n"
      "output that cannot be written; 3 internal error; 130, 143 interrupted (resume with "
      "--resume).");
  AddScore(&root, &parsed);
  AddExplain(&root, &parsed);
  AddCheck(&root, &parsed);
  AddDiff(&root, &parsed);
  AddOthers(&root, &parsed);

  std::vector<std::string> reversed;
  for (const std::string& argument : arguments) reversed.push_back(WithDashes(argument));
  std::reverse(reversed.begin(), reversed.end());
  try {
    root.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return Print(root.help()) ? kExitDone : kExitUsage;
  } catch (const CLI::ParseError& error) {
    std::string message = error.what();
    if (dynamic_cast<const CLI::ExtrasError*>(&error)) {  // whose own text has them from last to first
      message = "not expected here:";
      for (const std::string& extra : root.remaining(true)) message += " " + extra;
    }
    return Fail(InvalidArgument(message,
                                SuggestionForArgument(*ActiveApp(&root), message, arguments)));
  }
  if (parsed.show_version) return Print(std::string(Version()) + "\n") ? kExitDone : kExitUsage;
  if (parsed.args.verb == Verb::kNone) {
    Print(root.help());
    return kExitUsage;
  }
  const auto allowance = ParseAllowance(parsed.max_unscored);
  if (!allowance.ok()) return Fail(allowance.status());
  parsed.args.score.max_unscored = *allowance;
  const Registries registries;
  for (const auto& [app, flags] : parsed.config) {
    if (!app->parsed()) continue;
    auto source = flags.Resolve(registries);
    if (!source.ok()) return Fail(source.status());
    parsed.args.config = std::move(*source);
  }
  return Dispatch(parsed.args, registries);
}

}  // namespace rewardloop::cli
