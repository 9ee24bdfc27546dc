// Board: the shared memory in which a worker says what it is doing. The layout is in worker.py.
#pragma once

#include <cstddef>
#include <memory>

#include "workers/host.h"

namespace rewardloop::workers {

// Anonymous memory (memfd): it has no name and ends with its last descriptor and mapping.
class Board {
 public:
  static Result<std::unique_ptr<Board>> Make(int slots);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  // For the worker; close-on-exec. CloseDescriptor() once the worker has it.
  int descriptor() const { return descriptor_; }
  void CloseDescriptor();
  // Words are read one by one while the worker writes: a call may have ended when its start is read. Callers compare ids.
  BoardSnapshot Read() const;
  // Asks the worker to interrupt the coroutine of `call`.
  void Interrupt(uint64_t call);

 private:
  Board(int descriptor, void* memory, size_t bytes, int slots)
      : descriptor_(descriptor), memory_(memory), bytes_(bytes), slots_(slots) {}

  int descriptor_;
  void* const memory_;
  const size_t bytes_;
  const int slots_;
};

}  // namespace rewardloop::workers
