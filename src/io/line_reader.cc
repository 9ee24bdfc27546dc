#include "io/line_reader.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <vector>

namespace rewardloop {
namespace {

constexpr size_t kReadBytes = size_t{256} << 10;
constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

// Bytes of a file descriptor, waiting for a pipe only as long as nobody interrupts.
class ByteSource {
 public:
  ByteSource(int fd, bool close_fd, std::string name, int interrupt_fd)
      : fd_(fd), close_fd_(close_fd), interrupt_fd_(interrupt_fd), name_(std::move(name)) {}
  ~ByteSource() {
    if (close_fd_) ::close(fd_);
  }
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Reads at most `size` bytes; 0 at the end.
  Result<size_t> Read(char* out, size_t size) {
    while (true) {
      RL_RETURN_IF_ERROR(WaitReadable());
      const ssize_t count = ::read(fd_, out, size);
      if (count >= 0) {
        bytes_read_ += count;
        return static_cast<size_t>(count);
      }
      if (errno != EINTR && errno != EAGAIN) {
        return DataLoss(name_ + ": cannot be read: " + std::strerror(errno));
      }
    }
  }

  int64_t bytes_read() const { return bytes_read_; }
  int fd() const { return fd_; }
  const std::string& name() const { return name_; }

 private:
  Status WaitReadable() {
    if (interrupt_fd_ < 0) return Status();
    while (true) {
      pollfd waits[2] = {{fd_, POLLIN, 0}, {interrupt_fd_, POLLIN, 0}};
      const int ready = ::poll(waits, 2, -1);
      if (ready < 0 && errno != EINTR)
        return DataLoss(name_ + ": cannot be read: " + std::strerror(errno));
      if (waits[1].revents != 0) return Cancelled(name_ + ": reading was interrupted");
      if (ready > 0 && waits[0].revents != 0) return Status();
    }
  }

  const int fd_;
  const bool close_fd_;
  const int interrupt_fd_;
  const std::string name_;
  std::atomic<int64_t> bytes_read_ = 0;
};

// Takes gzip apart as the bytes come; several members after each other are one text.
class Inflater {
 public:
  explicit Inflater(ByteSource* source) : source_(source), input_(kReadBytes) {}
  ~Inflater() { inflateEnd(&stream_); }

  Status Start(std::string_view first_bytes) {
    std::memcpy(input_.data(), first_bytes.data(), first_bytes.size());
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(first_bytes.size());
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK)
      return Internal(source_->name() + ": zlib cannot start");
    return Status();
  }

  Result<size_t> Read(char* out, size_t size) {
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out == size) {
      if (stream_.avail_in == 0) {
        RL_ASSIGN_OR_RETURN(const size_t count, source_->Read(input_.data(), input_.size()));
        if (count == 0) {
          if (between_members_) return size_t{0};
          return DataLoss(source_->name() + ": the compressed file ends in the middle",
                          "it was not written to its end or not copied whole");
        }
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
        stream_.avail_in = static_cast<uInt>(count);
      }
      if (between_members_) {
        // Padding with zero bytes after the last member is usual (tapes, block devices).
        if (*stream_.next_in == 0) {
          ++stream_.next_in;
          --stream_.avail_in;
          continue;
        }
        inflateReset(&stream_);
      }
      between_members_ = false;
      const int state = inflate(&stream_, Z_NO_FLUSH);
      if (state == Z_STREAM_END) {
        between_members_ = true;
      } else if (state != Z_OK && state != Z_BUF_ERROR) {
        return DataLoss(source_->name() + ": the compressed data is damaged" +
                        (stream_.msg ? std::string(": ") + stream_.msg : ""));
      }
    }
    return size - stream_.avail_out;
  }

 private:
  ByteSource* source_;
  std::vector<char> input_;
  z_stream stream_{};
  bool between_members_ = false;
};

class FileLineReader : public LineReader {
 public:
  FileLineReader(int fd, bool close_fd, std::string name, int interrupt_fd, int64_t bytes_total)
      : source_(fd, close_fd, std::move(name), interrupt_fd), bytes_total_(bytes_total) {}

  Status Start() {
    buffer_.resize(kReadBytes);
    while (end_ < 3) {
      RL_ASSIGN_OR_RETURN(const size_t count,
                          source_.Read(buffer_.data() + end_, buffer_.size() - end_));
      if (count == 0) break;
      end_ += count;
    }
    const std::string_view head(buffer_.data(), end_);
    if (head.substr(0, 2) == "\x1F\x8B") {
      inflater_ = std::make_unique<Inflater>(&source_);
      RL_RETURN_IF_ERROR(inflater_->Start(head));
      end_ = 0;
      while (end_ < 3) {
        RL_ASSIGN_OR_RETURN(const size_t count, ReadMore());
        if (count == 0) break;
      }
    }
    return SkipMark();
  }

