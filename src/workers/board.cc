#include "workers/board.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace rewardloop::workers {
namespace {

constexpr size_t kHeaderWords = 8;
constexpr size_t kWordsPerSlot = 4;
constexpr size_t kHeartbeat = 0;
constexpr size_t kLoopCall = 1;
constexpr size_t kLoopSince = 2;
constexpr size_t kInterrupt = 3;

}  // namespace

Result<std::unique_ptr<Board>> Board::Make(int slots) {
  const size_t bytes = (kHeaderWords + kWordsPerSlot * static_cast<size_t>(slots)) * sizeof(uint64_t);
  const int descriptor = memfd_create("rewardloop-board", MFD_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) {
    if (descriptor >= 0) close(descriptor);
    return ResourceExhausted(std::string("no shared memory for a worker: ") + std::strerror(errno));
  }
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) {
    close(descriptor);
    return ResourceExhausted(std::string("no shared memory for a worker: ") + std::strerror(errno));
  }
  return std::unique_ptr<Board>(new Board(descriptor, memory, bytes, slots));
}

Board::~Board() {
  CloseDescriptor();
  munmap(memory_, bytes_);
}

void Board::CloseDescriptor() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

void Board::Interrupt(uint64_t call) {
  std::atomic_ref<uint64_t>(static_cast<uint64_t*>(memory_)[kInterrupt]).store(call, std::memory_order_release);
}

BoardSnapshot Board::Read() const {
  auto* words = static_cast<uint64_t*>(memory_);
  const auto word = [&](size_t at) { return std::atomic_ref<uint64_t>(words[at]).load(std::memory_order_acquire); };
  BoardSnapshot snapshot;
  snapshot.heartbeat_ns = static_cast<int64_t>(word(kHeartbeat));
  snapshot.loop_call = word(kLoopCall);
  snapshot.loop_since_ns = static_cast<int64_t>(word(kLoopSince));
  snapshot.slots.reserve(slots_);
  for (int slot = 0; slot < slots_; ++slot) {
    const size_t at = kHeaderWords + kWordsPerSlot * slot;
    snapshot.slots.push_back(
        {word(at), static_cast<int64_t>(word(at + 1)), static_cast<int64_t>(word(at + 2))});
  }
  return snapshot;
}

}  // namespace rewardloop::workers
