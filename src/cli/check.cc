// `rewardloop check`: what can be wrong with a configuration and with rows, found without scoring
// more than the rows of a trial.
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "cli/console.h"
#include "cli/engine.h"
#include "cli/findings.h"
#include "cli/options.h"
#include "cli/row_source.h"
#include "cli/row_window.h"
#include "cli/signals.h"
#include "cli/trial.h"
#include "io/id_table.h"

namespace rewardloop::cli {
namespace {

constexpr size_t kNamedRows = 8;

// Rows that share one reward, and the trajectories of one prompt.
class GroupChecks {
 public:
  void Add(const std::string& place, int64_t line, const RewardItem& item, const Json* score,
           Findings* findings) {
    const std::string rollout = RolloutOf(item);
    if (!rollout.empty() && score && score->is_number()) {
      rollouts_[rollout].push_back({line, score->AsDouble()});
    }
    if (!item.group_id) return;
    Group& group = groups_[*item.group_id];
    if (group.first_place.empty()) group.first_place = place;
    group.trajectories.insert(item.session_id    ? "session " + *item.session_id
                              : !rollout.empty() ? rollout
                                                 : "line " + std::to_string(line));
    if (!item.group_size) return;
    if (group.size && *group.size != *item.group_size) {
      findings->Add(true, "group_size", *item.group_id, place,
                    "group '" + *item.group_id + "' has the group_size " +
                        std::to_string(*group.size) + " before and " +
                        std::to_string(*item.group_size) + " here");
    }
    group.size = item.group_size;
  }

  void Finish(const std::string& file, Findings* findings) const {
    for (const auto& [rollout, rows] : rollouts_) CheckRollout(file, rollout, rows, findings);
    for (const auto& [id, group] : groups_) {
      const int64_t count = static_cast<int64_t>(group.trajectories.size());
      if (!group.size || *group.size == count) continue;
      findings->Add(true, "group_size", id, group.first_place,
                    "group '" + id + "' has " + std::to_string(count) +
                        " trajectories, its group_size is " + std::to_string(*group.size));
    }
  }
  int64_t groups() const { return static_cast<int64_t>(groups_.size()); }
  int64_t rollouts() const { return static_cast<int64_t>(rollouts_.size()); }

 private:
  struct ScoredRow {
    int64_t line;
    double score;
  };
  struct Group {
    std::string first_place;
    std::optional<int64_t> size;
    std::set<std::string> trajectories;
  };

  // The rollout's own id, else its index in the group; empty: the row is a rollout of its own. In a
  // session the index counts rows, so it tells nothing of rollouts.
  static std::string RolloutOf(const RewardItem& item) {
    if (item.rollout_id) return "rollout '" + *item.rollout_id + "'";
    if (!item.index || item.session_id || !item.group_id) return "";
    return "rollout " + std::to_string(*item.index) + " of group '" + *item.group_id + "'";
  }

  static void CheckRollout(const std::string& file, const std::string& rollout,
                           const std::vector<ScoredRow>& rows, Findings* findings) {
    bool differ = false;
    for (const ScoredRow& row : rows) differ = differ || row.score != rows.front().score;
    if (!differ) return;
    std::string message = rollout + ": its rows have different rewards:";
    for (size_t i = 0; i < rows.size() && i < kNamedRows; ++i) {
      std::string value;
      AppendJsonDouble(rows[i].score, &value);
      message += (i == 0 ? " line " : ", line ") + std::to_string(rows[i].line) + " " + value;
    }
    if (rows.size() > kNamedRows)
      message += " and " + std::to_string(rows.size() - kNamedRows) + " more";
    findings->Add(true, "rollout", rollout, file + ":" + std::to_string(rows.front().line) + ":1",
                  message, "all rows of a rollout share one reward");
  }

  std::map<std::string, std::vector<ScoredRow>> rollouts_;
  std::map<std::string, Group> groups_;
};

class CheckCommand {
 public:
  CheckCommand(const Args& args, const Registries& registries)
      : args_(args.check), source_(args.config), registries_(registries), trial_(args_.trial) {}

