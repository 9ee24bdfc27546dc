// Log: what the engine has to say to a person. Repetitions are counted, not repeated.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "rewardloop/executor.h"

namespace rewardloop {

// kOutput is no matter of the engine's: what a user's function printed or raised, with the item's id in front.
enum class LogLevel { kDebug, kInfo, kWarning, kError, kOutput };

// "debug", "info", "warning", "error", "output".
REWARDLOOP_EXPORT std::string_view LogLevelName(LogLevel level);

struct LogRecord {
  LogLevel level = LogLevel::kInfo;
  std::string text;
  // Calls of Write() that this record stands for. More than 1: said again since the last record of that key; `text` is the
  // newest.
  int64_t repeats = 1;
};

// `record.text`, with the count when it stands for several: "cannot reach x (12 times)".
REWARDLOOP_EXPORT std::string LogText(const LogRecord& record);

// Thread-safe. Everything is bounded: past a limit records are counted and a last one says how many.
class REWARDLOOP_EXPORT Log {
 public:
  // Gets the records, one at a time and in order. Must be quick and must not throw, call the log or take a lock that a
  // caller of the log may hold (such as Python's GIL).
  using Sink = std::function<void(const LogRecord&)>;

  // Repetitions of a key become one record at most this often.
  static constexpr int64_t kRepeatIntervalNs = 5'000'000'000;
  static constexpr size_t kMaxKeys = 1024;        // told apart within that time; the others share one
  static constexpr size_t kMaxWaiting = 4096;     // records that the sink has not got yet
  static constexpr size_t kMaxTextBytes = 16384;  // longer texts are cut

  virtual ~Log() = default;

  // `executor` outlives the log. Without a sink nothing is kept.
  static std::unique_ptr<Log> Make(Executor* executor, Sink sink);

  // `key` says what counts as the same message. The first of a key goes to the sink at once, from an executor's thread and
  // never inside this call; repetitions as one record after kRepeatIntervalNs.
  virtual void Write(LogLevel level, std::string key, std::string text) = 0;
  // Hands all that waits, repetitions too, to the sink before it returns. The destructor does the same.
  virtual void Flush() = 0;
};

}  // namespace rewardloop
