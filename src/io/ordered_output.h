// OrderedOutput: rows that finish in any order, written in the order of the input.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "io/output_file.h"
#include "rewardloop/clock.h"
#include "rewardloop/status.h"

namespace rewardloop {

// Rows are numbered from 0 in input order. A row is written as soon as all before it are. In a
// regular file a row that has waited OutputFile::kMaxDelayNs for an earlier one is written out of
// order, so that a kill loses little; Finish() then puts the file in order. A stream is always in
// order.
//
// Not thread-safe.
class OrderedOutput {
 public:
  OrderedOutput(OutputFile* file, Clock* clock) : file_(file), clock_(clock) {}

  // Row number `ordinal` is `line`, with its newline.
  Status Add(int64_t ordinal, std::string line);
  // Row number `ordinal` is in the file already, at `offset`.
  Status AddWritten(int64_t ordinal, int64_t offset);
  // Does what is due by the clock.
  Status Tick();
  // Earliest time of the clock at which Tick() has something to do.
  int64_t tick_due_ns() const;

  // Rows that wait for earlier ones, and their bytes.
  int64_t waiting_rows() const { return static_cast<int64_t>(waiting_.size()); }
  int64_t waiting_bytes() const { return waiting_bytes_; }

  // Offset of every row in the file where they are not in input order; empty when they are. Regular
  // files only.
  std::deque<int64_t> TakeOffsetsIfDisordered();

 private:
  struct Waiting {
    std::string line;
    int64_t since_ns;
  };
  Status Write(int64_t ordinal, std::string_view line);
  Status WritePrefix();
  bool Written(int64_t ordinal) const;
  void Note(int64_t ordinal, int64_t offset);

  OutputFile* const file_;
  Clock* const clock_;
  int64_t next_ = 0;  // the first row that is not written
  std::map<int64_t, Waiting> waiting_;
  int64_t waiting_bytes_ = 0;
  std::deque<int64_t> offsets_;  // by ordinal, -1: not written; only for regular files
};

// Rewrites the file `path`, of lines that begin at `offsets`, to hold these lines in this order and
// nothing else. The file is replaced in one step.
Status RewriteLines(const std::string& path, const std::deque<int64_t>& offsets);

}  // namespace rewardloop
