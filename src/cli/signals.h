// Ctrl-C and SIGTERM: the first asks for a clean end, the second ends at once.
#pragma once

namespace rewardloop::cli {

// Installs the handlers; SIGPIPE is ignored, so that writing to a closed pipe is an error like any
// other. Call once.
void InstallSignalHandlers();
// The first signal that came, 0: none.
int InterruptSignal();
// Becomes readable when the first signal comes, or by WakeReaders(); -1 without handlers.
int InterruptFd();
// Ends waits for input as a signal does, without being one.
void WakeReaders();

}  // namespace rewardloop::cli
