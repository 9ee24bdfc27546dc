// Which worker runs which call, and how many workers there are.
#include <algorithm>
#include <utility>

#include "workers/pool_state.h"

namespace rewardloop::workers {

size_t WorkerPool::CapacityLocked() const {
  if (!info_.is_async) return static_cast<size_t>(options_.threads);
  const int64_t workers = std::max(1, options_.workers);
  return static_cast<size_t>(std::max<int64_t>(1, (options_.max_concurrent + workers - 1) / workers));
}

void WorkerPool::DispatchLocked() {
  if (closed_ || !loaded_) return;
  for (const WorkerPtr& worker : workers_) {
    if (alone_queue_.empty()) break;
    if (worker->state == Worker::State::kReady && worker->running.empty()) (void)SendLocked(worker, &alone_queue_, 1, true);
  }
  if (queue_.empty()) return;

  // Calls are spread over options_.workers of them; the others stay idle for calls that run alone.
  const size_t capacity = CapacityLocked();
  std::vector<WorkerPtr> eligible;
  for (const bool busy : {true, false}) {
    for (const WorkerPtr& worker : workers_) {
      if (worker->state != Worker::State::kReady || worker->exclusive || worker->running.empty() == busy) continue;
      if (static_cast<int>(eligible.size()) < options_.workers) eligible.push_back(worker);
    }
  }
  if (eligible.empty()) return;
  size_t room = 0;
  size_t total = queue_.size();
  for (const WorkerPtr& worker : eligible) {
    room += capacity - std::min(capacity, worker->running.size());
    total += worker->running.size();
  }
  if (room == 0) return;
  const size_t share = std::min(capacity, (total + eligible.size() - 1) / eligible.size());
  for (const WorkerPtr& worker : eligible) {
    if (worker->running.size() < share) (void)SendLocked(worker, &queue_, share - worker->running.size(), false);
  }
}

size_t WorkerPool::SendLocked(const WorkerPtr& worker, std::deque<CallPtr>* queue, size_t most, bool alone) {
  const int64_t now_ns = executor_.clock().NowNs();
  constexpr size_t kFrameBytes = 1 << 20;  // about: a worker begins with the first calls while the others are on their way
  std::string frame;
  size_t begun = 0;
  size_t sent = 0;
  worker->exclusive = alone;
  const auto flush = [&] {
    if (frame.empty()) return;
    EndFrame(begun, &frame);
    worker->process->Send(std::exchange(frame, {}));
  };
  while (sent < most && !queue->empty() && !worker->free_slots.empty()) {
    const CallPtr call = queue->front();
    queue->pop_front();
    const uint32_t slot = worker->free_slots.back();
    worker->free_slots.pop_back();
    worker->running.emplace(call->id, Worker::Running{.call = call, .slot = slot, .sent_ns = now_ns});
    call->state = PendingCall::State::kRunning;
    if (call->started) call->started(now_ns);
    const CallRequest& request = call->request;
    const CallEntry entry{call->id, slot, request.items, request.seed, request.payload};
    if (!frame.empty() && frame.size() + entry.ByteSize() > kFrameBytes) flush();
    if (frame.empty()) {
      frame.reserve(kFrameHeader + std::min(kFrameBytes, entry.ByteSize() * std::min(most - sent, queue->size() + 1)));
      begun = BeginFrame(kCalls, &frame);
    }
    AppendCall(entry, &frame);
    ++sent;
  }
  flush();
  return sent;
}

void WorkerPool::StartWorkersLocked() {
  if (closed_ || !loaded_ || restart_waits_ || !broken_.ok()) return;
  int starting = 0;
  int ready = 0;
  for (const WorkerPtr& worker : workers_) {
    starting += worker->state == Worker::State::kStarting;
    ready += worker->state == Worker::State::kReady;
  }
  for (; starting + ready <= options_.workers; ++starting) {
    if (start_failures_ > 0 && starting > 0) return;  // one at a time, until one has worked
    StartWorkerLocked();
  }
}

void WorkerPool::StartWorkerLocked() {
  const int64_t workers = std::max(1, options_.workers);
  const int64_t slots = std::max<int64_t>(options_.threads, (options_.max_concurrent + workers - 1) / workers);
  const auto worker = std::make_shared<Worker>();
  worker->started_ns = executor_.clock().NowNs();
  for (int64_t slot = slots; slot-- > 0;) worker->free_slots.push_back(static_cast<uint32_t>(slot));
  WorkerEvents events;
  events.on_frame = [pool = weak_from_this(), which = std::weak_ptr<Worker>(worker)](uint8_t kind, std::string_view body) {
    const auto self = pool.lock();
    const auto from = which.lock();
    if (self && from) self->OnFrame(from, kind, body);
  };
  events.on_exit = [pool = weak_from_this(), which = std::weak_ptr<Worker>(worker)](const std::string& how) {
    const auto self = pool.lock();
    const auto from = which.lock();
    if (self && from) self->OnExit(from, how);
  };
  workers_.push_back(worker);
  worker->process = host_->Start(static_cast<int>(slots), std::move(events));
  if (worker->process) worker->process->Send(Frame(kHello, options_.hello.Dump()));
}

void WorkerPool::FailQueuedLocked() {
  const CallReply broken{CallReply::Kind::kBroken, broken_.ToString()};
  for (const CallPtr& call : queue_) CompleteLocked(call, broken);
  for (const CallPtr& call : alone_queue_) CompleteLocked(call, broken);
  queue_.clear();
  alone_queue_.clear();
}

}  // namespace rewardloop::workers
