// A scripted WorkerHost for tests: workers are simulated on the executor's virtual clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rewardloop/executor.h"
#include "workers/frames.h"
#include "workers/host.h"

namespace rewardloop::workers::testing {

inline constexpr int64_t kMillisecond = 1'000'000;
inline constexpr int64_t kSecond = 1'000'000'000;

// What a call does on a worker.
struct Script {
  enum class Blocks { kNothing, kLoop, kLock };  // itself only; the event loop; the interpreter's lock
  enum class End { kReturn, kDie, kTear };       // a reply; its worker dies; a torn frame

  int64_t run_ns = kMillisecond;  // kNoDeadline: for ever
  Blocks blocks = Blocks::kNothing;
  End end = End::kReturn;
  bool burns_cpu = true;        // while it blocks; otherwise nobody can see who holds the lock
  bool ignores_cancel = false;  // of an async function
  bool interruptible = false;   // a step of it that blocks the loop
};

struct HostScript {
  bool is_async = false;
  int64_t load_ns = 10 * kMillisecond;
  std::function<int64_t()> latency_ns = [] { return 0; };  // of what a worker says
  std::function<Script(const std::string& json, int execution)> call = [](const std::string&, int) { return Script{}; };
  // How the start of the n-th worker, from 1, fails: "" not at all, "die", "hang", else what the worker says.
  std::function<std::string(int number)> start_failure = [](int) { return ""; };
  int64_t dies_idle_ns = kNoDeadline;  // so long after it was ready
};

struct SentCall {
  uint64_t id = 0;
  uint32_t slot = 0;
  uint32_t items = 0;
  uint64_t seed = 0;
  std::string json;
};

// The worker's side of AppendCall.
inline std::vector<SentCall> ParseCalls(std::string_view body) {
  constexpr size_t kEntry = 28;
  std::vector<SentCall> calls;
  while (body.size() >= kEntry) {
    SentCall call;
    uint32_t length = 0;
    std::memcpy(&call.id, body.data(), 8);
    std::memcpy(&call.slot, body.data() + 8, 4);
    std::memcpy(&call.items, body.data() + 12, 4);
    std::memcpy(&call.seed, body.data() + 16, 8);
    std::memcpy(&length, body.data() + 24, 4);
    call.json = std::string(body.substr(kEntry, length));
    body.remove_prefix(kEntry + length);
    calls.push_back(std::move(call));
  }
  return calls;
}

// A kReplies body.
inline std::string Reply(uint64_t id, std::string_view json) {
  std::string body(12, '\0');
  const auto length = static_cast<uint32_t>(json.size());
  std::memcpy(body.data(), &id, 8);
  std::memcpy(body.data() + 8, &length, 4);
  return body + std::string(json);
}

// A simulated worker. Events arrive later, in order, and after a kill too, as they do from a process.
class ScriptedWorker final : public WorkerProcess, public std::enable_shared_from_this<ScriptedWorker> {
 public:
  ScriptedWorker(Executor* executor, const HostScript* script, std::map<std::string, int>* executions, int number, int slots,
                 WorkerEvents events)
      : executor_(*executor), script_(*script), executions_(*executions), number_(number), events_(std::move(events)) {
    board_.slots.resize(static_cast<size_t>(slots));
  }

  int number() const { return number_; }
  bool ended() const { return ended_; }    // its exit has been told
  bool killed() const { return killed_; }  // by the pool
  size_t running() const { return running_.size(); }
  size_t most_running() const { return most_running_; }
  int64_t ended_ns() const { return ended_ns_; }
  bool has_run(const std::string& json) const { return seen_.count(json) > 0; }