  Result<int> Run() {
    const auto config = ResolveConfig(source_, &registries_.scorers, &registries_.managers);
    if (!config.ok()) return config.status();
    config_ = *config;
    // Builds what a run would build, so that nothing is found only then.
    PipelineConfig strict = config_;
    strict.unknown_rewards = UnknownRewards::kRaise;
    strict.on_error = OnError{OnError::Policy::kNull, 0};  // a trial wants to see what has no score
    RL_ASSIGN_OR_RETURN(built_, BuildPipeline(strict, MakeEngine(strict),
                                              registries_.scorers, registries_.managers));
    window_.emplace(config_.backlog_items, config_.backlog_bytes,
                    built_.manager->granularity() == Granularity::kGroup);
    if (!args_.input.empty()) RL_RETURN_IF_ERROR(CheckRows());
    if (trial_.tried() > 0) RL_RETURN_IF_ERROR(trial_.Run(built_.pipeline.get(), &findings_));
    return Report();
  }

 private:
  Status CheckRows() {
    RL_ASSIGN_OR_RETURN(FieldMap fields, FieldMap::Make(config_.preset, config_.fields));
    std::vector<std::string> extra = {"score", "reward"};
    if (!args_.score_column.empty()) extra = {args_.score_column};
    score_columns_ = extra;
    RL_ASSIGN_OR_RETURN(
        const std::unique_ptr<RowSource> rows,
        RowSource::Open(args_.input, std::move(fields), std::move(extra), InterruptFd()));
    file_ = rows->reader().name();
    Row row;
    while (true) {
      auto found = rows->Next(&row);
      if (found.status().code() == StatusCode::kCancelled) return found.status();
      if (!found.ok() && found.status().code() != StatusCode::kInvalidArgument) {
        // What was found before is worth reporting.
        findings_.AddStatus("input", "", "", found.status());
        break;
      }
      if (!found.ok()) {
        ++rows_;
        findings_.AddStatus("syntax", found.status().message(), "", found.status());
        continue;
      }
      if (!*found) break;
      ++rows_;
      CheckRow(*rows, row);
    }
    group_checks_.Finish(file_, &findings_);
    if (rows_ == 0) findings_.Add(false, "empty", "", file_, "there are no rows");
    return Status();
  }

  void CheckRow(const RowSource& rows, const Row& row) {
    const std::string place = rows.Place(row);
    const uint32_t line =
        static_cast<uint32_t>(std::min<int64_t>(row.line_number, IdTable::kAbsent - 1));
    if (const uint32_t before = ids_.Insert(row.item.item_id, line); before != IdTable::kAbsent) {
      findings_.Add(true, "duplicate_id", row.item.item_id, place,
                    "item_id '" + row.item.item_id + "' stands in line " + std::to_string(before) +
                        " already");
    }
    (void)window_->BeginsWith(row);
    if (!row.problem.ok()) {
      findings_.AddStatus("field", row.problem.message(), place, row.problem);
      return;
    }
    ++sources_[row.item.data_source];
    if (const Status joined = window_->Join(rows, row); !joined.ok())
      findings_.AddStatus("session", *row.item.session_id, "", joined);
    if (CheckScorer(place, row.item)) trial_.Add(place, row.item);
    const Json* score = nullptr;
    for (const std::string& column : score_columns_) {
      if (!score || score->is_null()) score = row.columns.Find(column);
    }
    group_checks_.Add(place, row.line_number, row.item, score, &findings_);
  }

