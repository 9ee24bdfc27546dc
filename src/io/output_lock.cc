#include "io/output_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace rewardloop {
namespace {

// How often the file may be replaced by a process that ends just now.
constexpr int kMaxTries = 16;

bool IsStillThere(int fd, const std::string& path) {
  struct stat opened{}, named{};
  return ::fstat(fd, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

}  // namespace

Result<std::unique_ptr<OutputLock>> OutputLock::Acquire(const std::string& path) {
  for (int i = 0; i < kMaxTries; ++i) {
    const bool made = ::access(path.c_str(), F_OK) != 0;
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return InvalidArgument(path + ": cannot be written: " + std::strerror(errno));
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(fd);
      return FailedPrecondition(path + ": another process is writing this file",
                                "wait until it has ended, or write to another file");
    }
    std::unique_ptr<OutputLock> lock(new OutputLock(fd, path, made));
    // The last holder may have put a finished file in its place after it was opened here.
    if (IsStillThere(fd, path)) return lock;
    lock->keep_file_ = true;
  }
  return FailedPrecondition(path + ": is replaced again and again by other processes");
}

OutputLock::~OutputLock() {
  struct stat info{};
  const bool is_link = ::lstat(path_.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
  if (made_file_ && !keep_file_ && !is_link) ::unlink(path_.c_str());
  ::close(fd_);
}

}  // namespace rewardloop
