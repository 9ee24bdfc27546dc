// Comparison: what changed between two verdicts on the same rows, and why.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "rewardloop/json.h"

namespace rewardloop::cli {

// A verdict as an output row has it.
struct Judged {
  std::string status;
  std::optional<double> score;
  std::string reason;
  std::optional<std::string> extracted;
  std::string group_id;  // empty: none
};

// Not thread-safe.
class Comparison {
 public:
  Comparison(double tolerance, int64_t limit) : tolerance_(tolerance), limit_(limit) {}

  void Add(int64_t line_number, const std::string& item_id, const Judged& a, const Judged& b);
  void AddOnlyInA(const std::string& item_id);
  void AddOnlyInB(const std::string& item_id);

  int64_t changed() const { return changed_; }
  std::string Text(const std::string& name_a, const std::string& name_b) const;
  Json ToJson(const std::string& name_a, const std::string& name_b) const;

 private:
  struct Spread {
    std::optional<double> first[2];
    bool differs[2] = {false, false};
    int64_t scored[2] = {0, 0};
  };
  struct Change {
    int64_t line_number;
    std::string item_id;
    Judged a, b;
  };
  void AddToGroup(const std::string& group_id, int side, const std::optional<double>& score);
  int64_t ZeroSpread(int side) const;

  const double tolerance_;
  const int64_t limit_;
  int64_t rows_ = 0;
  int64_t changed_ = 0, up_ = 0, down_ = 0, status_changed_ = 0, reason_only_ = 0;
  int64_t scored_in_both_ = 0;
  double sum_a_ = 0, sum_b_ = 0;
  int64_t only_a_ = 0, only_b_ = 0;
  std::string first_only_a_, first_only_b_;
  std::map<std::string, int64_t> why_;  // "reason -> reason, score -> score"
  std::vector<Change> changes_;
  std::unordered_map<std::string, Spread> groups_;
};

}  // namespace rewardloop::cli
