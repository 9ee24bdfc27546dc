// LaunchedWorker: a worker process as the engine sees it, its socket and its board.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "workers/board.h"
#include "workers/descriptor.h"
#include "workers/frames.h"
#include "workers/host.h"

namespace rewardloop::workers {

class LaunchedWorker final : public WorkerProcess, public std::enable_shared_from_this<LaunchedWorker> {
 public:
  // Events come from the thread of `io`. `kill` must not block.
  LaunchedWorker(std::shared_ptr<boost::asio::io_context> io, Descriptor socket, std::unique_ptr<Board> board,
                 WorkerEvents events, std::function<void()> kill);

  void Send(std::string frames) override;
  void Kill() override { kill_(); }
  void Interrupt(uint64_t call) override { board_->Interrupt(call); }
  BoardSnapshot ReadBoard() const override { return board_->Read(); }
  int64_t ThreadCpuNs(int64_t thread) const override;

  // On the thread of `io`, or when that has ended.
  void Read();
  void Started(int pid);
  void Exited(const std::string& how);
  void Drop();  // no event from now on

 private:
  bool WriteLocked();  // true when everything is sent or the worker is gone
  void WaitToWrite();
  bool ReadSome();  // false when there will be no more

  const std::shared_ptr<boost::asio::io_context> io_;  // the socket needs it
  boost::asio::posix::stream_descriptor socket_;
  const std::unique_ptr<Board> board_;
  WorkerEvents events_;
  const std::function<void()> kill_;
  std::atomic<int> pid_{0};
  FrameReader reader_;
  std::string bytes_;

  std::mutex mutex_;  // guards what follows
  std::string unsent_;
  size_t sent_ = 0;  // of its bytes
  bool over_ = false;
};

}  // namespace rewardloop::workers
