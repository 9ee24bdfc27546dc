// `rewardloop diff`: two scored files, or two recipes on one file.
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "cli/args.h"
#include "cli/comparison.h"
#include "cli/console.h"
#include "cli/engine.h"
#include "cli/options.h"
#include "cli/row_source.h"
#include "cli/row_window.h"
#include "cli/signals.h"
#include "io/id_table.h"

namespace rewardloop::cli {
namespace {

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Rows of a scored file, one by one.
class ScoredFile {
 public:
  static Result<std::unique_ptr<ScoredFile>> Open(const std::string& path,
                                                  const PipelineConfig& config) {
    RL_ASSIGN_OR_RETURN(FieldMap fields, FieldMap::Make(config.preset, config.fields));
    std::vector<std::string> extra = {"item_id", "status", "score", "reason", "extracted"};
    RL_ASSIGN_OR_RETURN(std::unique_ptr<RowSource> rows,
                        RowSource::Open(path, std::move(fields), std::move(extra), InterruptFd()));
    auto file = std::make_unique<ScoredFile>();
    file->rows_ = std::move(rows);
    return file;
  }

  Result<bool> Next(std::string* item_id, int64_t* line_number, Judged* judged) {
    Row row;
    RL_ASSIGN_OR_RETURN(const bool found, rows_->Next(&row));
    if (!found) return false;
    const Json* id = row.columns.Find("item_id");
    const Json* status = row.columns.Find("status");
    const Json* score = row.columns.Find("score");
    if (!id || !id->is_string() || !status || !status->is_string() || !score) {
      return InvalidArgument(
          rows_->Place(row) + ": this is not a scored row: it needs item_id, status and score",
          "`rewardloop score` writes them; --a and --b compare two recipes on a file without "
          "scores");
    }
    *line_number = row.line_number;
    *item_id = id->AsString();
    judged->status = status->AsString();
    judged->score = score->is_number() ? std::optional(score->AsDouble()) : std::nullopt;
    const Json* reason = row.columns.Find("reason");
    judged->reason = reason && reason->is_string() ? reason->AsString() : "";
    const Json* extracted = row.columns.Find("extracted");
    judged->extracted =
        extracted && !extracted->is_null() ? std::optional(TextOf(*extracted)) : std::nullopt;
    judged->group_id = row.item.group_id.value_or("");
    return true;
  }

 private:
  std::unique_ptr<RowSource> rows_;
};

// What a recipe needs to judge the rows of a window.
struct Side {
  PipelineConfig config;
  std::optional<FieldMap> fields;
  BuiltPipeline built;
  bool keep_groups = false;
  std::vector<Judged> judged;      // a row each
  std::vector<RewardItem> items;   // of the rows that are items
  std::vector<size_t> row_of_item;
};

Judged JudgedOf(const RewardResult& result, const std::string& group_id) {
  return {std::string(ItemStatusName(result.status)), result.score, result.reason, result.extracted,
          group_id};
}

class DiffCommand {
 public:
  DiffCommand(const Args& args, const Registries& registries)
      : args_(args.diff),
        source_(args.config),
        registries_(registries),
        comparison_(args_.tolerance, args_.limit) {}

  Result<int> Run() {
    const bool recipes = !args_.recipe_a.empty() || !args_.recipe_b.empty() ||
                         !args_.args_a.empty() || !args_.args_b.empty();
    if (recipes && !args_.second.empty()) {
      return InvalidArgument("two files and recipes are given",
                             "compare two scored files, or two recipes on one file");
    }
    if (!recipes && args_.second.empty()) {
      return InvalidArgument("nothing to compare " + args_.first + " with",
                             "name a second scored file, or two recipes with --a and --b");
    }
    RL_RETURN_IF_ERROR(recipes ? CompareRecipes() : CompareFiles());
    const std::string text = args_.json ? comparison_.ToJson(name_a_, name_b_).Dump() + "\n"
                                        : comparison_.Text(name_a_, name_b_);
    if (!Print(text)) return kExitUsage;
    return args_.max_changed && comparison_.changed() > *args_.max_changed ? kExitThreshold
                                                                           : kExitDone;
  }

