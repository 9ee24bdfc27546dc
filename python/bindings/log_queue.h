// LogQueue: records of the engines on their way to Python's logger. Engine threads put them in without the GIL; a thread of
// Python's takes them out.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "rewardloop/log.h"
#include "wakeup.h"

namespace rewardloop::python {

// Thread-safe.
class LogQueue {
 public:
  static constexpr size_t kMaxRecords = 4096;  // past it records are counted

  // This process's queue. A forked child gets one of its own: the parent's may be locked for good. Needs the GIL.
  static std::shared_ptr<LogQueue> OfProcess();

  void Push(const LogRecord& record);
  std::vector<LogRecord> Drain();
  // The listener is to end: the descriptor becomes readable.
  void Stop();
  bool stopped() const;
  // Readable when there is something to drain.
  int fd() const { return wakeup_.fd(); }

 private:
  Wakeup wakeup_;
  mutable std::mutex mutex_;
  std::deque<LogRecord> records_;
  int64_t lost_ = 0;
  bool stopped_ = false;
};

// Puts records into this process's queue. Needs the GIL to be made, not to be called.
Log::Sink PythonLogSink();

}  // namespace rewardloop::python
