// Status and Result<T>: how every fallible call of rewardloop reports failure.
//
// A Status says what went wrong, where, and (in `hint`) what to do about it. It concerns the *call*: a bad argument, an
// unknown name, a full backlog. What became of one *item* is an ItemStatus (result.h), never a Status.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "rewardloop/export.h"

namespace rewardloop {

enum class StatusCode {
  kOk = 0,
  kInvalidArgument,     // the caller's mistake; the same call fails again
  kNotFound,            // a name nobody knows (scorer, manager, file, group)
  kAlreadyExists,       // a second definition that differs, a duplicate id
  kFailedPrecondition,  // right call, wrong moment: after close(), after a fork
  kResourceExhausted,   // a bound was reached: backlog, uncollected results, memory
  kDeadlineExceeded,    // waited as long as the caller allowed; the handle stays valid
  kCancelled,           // somebody asked for it
  kUnavailable,         // a backend is down; trying later can work
  kDataLoss,            // a file is torn or is not the one it claims to be
  kUnimplemented,
  kInternal,            // a bug of rewardloop
};

// "INVALID_ARGUMENT", ... Never null.
REWARDLOOP_EXPORT std::string_view StatusCodeName(StatusCode code);

// Thread-compatible: const methods may be called from many threads.
class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(StatusCode code, std::string message, std::string hint = "")
      : code_(code), message_(std::move(message)), hint_(std::move(hint)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  // What is wrong and where, one sentence, without a trailing newline.
  const std::string& message() const { return message_; }
  // What to do about it, may be empty.
  const std::string& hint() const { return hint_; }
  // Message and hint as a person reads them: "message (hint)".
  std::string ToString() const { return hint_.empty() ? message_ : message_ + " (" + hint_ + ")"; }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
  std::string hint_;
};

inline Status InvalidArgument(std::string message, std::string hint = "") {
  return Status(StatusCode::kInvalidArgument, std::move(message), std::move(hint));
}
inline Status NotFound(std::string message, std::string hint = "") {
  return Status(StatusCode::kNotFound, std::move(message), std::move(hint));
}
inline Status AlreadyExists(std::string message, std::string hint = "") {
  return Status(StatusCode::kAlreadyExists, std::move(message), std::move(hint));
}
inline Status FailedPrecondition(std::string message, std::string hint = "") {
  return Status(StatusCode::kFailedPrecondition, std::move(message), std::move(hint));
}
inline Status ResourceExhausted(std::string message, std::string hint = "") {
  return Status(StatusCode::kResourceExhausted, std::move(message), std::move(hint));
}
inline Status DeadlineExceeded(std::string message, std::string hint = "") {
  return Status(StatusCode::kDeadlineExceeded, std::move(message), std::move(hint));
}
inline Status Cancelled(std::string message, std::string hint = "") {
  return Status(StatusCode::kCancelled, std::move(message), std::move(hint));
}
inline Status DataLoss(std::string message, std::string hint = "") {
  return Status(StatusCode::kDataLoss, std::move(message), std::move(hint));
}
inline Status Internal(std::string message, std::string hint = "") {
  return Status(StatusCode::kInternal, std::move(message), std::move(hint));
}

// Either a T or a Status that is not ok.
//
// Thread-compatible. value() of a failed Result is undefined: test ok() first.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}        // NOLINT: implicit by design
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  Status status() const { return ok() ? Status() : std::get<1>(state_); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Status> state_;
};

#define RL_STATUS_CONCAT_INNER(a, b) a##b
#define RL_STATUS_CONCAT(a, b) RL_STATUS_CONCAT_INNER(a, b)
// Returns the Status of `expression` from the enclosing function if it is not ok.
#define RL_RETURN_IF_ERROR(expression)                                           \
  do {                                                                           \
    if (::rewardloop::Status rl_status = (expression); !rl_status.ok()) return rl_status; \
  } while (false)
// Declares or assigns `target` from a Result, or returns its Status.
#define RL_ASSIGN_OR_RETURN(target, expression)                              \
  auto RL_STATUS_CONCAT(rl_result_, __LINE__) = (expression);                \
  if (!RL_STATUS_CONCAT(rl_result_, __LINE__).ok())                          \
    return RL_STATUS_CONCAT(rl_result_, __LINE__).status();                  \
  target = std::move(RL_STATUS_CONCAT(rl_result_, __LINE__)).value()

}  // namespace rewardloop
