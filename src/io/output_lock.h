// OutputLock: one process at a time writes an output file.
#pragma once

#include <memory>
#include <string>

#include "rewardloop/status.h"

namespace rewardloop {

// Advisory, from Acquire until destruction or the end of the process. Not thread-safe.
class OutputLock {
 public:
  // Makes the file when there is none. kFailedPrecondition when another process holds the lock. Where the file system knows
  // no locks, nothing is locked.
  static Result<std::unique_ptr<OutputLock>> Acquire(const std::string& path);
  // Removes the file when Acquire made it and KeepFile() was never called: nothing was written.
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

  bool made_file() const { return made_file_; }
  void KeepFile() { keep_file_ = true; }

 private:
  OutputLock(int fd, std::string path, bool made_file) : fd_(fd), path_(std::move(path)), made_file_(made_file) {}

  const int fd_;
  const std::string path_;
  const bool made_file_;
  bool keep_file_ = false;
};

}  // namespace rewardloop