 private:
  Status CompareFiles() {
    name_a_ = args_.first;
    name_b_ = args_.second;
    RL_ASSIGN_OR_RETURN(const PipelineConfig config, ResolveConfig(source_));
    RL_ASSIGN_OR_RETURN(const std::unique_ptr<ScoredFile> a, ScoredFile::Open(args_.first, config));
    RL_ASSIGN_OR_RETURN(const std::unique_ptr<ScoredFile> b,
                        ScoredFile::Open(args_.second, config));
    std::unordered_map<std::string, Judged> of_a;
    std::vector<std::string> order;
    std::string id;
    int64_t line = 0;
    while (true) {
      Judged judged;
      RL_ASSIGN_OR_RETURN(const bool found, a->Next(&id, &line, &judged));
      if (!found) break;
      if (!of_a.emplace(id, std::move(judged)).second) return Twice(args_.first, line, id);
      order.push_back(id);
    }
    IdTable seen;
    while (true) {
      Judged judged;
      RL_ASSIGN_OR_RETURN(const bool found, b->Next(&id, &line, &judged));
      if (!found) break;
      if (seen.Insert(id, 0) != IdTable::kAbsent) return Twice(args_.second, line, id);
      const auto partner = of_a.find(id);
      if (partner == of_a.end())
        comparison_.AddOnlyInB(id);
      else
        comparison_.Add(line, id, partner->second, judged);
    }
    for (const std::string& candidate : order) {
      if (seen.Find(candidate) == IdTable::kAbsent) comparison_.AddOnlyInA(candidate);
    }
    return Status();
  }

  static Status Twice(const std::string& file, int64_t line, const std::string& id) {
    return AlreadyExists(
        file + ":" + std::to_string(line) + ":1: item_id '" + id + "' stands in this file twice",
        "an unfinished run? finish it with --resume");
  }

  // The configuration of one side: the common flags, then the recipe.
  Result<PipelineConfig> Recipe(const std::string& recipe,
                                const std::vector<std::string>& assignments, const char* flag,
                                std::string* name) const {
    ConfigSource source = source_;
    struct stat info{};
    const bool is_file = EndsWith(recipe, ".yaml") || EndsWith(recipe, ".yml");
    if (is_file || (!registries_.scorers.Find(recipe) && ::stat(recipe.c_str(), &info) == 0)) {
      RL_ASSIGN_OR_RETURN(const ConfigSource file, ReadConfigFile(recipe));
      if (file.values.is_object()) {
        for (const auto& [key, value] : file.values.AsObject())
          source.Set(key, value, file.OriginOf(key));
      }
      *name = recipe;
    } else if (!recipe.empty()) {
      source.Set("scorer", recipe, flag);
      source.values.Remove("scorer_args");
      *name = recipe;
    } else {
      const Json* scorer = source.values.Find("scorer");
      *name = scorer && scorer->is_string() ? scorer->AsString() : "by data source";
    }
    const std::string arg_flag = std::string(flag) + "-arg";
    const Json* scorer = source.values.Find("scorer");
    const ScorerSpec* spec =
        scorer && scorer->is_string() ? registries_.scorers.Find(scorer->AsString()) : nullptr;
    for (const std::string& assignment : assignments) {
      RL_ASSIGN_OR_RETURN(auto member,
                          ParseAssignment(arg_flag, assignment, spec ? &spec->args : nullptr));
      source.Set("scorer_args." + member.first, std::move(member.second), arg_flag);
      *name += " " + assignment;
    }
    RL_ASSIGN_OR_RETURN(PipelineConfig config,
                        ResolveConfig(source, &registries_.scorers, &registries_.managers));
    config.on_error = OnError{OnError::Policy::kNull, 0};
    config.overflow = Overflow::kBlock;
    config.grouping = Grouping::kSubmit;
    config.uncollected_items = std::max(config.uncollected_items, 2 * config.backlog_items);
    config.uncollected_bytes = std::max(config.uncollected_bytes, 4 * config.backlog_bytes);
    return config;
  }

