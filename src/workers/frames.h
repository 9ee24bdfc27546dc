// The frames that engine and worker exchange; worker.py describes them and is the other side.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rewardloop::workers {

inline constexpr int kProtocol = 1;

enum FrameKind : uint8_t {
  kHello = 1,
  kCalls = 2,
  kCancel = 3,
  kReady = 11,
  kFailed = 12,
  kReplies = 13,
  kText = 14,
};

// A frame whose body is `body`.
std::string Frame(FrameKind kind, std::string_view body);

struct CallEntry {
  uint64_t id;
  uint32_t slot;
  uint32_t items;
  uint64_t seed;
  std::string_view json;  // a list of items
};
void AppendCall(const CallEntry& call, std::string* body);
std::string CancelFrame(const std::vector<uint64_t>& calls);

// Calls `reply(id, json)` for each entry of a kReplies body; false when the body is torn.
bool ForEachReply(std::string_view body, const std::function<void(uint64_t id, std::string_view json)>& reply);

// Cuts a byte stream into frames. Not thread-safe.
class FrameReader {
 public:
  // Frames larger than this are a protocol error.
  static constexpr size_t kMaxFrame = 64u << 20;

  // Takes `bytes` and calls `frame` for every frame that is complete now; false on a protocol error.
  bool Feed(std::string_view bytes, const std::function<void(uint8_t kind, std::string_view body)>& frame);

 private:
  std::string buffer_;
};

}  // namespace rewardloop::workers
