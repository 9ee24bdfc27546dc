// `rewardloop explain`: what a scorer does, or how one row got its score.
#include <sys/stat.h>

#include <optional>

#include "base/suggest.h"
#include "cli/console.h"
#include "cli/engine.h"
#include "cli/options.h"
#include "cli/row_source.h"
#include "cli/signals.h"
#include "cli/spec_text.h"
#include "workers/function_name.h"

namespace rewardloop::cli {
namespace {

constexpr int64_t kCollectLimitNs = int64_t{600} * 1'000'000'000;
constexpr size_t kShownText = 240;

bool IsFile(const std::string& path) {
  struct stat info{};
  return path == "-" || (::stat(path.c_str(), &info) == 0 && !S_ISDIR(info.st_mode));
}

// The item to explain and where it was found.
struct Subject {
  RewardItem item;
  std::string place;  // "file:line" or "the command line"
  std::string response_column, truth_column;
};

struct Explained {
  RewardResult result;
  std::string scorer, version;
  std::vector<ExplainStep> steps;
};

Result<Subject> SubjectFromFile(const ExplainArgs& args, const PipelineConfig& config) {
  RL_ASSIGN_OR_RETURN(FieldMap fields, FieldMap::Make(config.preset, config.fields));
  RL_ASSIGN_OR_RETURN(const std::unique_ptr<RowSource> source,
                      RowSource::Open(args.target, std::move(fields), {}, -1));
  Row row;
  const bool by_id = !args.id.empty();
  while (true) {
    auto found = source->Next(&row);
    if (!found.ok()) {
      // A broken line elsewhere does not stand in the way of the one that was asked for.
      if (row.line_number != args.row.value_or(1) &&
          found.status().code() == StatusCode::kInvalidArgument)
        continue;
      return found.status();
    }
    if (!*found) break;
    if (by_id ? row.item.item_id != args.id : row.line_number < args.row.value_or(1)) continue;
    if (!by_id && args.row && row.line_number != *args.row) break;
    if (!row.problem.ok()) {
      return Status(row.problem.code(), source->Place(row) + ": " + row.problem.message(),
                    row.problem.hint());
    }
    Subject subject;
    subject.place = source->reader().name() + ":" + std::to_string(row.line_number);
    const auto column = [&](std::string_view field) -> std::string {
      for (const std::string& path : source->fields().PathsOf(field)) {
        if (row.columns.Find(path.substr(0, path.find('.'))) || row.columns.Find(path)) return path;
      }
      return "";
    };
    subject.response_column = column("response");
    subject.truth_column = column("ground_truth");
    subject.item = std::move(row.item);
    return subject;
  }
  return NotFound(
      by_id ? args.target + ": no row has the item_id '" + args.id + "'"
            : args.target + ": there is no row in line " + std::to_string(args.row.value_or(1)),
      "lines are counted from 1; --id looks for an item_id");
}

Subject SubjectFromFlags(const ExplainArgs& args) {
  Subject subject;
  subject.place = "the command line";
  subject.response_column = "--response";
  subject.truth_column = "--ground-truth";
  subject.item.item_id = "item";
  subject.item.data_source = args.data_source;
  subject.item.outputs.emplace_back().text = *args.response;
  if (args.ground_truth) {
    // "0.50" stays text, as in a file; only lists and objects are read.
    const auto json = Json::Parse(*args.ground_truth);
    const bool structured = json.ok() && (json->is_array() || json->is_object());
    subject.item.ground_truth = structured ? *json : Json(*args.ground_truth);
  }
  return subject;
}

// The steps, from a direct call: the pipeline has no place for them.
std::vector<ExplainStep> StepsOf(const RewardItem& item, const BuiltPipeline& built,
                                 const PipelineConfig& config) {
  std::vector<ExplainStep> steps;
  ScoreContext context(&built.engine->executor(), kNoDeadline, std::stop_token(),
                       static_cast<uint64_t>(config.seed));
  context.explanation = &steps;
  const Scorer* const scorer = built.scorers->Select(item);
  const bool plain_manager = built.manager->granularity() == Granularity::kItem &&
                             built.manager->execution(item) == Execution::kCpu;
  try {
    if (plain_manager)
      (void)built.manager->Run(item, context);
    else if (scorer && scorer->execution() == Execution::kCpu)
      (void)scorer->Score(item, context);
  } catch (const std::exception& error) {
    steps.push_back({"exception", error.what(), -1, -1});
  }
  return steps;
}

Result<Explained> Explain(const Subject& subject, const PipelineConfig& given,
                          const Registries& registries) {
  PipelineConfig config = given;
  config.on_error = OnError{OnError::Policy::kNull, 0};
  RL_ASSIGN_OR_RETURN(BuiltPipeline built,
                      BuildPipeline(config, MakeEngine(config),
                                    registries.scorers, registries.managers));
  RewardItem item = subject.item;
  item.group_size.reset();  // its siblings will not come
  item.session_id.reset();
  Explained explained;
  explained.steps = StepsOf(item, built, config);
  if (const Scorer* scorer = built.scorers->Select(item)) {
    explained.scorer = scorer->name();
    explained.version = scorer->version();
  }
  std::vector<RewardItem> items(1, std::move(item));
  RL_ASSIGN_OR_RETURN(const BatchHandle handle, built.pipeline->Submit(std::move(items)));
  RL_ASSIGN_OR_RETURN(Collected collected, built.pipeline->Collect(handle, kCollectLimitNs));
  if (collected.results.size() != 1)
    return Internal("one item gave " + std::to_string(collected.results.size()) + " results");
  explained.result = std::move(collected.results[0]);
  return explained;
}

std::string StepText(const ExplainStep& step, const std::string* response) {
  std::string text = "  " + step.stage;
  text.resize(std::max<size_t>(text.size() + 1, 14), ' ');
  text += Excerpt(step.detail, kShownText);
  if (response && step.begin >= 0 && step.end >= step.begin &&
      static_cast<size_t>(step.end) <= response->size()) {
    const std::string_view span(response->data() + step.begin,
                                static_cast<size_t>(step.end - step.begin));
    text += "  [bytes " + std::to_string(step.begin) + "-" + std::to_string(step.end) + ": '" +
            Excerpt(span, 60) + "']";
  }
  return text + "\n";
}

std::string ExplainedText(const Subject& subject, const Explained& explained,
                          const PipelineConfig& config) {
  const RewardItem& item = subject.item;
  const std::string* response = item.Response();
  std::string text = "row        " + subject.place + ", item_id '" + item.item_id + "'\n";
  if (!item.data_source.empty()) text += "source     " + item.data_source + "\n";
  text +=
      "scorer     " +
      (explained.scorer.empty() ? "none" : explained.scorer + ", version " + explained.version) +
      "\n";
  if (item.session_id)
    text += "session    '" + *item.session_id +
            "': this row is judged alone here; score judges the last row of the session\n";
  if (config.manager != "naive") text += "manager    " + config.manager + "\n";
  if (item.outputs.size() > 1)
    text += "outputs    " + std::to_string(item.outputs.size()) + ", the last one is judged\n";
  text += "response   ";
  if (response) {
    text += "`" + subject.response_column + "`, " +
            Plural(static_cast<int64_t>(response->size()), "byte") + ": " +
            Excerpt(*response, kShownText) + "\n";
  } else {
    text += "null\n";
  }
  text += "truth      ";
  text += item.ground_truth.is_null()
              ? "none\n"
              : "`" + subject.truth_column + "`: " + Excerpt(item.ground_truth.Dump(), kShownText) +
                    "\n";
  if (!explained.steps.empty()) text += "steps\n";
  for (const ExplainStep& step : explained.steps) text += StepText(step, response);

  const RewardResult& result = explained.result;
  text += "verdict    " + std::string(ItemStatusName(result.status));
  if (result.score) text += " " + ScoreText(*result.score);
  text += ", reason " + result.reason + "\n";
  text += "extracted  " +
          (result.extracted ? "'" + Excerpt(*result.extracted, kShownText) + "'"
                            : std::string("nothing")) +
          "\n";
  for (const Component& part : result.components)
    text += "component  " + part.name + " = " + ScoreText(part.value) + "\n";
  if (result.extra.size() > 0)
    text += "extra      " + Excerpt(result.extra.Dump(), kShownText) + "\n";
  if (result.error)
    text += "error      " + result.error->error_class + ": " +
            Excerpt(result.error->message, kShownText) + "\n";
  return text;
}

Json ExplainedJson(const Subject& subject, const Explained& explained,
                   const PipelineConfig& config) {
  const RewardResult& result = explained.result;
  Json steps = Json::MakeArray();
  for (const ExplainStep& step : explained.steps) {
    Json entry = Json::MakeObject({{"stage", step.stage}, {"detail", step.detail}});
    if (step.begin >= 0) {
      entry.Set("begin", step.begin);
      entry.Set("end", step.end);
    }
    steps.MutableArray().push_back(std::move(entry));
  }
  Json components = Json::MakeObject();
  for (const Component& part : result.components) components.Set(part.name, part.value);
  const std::string* response = subject.item.Response();
  return Json::MakeObject(
      {{"place", subject.place},
       {"item_id", subject.item.item_id},
       {"data_source", subject.item.data_source},
       {"scorer", explained.scorer.empty() ? Json() : Json(explained.scorer)},
       {"scorer_version", explained.version},
       {"manager", config.manager},
       {"response", response ? Json(*response) : Json()},
       {"response_column", subject.response_column},
       {"ground_truth", subject.item.ground_truth},
       {"ground_truth_column", subject.truth_column},
       {"steps", std::move(steps)},
       {"status", ItemStatusName(result.status)},
       {"score", result.score ? Json(*result.score) : Json()},
       {"extracted", result.extracted ? Json(*result.extracted) : Json()},
       {"reason", result.reason},
       {"components", std::move(components)},
       {"extra", result.extra.is_object() ? result.extra : Json::MakeObject()},
       {"error", result.error ? Json::MakeObject({{"class", result.error->error_class},
                                                  {"message", result.error->message},
                                                  {"retryable", result.error->retryable}})
                              : Json()}});
}

// The documentation of a scorer or manager; nullopt when nothing has that name.
std::optional<std::string> Documentation(const ExplainArgs& args, const Registries& registries) {
  if (const ScorerSpec* spec = registries.scorers.Find(args.target)) {
    return args.json ? ScorerJson(*spec).Dump() + "\n" : ScorerText(*spec);
  }
  if (const ManagerSpec* spec = registries.managers.Find(args.target)) {
    return args.json ? ManagerJson(*spec).Dump() + "\n" : ManagerText(*spec);
  }
  return FunctionText(args.target, args.json);
}

Status NothingCalled(const std::string& target, const Registries& registries) {
  std::vector<std::string> names;
  for (const ScorerSpec& spec : registries.scorers.specs()) names.push_back(spec.name);
  for (const ManagerSpec& spec : registries.managers.specs()) names.push_back(spec.name);
  const std::string nearest = NearestName(target, names);
  return NotFound("'" + target + "' is neither a file nor a scorer nor a manager",
                  nearest.empty() ? "`rewardloop list` shows scorers and managers"
                                  : "did you mean '" + nearest + "'?");
}

Result<int> ExplainCommand(const Args& all, const Registries& registries) {
  const ExplainArgs& args = all.explain;
  ConfigSource source = all.config;
  const bool wants_row = args.row || !args.id.empty();
  bool from_file = false;
  if (!args.target.empty()) {
    const bool is_spec =
        registries.scorers.Find(args.target) || registries.managers.Find(args.target);
    from_file = wants_row || (!is_spec && IsFile(args.target));
    if (!from_file && !args.response) {
      const auto text = Documentation(args, registries);
      if (!text) return NothingCalled(args.target, registries);
      return Print(*text) ? kExitDone : kExitUsage;
    }
    if (!from_file && (registries.scorers.Find(args.target) || workers::ParseFunctionName(args.target)))
      source.Set("scorer", args.target, "explain");
  } else if (wants_row) {
    return InvalidArgument("--row and --id need a file", "rewardloop explain FILE --row 17");
  } else if (!args.response) {
    return InvalidArgument(
        "nothing to explain",
        "name a scorer, a file with --row, or give --response and --ground-truth");
  }
  RL_ASSIGN_OR_RETURN(const PipelineConfig config,
                      ResolveConfig(source, &registries.scorers, &registries.managers));
  if (!from_file && config.scorer.empty() && args.data_source.empty()) {
    return InvalidArgument("no scorer is named",
                           "add --scorer NAME, or --source NAME to choose one by data source");
  }
  Subject subject;
  if (from_file) {
    RL_ASSIGN_OR_RETURN(subject, SubjectFromFile(args, config));
    if (args.response) subject.item.outputs = SubjectFromFlags(args).item.outputs;
  } else {
    subject = SubjectFromFlags(args);
  }
  RL_ASSIGN_OR_RETURN(const Explained explained, Explain(subject, config, registries));
  const std::string text = args.json ? ExplainedJson(subject, explained, config).Dump() + "\n"
                                     : ExplainedText(subject, explained, config);
  return Print(text) ? kExitDone : kExitUsage;
}

}  // namespace

int RunExplain(const Args& args, const Registries& registries) {
  const Result<int> result = ExplainCommand(args, registries);
  return result.ok() ? *result : Fail(result.status());
}

}  // namespace rewardloop::cli
