#include "async/thread_executor.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <map>
#include <thread>
#include <vector>

namespace rewardloop {
namespace asio = boost::asio;
namespace {

// About 30 us on an idle machine.
constexpr int kLingerYields = 64;
constexpr int kWaiterYields = 16;
constexpr int64_t kBusyYieldNs = 20'000;

// Gives others who need it the CPU. False when they took it for long: then it is better to sleep than to wait awake.
bool YieldCheaply() {
  const int64_t before_ns = Clock::Real().NowNs();
  std::this_thread::yield();
  return Clock::Real().NowNs() - before_ns < kBusyYieldNs;
}

// Thrown by a task to end the worker that runs it.
struct Retire {};

void RunWorker(asio::io_context& work) {
  try {
    work.run();
  } catch (const Retire&) {
  }
}

}  // namespace

struct ThreadExecutor::State {
  explicit State(int count) : threads_wanted(count), work(count), guard(asio::make_work_guard(work)) {}

  const int threads_wanted;
  asio::io_context work;
  asio::executor_work_guard<asio::io_context::executor_type> guard;

  // Timers: earliest first, then in order of arrival.
  std::mutex mutex;
  std::condition_variable timer_change;
  std::map<std::pair<int64_t, TimerId>, Task> timers;
  std::map<TimerId, int64_t> deadlines;
  TimerId next_timer = 1;
  bool stopped = false;

  std::vector<std::thread> threads;
  std::thread timer_thread;
  int lost = 0;

  void RunTimers();
};

void ThreadExecutor::State::RunTimers() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!stopped) {
    if (timers.empty()) {
      timer_change.wait(lock);
      continue;
    }
    const auto first = timers.begin();
    const int64_t deadline_ns = first->first.first;
    if (Clock::Real().NowNs() < deadline_ns) {
      timer_change.wait_until(lock, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline_ns)));
      continue;
    }
    Task task = std::move(first->second);
    deadlines.erase(first->first.second);
    timers.erase(first);
    lock.unlock();
    task();
    task = nullptr;  // what it holds may need the executor
    lock.lock();
  }
}

ThreadExecutor::ThreadExecutor(int threads) : state_(std::make_shared<State>(threads < 1 ? 1 : threads)) {
  for (int i = 0; i < state_->threads_wanted; ++i) {
    state_->threads.emplace_back([state = state_] { RunWorker(state->work); });
  }
  state_->timer_thread = std::thread([state = state_] { state->RunTimers(); });
}

ThreadExecutor::~ThreadExecutor() {
  State& state = *state_;
  std::map<std::pair<int64_t, TimerId>, Task> dropped;
  std::vector<std::thread> threads;
  int lost;
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    state.stopped = true;
    dropped.swap(state.timers);
    threads.swap(state.threads);
    lost = state.lost;
  }
  state.timer_change.notify_all();
  state.guard.reset();
  state.work.stop();
  threads.push_back(std::move(state.timer_thread));
  for (std::thread& thread : threads) {
    // A lost thread may never come back; its state lives as long as it does.
    if (thread.get_id() == std::this_thread::get_id() || lost > 0) {
      thread.detach();
    } else {
      thread.join();
    }
  }
}

void ThreadExecutor::Post(Task task) { asio::post(state_->work, std::move(task)); }

Executor::TimerId ThreadExecutor::PostAt(int64_t deadline_ns, Task task) {
  if (deadline_ns == kNoDeadline) return 0;
  State& state = *state_;
  bool is_first;
  TimerId id;
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    id = state.next_timer++;
    const auto entry = state.timers.emplace(std::make_pair(deadline_ns, id), std::move(task)).first;
    state.deadlines.emplace(id, deadline_ns);
    is_first = entry == state.timers.begin();
  }
  if (is_first) state.timer_change.notify_one();
  return id;
}

bool ThreadExecutor::CancelTimer(TimerId id) {
  State& state = *state_;
  Task dropped;
  std::lock_guard<std::mutex> lock(state.mutex);
  const auto deadline = state.deadlines.find(id);
  if (deadline == state.deadlines.end()) return false;
  const auto timer = state.timers.find({deadline->second, id});
  dropped = std::move(timer->second);  // destroyed after the lock is released
  state.timers.erase(timer);
  state.deadlines.erase(deadline);
  return true;
}

bool ThreadExecutor::WaitUntil(std::unique_lock<std::mutex>& lock, WaitPoint& point,
                               const std::function<bool()>& ready, int64_t deadline_ns) {
  // What takes microseconds is over before a thread could sleep and be woken.
  const bool may_wait = deadline_ns == kNoDeadline || clock().NowNs() < deadline_ns;
  bool awake = may_wait;
  for (int i = 0; awake && i < kWaiterYields; ++i) {
    if (ready()) return true;
    lock.unlock();
    awake = YieldCheaply();
    lock.lock();
  }
  if (deadline_ns == kNoDeadline) {
    point.condition_.wait(lock, ready);
    return true;
  }
  const std::chrono::steady_clock::time_point deadline{std::chrono::nanoseconds(deadline_ns)};
  return point.condition_.wait_until(lock, deadline, ready);
}

bool ThreadExecutor::Linger(const std::function<bool()>& ready) {
  for (int i = 0; i < kLingerYields; ++i) {
    if (ready()) return true;
    if (!YieldCheaply()) break;
  }
  return ready();
}

int ThreadExecutor::concurrency() const { return state_->threads_wanted; }

void ThreadExecutor::ReplaceThread() {
  std::lock_guard<std::mutex> lock(state_->mutex);
  if (state_->stopped || state_->lost >= kMaxLostThreads) return;
  ++state_->lost;
  state_->threads.emplace_back([state = state_] { RunWorker(state->work); });
}

void ThreadExecutor::RetireThread() {
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    if (state_->lost == 0) return;
    --state_->lost;
  }
  asio::post(state_->work, [] { throw Retire(); });
}

}  // namespace rewardloop
