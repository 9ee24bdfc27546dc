#include "log_queue.h"

#include <iterator>
#include <utility>

#include "interpreter.h"

namespace rewardloop::python {

std::shared_ptr<LogQueue> LogQueue::OfProcess() {
  static auto* queue = new std::shared_ptr<LogQueue>(std::make_shared<LogQueue>());
  static uint64_t generation = ForkGeneration();
  if (generation != ForkGeneration()) {
    generation = ForkGeneration();
    queue = new std::shared_ptr<LogQueue>(std::make_shared<LogQueue>());  // the parent's is leaked
  }
  return *queue;
}

void LogQueue::Push(const LogRecord& record) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (records_.size() >= kMaxRecords) {
    ++lost_;
    return;
  }
  records_.push_back(record);
  if (records_.size() == 1) wakeup_.Notify(0);
}

std::vector<LogRecord> LogQueue::Drain() {
  std::lock_guard<std::mutex> lock(mutex_);
  wakeup_.Drain();
  std::vector<LogRecord> drained(std::make_move_iterator(records_.begin()), std::make_move_iterator(records_.end()));
  records_.clear();
  if (lost_ > 0) {
    drained.push_back({LogLevel::kWarning, "messages were lost: nobody took them", std::exchange(lost_, 0)});
  }
  return drained;
}

void LogQueue::Stop() {
  std::lock_guard<std::mutex> lock(mutex_);
  stopped_ = true;
  wakeup_.Notify(0);
}

bool LogQueue::stopped() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return stopped_;
}

Log::Sink PythonLogSink() {
  return [queue = LogQueue::OfProcess()](const LogRecord& record) { queue->Push(record); };
}

}  // namespace rewardloop::python
