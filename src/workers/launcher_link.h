// LauncherLink: the engine's end of the socket to one launcher. Packets are JSON (launcher.py).
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "workers/descriptor.h"
#include "workers/launcher_process.h"

namespace rewardloop::workers {

class LauncherLink : public std::enable_shared_from_this<LauncherLink> {
 public:
  LauncherLink(std::shared_ptr<boost::asio::io_context> io, LauncherProcess process);

  // Calls `packet` for what it says and `lost`, once, when it is gone; on the thread of `io`, before which it must not be used.
  void Listen(std::function<void(std::string_view)> packet, std::function<void()> lost);

  // Thread-safe; never blocks. False when the launcher is gone. Packets are sent in order, with copies of `descriptors`.
  bool Send(std::string packet, const std::vector<int>& descriptors = {});
  // Ends it and everything below it; waits for that.
  void End(int seconds);
  // Lets go of what waits in `io`, whose handlers hold this object. When its thread has ended; poll it afterwards.
  void Drop();

 private:
  struct Packet {
    std::string text;
    std::vector<Descriptor> descriptors;
  };
  enum class Sent { kYes, kLater, kNever };

  Sent SendNow(const std::string& text, const std::vector<int>& descriptors);
  bool SendUnsentLocked();
  void WaitToWrite();
  void Read();

  const std::shared_ptr<boost::asio::io_context> io_;
  LauncherProcess process_;
  boost::asio::posix::stream_descriptor control_;
  std::function<void(std::string_view)> packet_;
  std::function<void()> lost_;

  std::mutex mutex_;
  std::deque<Packet> unsent_;  // while the launcher is slower than we
};

}  // namespace rewardloop::workers
