#include "workers/launcher_host.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "rewardloop/json.h"
#include "workers/board.h"
#include "workers/environment.h"
#include "workers/frames.h"
#include "workers/sources.h"

namespace rewardloop::workers {
namespace asio = boost::asio;
namespace {

constexpr int kLauncherSeconds = 30;  // a cold interpreter on a busy network drive
constexpr int kCloseSeconds = 5;
constexpr size_t kMaxPacket = 4096;
constexpr size_t kReadBytes = 1 << 18;

// A descriptor with an owner.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { Close(); }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

Status SystemError(const std::string& what) {
  return ResourceExhausted(what + ": " + std::strerror(errno));
}

Status MakePair(int type, Descriptor* ours, Descriptor* theirs) {
  int ends[2];
  if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0) return SystemError("no socket for a worker");
  *ours = Descriptor(ends[0]);
  *theirs = Descriptor(ends[1]);
  return Status();
}

// Anonymous file with `text`, to be read from its start through /dev/fd.
Result<Descriptor> TextFile(const char* name, std::string_view text) {
  Descriptor file(memfd_create(name, MFD_CLOEXEC));
  if (file.get() < 0) return SystemError("no memory file for a worker");
  while (!text.empty()) {
    const ssize_t written = write(file.get(), text.data(), text.size());
    if (written <= 0) return SystemError("no memory file for a worker");
    text.remove_prefix(static_cast<size_t>(written));
  }
  return file;
}

// worker.py with the modules that it imports in front, as one script.
std::string WorkerScript() {
  const std::pair<const char*, std::string_view> modules[] = {
      {"_rewardloop_calls", kCallsSource},
      {"_rewardloop_link", kWorkerLinkSource},
      {"_rewardloop_random", kWorkerRandomSource},
      {"_rewardloop_worker", kWorkerSource},
  };
  std::string script =
      "import sys, types\n"
      "if not getattr(sys.flags, 'safe_path', False): sys.path.pop(0)\n"  // the folder of this script
      "def run(name, text):\n"
      "    module = sys.modules[name] = types.ModuleType(name)\n"
      "    exec(compile(text, '<rewardloop ' + name + '>', 'exec'), module.__dict__)\n";
  for (const auto& [name, source] : modules) {
    script += std::string("run('") + name + "', ";
    AppendJsonString(source, &script);  // a JSON string of ASCII text is a Python string too
    script += ")\n";
  }
  return script;
}

std::string HowItEnded(int status) {
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status));
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

class LauncherHost;

class LaunchedWorker final : public WorkerProcess, public std::enable_shared_from_this<LaunchedWorker> {
 public:
  LaunchedWorker(int64_t id, asio::io_context& io, Descriptor socket, std::unique_ptr<Board> board, WorkerEvents events,
                 std::function<void(int64_t)> kill)
      : id_(id), socket_(io, socket.release()), board_(std::move(board)), events_(std::move(events)), kill_(std::move(kill)) {}

  void Send(std::string frames) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (over_) return;
    const bool idle = unsent_.empty();
    unsent_ += frames;
    if (idle && !WriteSome()) WaitToWriteLocked();
  }
  void Kill() override { kill_(id_); }
  BoardSnapshot ReadBoard() const override { return board_->Read(); }
  int64_t ThreadCpuNs(int64_t thread) const override;

  // I/O thread.
  void Read();
  void Started(int pid) {
    pid_ = pid;
    board_->CloseDescriptor();
  }
  void Exited(const std::string& how);

 private:
  // True when everything is sent or the worker is gone. With mutex_ held.
  bool WriteSome();
  void WaitToWriteLocked();

  const int64_t id_;
  asio::posix::stream_descriptor socket_;
  const std::unique_ptr<Board> board_;
  WorkerEvents events_;
  const std::function<void(int64_t)> kill_;
  std::atomic<int> pid_{0};
  FrameReader reader_;
  std::string bytes_;

  std::mutex mutex_;  // guards what follows
  std::string unsent_;
  bool over_ = false;
};

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

bool LaunchedWorker::WriteSome() {
  while (!unsent_.empty()) {
    const ssize_t sent = ::send(socket_.native_handle(), unsent_.data(), unsent_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
      unsent_.erase(0, static_cast<size_t>(sent));
    } else if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return false;
    } else if (!(sent < 0 && errno == EINTR)) {
      unsent_.clear();  // its exit will be reported
    }
  }
  return true;
}

void LaunchedWorker::WaitToWriteLocked() {
  socket_.async_wait(asio::posix::descriptor_base::wait_write, [self = shared_from_this()](const boost::system::error_code& error) {
    std::lock_guard<std::mutex> lock(self->mutex_);
    if (error || self->over_) return;
    if (!self->WriteSome()) self->WaitToWriteLocked();
  });
}

