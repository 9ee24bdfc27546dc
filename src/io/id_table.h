// IdTable: which ids were seen, and where, in about 30 bytes an id whatever its length.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/hash128.h"

namespace rewardloop {

// Maps the 128-bit hash of an id to a number below 2^32 - 1. Open addressing in many small shards
// that grow one by one, so that growing never needs much memory at once.
//
// Not thread-safe.
class IdTable {
 public:
  static constexpr uint32_t kAbsent = 0xFFFFFFFFu;

  IdTable() : shards_(kShards) {}

  // Stores `value` for `id` unless it has one; returns the value it had, or kAbsent when it was
  // new.
  uint32_t Insert(std::string_view id, uint32_t value) {
    const Digest key = KeyOf(id);
    Shard& shard = shards_[key[1] >> kShardShift];
    if (shard.used + shard.used / 4 + 1 >= shard.slots.size()) Grow(&shard);
    Slot* const slot = Locate(&shard, key);
    if (slot->value != kAbsent) return slot->value;
    *slot = Make(key, value);
    ++shard.used;
    ++size_;
    return kAbsent;
  }
  // Sets the value of an id, new or not.
  void Assign(std::string_view id, uint32_t value) {
    if (Insert(id, value) == kAbsent) return;
    const Digest key = KeyOf(id);
    Locate(&shards_[key[1] >> kShardShift], key)->value = value;
  }
  uint32_t Find(std::string_view id) const {
    const Digest key = KeyOf(id);
    const Shard& shard = shards_[key[1] >> kShardShift];
    if (shard.slots.empty()) return kAbsent;
    return Locate(const_cast<Shard*>(&shard), key)->value;
  }
  size_t size() const { return size_; }

 private:
  static constexpr size_t kShards = 64;
  static constexpr int kShardShift = 58;

  struct Slot {
    std::array<uint32_t, 4> key{};  // in words of 32 bits, so that a slot takes 20 bytes
    uint32_t value = kAbsent;
  };
  struct Shard {
    std::vector<Slot> slots;
    size_t used = 0;
  };

  static Digest KeyOf(std::string_view id) {
    Hash128 hash;
    hash.Add(id);
    return hash.Finish();
  }
  static Slot Make(const Digest& key, uint32_t value) {
    Slot slot;
    std::memcpy(slot.key.data(), key.data(), sizeof slot.key);
    slot.value = value;
    return slot;
  }
  static size_t Home(const Slot& slot, size_t size) {
    uint64_t low;
    std::memcpy(&low, slot.key.data(), sizeof low);
    return static_cast<size_t>((static_cast<unsigned __int128>(low) * size) >> 64);
  }
  // The slot of `key`, or the free one where it belongs. There is always a free one.
  static Slot* Locate(Shard* shard, const Digest& key) {
    const Slot wanted = Make(key, 0);
    size_t at = Home(wanted, shard->slots.size());
    while (shard->slots[at].value != kAbsent && shard->slots[at].key != wanted.key) {
      if (++at == shard->slots.size()) at = 0;
    }
    return &shard->slots[at];
  }
  static void Grow(Shard* shard) {
    std::vector<Slot> old(shard->slots.size() * 3 / 2 + 64);
    old.swap(shard->slots);
    for (const Slot& slot : old) {
      if (slot.value == kAbsent) continue;
      Digest key;
      std::memcpy(key.data(), slot.key.data(), sizeof slot.key);
      *Locate(shard, key) = slot;
    }
  }

  std::vector<Shard> shards_;
  size_t size_ = 0;
};

}  // namespace rewardloop
