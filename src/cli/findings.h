// Findings of `rewardloop check`: like ones are counted together, with the place of the first.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rewardloop/json.h"

namespace rewardloop::cli {

// Not thread-safe.
class Findings {
 public:
  // `key` makes findings alike.
  void Add(bool is_error, const std::string& kind, const std::string& key, const std::string& place,
           const std::string& message, const std::string& hint = "");
  // An error of the same kind, key and text as `status`.
  void AddStatus(const std::string& kind, const std::string& key, const std::string& place,
                 const Status& status);

  int64_t errors() const { return errors_; }
  int64_t warnings() const { return warnings_; }
  std::string Text() const;
  Json ToJson() const;

 private:
  struct Finding {
    bool is_error;
    std::string kind, place, message, hint;
    int64_t count;
  };
  std::vector<Finding> findings_;
  std::map<std::pair<std::string, std::string>, size_t> index_;
  std::map<std::string, int64_t> listed_, unlisted_;  // by kind, within and beyond the limit
  int64_t errors_ = 0;
  int64_t warnings_ = 0;
};

}  // namespace rewardloop::cli