void LaunchedWorker::Read() {
  bytes_.resize(kReadBytes);
  socket_.async_read_some(asio::buffer(bytes_), [self = shared_from_this()](const boost::system::error_code& error, size_t count) {
    if (error) return;  // its exit is told by the launcher
    const bool well_formed = self->reader_.Feed(std::string_view(self->bytes_).substr(0, count), self->events_.on_frame);
    if (!well_formed) return self->Kill();
    self->Read();
  });
}

void LaunchedWorker::Exited(const std::string& how) {
  // What it had sent before it died is still in the socket: a reply that was given counts.
  while (true) {
    bytes_.resize(kReadBytes);
    const ssize_t count = ::recv(socket_.native_handle(), bytes_.data(), bytes_.size(), MSG_DONTWAIT);
    if (count <= 0) break;
    if (!reader_.Feed(std::string_view(bytes_).substr(0, static_cast<size_t>(count)), events_.on_frame)) break;
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    over_ = true;
    unsent_.clear();
  }
  boost::system::error_code ignored;
  socket_.close(ignored);
  const WorkerEvents events = std::move(events_);
  if (events.on_exit) events.on_exit(how);
}

class LauncherHost final : public WorkerHost {
 public:
  LauncherHost(pid_t launcher, Descriptor control, Descriptor pidfd)
      : launcher_(launcher), launcher_pidfd_(std::move(pidfd)), control_(io_, control.release()), work_(asio::make_work_guard(io_)) {
    ReadControl();
    thread_ = std::thread([this] { io_.run(); });
  }
  ~LauncherHost() override { Close(); }

  std::shared_ptr<WorkerProcess> Start(int slots, WorkerEvents events) override;
  void Close() override;

 private:
  void ReadControl();
  void OnControl(std::string_view packet);
  void LoseLauncher();
  void Fail(std::shared_ptr<LaunchedWorker> worker, std::string how) {
    asio::post(io_, [worker = std::move(worker), how = std::move(how)] { worker->Exited(how); });
  }
  bool SendControl(const std::string& packet, const std::vector<int>& descriptors);

  const pid_t launcher_;
  const Descriptor launcher_pidfd_;
  asio::io_context io_;
  asio::posix::stream_descriptor control_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::thread thread_;

  std::mutex mutex_;  // guards what follows; never held while an event runs
  std::map<int64_t, std::shared_ptr<LaunchedWorker>> workers_;
  int64_t next_id_ = 1;
  bool closed_ = false;
};

bool LauncherHost::SendControl(const std::string& packet, const std::vector<int>& descriptors) {
  iovec part{const_cast<char*>(packet.data()), packet.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char space[CMSG_SPACE(2 * sizeof(int))] = {};
  if (!descriptors.empty()) {
    message.msg_control = space;
    message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size() * sizeof(int));
  }
  return sendmsg(control_.native_handle(), &message, MSG_NOSIGNAL) >= 0;
}

std::shared_ptr<WorkerProcess> LauncherHost::Start(int slots, WorkerEvents events) {
  Descriptor ours, theirs;
  Status made = MakePair(SOCK_STREAM, &ours, &theirs);
  Result<std::unique_ptr<Board>> board = Board::Make(slots);
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return nullptr;
  if (!made.ok() || !board.ok()) {
    // Reported as a worker that ended at once: the pool waits and tries again.
    const std::string why = "could not be started: " + (made.ok() ? board.status() : made).message();
    asio::post(io_, [on_exit = std::move(events.on_exit), why] { on_exit(why); });
    return nullptr;
  }
  const int64_t id = next_id_++;
  const int board_descriptor = (*board)->descriptor();
  auto worker = std::make_shared<LaunchedWorker>(id, io_, std::move(ours), std::move(*board), std::move(events), [this](int64_t which) {
    SendControl(Json::MakeObject({{"kill", which}}).Dump(), {});
  });
  if (!SendControl(Json::MakeObject({{"start", id}}).Dump(), {theirs.get(), board_descriptor})) {
    Fail(worker, std::string("could not be started: the launcher does not answer (") + std::strerror(errno) + ")");
    return worker;
  }
  workers_.emplace(id, worker);
  asio::post(io_, [worker] { worker->Read(); });
  return worker;
}

void LauncherHost::ReadControl() {
  control_.async_wait(asio::posix::descriptor_base::wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    std::string packet(kMaxPacket, '\0');
    while (true) {
      const ssize_t size = recv(control_.native_handle(), packet.data(), packet.size(), MSG_DONTWAIT);
      if (size > 0) {
        OnControl(std::string_view(packet).substr(0, static_cast<size_t>(size)));
      } else if (size < 0 && errno == EINTR) {
        continue;
      } else if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        return ReadControl();
      } else {
        return LoseLauncher();
      }
    }
  });
}

