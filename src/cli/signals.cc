#include "cli/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <initializer_list>

namespace rewardloop::cli {
namespace {

// Signal handlers can reach nothing but globals.
std::atomic<int> g_signal = 0;
int g_pipe[2] = {-1, -1};

static_assert(std::atomic<int>::is_always_lock_free);

void OnSignal(int signal) {
  const int saved_errno = errno;
  int expected = 0;
  if (!g_signal.compare_exchange_strong(expected, signal)) ::_exit(128 + signal);
  const char byte = 1;
  (void)!::write(g_pipe[1], &byte, 1);
  errno = saved_errno;
}

}  // namespace

void InstallSignalHandlers() {
  if (::pipe2(g_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return;
  struct sigaction action{};
  action.sa_handler = OnSignal;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM}) {
    ::sigaction(signal, &action, nullptr);
  }
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, nullptr);
}

int InterruptSignal() { return g_signal.load(); }
int InterruptFd() { return g_pipe[0]; }

void WakeReaders() {
  const char byte = 1;
  if (g_pipe[1] >= 0) (void)!::write(g_pipe[1], &byte, 1);
}

}  // namespace rewardloop::cli
