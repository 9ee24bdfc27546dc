// `rewardloop score`: checks everything that can be checked before the first row, runs, and says
// how it went.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "cli/console.h"
#include "cli/engine.h"
#include "cli/options.h"
#include "cli/score_run.h"
#include "cli/signals.h"
#include "io/atomic_file.h"
#include "io/output_lock.h"
#include "io/resume.h"
#include "pipeline/trace.h"
#include "rewardloop/version.h"

namespace rewardloop::cli {
namespace {

bool SameFile(const std::string& a, const std::string& b) {
  struct stat first{}, second{};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// For files that are new as well.
bool SamePlace(const std::string& a, const std::string& b) {
  std::error_code first, second;
  const auto path_a = std::filesystem::weakly_canonical(std::filesystem::absolute(a, first), first);
  const auto path_b = std::filesystem::weakly_canonical(std::filesystem::absolute(b, second), second);
  return SameFile(a, b) || (!first && !second && path_a == path_b);
}

// A report is written when the run is over: too late to find that it cannot be.
Status CheckReportPath(const std::string& flag, const std::string& path) {
  if (path == "-") return InvalidArgument(flag + " - : a report needs a file", "/dev/stdout is one");
  if (path.empty() || !IsRegularOrNew(path)) {
    std::error_code unknown;
    if (!std::filesystem::is_directory(path, unknown)) return Status();
    return InvalidArgument(flag + " " + path + ": is a directory, not a file");
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0) return Status();
  return InvalidArgument(flag + " " + path + ": cannot be written: " + std::strerror(errno));
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// One score command from its arguments to its exit status.
class ScoreCommand {
 public:
  ScoreCommand(const Args& args, const Registries& registries)
      : args_(args.score), source_(args.config), registries_(registries) {}

  Result<int> Run() {
    RL_ASSIGN_OR_RETURN(config_,
                        ResolveConfig(source_, &registries_.scorers, &registries_.managers));
    RL_RETURN_IF_ERROR(CheckArguments());
    RL_ASSIGN_OR_RETURN(FieldMap fields, FieldMap::Make(config_.preset, config_.fields));
    RL_ASSIGN_OR_RETURN(rows_, RowSource::Open(args_.input, std::move(fields), {}, InterruptFd()));
    RL_RETURN_IF_ERROR(Build());
    if (has_sidecar_) RL_RETURN_IF_ERROR(DescribeRun());
    if (has_sidecar_) {
      RL_ASSIGN_OR_RETURN(lock_, OutputLock::Acquire(args_.output));
    }
    if (args_.resume) RL_RETURN_IF_ERROR(ReadEarlierRun());
    RL_RETURN_IF_ERROR(OpenOutput());
    return Score();
  }

 private:
  Status CheckArguments() {
    if (config_.on_error.policy == OnError::Policy::kDropGroup) {
      return InvalidArgument("on_error: drop_group masks groups in a training loop; rows of a file have no mask",
                             "use null: each row's status says whether it has a score");
    }
    const bool to_stdout = args_.output == "-";
    if (!to_stdout && EndsWith(args_.output, ".gz")) {
      return InvalidArgument("--output " + args_.output + ": rows are written as plain JSONL",
                             "name it without .gz, or write to - and pipe through gzip");
    }
    RL_RETURN_IF_ERROR(CheckPaths());
    has_sidecar_ = !to_stdout && IsRegularOrNew(args_.output);
    if (!args_.resume) return Status();
    if (!has_sidecar_)
      return InvalidArgument("--resume needs an output file", "name it with --output FILE");
    if (args_.input == "-") {
      return InvalidArgument("--resume cannot tell whether standard input is the same as before",
                             "name the input file instead of -");
    }
    return Status();
  }

  // No file may take the place of another.
  Status CheckPaths() const {
    const std::pair<const char*, const std::string*> files[] = {
        {"the input", &args_.input},     {"--output", &args_.output},
        {"--trace", &args_.trace},       {"--metrics", &args_.metrics},
        {"--summary-json", &args_.summary_json},
    };
    for (const auto& file : files) {
      const auto& [flag, path] = file;
      if (path->empty() || *path == "-" || !IsRegularOrNew(*path)) continue;
      for (const auto* other = &files[0]; other != &file; ++other) {
        if (other->second->empty() || !SamePlace(*other->second, *path)) continue;
        return InvalidArgument(std::string(flag) + " " + *path + " is " +
                                   (other == &files[0] ? "the input itself"
                                                       : "the file of " + std::string(other->first)),
                               "write to another file");
      }
    }
    RL_RETURN_IF_ERROR(CheckReportPath("--metrics", args_.metrics));
    return CheckReportPath("--summary-json", args_.summary_json);
  }

  ProgressWhen ProgressMode() const { return args_.quiet ? ProgressWhen::kNever : args_.progress; }

  Status Build() {
    PipelineConfig config = config_;
    // In a file a missing score is null either way.
    if (config.on_error.policy == OnError::Policy::kRaise) config.on_error = OnError{OnError::Policy::kNull, 0};
    config.overflow = Overflow::kBlock;  // the intake keeps within the backlog by itself
    config.grouping = Grouping::kSubmit;
    config.unite_extra = false;  // what a row gets must not depend on the others
    config.uncollected_items = std::max(config.uncollected_items, 2 * config.backlog_items);
    config.uncollected_bytes = std::max(config.uncollected_bytes, 4 * config.backlog_bytes);
    std::shared_ptr<Engine> engine = MakeEngine(config, Progress::Enabled(ProgressMode()));
    std::function<void(const PipelineEvent&)> on_event;
    if (!args_.trace.empty()) {
      RL_ASSIGN_OR_RETURN(trace_, TraceWriter::Open(args_.trace));
      on_event = [this](const PipelineEvent& event) { trace_->OnEvent(event); };
    }
    RL_ASSIGN_OR_RETURN(built_, BuildPipeline(config, std::move(engine), registries_.scorers,
                                              registries_.managers, nullptr, std::move(on_event)));
    return Status();
  }

  // What --resume compares.
  Status DescribeRun() {
    Json scorers = Json::MakeObject();
    // The tables and composing managers can lead to any scorer.
    const bool only_one = !config_.scorer.empty() && config_.manager_args.size() == 0;
    for (const ScorerSpec& spec : registries_.scorers.specs()) {
      if (!only_one || spec.name == config_.scorer) scorers.Set(spec.name, spec.version);
    }
    for (const auto& [name, version] : built_.functions) scorers.Set(name, version);
    Json input;
    if (args_.input != "-" && rows_->reader().bytes_total() > 0) {
      RL_ASSIGN_OR_RETURN(input, FingerprintFile(args_.input));
    }
    sidecar_ = Json::MakeObject({{"schema", kSchemaVersion},
                                 {"version", Version()},
                                 {"input_path", args_.input},
                                 {"input", std::move(input)},
                                 {"config", config_.ScoringKeys()},
                                 {"scorers", std::move(scorers)},
                                 {"timing", args_.timing},
                                 {"finished", false}});
    return Status();
  }

  Status ReadEarlierRun() {
    if (lock_->made_file()) return Status();
    RL_RETURN_IF_ERROR(CheckSidecar(args_.output, sidecar_));
    std::vector<std::string> columns = rows_->fields().roots();
    for (const char* const name : {"reason", "extracted", "components", "error", "input"})
      columns.emplace_back(name);
    bool has_sessions = false;
    const auto add = [&](const DoneRow& row) {
      AddDone(row);
      has_sessions = has_sessions || ItemOf(row).session_id;
    };
    RL_ASSIGN_OR_RETURN(done_, ReadDoneRows(args_.output, columns, add));
    if (!has_sessions) return Status();
    // The rows of a session are judged together, so all of them run again or none.
    RL_ASSIGN_OR_RETURN(const IdTable unfinished, UnfinishedSessions());
    if (unfinished.size() == 0) return Status();
    summary_ = Summary();
    const auto is_whole = [&](const DoneRow& row) {
      const auto session = ItemOf(row).session_id;
      return !session || unfinished.Find(*session) == IdTable::kAbsent;
    };
    RL_ASSIGN_OR_RETURN(done_, ReadDoneRows(args_.output, columns, add, is_whole));
    return Status();
  }

  // Sessions of the input with a row that is not done.
  Result<IdTable> UnfinishedSessions() const {
    IdTable sessions;
    RL_ASSIGN_OR_RETURN(const auto rows,
                        RowSource::Open(args_.input, rows_->fields(), {}, InterruptFd()));
    Row row;
    while (true) {
      const auto found = rows->Next(&row);
      if (found.status().code() == StatusCode::kCancelled) return found.status();
      if (!found.ok() || !*found) return sessions;  // the run itself says what is wrong
      const RewardItem& item = row.item;
      if (row.problem.ok() && item.session_id && done_->ordinals.Find(item.item_id) == IdTable::kAbsent)
        sessions.Insert(*item.session_id, 0);
    }
  }

  RewardItem ItemOf(const DoneRow& done) const {
    Json columns = done.columns;
    // Input columns that had to make room have moved under `input`.
    if (const Json* moved = columns.Find("input"); moved && moved->is_object()) {
      const Json::Object members = moved->AsObject();
      for (const auto& [name, value] : members) columns.Set(name, value);
    }
    RewardItem item;
    (void)rows_->fields().ToItem(columns, "", &item);
    return item;
  }

  void AddDone(const DoneRow& done) {
    const RewardItem item = ItemOf(done);
    SummaryRow row;
    row.line_number = summary_.rows() + 1;
    row.item_id = done.item_id;
    row.data_source = item.data_source;
    if (item.group_id) row.group_id = *item.group_id;
    const Json* score = done.columns.Find("score");
    row.score = score->AsDouble();
    const Json* reason = done.columns.Find("reason");
    if (reason && reason->is_string()) row.reason = reason->AsString();
    const Json* extracted = done.columns.Find("extracted");
    if (extracted && extracted->is_string()) row.extracted = &extracted->AsString();
    row.response = item.Response();
    std::string truth = item.ground_truth.is_null() ? "" : TextOf(item.ground_truth);
    row.ground_truth = truth;
    std::vector<Component> components;
    if (const Json* parts = done.columns.Find("components"); parts && parts->is_object()) {
      for (const auto& [name, value] : parts->AsObject()) {
        if (value.is_number()) components.push_back({name, value.AsDouble()});
      }
    }
    row.components = &components;
    summary_.Add(row);
  }

  Status OpenOutput() {
    const int64_t keep = done_ ? done_->bytes : -1;
    const std::string sidecar_path = SidecarPath(args_.output);
    // In this order a crash in between never leaves rows beside the sidecar of another run.
    if (has_sidecar_ && !done_) ::unlink(sidecar_path.c_str());
    RL_ASSIGN_OR_RETURN(file_, OutputFile::Open(args_.output, keep, &Clock::Real()));
    if (has_sidecar_ && !done_)
      RL_RETURN_IF_ERROR(WriteFileAtomically(sidecar_path, sidecar_.Dump() + "\n"));
    if (lock_) lock_->KeepFile();
    output_.emplace(file_.get(), &Clock::Real());
    return Status();
  }

  Result<int> Score() {
    Clock& clock = Clock::Real();
    Progress progress(ProgressMode(), &clock);
    IntakeOptions limits;
    limits.max_rows = config_.backlog_items;
    limits.max_bytes = config_.backlog_bytes;
    limits.keep_groups = built_.manager->granularity() == Granularity::kGroup;
    Intake intake(rows_.get(), &built_, done_ ? &*done_ : nullptr, limits);
    ScoreRun run({&built_, rows_.get(), &intake, &*output_, &summary_, &progress, &clock,
                  config_.on_error, args_.timing});
    const int64_t started = clock.NowNs();
    const RunOutcome outcome = run.Run();
    const double seconds = static_cast<double>(clock.NowNs() - started) / 1e9;
    built_.engine->log().Flush();
    progress.Clear();
    RL_ASSIGN_OR_RETURN(const int exit_status, Finish(outcome, seconds));
    return exit_status;
  }

  Result<int> Finish(const RunOutcome& outcome, double seconds) {
    const bool complete = outcome.status.ok() && !outcome.interrupted;
    Status written = file_->Close();
    if (complete && written.ok()) {
      const auto offsets = output_->TakeOffsetsIfDisordered();
      if (!offsets.empty()) written = RewriteLines(args_.output, offsets);
    }
    if (complete && written.ok() && has_sidecar_) {
      sidecar_.Set("finished", true);
      written = WriteFileAtomically(SidecarPath(args_.output), sidecar_.Dump() + "\n");
    }
    const Status reports = WriteReports(outcome, seconds);
    if (!args_.quiet && summary_.rows() > 0) {
      const std::string text = summary_.Text(seconds, outcome.fresh_rows);
      std::fwrite(text.data(), 1, text.size(), stderr);
    }
    if (!outcome.status.ok()) {
      // One message is enough where reading and writing failed for one reason.
      return Fail(outcome.status);
    }
    RL_RETURN_IF_ERROR(written);
    RL_RETURN_IF_ERROR(reports);
    if (outcome.interrupted) return Interrupted();
    if (summary_.rows() == 0) Warn(InvalidArgument(rows_->reader().name() + ": there are no rows"));
    return Judge();
  }

  // Each is written whatever becomes of the others.
  Status WriteReports(const RunOutcome& outcome, double seconds) {
    Status first;
    const auto note = [&](const Status& status) {
      if (first.ok()) first = status;
    };
    if (trace_) note(trace_->Close());
    if (!args_.metrics.empty()) {
      const Json metrics = MetricsToJson(built_.engine->metrics().Snapshot());
      note(WriteFileAtomically(args_.metrics, metrics.Dump() + "\n"));
    }
    if (!args_.summary_json.empty()) {
      note(WriteFileAtomically(args_.summary_json,
                               summary_.ToJson(seconds, outcome.fresh_rows).Dump() + "\n"));
    }
    return first;
  }

  int Interrupted() const {
    const std::string what = "interrupted after " + Plural(summary_.rows(), "row");
    const std::string hint =
        has_sidecar_ && args_.input != "-" ? "run the same command with --resume to go on" : "";
    Warn(Cancelled(what, hint));
    return 128 + InterruptSignal();
  }

  int Judge() const {
    const int64_t missing = summary_.without_score();
    if (!args_.max_unscored.Exceeded(missing, summary_.rows())) return kExitDone;
    char allowed[32];
    std::snprintf(allowed, sizeof allowed, "%.15g%s", args_.max_unscored.value,
                  args_.max_unscored.is_percent ? "%" : "");
    Warn(InvalidArgument(
        Plural(missing, "row") + " without a score, --max-unscored allows " + allowed,
        "each row's `status` and `error` say why"));
    return kExitThreshold;
  }

  const ScoreArgs& args_;
  const ConfigSource& source_;
  const Registries& registries_;
  PipelineConfig config_;
  std::unique_ptr<RowSource> rows_;
  std::unique_ptr<TraceWriter> trace_;  // outlives the pipeline that records into it
  BuiltPipeline built_;
  bool has_sidecar_ = false;
  Json sidecar_;
  std::unique_ptr<OutputLock> lock_;
  std::optional<DoneRows> done_;
  Summary summary_;
  std::unique_ptr<OutputFile> file_;
  std::optional<OrderedOutput> output_;
};

}  // namespace

int RunScore(const Args& args, const Registries& registries) {
  InstallSignalHandlers();
  ScoreCommand command(args, registries);
  const Result<int> result = command.Run();
  return result.ok() ? *result : Fail(result.status());
}

}  // namespace rewardloop::cli
