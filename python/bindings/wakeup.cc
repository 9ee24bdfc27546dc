#include "wakeup.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace rewardloop::python {

Wakeup::Wakeup() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Wakeup::~Wakeup() { close(fd_); }

void Wakeup::Notify(int64_t token) {
  std::lock_guard<std::mutex> lock(mutex_);
  ready_.push_back(token);
  if (!armed_) return;
  armed_ = false;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof one);  // fails only when it is readable already
}

std::vector<int64_t> Wakeup::Drain() {
  std::lock_guard<std::mutex> lock(mutex_);
  uint64_t count;
  [[maybe_unused]] const ssize_t got = read(fd_, &count, sizeof count);
  armed_ = true;
  return std::exchange(ready_, {});
}

}  // namespace rewardloop::python
