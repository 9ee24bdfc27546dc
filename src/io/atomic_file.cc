#include "io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "io/ordered_output.h"

namespace rewardloop {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

Status WriteError(const std::string& path) {
  return InvalidArgument(path + ": cannot be written: " + std::strerror(errno));
}
Status ReadError(const std::string& path) {
  return InvalidArgument(path + ": cannot be read: " + std::strerror(errno));
}

// A file descriptor for reading, closed at the end.
struct ReadOnly {
  explicit ReadOnly(const std::string& path) : fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~ReadOnly() {
    if (fd >= 0) ::close(fd);
  }
  ReadOnly(const ReadOnly&) = delete;
  ReadOnly& operator=(const ReadOnly&) = delete;
  const int fd;
};

Result<size_t> ReadAt(const std::string& path, int fd, char* out, size_t size, int64_t offset) {
  while (true) {
    const ssize_t count = ::pread(fd, out, size, offset);
    if (count >= 0) return static_cast<size_t>(count);
    if (errno != EINTR) return ReadError(path);
  }
}

// Lines of a file by their offset, quick when they follow each other.
class LinesByOffset {
 public:
  LinesByOffset(const std::string& path, int fd) : path_(path), fd_(fd), buffer_(kBufferBytes) {}

  // The line that begins at `offset`, with its newline. Valid until the next call.
  Result<std::string_view> At(int64_t offset) {
    if (offset < start_ || offset >= start_ + static_cast<int64_t>(size_))
      RL_RETURN_IF_ERROR(Load(offset));
    while (true) {
      const char* const begin = buffer_.data() + (offset - start_);
      const size_t available = size_ - static_cast<size_t>(offset - start_);
      if (const void* newline = std::memchr(begin, '\n', available)) {
        return std::string_view(begin,
                                static_cast<size_t>(static_cast<const char*>(newline) - begin) + 1);
      }
      if (available == buffer_.size()) buffer_.resize(buffer_.size() * 2);
      RL_RETURN_IF_ERROR(Load(offset));
      if (size_ <= available) return DataLoss(path_ + ": a row is not where it was written");
    }
  }

 private:
  Status Load(int64_t offset) {
    start_ = offset;
    size_ = 0;
    while (size_ < buffer_.size()) {
      RL_ASSIGN_OR_RETURN(const size_t count,
                          ReadAt(path_, fd_, buffer_.data() + size_, buffer_.size() - size_,
                                 offset + static_cast<int64_t>(size_)));
      if (count == 0) break;
      size_ += count;
    }
    return Status();
  }

  const std::string& path_;
  const int fd_;
  std::vector<char> buffer_;
  int64_t start_ = 0;
  size_t size_ = 0;
};

}  // namespace

Result<std::unique_ptr<AtomicFile>> AtomicFile::Open(const std::string& name) {
  // A link stays a link: what it leads to is replaced.
  std::error_code missing;
  const auto target = std::filesystem::canonical(name, missing);
  const std::string path = missing ? name : target.string();
  const std::string temporary = path + ".tmp";
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return WriteError(name);
  return std::unique_ptr<AtomicFile>(new AtomicFile(fd, path));
}

AtomicFile::AtomicFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink((path_ + ".tmp").c_str());
}

Status AtomicFile::Append(std::string_view bytes) {
  buffer_.append(bytes);
  return buffer_.size() >= kBufferBytes ? Flush() : Status();
}

Status AtomicFile::Flush() {
  size_t written = 0;
  while (written < buffer_.size()) {
    const ssize_t count = ::write(fd_, buffer_.data() + written, buffer_.size() - written);
    if (count >= 0)
      written += static_cast<size_t>(count);
    else if (errno != EINTR)
      return WriteError(path_);
  }
  buffer_.clear();
  return Status();
}

Status AtomicFile::Commit() {
  RL_RETURN_IF_ERROR(Flush());
  struct stat info{};
  if (::stat(path_.c_str(), &info) == 0) (void)!::fchmod(fd_, info.st_mode & 07777);
  if (::fsync(fd_) != 0) return WriteError(path_);
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0 || ::rename((path_ + ".tmp").c_str(), path_.c_str()) != 0) {
    const Status status = WriteError(path_);
    ::unlink((path_ + ".tmp").c_str());
    return status;
  }
  const size_t slash = path_.rfind('/');
  const ReadOnly folder(slash == std::string::npos ? "."
                        : slash == 0               ? "/"
                                                   : path_.substr(0, slash));
  if (folder.fd >= 0)
    ::fsync(folder.fd);  // some file systems refuse; the content is safe either way
  return Status();
}

namespace {

// A pipe or a device keeps its place.
Status WriteToSpecialFile(const std::string& path, std::string_view content) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return WriteError(path);
  while (!content.empty()) {
    const ssize_t count = ::write(fd, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const Status status = WriteError(path);
      ::close(fd);
      return status;
    }
    content.remove_prefix(static_cast<size_t>(count));
  }
  return ::close(fd) == 0 ? Status() : WriteError(path);
}

}  // namespace

bool IsRegularOrNew(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) != 0 ? errno == ENOENT : S_ISREG(info.st_mode);
}

Status WriteFileAtomically(const std::string& path, std::string_view content) {
  if (!IsRegularOrNew(path)) return WriteToSpecialFile(path, content);
  RL_ASSIGN_OR_RETURN(const std::unique_ptr<AtomicFile> file, AtomicFile::Open(path));
  RL_RETURN_IF_ERROR(file->Append(content));
  return file->Commit();
}

Status ForEachWholeLine(const std::string& path,
                        const std::function<Status(int64_t, std::string_view)>& line,
                        int64_t* whole_bytes) {
  *whole_bytes = 0;
  const ReadOnly file(path);
  if (file.fd < 0) return ReadError(path);
  std::vector<char> buffer(kBufferBytes);
  size_t filled = 0;
  while (true) {
    if (filled == buffer.size()) buffer.resize(buffer.size() * 2);
    RL_ASSIGN_OR_RETURN(const size_t count,
                        ReadAt(path, file.fd, buffer.data() + filled, buffer.size() - filled,
                               *whole_bytes + static_cast<int64_t>(filled)));
    if (count == 0) return Status();
    filled += count;
    size_t begin = 0;
    while (const void* newline = std::memchr(buffer.data() + begin, '\n', filled - begin)) {
      const size_t end = static_cast<size_t>(static_cast<const char*>(newline) - buffer.data());
      RL_RETURN_IF_ERROR(line(*whole_bytes, std::string_view(buffer.data() + begin, end - begin)));
      *whole_bytes += static_cast<int64_t>(end + 1 - begin);
      begin = end + 1;
    }
    std::memmove(buffer.data(), buffer.data() + begin, filled - begin);
    filled -= begin;
  }
}

Status RewriteLines(const std::string& path, const std::deque<int64_t>& offsets) {
  const ReadOnly file(path);
  if (file.fd < 0) return ReadError(path);
  RL_ASSIGN_OR_RETURN(const std::unique_ptr<AtomicFile> ordered, AtomicFile::Open(path));
  LinesByOffset lines(path, file.fd);
  for (const int64_t offset : offsets) {
    if (offset < 0) continue;
    RL_ASSIGN_OR_RETURN(const std::string_view line, lines.At(offset));
    RL_RETURN_IF_ERROR(ordered->Append(line));
  }
  return ordered->Commit();
}

}  // namespace rewardloop
