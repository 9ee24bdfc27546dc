#include "workers/launcher_link.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

namespace rewardloop::workers {
namespace asio = boost::asio;
namespace {

constexpr size_t kMaxPacket = 4096;
constexpr size_t kMaxDescriptors = 2;

bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK; }

}  // namespace

LauncherLink::LauncherLink(std::shared_ptr<asio::io_context> io, LauncherProcess process)
    : io_(std::move(io)),
      process_(std::move(process)),
      control_(*io_, fcntl(process_.control().get(), F_DUPFD_CLOEXEC, 0)) {}

void LauncherLink::Listen(std::function<void(std::string_view)> packet, std::function<void()> lost) {
  packet_ = std::move(packet);
  lost_ = std::move(lost);
  asio::post(*io_, [self = shared_from_this()] { self->Read(); });
}

bool LauncherLink::Send(std::string packet, const std::vector<int>& descriptors) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (unsent_.empty()) {
    const Sent sent = SendNow(packet, descriptors);
    if (sent != Sent::kLater) return sent == Sent::kYes;
    asio::post(*io_, [self = shared_from_this()] { self->WaitToWrite(); });
  }
  std::vector<Descriptor> copies;
  for (const int descriptor : descriptors) copies.emplace_back(fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  unsent_.push_back({std::move(packet), std::move(copies)});
  return true;
}

LauncherLink::Sent LauncherLink::SendNow(const std::string& text, const std::vector<int>& descriptors) {
  iovec part{const_cast<char*>(text.data()), text.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char space[CMSG_SPACE(kMaxDescriptors * sizeof(int))] = {};
  if (!descriptors.empty()) {
    message.msg_control = space;
    message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size() * sizeof(int));
  }
  while (true) {
    if (sendmsg(process_.control().get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return Sent::kYes;
    if (WouldBlock()) return Sent::kLater;
    if (errno != EINTR) return Sent::kNever;
  }
}

bool LauncherLink::SendUnsentLocked() {
  while (!unsent_.empty()) {
    std::vector<int> descriptors;
    for (const Descriptor& one : unsent_.front().descriptors) descriptors.push_back(one.get());
    if (SendNow(unsent_.front().text, descriptors) == Sent::kLater) return false;
    unsent_.pop_front();
  }
  return true;
}

void LauncherLink::WaitToWrite() {
  if (!control_.is_open()) return;
  control_.async_wait(asio::posix::descriptor_base::wait_write, [self = shared_from_this()](const boost::system::error_code& error) {
    std::unique_lock<std::mutex> lock(self->mutex_);
    if (error || self->SendUnsentLocked()) return;
    lock.unlock();
    self->WaitToWrite();
  });
}

void LauncherLink::Read() {
  if (!control_.is_open()) return;
  control_.async_wait(asio::posix::descriptor_base::wait_read, [self = shared_from_this()](const boost::system::error_code& error) {
    if (error) return;
    std::string packet(kMaxPacket, '\0');
    while (true) {
      const ssize_t size = recv(self->process_.control().get(), packet.data(), packet.size(), MSG_DONTWAIT);
      if (size > 0) {
        self->packet_(std::string_view(packet).substr(0, static_cast<size_t>(size)));
      } else if (size < 0 && WouldBlock()) {
        return self->Read();
      } else if (!(size < 0 && errno == EINTR)) {
        return self->lost_();
      }
    }
  });
}

void LauncherLink::End(int seconds) {
  // End of file on its socket tells the launcher to kill everything and leave.
  shutdown(process_.control().get(), SHUT_RDWR);
  process_.Reap(seconds);
}

void LauncherLink::Drop() {
  boost::system::error_code ignored;
  control_.close(ignored);
}

}  // namespace rewardloop::workers
