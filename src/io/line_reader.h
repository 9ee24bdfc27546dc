// LineReader: lines of a text file that may be compressed, may be a pipe and may never end.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "rewardloop/status.h"

namespace rewardloop {

inline constexpr size_t kMaxLineBytes = size_t{256} << 20;
// Bytes that may be read past the end of a line's text: what the JSON parser wants.
inline constexpr size_t kLinePadding = 64;

// Not thread-safe.
class LineReader {
 public:
  virtual ~LineReader() = default;

  // Opens `path`, "-" is standard input; gzip is recognised by its first bytes. When `interrupt_fd`
  // (-1: none) becomes readable, a wait for more input ends as kCancelled. Errors read "path: what
  // is wrong".
  static Result<std::unique_ptr<LineReader>> Open(const std::string& path, int interrupt_fd = -1);

  // The next line that is not blank, without its line end ("\n" or "\r\n") and without a byte-order
  // mark; false at the end. `line` has kLinePadding bytes of capacity behind its text. May block on
  // a pipe. Errors (kDataLoss, kCancelled, kResourceExhausted: a line beyond kMaxLineBytes) are final.
  virtual Result<bool> Next(std::string* line) = 0;
  // True when Next() can answer without waiting for a slow writer.
  virtual bool HasBufferedLine() const = 0;

  // Of the line that Next() gave last; the first line is 1.
  virtual int64_t line_number() const = 0;
  // For messages: the path, or "<stdin>".
  virtual const std::string& name() const = 0;
  // Bytes read of the file as it lies on disk, and its size (0: not a regular file). For progress;
  // thread-safe.
  virtual int64_t bytes_read() const = 0;
  virtual int64_t bytes_total() const = 0;
};

}  // namespace rewardloop
