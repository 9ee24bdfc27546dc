// Task<T>: a lazy coroutine, the return type of everything that waits without holding a thread.
//
//   Task<Verdict> Judge(const RewardItem& item, ScoreContext& context) {
//     const bool slept = co_await context.Sleep(1'000'000'000);  // never inside a condition: g++ 12 miscompiles that
//     co_return slept ? Verdict::Scored(1.0) : Verdict::Of(ItemStatus::kCancelled, "cancelled", "");
//   }
//
// A Task starts when it is awaited (or spawned) and owns its frame. Pass parameters by value unless the caller outlives the
// task; never capture in a coroutine lambda (the closure dies before the coroutine does).
#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <optional>
#include <utility>

namespace rewardloop {

// Move-only. Await it at most once. Destroying a task that is suspended destroys its frame: only the owner who knows that
// nobody will resume it may do so.
template <typename T>
class [[nodiscard]] Task {
 public:
  struct promise_type {
    std::optional<T> value;
    std::exception_ptr exception;
    std::coroutine_handle<> continuation;

    Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct Resume {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
          auto continuation = self.promise().continuation;
          return continuation ? continuation : std::noop_coroutine();
        }
        void await_resume() noexcept {}
      };
      return Resume{};
    }
    void return_value(T result) { value.emplace(std::move(result)); }
    void unhandled_exception() { exception = std::current_exception(); }
  };

  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      if (handle_) handle_.destroy();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  auto operator co_await() && noexcept {
    struct Awaiter {
      std::coroutine_handle<promise_type> handle;
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> continuation) noexcept {
        handle.promise().continuation = continuation;
        return handle;
      }
      T await_resume() {
        if (handle.promise().exception) std::rethrow_exception(handle.promise().exception);
        return std::move(*handle.promise().value);
      }
    };
    return Awaiter{handle_};
  }

 private:
  std::coroutine_handle<promise_type> handle_;
};

namespace task_internal {
// Starts at once, destroys itself at the end.
struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }  // Spawn catches before
  };
};
}  // namespace task_internal

// Starts `task` on this thread and calls `done(result, exception)` when it ends, on the thread where it ended; exactly one
// of the two is set. `done` must not throw.
template <typename T, typename Done>
void Spawn(Task<T> task, Done done) {
  [](Task<T> owned, Done callback) -> task_internal::Detached {
    std::optional<T> result;
    std::exception_ptr exception;
    try {
      result.emplace(co_await std::move(owned));
    } catch (...) {
      exception = std::current_exception();
    }
    callback(std::move(result), exception);
  }(std::move(task), std::move(done));
}

}  // namespace rewardloop