  Status CompareRecipes() {
    Side a, b;
    RL_ASSIGN_OR_RETURN(a.config, Recipe(args_.recipe_a, args_.args_a, "--a", &name_a_));
    RL_ASSIGN_OR_RETURN(b.config, Recipe(args_.recipe_b, args_.args_b, "--b", &name_b_));
    const auto engine = MakeEngine(a.config);
    for (Side* side : {&a, &b}) {
      const PipelineConfig& config = side->config;
      RL_ASSIGN_OR_RETURN(
          side->built, BuildPipeline(config, engine, registries_.scorers, registries_.managers));
      RL_ASSIGN_OR_RETURN(side->fields, FieldMap::Make(config.preset, config.fields));
      side->keep_groups = side->built.manager->granularity() == Granularity::kGroup;
    }
    RL_ASSIGN_OR_RETURN(
        const std::unique_ptr<RowSource> rows,
        RowSource::Open(args_.first, *a.fields, b.fields->roots(), InterruptFd()));
    RowWindow window(std::min(a.config.backlog_items, b.config.backlog_items),
                     std::min(a.config.backlog_bytes, b.config.backlog_bytes),
                     a.keep_groups || b.keep_groups);
    IdTable seen;
    std::vector<int64_t> lines;
    std::vector<std::string> ids;
    while (true) {
      Row row;
      RL_ASSIGN_OR_RETURN(const bool found, rows->Next(&row));
      if (!found || window.BeginsWith(row)) {
        RL_RETURN_IF_ERROR(CompareWindow(lines, ids, &a, &b));
        lines.clear();
        ids.clear();
      }
      if (!found) return Status();
      if (seen.Insert(row.item.item_id, 0) != IdTable::kAbsent)
        return Twice(args_.first, row.line_number, row.item.item_id);
      if (row.problem.ok()) RL_RETURN_IF_ERROR(window.Join(*rows, row));
      lines.push_back(row.line_number);
      ids.push_back(row.item.item_id);
      RL_RETURN_IF_ERROR(AddToSide(*rows, row, row.item, row.problem, &a));
      RewardItem item;
      const std::string default_id = "line:" + std::to_string(row.line_number);
      const Status problem = b.fields->ToItem(row.columns, default_id, &item);
      RL_RETURN_IF_ERROR(AddToSide(*rows, row, std::move(item), problem, &b));
    }
  }

  // As `score` would: a row that is no item ends as bad_row, but the first one tells that columns
  // are named wrongly.
  static Status AddToSide(const RowSource& rows, const Row& row, RewardItem item,
                          const Status& problem, Side* side) {
    const bool misnamed = problem.code() == StatusCode::kNotFound && row.ordinal == 0;
    const Status stops =
        misnamed ? problem : problem.ok() ? side->built.manager->Admit(item) : Status();
    if (!stops.ok())
      return Status(stops.code(), rows.Place(row) + ": " + stops.message(), stops.hint());
    side->judged.push_back({"error", std::nullopt, "bad_row", std::nullopt, item.group_id.value_or("")});
    if (!problem.ok()) return Status();
    if (!side->keep_groups) {
      item.group_id.reset();
      item.group_size.reset();
    }
    side->row_of_item.push_back(side->judged.size() - 1);
    side->items.push_back(std::move(item));
    return Status();
  }

  Status CompareWindow(const std::vector<int64_t>& lines, const std::vector<std::string>& ids,
                       Side* a, Side* b) {
    BatchHandle handles[2];
    Side* const sides[2] = {a, b};
    for (int i = 0; i < 2; ++i) {
      if (sides[i]->items.empty()) continue;
      RL_ASSIGN_OR_RETURN(handles[i], sides[i]->built.pipeline->Submit(std::exchange(sides[i]->items, {})));
    }
    for (int i = 0; i < 2; ++i) {
      Side& side = *sides[i];
      if (!side.row_of_item.empty()) RL_RETURN_IF_ERROR(Fill(handles[i], &side));
    }
    for (size_t i = 0; i < lines.size(); ++i)
      comparison_.Add(lines[i], ids[i], a->judged[i], b->judged[i]);
    for (Side* side : sides) {
      side->judged.clear();
      side->row_of_item.clear();
    }
    return Status();
  }

  static Status Fill(const BatchHandle& handle, Side* side) {
    RL_ASSIGN_OR_RETURN(const Collected collected,
                        CollectUnlessInterrupted(side->built.pipeline.get(), handle));
    for (size_t i = 0; i < collected.results.size() && i < side->row_of_item.size(); ++i) {
      Judged& judged = side->judged[side->row_of_item[i]];
      judged = JudgedOf(collected.results[i], judged.group_id);
    }
    return Status();
  }

  const DiffArgs& args_;
  const ConfigSource& source_;
  const Registries& registries_;
  Comparison comparison_;
  std::string name_a_, name_b_;
};

}  // namespace

int RunDiff(const Args& args, const Registries& registries) {
  InstallSignalHandlers();
  DiffCommand command(args, registries);
  const Result<int> result = command.Run();
  if (InterruptSignal() != 0) return 128 + InterruptSignal();
  return result.ok() ? *result : Fail(result.status());
}

}  // namespace rewardloop::cli
