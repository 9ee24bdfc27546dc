// OutputFile: append-only bytes with a bounded delay until they are on their way to disk.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rewardloop/clock.h"
#include "rewardloop/status.h"

namespace rewardloop {

// Not thread-safe.
class OutputFile {
 public:
  // Rows wait at most this long in memory.
  static constexpr int64_t kMaxDelayNs = 1'000'000'000;

  // `path` "-" is standard output. `keep_bytes` >= 0 keeps that much of a file that is there and
  // cuts the rest; -1 starts empty. Errors read "path: what is wrong".
  static Result<std::unique_ptr<OutputFile>> Open(const std::string& path, int64_t keep_bytes,
                                                  Clock* clock);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Adds bytes; writes when much has gathered. Returns the offset of their first byte.
  Result<int64_t> Append(std::string_view bytes);
  // Writes what has waited for kMaxDelayNs.
  Status FlushIfDue();
  // Nanoseconds of the clock when FlushIfDue() has something to do; kNoDeadline when nothing waits.
  int64_t flush_due_ns() const;
  Status Flush();
  // Flush, to the disk itself where it is a regular file, and close.
  Status Close();

  bool is_regular() const { return is_regular_; }
  int64_t size() const { return size_; }  // with what waits

 private:
  OutputFile(int fd, std::string name, bool is_regular, int64_t size, Clock* clock);

  int fd_;
  const std::string name_;
  const bool is_regular_;
  int64_t size_;
  Clock* const clock_;
  std::string buffer_;
  int64_t oldest_ns_ = 0;  // when the first byte of buffer_ came
};

}  // namespace rewardloop
