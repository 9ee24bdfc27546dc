#include "workers/launcher_host.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <climits>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "rewardloop/json.h"
#include "workers/board.h"
#include "workers/environment.h"
#include "workers/launched_worker.h"
#include "workers/launcher_link.h"
#include "workers/launcher_process.h"

namespace rewardloop::workers {
namespace asio = boost::asio;
namespace {

constexpr int kLauncherSeconds = 30;  // a cold interpreter on a busy network drive
constexpr int kCloseSeconds = 5;

std::string HowItEnded(int status) {
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status));
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

class LauncherHost final : public WorkerHost {
 public:
  LauncherHost(LauncherSetup setup, LauncherProcess process)
      : setup_(std::move(setup)), io_(std::make_shared<asio::io_context>(1)), work_(asio::make_work_guard(*io_)) {
    launcher_ = Adopt(std::move(process));
    thread_ = std::thread([io = io_] { io->run(); });
  }
  ~LauncherHost() override { Close(); }

  std::shared_ptr<WorkerProcess> Start(int slots, WorkerEvents events) override;
  void Close() override;

 private:
  using WorkerPtr = std::shared_ptr<LaunchedWorker>;
  using LinkPtr = std::shared_ptr<LauncherLink>;
  struct Entry {
    WorkerPtr worker;
    LinkPtr launcher;
  };

  LinkPtr Adopt(LauncherProcess process);
  Status LaunchLocked(int64_t id, const std::vector<int>& descriptors);
  void OnPacket(std::string_view packet);
  void OnLost(const LinkPtr& launcher);

  const LauncherSetup setup_;
  std::shared_ptr<asio::io_context> io_;  // null when closed
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_;
  std::thread thread_;

  std::mutex mutex_;  // guards what follows; never held while an event runs
  LinkPtr launcher_;  // null: lost; the next start makes another
  std::map<int64_t, Entry> workers_;
  int64_t next_id_ = 1;
  bool closed_ = false;
};

LauncherHost::LinkPtr LauncherHost::Adopt(LauncherProcess process) {
  auto link = std::make_shared<LauncherLink>(io_, std::move(process));
  link->Listen([this](std::string_view packet) { OnPacket(packet); },
               [this, weak = std::weak_ptr<LauncherLink>(link)] {
                 if (const LinkPtr lost = weak.lock()) OnLost(lost);
               });
  return link;
}

// Asks the launcher for a worker; one that died meanwhile (somebody killed it) is replaced.
Status LauncherHost::LaunchLocked(int64_t id, const std::vector<int>& descriptors) {
  const std::string packet = Json::MakeObject({{"start", id}}).Dump();
  if (launcher_ && launcher_->Send(packet, descriptors)) return Status();
  RL_ASSIGN_OR_RETURN(LauncherProcess process, LauncherProcess::Spawn(setup_));
  launcher_ = Adopt(std::move(process));
  if (launcher_->Send(packet, descriptors)) return Status();
  return Status(StatusCode::kUnavailable, "the launcher does not answer");
}

std::shared_ptr<WorkerProcess> LauncherHost::Start(int slots, WorkerEvents events) {
  Descriptor ours, theirs;
  Status made = MakeSocketPair(SOCK_STREAM, &ours, &theirs);
  Result<std::unique_ptr<Board>> board = Board::Make(slots);
  if (made.ok()) made = board.status();
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return nullptr;
  const int64_t id = next_id_++;
  if (made.ok()) made = LaunchLocked(id, {theirs.get(), (*board)->descriptor()});
  if (!made.ok()) {
    // Reported as a worker that ended at once: the pool waits and tries again.
    asio::post(*io_, [on_exit = std::move(events.on_exit), why = "could not be started: " + made.message()] { on_exit(why); });
    return nullptr;
  }
  const auto kill = [weak = std::weak_ptr<LauncherLink>(launcher_), packet = Json::MakeObject({{"kill", id}}).Dump()] {
    if (const LinkPtr link = weak.lock()) (void)link->Send(packet);
  };
  auto worker = std::make_shared<LaunchedWorker>(io_, std::move(ours), std::move(*board), std::move(events), kill);
  workers_.emplace(id, Entry{worker, launcher_});
  asio::post(*io_, [worker] { worker->Read(); });
  return worker;
}

void LauncherHost::OnPacket(std::string_view packet) {
  const Result<Json> parsed = Json::Parse(packet);
  if (!parsed.ok()) return;
  const auto field = [&](const char* name) { return parsed->Find(name); };
  const Json* id = field("started");
  if (!id) id = field("exited");
  if (!id) id = field("failed");
  if (!id || !id->is_int()) return;
  WorkerPtr worker;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = workers_.find(id->AsInt());
    if (found == workers_.end()) return;
    worker = found->second.worker;
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

void LauncherHost::OnLost(const LinkPtr& launcher) {
  std::vector<WorkerPtr> lost;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return;
    if (launcher_ == launcher) launcher_ = nullptr;
    std::erase_if(workers_, [&](const auto& entry) {
      if (entry.second.launcher != launcher) return false;
      lost.push_back(entry.second.worker);
      return true;
    });
  }
  // Its workers die with it: their parent-death signal.
  launcher->End(0);
  for (const WorkerPtr& worker : lost) worker->Exited("was lost with its launcher");
}

void LauncherHost::Close() {
  LinkPtr launcher;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (std::exchange(closed_, true)) return;
    launcher = std::exchange(launcher_, nullptr);
  }
  if (launcher) launcher->End(kCloseSeconds);
  work_.reset();
  io_->stop();
  const bool on_own_thread = thread_.get_id() == std::this_thread::get_id();
  if (on_own_thread) {
    thread_.detach();
  } else {
    thread_.join();
  }
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [id, entry] : workers_) entry.worker->Drop();
  workers_.clear();
  if (launcher) launcher->Drop();
  if (!on_own_thread) {
    // Handlers that had no turn hold workers, and these the context that holds the handlers.
    io_->restart();
    io_->poll();
  }
  io_.reset();
}

}  // namespace

Result<std::unique_ptr<WorkerHost>> StartLauncher(const LauncherOptions& options) {
  LauncherSetup setup{options.interpreter, WorkerEnvironment(options.hidden_env, options.gpus), ""};
  char folder[PATH_MAX];
  if (getcwd(folder, sizeof(folder))) setup.folder = folder;
  RL_ASSIGN_OR_RETURN(LauncherProcess process, LauncherProcess::Spawn(setup));
  if (!process.WaitUntilReady(kLauncherSeconds)) {
    process.Reap(0);
    return Status(StatusCode::kUnavailable,
                  "Python interpreter '" + options.interpreter.path + "' (from " + options.interpreter.found_by +
                      ") did not start its launcher within " + std::to_string(kLauncherSeconds) + " s",
                  "is it a Python of 3.9 or newer with ctypes? its own message is above, if it gave one; name another with "
                  "--python, the key `python` or REWARDLOOP_PYTHON");
  }
  return std::unique_ptr<WorkerHost>(std::make_unique<LauncherHost>(std::move(setup), std::move(process)));
}

}  // namespace rewardloop::workers
