#include "workers/launched_worker.h"

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace rewardloop::workers {
namespace asio = boost::asio;
namespace {

constexpr size_t kReadBytes = 1 << 18;

bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK; }

}  // namespace

LaunchedWorker::LaunchedWorker(std::shared_ptr<asio::io_context> io, Descriptor socket, std::unique_ptr<Board> board,
                               WorkerEvents events, std::function<void()> kill)
    : io_(std::move(io)), socket_(*io_, socket.release()), board_(std::move(board)), events_(std::move(events)), kill_(std::move(kill)) {}

void LaunchedWorker::Send(std::string frames) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (over_) return;
  const bool idle = unsent_.empty();
  if (idle) {
    unsent_ = std::move(frames);
  } else {
    unsent_ += frames;
  }
  if (idle && !WriteLocked()) {
    asio::post(*io_, [self = shared_from_this()] { self->WaitToWrite(); });
  }
}

bool LaunchedWorker::WriteLocked() {
  while (sent_ < unsent_.size()) {
    const ssize_t count = ::send(socket_.native_handle(), unsent_.data() + sent_, unsent_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count > 0) {
      sent_ += static_cast<size_t>(count);
    } else if (count < 0 && WouldBlock()) {
      if (sent_ > unsent_.size() / 2) unsent_.erase(0, std::exchange(sent_, 0));
      return false;
    } else if (!(count < 0 && errno == EINTR)) {
      break;  // its exit will be reported
    }
  }
  unsent_.clear();
  sent_ = 0;
  return true;
}

void LaunchedWorker::WaitToWrite() {
  if (!socket_.is_open()) return;
  socket_.async_wait(asio::posix::descriptor_base::wait_write, [self = shared_from_this()](const boost::system::error_code& error) {
    std::unique_lock<std::mutex> lock(self->mutex_);
    if (error || self->over_ || self->WriteLocked()) return;
    lock.unlock();
    self->WaitToWrite();
  });
}

void LaunchedWorker::Read() {
  if (!socket_.is_open()) return;
  // Waits only: what is read by the time that the exit is known would come after it.
  socket_.async_wait(asio::posix::descriptor_base::wait_read, [self = shared_from_this()](const boost::system::error_code& error) {
    if (error || !self->socket_.is_open()) return;
    if (self->ReadSome()) return self->Read();
    self->Kill();  // dead, or deaf and dumb: its exit is told by the launcher
  });
}

bool LaunchedWorker::ReadSome() {
  bytes_.resize(kReadBytes);
  const ssize_t count = ::recv(socket_.native_handle(), bytes_.data(), bytes_.size(), MSG_DONTWAIT);
  if (count < 0) return WouldBlock() || errno == EINTR;
  return count > 0 && reader_.Feed(std::string_view(bytes_).substr(0, static_cast<size_t>(count)), events_.on_frame);
}

void LaunchedWorker::Started(int pid) {
  pid_ = pid;
  board_->CloseDescriptor();
}

void LaunchedWorker::Exited(const std::string& how) {
  if (!socket_.is_open()) return;
  // What it had sent before it died is still in the socket: a reply that was given counts.
  const auto has_more = [this] {
    char byte;
    return ::recv(socket_.native_handle(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) > 0;
  };
  while (has_more() && ReadSome()) {
  }
  const WorkerEvents events = std::move(events_);
  Drop();
  if (events.on_exit) events.on_exit(how);
}

void LaunchedWorker::Drop() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    over_ = true;
    unsent_.clear();
    sent_ = 0;
  }
  boost::system::error_code ignored;
  socket_.close(ignored);
  events_ = {};
}

int64_t LaunchedWorker::ThreadCpuNs(int64_t thread) const {
  const std::string task = "/proc/" + std::to_string(pid_) + "/task/" + std::to_string(thread);
  long long run_ns = -1;
  if (FILE* file = std::fopen((task + "/schedstat").c_str(), "re")) {
    const int read = std::fscanf(file, "%lld", &run_ns);
    std::fclose(file);
    if (read == 1 && run_ns > 0) return run_ns;
  }
  // Kernels without scheduler statistics: clock ticks.
  FILE* file = std::fopen((task + "/stat").c_str(), "re");
  if (!file) return -1;
  char text[1024];
  const size_t length = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  text[length] = '\0';
  const char* const after_name = std::strrchr(text, ')');
  unsigned long long user = 0, system = 0;
  if (!after_name || std::sscanf(after_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system) != 2) {
    return -1;
  }
  return static_cast<int64_t>((user + system) * (1'000'000'000ull / static_cast<unsigned long long>(sysconf(_SC_CLK_TCK))));
}

}  // namespace rewardloop::workers