void LauncherHost::OnControl(std::string_view packet) {
  const Result<Json> parsed = Json::Parse(packet);
  if (!parsed.ok()) return;
  const auto field = [&](const char* name) { return parsed->Find(name); };
  const Json* id = field("started");
  if (!id) id = field("exited");
  if (!id) id = field("failed");
  if (!id || !id->is_int()) return;
  std::shared_ptr<LaunchedWorker> worker;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = workers_.find(id->AsInt());
    if (found == workers_.end()) return;
    worker = found->second;
    if (!field("started")) workers_.erase(found);
  }
  if (const Json* pid = field("pid")) {
    worker->Started(static_cast<int>(pid->AsInt()));
  } else if (const Json* status = field("status")) {
    worker->Exited(HowItEnded(static_cast<int>(status->AsInt())));
  } else if (const Json* why = field("why"); why && why->is_string()) {
    worker->Exited("could not be started: " + why->AsString());
  }
}

void LauncherHost::LoseLauncher() {
  std::map<int64_t, std::shared_ptr<LaunchedWorker>> workers;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    workers.swap(workers_);
  }
  // Its children die with it (their parent-death signal).
  for (auto& [id, worker] : workers) worker->Exited("was lost with its launcher");
}

void LauncherHost::Close() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (std::exchange(closed_, true)) return;
  }
  // End of file on its socket tells the launcher to kill everything and leave.
  shutdown(control_.native_handle(), SHUT_RDWR);
  pollfd ended{launcher_pidfd_.get(), POLLIN, 0};
  if (poll(&ended, 1, kCloseSeconds * 1000) == 0) kill(launcher_, SIGKILL);
  while (waitpid(launcher_, nullptr, 0) < 0 && errno == EINTR) {
  }
  work_.reset();
  io_.stop();
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
  std::lock_guard<std::mutex> lock(mutex_);
  workers_.clear();
}

// Its environment is the workers'. Its standard output is the caller's standard error: what native code prints in a worker
// must never end up among results.
Result<pid_t> SpawnLauncher(const LauncherOptions& options, int control, int launcher_script, int worker_script) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // Up and out of the way first: a source may have the number of another's target.
  constexpr int kHigh = 100;
  const auto move = [&](int from, int high) { posix_spawn_file_actions_adddup2(&actions, from, high); };
  move(control, kHigh);
  move(worker_script, kHigh + 1);
  move(launcher_script, kHigh + 2);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, 2, 1);
  posix_spawn_file_actions_adddup2(&actions, kHigh, 3);
  posix_spawn_file_actions_adddup2(&actions, kHigh + 1, 4);
  posix_spawn_file_actions_adddup2(&actions, kHigh + 2, 5);
  posix_spawn_file_actions_addclosefrom_np(&actions, 6);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);

  std::vector<std::string> variables;
  for (const auto& [name, value] : WorkerEnvironment(options.hidden_env, options.gpus)) variables.push_back(name + "=" + value);
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  const Interpreter& interpreter = options.interpreter;
  const std::string owner = std::to_string(getpid());
  // -I -S: nothing of the user's environment runs inside the launcher.
  std::vector<std::string> arguments = {interpreter.path, "-I", "-S", "/dev/fd/5", owner, "rewardloop-launcher"};
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, interpreter.path.c_str(), &actions, &attributes, argv.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return NotFound("Python interpreter '" + interpreter.path + "' (from " + interpreter.found_by +
                        ") cannot be started: " + std::strerror(error),
                    "name another with --python, the key `python` or REWARDLOOP_PYTHON");
  }
  return pid;
}

}  // namespace

Result<std::unique_ptr<WorkerHost>> StartLauncher(const LauncherOptions& options) {
  Descriptor ours, theirs;
  RL_RETURN_IF_ERROR(MakePair(SOCK_SEQPACKET, &ours, &theirs));
  RL_ASSIGN_OR_RETURN(Descriptor launcher_script, TextFile("rewardloop-launcher.py", kLauncherSource));
  RL_ASSIGN_OR_RETURN(Descriptor worker_script, TextFile("rewardloop-worker.py", WorkerScript()));
  RL_ASSIGN_OR_RETURN(const pid_t pid,
                      SpawnLauncher(options, theirs.get(), launcher_script.get(), worker_script.get()));
  theirs.Close();
  Descriptor pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  pollfd ready{ours.get(), POLLIN, 0};
  char packet[256];
  if (pidfd.get() < 0 || poll(&ready, 1, kLauncherSeconds * 1000) <= 0 || recv(ours.get(), packet, sizeof(packet), 0) <= 0) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return Status(StatusCode::kUnavailable,
                  "Python interpreter '" + options.interpreter.path + "' (from " + options.interpreter.found_by +
                      ") did not start its launcher within " + std::to_string(kLauncherSeconds) + " s",
                  "is it a Python of 3.9 or newer with ctypes? its own message is above, if it gave one; name another with "
                  "--python, the key `python` or REWARDLOOP_PYTHON");
  }
  return std::unique_ptr<WorkerHost>(std::make_unique<LauncherHost>(pid, std::move(ours), std::move(pidfd)));
}

}  // namespace rewardloop::workers
