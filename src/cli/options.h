// What the command line asked for, as plain values. Filled by args.cc, the only file that sees
// CLI11.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rewardloop/config.h"

namespace rewardloop::cli {

// Exit statuses (docs/cli.md).
inline constexpr int kExitDone = 0;
inline constexpr int kExitThreshold = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInternal = 3;

enum class ProgressWhen { kAuto, kAlways, kNever };

// --max-unscored: a number of rows, or a share of them.
struct Allowance {
  double value = 0;
  bool is_percent = false;
  bool Exceeded(int64_t count, int64_t total) const {
    return is_percent ? static_cast<double>(count) * 100.0 > value * static_cast<double>(total)
                      : static_cast<double>(count) > value;
  }
};

struct ScoreArgs {
  std::string input;
  std::string output = "-";
  bool resume = false;
  bool timing = false;
  Allowance max_unscored;
  std::string trace;  // file, empty: none; so for the next two
  std::string metrics;
  std::string summary_json;
  ProgressWhen progress = ProgressWhen::kAuto;
  bool quiet = false;
};

struct ExplainArgs {
  std::string target;  // a file, or the name of a scorer or manager; empty: one item from the flags
  std::optional<int64_t> row;
  std::string id;
  std::optional<std::string> response;
  std::optional<std::string> ground_truth;
  std::string data_source;
  bool json = false;
};

struct CheckArgs {
  std::string input;  // empty: the configuration only
  std::string score_column;
  int64_t trial = 0;  // rows to score, twice
  bool json = false;
};

struct DiffArgs {
  std::string first, second;       // two scored files, or one file with two recipes
  std::string recipe_a, recipe_b;  // a scorer's name or a YAML file
  std::vector<std::string> args_a, args_b;
  double tolerance = 0;
  int64_t limit = 20;
  std::optional<int64_t> max_changed;
  bool json = false;
};

struct ListArgs {
  std::string what;    // "", "scorers", "managers", "dispatch", "presets"
  std::string scorer;  // details of one
  bool json = false;
};

struct ConfigArgs {
  bool json = false;
};

enum class Verb {
  kNone,
  kScore,
  kExplain,
  kCheck,
  kDiff,
  kList,
  kConfigShow,
  kConfigSchema,
  kVersion
};

struct Args {
  Verb verb = Verb::kNone;
  ConfigSource config;  // file and flags laid over each other
  ScoreArgs score;
  ExplainArgs explain;
  CheckArgs check;
  DiffArgs diff;
  ListArgs list;
  ConfigArgs config_verb;
  bool version_json = false;
};

// Registries of one run of the command.
struct Registries {
  ScorerRegistry scorers = ScorerRegistry::WithBuiltins();
  ManagerRegistry managers = ManagerRegistry::WithBuiltins();
};

// One file each. They return the exit status and print their own messages.
int RunScore(const Args& args, const Registries& registries);
int RunExplain(const Args& args, const Registries& registries);
int RunCheck(const Args& args, const Registries& registries);
int RunDiff(const Args& args, const Registries& registries);
int RunList(const Args& args, const Registries& registries);
int RunConfigShow(const Args& args, const Registries& registries);
int RunConfigSchema();
int RunVersion(const Args& args, const Registries& registries);

}  // namespace rewardloop::cli
