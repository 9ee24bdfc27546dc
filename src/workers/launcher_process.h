// LauncherProcess: the process that owns the workers of one pool (launcher.py), and the socket to it.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "rewardloop/status.h"
#include "workers/descriptor.h"
#include "workers/interpreter.h"

namespace rewardloop::workers {

// What a launcher is started with. Taken once: a second launcher of the same pool gets the same, whatever the program has
// done to its own environment and working folder since.
struct LauncherSetup {
  Interpreter interpreter;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string folder;  // empty: wherever the caller is
};

class LauncherProcess {
 public:
  // Spawns it with every descriptor closed but its own, in a session of its own. Does not wait until it answers.
  static Result<LauncherProcess> Spawn(const LauncherSetup& setup);

  // Waits for its first word. False when none comes in time.
  bool WaitUntilReady(int seconds) const;
  // Waits until it is gone, which it is soon after its socket was shut down; kills it when that takes too long. Also when
  // the program ignores SIGCHLD.
  void Reap(int seconds);

  pid_t pid() const { return pid_; }
  const Descriptor& control() const { return control_; }  // SOCK_SEQPACKET

 private:
  LauncherProcess(pid_t pid, Descriptor pidfd, Descriptor control)
      : pid_(pid), pidfd_(std::move(pidfd)), control_(std::move(control)) {}

  pid_t pid_;
  Descriptor pidfd_;  // where SIGCHLD is ignored, `pid_` may be another process's by now
  Descriptor control_;
};

// A connected pair of Unix sockets, close-on-exec.
Status MakeSocketPair(int type, Descriptor* ours, Descriptor* theirs);

}  // namespace rewardloop::workers
