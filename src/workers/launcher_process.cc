#include "workers/launcher_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "rewardloop/json.h"
#include "workers/sources.h"

namespace rewardloop::workers {
namespace {

// What the launcher finds where; launcher.py says the same.
constexpr int kControlDescriptor = 3;
constexpr int kWorkerScriptDescriptor = 4;
constexpr int kLauncherScriptDescriptor = 5;
constexpr int kFirstUnused = 6;
// Sources lie above all targets: one target must not overwrite the source of another.
constexpr int kFirstSource = 16;

Status SystemError(const std::string& what) { return ResourceExhausted(what + ": " + std::strerror(errno)); }

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
      "globals().pop('__file__', None)\n"  // multiprocessing would run this script again in its children
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

Result<Descriptor> OutOfTheWay(const Descriptor& source) {
  Descriptor copy(fcntl(source.get(), F_DUPFD_CLOEXEC, kFirstSource));
  if (copy.get() < 0) return SystemError("no descriptor for a worker");
  return copy;
}

// Its standard output is the caller's standard error: what native code prints in a worker must never end up among results.
Result<pid_t> SpawnWith(const LauncherSetup& setup, int control, int launcher_script, int worker_script) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  // A daemon may have closed its own; what has the number then is somebody's.
  if (const int flags = fcntl(2, F_GETFD); flags < 0 || (flags & FD_CLOEXEC)) {
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, 2, 1);
  posix_spawn_file_actions_adddup2(&actions, control, kControlDescriptor);
  posix_spawn_file_actions_adddup2(&actions, worker_script, kWorkerScriptDescriptor);
  posix_spawn_file_actions_adddup2(&actions, launcher_script, kLauncherScriptDescriptor);
  posix_spawn_file_actions_addclosefrom_np(&actions, kFirstUnused);
  if (!setup.folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, setup.folder.c_str());

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);

  std::vector<std::string> variables;
  for (const auto& [name, value] : setup.environment) variables.push_back(name + "=" + value);
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  const std::string& path = setup.interpreter.path;
  // -I -S: nothing of the user's environment runs inside the launcher.
  std::vector<std::string> arguments = {path, "-I", "-S", "/dev/fd/" + std::to_string(kLauncherScriptDescriptor),
                                        std::to_string(getpid()), "rewardloop-launcher"};
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, path.c_str(), &actions, &attributes, argv.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return NotFound("Python interpreter '" + path + "' (from " + setup.interpreter.found_by +
                        ") cannot be started: " + std::strerror(error),
                    "name another with --python, the key `python` or REWARDLOOP_PYTHON");
  }
  return pid;
}

}  // namespace

Status MakeSocketPair(int type, Descriptor* ours, Descriptor* theirs) {
  int ends[2];
  if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0) return SystemError("no socket for a worker");
  *ours = Descriptor(ends[0]);
  *theirs = Descriptor(ends[1]);
  return Status();
}

Result<LauncherProcess> LauncherProcess::Spawn(const LauncherSetup& setup) {
  Descriptor ours, theirs;
  RL_RETURN_IF_ERROR(MakeSocketPair(SOCK_SEQPACKET, &ours, &theirs));
  RL_ASSIGN_OR_RETURN(const Descriptor launcher_file, TextFile("rewardloop-launcher.py", kLauncherSource));
  RL_ASSIGN_OR_RETURN(const Descriptor worker_file, TextFile("rewardloop-worker.py", WorkerScript()));
  RL_ASSIGN_OR_RETURN(const Descriptor control, OutOfTheWay(theirs));
  RL_ASSIGN_OR_RETURN(const Descriptor launcher_script, OutOfTheWay(launcher_file));
  RL_ASSIGN_OR_RETURN(const Descriptor worker_script, OutOfTheWay(worker_file));
  RL_ASSIGN_OR_RETURN(const pid_t pid, SpawnWith(setup, control.get(), launcher_script.get(), worker_script.get()));
  Descriptor pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (pidfd.get() < 0) {
    const Status error = SystemError("no handle of a process");
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return error;
  }
  return LauncherProcess(pid, std::move(pidfd), std::move(ours));
}

bool LauncherProcess::WaitUntilReady(int seconds) const {
  pollfd ready{control_.get(), POLLIN, 0};
  char packet[256];
  return poll(&ready, 1, seconds * 1000) > 0 && recv(control_.get(), packet, sizeof(packet), 0) > 0;
}

void LauncherProcess::Reap(int seconds) {
  pollfd ended{pidfd_.get(), POLLIN, 0};
  if (poll(&ended, 1, seconds * 1000) <= 0) syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {  // ECHILD: somebody else has reaped it
  }
}

}  // namespace rewardloop::workers
