#include "rewardloop/log.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

namespace rewardloop {
namespace {

void CutText(std::string* text) {
  if (text->size() <= Log::kMaxTextBytes) return;
  size_t end = Log::kMaxTextBytes;
  while (end > 0 && (static_cast<unsigned char>((*text)[end]) & 0xC0) == 0x80) --end;  // whole characters
  text->resize(end);
  *text += "...";
}

class SummarizingLog final : public Log {
 public:
  SummarizingLog(Executor* executor, Sink sink) : state_(std::make_shared<State>(executor, std::move(sink))) {}
  ~SummarizingLog() override { state_->Flush(); }

  void Write(LogLevel level, std::string key, std::string text) override {
    if (!state_->sink) return;
    CutText(&text);
    state_->Write(level, std::move(key), std::move(text));
  }
  void Flush() override { state_->Flush(); }

 private:
  struct Entry {
    int64_t written_ns;  // when its last record was made
    LogLevel level = LogLevel::kInfo;
    std::string text;     // of the newest repetition
    int64_t repeats = 0;  // since then
  };

  // Shared with what it has posted.
  struct State : std::enable_shared_from_this<State> {
    State(Executor* where, Sink to) : executor(where), sink(std::move(to)) {}

    void Write(LogLevel level, std::string key, std::string text);
    void Flush();
    Entry* FindOrMakeLocked(std::string* key, int64_t now_ns, bool* is_new);
    void RecordLocked(LogLevel level, std::string text, int64_t repeats);
    void SummarizeLocked(int64_t now_ns, bool all);
    void ArmTimerLocked();
    void Deliver();

    Executor* const executor;
    const Sink sink;
    std::mutex sink_mutex;  // one record at a time, in order; taken before `mutex`
    std::mutex mutex;       // guards what follows
    std::map<std::string, Entry> entries;  // bounded: kMaxKeys and one for the others
    std::deque<LogRecord> waiting;                   // bounded: kMaxWaiting
    int64_t lost = 0;                                // did not fit into `waiting`
    int64_t swept_ns = 0;
    bool delivery_posted = false;
    bool timer_armed = false;
  };

  const std::shared_ptr<State> state_;
};

// Where messages are counted once there are too many kinds of them.
constexpr char kOthers[] = "\x01others";

void SummarizingLog::State::Write(LogLevel level, std::string key, std::string text) {
  std::lock_guard<std::mutex> lock(mutex);
  const int64_t now_ns = executor->clock().NowNs();
  bool is_new = false;
  Entry* const entry = FindOrMakeLocked(&key, now_ns, &is_new);
  if (key == kOthers) {
    text = "more than " + std::to_string(kMaxKeys) + " different messages within " +
           std::to_string(kRepeatIntervalNs / 1'000'000'000) + " s; the others are only counted";
  }
  if (is_new || (entry->repeats == 0 && now_ns - entry->written_ns >= kRepeatIntervalNs)) {
    entry->written_ns = now_ns;
    RecordLocked(level, std::move(text), 1);
    return;
  }
  entry->level = level;
  entry->text = std::move(text);
  ++entry->repeats;
  ArmTimerLocked();
}

SummarizingLog::Entry* SummarizingLog::State::FindOrMakeLocked(std::string* key, int64_t now_ns, bool* is_new) {
  if (const auto found = entries.find(*key); found != entries.end()) return &found->second;
  if (entries.size() >= kMaxKeys && (swept_ns == 0 || now_ns - swept_ns >= kRepeatIntervalNs / 10)) {
    swept_ns = now_ns;
    std::erase_if(entries, [&](const auto& entry) {
      return entry.second.repeats == 0 && now_ns - entry.second.written_ns >= kRepeatIntervalNs;
    });
  }
  if (entries.size() >= kMaxKeys) *key = kOthers;
  const auto [entry, inserted] = entries.try_emplace(*key);
  *is_new = inserted;
  return &entry->second;
}

void SummarizingLog::State::RecordLocked(LogLevel level, std::string text, int64_t repeats) {
  if (waiting.size() >= kMaxWaiting) {
    ++lost;
    return;
  }
  waiting.push_back({level, std::move(text), repeats});
  if (delivery_posted) return;
  delivery_posted = true;
  executor->Post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Deliver();
  });
}

void SummarizingLog::State::SummarizeLocked(int64_t now_ns, bool all) {
  for (auto& [key, entry] : entries) {
    if (entry.repeats == 0 || (!all && now_ns - entry.written_ns < kRepeatIntervalNs)) continue;
    entry.written_ns = now_ns;
    RecordLocked(entry.level, std::move(entry.text), std::exchange(entry.repeats, 0));
  }
}

void SummarizingLog::State::ArmTimerLocked() {
  if (timer_armed) return;
  int64_t due_ns = kNoDeadline;
  for (const auto& [key, entry] : entries) {
    if (entry.repeats > 0) due_ns = std::min(due_ns, DeadlineAfter(entry.written_ns, kRepeatIntervalNs));
  }
  if (due_ns == kNoDeadline) return;
  timer_armed = true;
  executor->PostAt(due_ns, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    std::lock_guard<std::mutex> lock(self->mutex);
    self->timer_armed = false;
    self->SummarizeLocked(self->executor->clock().NowNs(), false);
    self->ArmTimerLocked();
  });
}

void SummarizingLog::State::Deliver() {
  std::lock_guard<std::mutex> serial(sink_mutex);
  std::deque<LogRecord> records;
  {
    std::lock_guard<std::mutex> lock(mutex);
    delivery_posted = false;
    records.swap(waiting);
    if (const int64_t count = std::exchange(lost, 0); count > 0) {
      records.push_back({LogLevel::kWarning, "messages were lost: more came than could be written", count});
    }
  }
  for (const LogRecord& record : records) sink(record);
}

void SummarizingLog::State::Flush() {
  if (!sink) return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    SummarizeLocked(executor->clock().NowNs(), true);
  }
  Deliver();
}

}  // namespace

std::string_view LogLevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kError: return "error";
    case LogLevel::kOutput: return "output";
  }
  return "info";
}

std::string LogText(const LogRecord& record) {
  if (record.repeats <= 1) return record.text;
  return record.text + " (" + std::to_string(record.repeats) + " times)";
}

std::unique_ptr<Log> Log::Make(Executor* executor, Sink sink) {
  return std::make_unique<SummarizingLog>(executor, std::move(sink));
}

}  // namespace rewardloop