  void Send(std::string frames) override {
    if (!alive_) return;
    const auto take = [&](uint8_t kind, std::string_view body) { inbox_.emplace_back(kind, std::string(body)); };
    (void)reader_.Feed(frames, take);
    executor_.Post([self = shared_from_this()] { self->ReadInbox(); });
  }
  void Kill() override {
    killed_ = true;
    Die("was killed by signal 9");
  }
  void Interrupt(uint64_t call) override {
    executor_.Post([self = shared_from_this(), call] {
      const auto running = self->running_.find(call);
      if (self->blocker_ != call || running == self->running_.end() || !running->second.script.interruptible) return;
      running->second.script.end = Script::End::kReturn;
      self->Finish(call);
    });
  }
  BoardSnapshot ReadBoard() const override {
    BoardSnapshot board = board_;
    board.heartbeat_ns = blocker_ != 0 && blocks_ == Script::Blocks::kLock ? blocked_since_ns_ : Now();
    if (blocker_ != 0 && script_.is_async) {
      board.loop_call = blocker_;
      board.loop_since_ns = blocked_since_ns_;
    }
    return board;
  }
  int64_t ThreadCpuNs(int64_t thread) const override {
    const auto blocker = running_.find(blocker_);
    if (blocker == running_.end() || !blocker->second.script.burns_cpu || ThreadOf(blocker->second.slot) != thread) return 1;
    return 1 + Now() - blocked_since_ns_;
  }
  void End() {  // the host was closed
    alive_ = false;
    ended_ = true;
    events_ = {};
    running_.clear();
  }

 private:
  struct Running {
    Script script;
    std::string json;
    uint32_t slot = 0;
    int64_t remaining_ns = 0;
    int64_t ends_ns = 0;
    uint64_t timer = 0;  // tells the timer that counts from those that do not any more
  };

  static int64_t ThreadOf(uint32_t slot) { return 1000 + slot; }
  int64_t Now() const { return executor_.clock().NowNs(); }

  void Tell(std::function<void(WorkerEvents&)> event) {
    next_event_ns_ = std::max(next_event_ns_, Now() + script_.latency_ns());
    executor_.PostAt(next_event_ns_, [self = shared_from_this(), event = std::move(event)] {
      WorkerEvents events = self->events_;  // the exit drops them
      event(events);
    });
  }
  void TellFrame(uint8_t kind, std::string body) {
    Tell([kind, body = std::move(body)](WorkerEvents& events) {
      if (events.on_frame) events.on_frame(kind, body);
    });
  }
  void Die(const std::string& how) {
    if (!alive_) return;
    alive_ = false;
    running_.clear();
    blocker_ = 0;
    Tell([self = shared_from_this(), how](WorkerEvents& events) {
      self->ended_ = true;
      self->ended_ns_ = self->Now();
      self->events_ = {};
      if (events.on_exit) events.on_exit(how);
    });
  }

  void ReadInbox() {
    while (alive_ && blocker_ == 0 && !inbox_.empty()) {
      const auto [kind, body] = std::move(inbox_.front());
      inbox_.erase(inbox_.begin());
      if (kind == kHello) Load();
      if (kind == kCancel) CancelCalls(body);
      if (kind == kCalls) {
        // Those behind one that blocks wait in the worker, not started.
        std::vector<SentCall> calls = ParseCalls(body);
        waiting_.insert(waiting_.end(), calls.begin(), calls.end());
        StartWaiting();
      }
    }
  }
  void Load() {
    const std::string failure = script_.start_failure(number_);
    if (failure == "hang") return;
    executor_.PostAt(Now() + script_.load_ns, [self = shared_from_this(), failure] {
      if (!self->alive_) return;
      if (failure == "die") return self->Die("was killed by signal 11");
      if (!failure.empty()) {
        self->TellFrame(kFailed, "{\"message\":\"" + failure + "\",\"hint\":\"fix it\"}");
        return self->Die("ended with exit code 0");
      }
      const std::string async = self->script_.is_async ? "true" : "false";
      self->TellFrame(kReady, "{\"form\":\"item\",\"async\":" + async +
                                  ",\"batch\":false,\"digest\":\"d\",\"file\":\"f.py\",\"python\":\"3.11.7\"}");
      self->executor_.PostAt(DeadlineAfter(self->Now(), self->script_.dies_idle_ns), [self] {
        if (self->running_.empty()) self->Die("ended with exit code 1");
      });
    });
  }
  void StartWaiting() {
    while (alive_ && blocker_ == 0 && !waiting_.empty()) {
      const SentCall call = waiting_.front();
      waiting_.erase(waiting_.begin());
      seen_[call.json] = true;
      Running& running = running_[call.id];
      running.script = script_.call(call.json, ++executions_[call.json]);
      running.json = call.json;
      running.slot = call.slot;
      running.remaining_ns = running.script.run_ns;
      board_.slots.at(call.slot) = {call.id, Now(), ThreadOf(call.slot)};
      most_running_ = std::max(most_running_, running_.size());
      Arm(call.id);
      if (running.script.blocks != Script::Blocks::kNothing) Block(call.id);
    }
  }
  void Arm(uint64_t id) {
    Running& running = running_.at(id);
    running.timer = ++timers_;
    if (running.remaining_ns == kNoDeadline) return;
    running.ends_ns = Now() + running.remaining_ns;
    executor_.PostAt(running.ends_ns, [self = shared_from_this(), id, timer = running.timer] {
      const auto found = self->running_.find(id);
      if (found != self->running_.end() && found->second.timer == timer) self->Finish(id);
    });
  }
  void Block(uint64_t id) {
    blocker_ = id;
    blocks_ = running_.at(id).script.blocks;
    blocked_since_ns_ = Now();
    for (auto& [other, running] : running_) {
      if (other == id) continue;
      running.timer = 0;
      if (running.remaining_ns != kNoDeadline) running.remaining_ns = running.ends_ns - Now();
    }
  }
  void Finish(uint64_t id) {
    const Running running = running_.at(id);
    if (running.script.end == Script::End::kDie) return Die("was killed by signal 9");
    running_.erase(id);
    board_.slots.at(running.slot) = {};
    TellFrame(kReplies, running.script.end == Script::End::kTear ? "torn" : Reply(id, running.json));
    if (blocker_ != id) return;
    blocker_ = 0;
    for (const auto& [other, still] : running_) Arm(other);
    StartWaiting();
    ReadInbox();
  }
  void CancelCalls(const std::string& body) {
    for (size_t at = 0; at + 8 <= body.size(); at += 8) {
      uint64_t id = 0;
      std::memcpy(&id, body.data() + at, 8);
      const auto found = running_.find(id);
      if (found == running_.end() || found->second.script.ignores_cancel) continue;
      board_.slots.at(found->second.slot) = {};
      running_.erase(found);
      TellFrame(kReplies, Reply(id, "cancelled"));
    }
  }

