// Files that are replaced in one step, and the copying of lines from one to the next.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "rewardloop/status.h"

namespace rewardloop {

// Gathers bytes in `path` + ".tmp" and takes the place of `path` in Commit(); without it nothing
// has happened.
//
// Not thread-safe.
class AtomicFile {
 public:
  static Result<std::unique_ptr<AtomicFile>> Open(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  Status Append(std::string_view bytes);
  // Writes through to the disk and renames.
  Status Commit();

 private:
  AtomicFile(int fd, std::string path);
  Status Flush();

  int fd_;
  const std::string path_;
  std::string buffer_;
};

// A regular file, or none yet: one that can be replaced.
bool IsRegularOrNew(const std::string& path);

// Replaces the content of `path` in one step. A pipe or a device is written to instead.
Status WriteFileAtomically(const std::string& path, std::string_view content);

// Calls `line(offset, text)` for every line of a regular file that ends in "\n", in order, until it
// fails; `text` is without the newline. `whole_bytes` becomes the offset behind the last such line:
// what follows is a torn line.
Status ForEachWholeLine(const std::string& path,
                        const std::function<Status(int64_t, std::string_view)>& line,
                        int64_t* whole_bytes);

}  // namespace rewardloop
