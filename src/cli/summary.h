// Summary: what a person wants to know of a scored file, gathered row by row in bounded memory.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "rewardloop/item.h"
#include "rewardloop/result.h"

namespace rewardloop::cli {

// One row as the summary sees it.
struct SummaryRow {
  int64_t line_number = 0;
  std::string_view item_id;
  std::string_view data_source;
  std::string_view group_id;  // empty: none
  ItemStatus status = ItemStatus::kScored;
  std::optional<double> score;
  std::string_view reason;
  std::string_view error_message;
  const std::vector<Component>* components = nullptr;
  const std::string* response = nullptr;   // null: no text at hand
  const std::string* extracted = nullptr;  // null: nothing was found
  std::string_view ground_truth;           // as text; empty: none
};

// Not thread-safe.
class Summary {
 public:
  void Add(const SummaryRow& row);
  // True when Add() wants response and ground truth of such a row: it may be shown as a failure.
  bool WantsText(ItemStatus status, const std::optional<double>& score,
                 std::string_view reason) const;

  int64_t rows() const { return rows_; }
  int64_t without_score() const { return without_score_; }
  // Groups of two or more scored rows, all of one score.
  int64_t zero_spread_groups() const;
  int64_t groups() const { return static_cast<int64_t>(groups_.size()); }

  // For a person, several lines. `seconds` is the time it took to score `fresh_rows`.
  std::string Text(double seconds, int64_t fresh_rows) const;
  Json ToJson(double seconds, int64_t fresh_rows) const;

 private:
  struct Mean {
    double sum = 0;
    int64_t count = 0;
    int64_t missing = 0;
    void Add(double value) {
      sum += value;
      ++count;
    }
  };
  struct Source {
    int64_t rows = 0;
    Mean score;
    std::array<int64_t, kItemStatusCount> by_status{};
  };
  struct GroupSpread {
    double first = 0;
    uint32_t scored = 0;
    bool differs = false;
  };
  // The first row that failed in one way.
  struct Failure {
    int rank = 0;
    int64_t line_number = 0;
    int64_t count = 0;
    std::string item_id, reason, detail, response, ground_truth;
    ItemStatus status = ItemStatus::kError;
    std::optional<double> score;
  };
  void AddFailure(const SummaryRow& row);
  std::vector<const Failure*> TopFailures() const;
  std::string TextOfFailure(const Failure& failure) const;

  int64_t rows_ = 0;
  int64_t without_score_ = 0;
  int64_t policy_values_ = 0;  // scores of rows without a verdict: on_error names a number
  std::map<std::string, Source, std::less<>> sources_;
  std::map<std::string, Mean, std::less<>> components_;
  std::unordered_map<uint64_t, GroupSpread> groups_;
  std::map<std::string, Failure, std::less<>> failures_;  // by status and reason
};

}  // namespace rewardloop::cli