  Result<bool> Next(std::string* line) override {
    while (true) {
      RL_ASSIGN_OR_RETURN(const bool found, TakeLine(line));
      if (!found) return false;
      ++line_number_;
      if (line->find_first_not_of(" \t") != std::string::npos) return true;
    }
  }

  bool HasBufferedLine() const override {
    return std::memchr(buffer_.data() + begin_, '\n', end_ - begin_) != nullptr;
  }

  int64_t line_number() const override { return line_number_; }
  const std::string& name() const override { return source_.name(); }
  int64_t bytes_read() const override { return source_.bytes_read(); }
  int64_t bytes_total() const override { return bytes_total_; }

 private:
  Status SkipMark() {
    const std::string_view head(buffer_.data(), end_);
    if (head.substr(0, 3) == kUtf8Mark) begin_ = 3;
    if (head.substr(0, 2) == "\xFF\xFE" || head.substr(0, 2) == "\xFE\xFF") {
      return InvalidArgument(name() + ":1:1: the file is UTF-16", "write it as UTF-8");
    }
    return Status();
  }

  // Appends to the buffer; 0 at the end of the input.
  Result<size_t> ReadMore() {
    if (end_ == buffer_.size()) {
      if (begin_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
      } else {
        buffer_.resize(buffer_.size() * 2);
      }
    }
    char* const to = buffer_.data() + end_;
    const size_t room = std::min(buffer_.size() - end_, size_t{1} << 20);
    RL_ASSIGN_OR_RETURN(const size_t count,
                        inflater_ ? inflater_->Read(to, room) : source_.Read(to, room));
    end_ += count;
    return count;
  }

  Result<bool> TakeLine(std::string* line) {
    size_t searched = 0;
    while (true) {
      const char* const from = buffer_.data() + begin_ + searched;
      const size_t available = end_ - begin_ - searched;
      if (const void* newline = std::memchr(from, '\n', available)) {
        const size_t length =
            searched + static_cast<size_t>(static_cast<const char*>(newline) - from);
        Assign(line, length);
        begin_ += length + 1;
        ShrinkAfterLongLine(length);
        return true;
      }
      searched += available;
      if (searched > kMaxLineBytes) {
        return ResourceExhausted(name() + ":" + std::to_string(line_number_ + 1) +
                                     ":1: the line is longer than " +
                                     std::to_string(kMaxLineBytes) + " bytes",
                                 "is this a file of one JSON object a line?");
      }
      RL_ASSIGN_OR_RETURN(const size_t count, ReadMore());
      if (count > 0) continue;
      if (searched == 0) return false;
      Assign(line, searched);
      begin_ += searched;
      return true;
    }
  }

  void Assign(std::string* line, size_t length) {
    if (length > 0 && buffer_[begin_ + length - 1] == '\r') --length;
    line->clear();
    line->reserve(length + kLinePadding);
    line->assign(buffer_.data() + begin_, length);
  }

  // One long line must not keep its buffer for the rest of the file.
  void ShrinkAfterLongLine(size_t length) {
    if (length <= 16 * kReadBytes || end_ - begin_ > kReadBytes) return;
    std::vector<char> smaller(kReadBytes);
    std::memcpy(smaller.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    buffer_.swap(smaller);
  }

  ByteSource source_;
  std::unique_ptr<Inflater> inflater_;
  const int64_t bytes_total_;
  std::vector<char> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  int64_t line_number_ = 0;
};

}  // namespace

Result<std::unique_ptr<LineReader>> LineReader::Open(const std::string& path, int interrupt_fd) {
  const bool is_stdin = path == "-";
  const std::string name = is_stdin ? "<stdin>" : path;
  const int fd = is_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    const int error = errno;
    return NotFound(path + ": cannot be opened: " + std::strerror(error));
  }
  struct stat info{};
  const bool known = ::fstat(fd, &info) == 0;
  if (known && S_ISDIR(info.st_mode)) {
    if (!is_stdin) ::close(fd);
    return InvalidArgument(path + ": is a directory, not a file");
  }
  const int64_t total = known && S_ISREG(info.st_mode) ? info.st_size : 0;
  auto reader = std::make_unique<FileLineReader>(fd, !is_stdin, name, interrupt_fd, total);
  RL_RETURN_IF_ERROR(reader->Start());
  return std::unique_ptr<LineReader>(std::move(reader));
}

}  // namespace rewardloop
