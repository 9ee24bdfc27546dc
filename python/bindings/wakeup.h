// Delivery to event loops: one eventfd per loop, written once per burst; the loop then drains what became ready.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace rewardloop::python {

// Thread-safe. Belongs to one event loop; engine threads notify it and never need the GIL.
class Wakeup {
 public:
  Wakeup();
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  int fd() const { return fd_; }
  // What the loop knows as `token` is ready.
  void Notify(int64_t token);
  // Tokens notified since the last call; the next Notify() writes to the descriptor again.
  std::vector<int64_t> Drain();

 private:
  const int fd_;
  std::mutex mutex_;
  bool armed_ = true;
  std::vector<int64_t> ready_;
};

}  // namespace rewardloop::python