  Executor& executor_;
  const HostScript& script_;
  std::map<std::string, int>& executions_;
  const int number_;
  WorkerEvents events_;
  BoardSnapshot board_;
  FrameReader reader_;
  std::vector<std::pair<uint8_t, std::string>> inbox_;
  std::vector<SentCall> waiting_;
  std::map<uint64_t, Running> running_;
  std::map<std::string, bool> seen_;
  size_t most_running_ = 0;
  uint64_t timers_ = 0;
  uint64_t blocker_ = 0;
  Script::Blocks blocks_ = Script::Blocks::kNothing;
  int64_t blocked_since_ns_ = 0;
  int64_t next_event_ns_ = 0;
  int64_t ended_ns_ = 0;
  bool alive_ = true;
  bool killed_ = false;
  bool ended_ = false;
};

// Everything happens on the thread of the simulator.
class ScriptedHost final : public WorkerHost {
 public:
  ScriptedHost(Executor* executor, HostScript script) : executor_(*executor), script_(std::move(script)) {}

  std::shared_ptr<WorkerProcess> Start(int slots, WorkerEvents events) override {
    if (closed_) return nullptr;
    const int number = static_cast<int>(workers_.size()) + 1;
    workers_.push_back(std::make_shared<ScriptedWorker>(&executor_, &script_, &executions_, number, slots, std::move(events)));
    return workers_.back();
  }
  void Close() override {
    closed_ = true;
    for (const auto& worker : workers_) worker->End();
  }

  // All that were ever started, in order.
  const std::vector<std::shared_ptr<ScriptedWorker>>& workers() const { return workers_; }
  int alive() const {
    return static_cast<int>(std::count_if(workers_.begin(), workers_.end(), [](const auto& one) { return !one->ended(); }));
  }
  std::vector<size_t> running() const {
    std::vector<size_t> counts;
    for (const auto& worker : workers_) counts.push_back(worker->running());
    return counts;
  }
  int executions(const std::string& json) const {
    const auto found = executions_.find(json);
    return found == executions_.end() ? 0 : found->second;
  }
  HostScript& script() { return script_; }

 private:
  Executor& executor_;
  HostScript script_;
  std::map<std::string, int> executions_;
  std::vector<std::shared_ptr<ScriptedWorker>> workers_;
  bool closed_ = false;
};

}  // namespace rewardloop::workers::testing
