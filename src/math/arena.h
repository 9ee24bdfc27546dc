// Arena: the memory of one verdict. Bump allocation, bounded, reused from call to call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <vector>

namespace rewardloop::math {

// Not thread-safe. What Allocate() returns is never destroyed, so only trivially destructible types may live here.
class Arena {
 public:
  static constexpr size_t kBlockBytes = 64 * 1024;

  // Blocks grow from `first_block_bytes` to kBlockBytes, so that an arena that lives long can be small.
  explicit Arena(size_t max_bytes, size_t first_block_bytes = kBlockBytes)
      : max_bytes_(max_bytes), next_block_bytes_(first_block_bytes) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Null once `max_bytes` are used: the caller reports a limit.
  void* Allocate(size_t bytes) {
    bytes = (bytes + 15) & ~size_t{15};
    if (bytes > left_) {
      if (!Grow(bytes)) return nullptr;
    }
    void* result = next_;
    next_ += bytes;
    left_ -= bytes;
    return result;
  }

  template <typename T>
  T* NewArray(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    return static_cast<T*>(Allocate(count * sizeof(T)));
  }

  // A copy of `text` in the arena; empty when memory is out.
  std::string_view Copy(std::string_view text) {
    char* bytes = NewArray<char>(text.size());
    if (bytes == nullptr || text.empty()) return {};
    std::memcpy(bytes, text.data(), text.size());
    return {bytes, text.size()};
  }

  // Forgets every allocation, keeps the first block.
  void Reset() {
    if (blocks_.size() > 1) blocks_.resize(1);
    used_before_ = 0;
    next_ = blocks_.empty() ? nullptr : blocks_[0].data.get();
    left_ = blocks_.empty() ? 0 : blocks_[0].size;
  }

  size_t max_bytes() const { return max_bytes_; }

 private:
  struct Block {
    std::unique_ptr<char[]> data;
    size_t size;
  };

  bool Grow(size_t bytes) {
    const size_t size = bytes > next_block_bytes_ ? bytes : next_block_bytes_;
    if (next_block_bytes_ < kBlockBytes) next_block_bytes_ *= 2;
    const size_t total = used_before_ + (blocks_.empty() ? 0 : blocks_.back().size);
    if (total + size > max_bytes_) return false;
    used_before_ = total;
    blocks_.push_back({std::unique_ptr<char[]>(new char[size]), size});
    next_ = blocks_.back().data.get();
    left_ = size;
    return true;
  }

  size_t max_bytes_;
  size_t used_before_ = 0;
  char* next_ = nullptr;
  size_t left_ = 0;
  std::vector<Block> blocks_;
  size_t next_block_bytes_;
};

}  // namespace rewardloop::math
