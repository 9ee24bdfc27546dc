#include "io/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace rewardloop {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

}  // namespace

Result<std::unique_ptr<OutputFile>> OutputFile::Open(const std::string& path, int64_t keep_bytes,
                                                     Clock* clock) {
  if (path == "-") {
    // Even where it leads to a file: a shell may have opened it to append, so offsets mean nothing.
    return std::unique_ptr<OutputFile>(new OutputFile(STDOUT_FILENO, "<stdout>", false, 0, clock));
  }
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (keep_bytes < 0 ? O_TRUNC : 0);
  const int fd = ::open(path.c_str(), flags, 0666);
  if (fd < 0) return InvalidArgument(path + ": cannot be written: " + std::strerror(errno));
  struct stat info{};
  const bool regular = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  int64_t size = 0;
  if (keep_bytes >= 0 && regular) {
    // A file that needs no cut keeps its time stamp.
    const bool cut = info.st_size != keep_bytes;
    if ((cut && ::ftruncate(fd, keep_bytes) != 0) || ::lseek(fd, keep_bytes, SEEK_SET) < 0) {
      const int error = errno;
      ::close(fd);
      return InvalidArgument(path + ": cannot be cut to its whole rows: " + std::strerror(error));
    }
    size = keep_bytes;
  }
  return std::unique_ptr<OutputFile>(new OutputFile(fd, path, regular, size, clock));
}

OutputFile::OutputFile(int fd, std::string name, bool is_regular, int64_t size, Clock* clock)
    : fd_(fd), name_(std::move(name)), is_regular_(is_regular), size_(size), clock_(clock) {}

OutputFile::~OutputFile() {
  if (fd_ >= 0 && fd_ != STDOUT_FILENO) ::close(fd_);
}

Result<int64_t> OutputFile::Append(std::string_view bytes) {
  if (buffer_.empty()) oldest_ns_ = clock_->NowNs();
  const int64_t offset = size_;
  buffer_.append(bytes);
  size_ += static_cast<int64_t>(bytes.size());
  if (buffer_.size() >= kBufferBytes) RL_RETURN_IF_ERROR(Flush());
  return offset;
}

int64_t OutputFile::flush_due_ns() const {
  return buffer_.empty() ? kNoDeadline : DeadlineAfter(oldest_ns_, kMaxDelayNs);
}

Status OutputFile::FlushIfDue() { return clock_->NowNs() >= flush_due_ns() ? Flush() : Status(); }

Status OutputFile::Flush() {
  size_t written = 0;
  while (written < buffer_.size()) {
    const ssize_t count = ::write(fd_, buffer_.data() + written, buffer_.size() - written);
    if (count >= 0) {
      written += static_cast<size_t>(count);
    } else if (errno != EINTR) {
      const int error = errno;
      buffer_.erase(0, written);
      if (error == EPIPE)
        return InvalidArgument(name_ + ": cannot be written: its reader has gone");
      return InvalidArgument(name_ + ": cannot be written: " + std::strerror(error),
                             error == ENOSPC && is_regular_
                                 ? "make room, then run again with --resume"
                                 : "");
    }
  }
  buffer_.clear();
  if (buffer_.capacity() > 4 * kBufferBytes) buffer_.shrink_to_fit();
  return Status();
}

Status OutputFile::Close() {
  RL_RETURN_IF_ERROR(Flush());
  if (is_regular_ && ::fsync(fd_) != 0 && errno != EINVAL && errno != EROFS) {
    return InvalidArgument(name_ + ": cannot be written: " + std::strerror(errno));
  }
  if (fd_ != STDOUT_FILENO) {
    const int closed = ::close(fd_);
    fd_ = -1;
    if (closed != 0) return InvalidArgument(name_ + ": cannot be written: " + std::strerror(errno));
  }
  return Status();
}

}  // namespace rewardloop