  // False when a run would not take the item.
  bool CheckScorer(const std::string& place, const RewardItem& item) {
    const Status admitted = built_.manager->Admit(item);
    if (!admitted.ok()) {
      const bool only_warn = config_.unknown_rewards == UnknownRewards::kWarn;
      findings_.Add(!only_warn, "data_source", item.data_source, place, admitted.message(),
                    only_warn ? "these rows will be unscorable" : admitted.hint());
      return false;
    }
    const Scorer* const scorer = built_.scorers->Select(item);
    if (!scorer) {
      findings_.Add(
          false, "no_scorer", item.data_source, place,
          "data source '" + item.data_source + "' is known, but there is no scorer for it",
          "these rows will be unscorable; --data-source '" + item.data_source +
              "=NAME' gives it one");
      return true;
    }
    if (item.ground_truth.is_null() && NeedsTruth(scorer)) {
      findings_.Add(true, "ground_truth", scorer->name(), place,
                    "there is no ground truth, and scorer '" + scorer->name() + "' needs one",
                    "name its column with --field ground_truth=COLUMN");
    }
    return true;
  }

  // Asks the scorer about an item that has none.
  bool NeedsTruth(const Scorer* scorer) {
    const auto known = needs_truth_.find(scorer);
    if (known != needs_truth_.end()) return known->second;
    bool needs = false;
    if (scorer->execution() == Execution::kCpu) {
      RewardItem probe;
      probe.item_id = "probe";
      probe.outputs.emplace_back().text = "";
      ScoreContext context(nullptr, kNoDeadline, std::stop_token(), 0);
      try {
        const Verdict verdict = scorer->Score(probe, context);
        needs = verdict.status == ItemStatus::kUnscorable && verdict.error &&
                verdict.error->error_class == "no_ground_truth";
      } catch (...) {
        // A parity scorer may raise as its origin does; then nothing is known.
      }
    }
    needs_truth_[scorer] = needs;
    return needs;
  }

  int Report() const {
    if (args_.json) {
      Json sources = Json::MakeObject();
      for (const auto& [name, count] : sources_) sources.Set(name, count);
      const Json report = Json::MakeObject({{"rows", rows_},
                                            {"data_sources", std::move(sources)},
                                            {"groups", group_checks_.groups()},
                                            {"rollouts", group_checks_.rollouts()},
                                            {"tried", trial_.tried()},
                                            {"errors", findings_.errors()},
                                            {"warnings", findings_.warnings()},
                                            {"findings", findings_.ToJson()}});
      Print(report.Dump() + "\n");
    } else {
      const std::string text = findings_.Text();
      std::fwrite(text.data(), 1, text.size(), stderr);
      std::string line = findings_.errors() == 0 ? "ok" : "not ok";
      if (args_.input.empty()) {
        line += ": the configuration";
      } else {
        line += ": " + Plural(rows_, "row") + ", " +
                Plural(static_cast<int64_t>(sources_.size()), "data source");
        if (group_checks_.groups() > 0) line += ", " + Plural(group_checks_.groups(), "group");
        if (group_checks_.rollouts() > 0)
          line += ", " + Plural(group_checks_.rollouts(), "rollout") + " with rewards";
        if (trial_.tried() > 0) line += ", " + Plural(trial_.tried(), "row") + " tried";
      }
      if (findings_.errors() > 0) line += "; " + Plural(findings_.errors(), "error");
      if (findings_.warnings() > 0) line += "; " + Plural(findings_.warnings(), "warning");
      Print(line + "\n");
    }
    return findings_.errors() == 0 ? kExitDone : kExitUsage;
  }

  const CheckArgs& args_;
  const ConfigSource& source_;
  const Registries& registries_;
  PipelineConfig config_;
  BuiltPipeline built_;
  std::string file_;
  std::vector<std::string> score_columns_;
  int64_t rows_ = 0;
  std::map<std::string, int64_t> sources_;
  IdTable ids_;
  std::optional<RowWindow> window_;
  GroupChecks group_checks_;
  Trial trial_;
  Findings findings_;
  std::unordered_map<const Scorer*, bool> needs_truth_;
};

}  // namespace

int RunCheck(const Args& args, const Registries& registries) {
  InstallSignalHandlers();
  CheckCommand command(args, registries);
  const Result<int> result = command.Run();
  if (InterruptSignal() != 0) return 128 + InterruptSignal();
  return result.ok() ? *result : Fail(result.status());
}

}  // namespace rewardloop::cli
