// The frames that engine and worker exchange; worker.py describes them and is the other side.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rewardloop::workers {

inline constexpr int kProtocol = 1;

inline constexpr size_t kFrameHeader = 5;
inline constexpr size_t kCallHeader = 28;

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
// The same in two steps, for long bodies: what is appended to `frames` between them is the body.
// Begin returns what End wants.
size_t BeginFrame(FrameKind kind, std::string* frames);
void EndFrame(size_t begun, std::string* frames);

// What a call is about: a JSON list of items, and the texts that it leaves out, one after the other. Text in JSON costs many
// times what the text alone does, on both sides.
std::string CallPayload(std::string_view json, const std::vector<std::string_view>& texts = {});

struct CallEntry {
  uint64_t id;
  uint32_t slot;
  uint32_t items;
  uint64_t seed;
  std::string_view payload;
  size_t ByteSize() const { return kCallHeader + payload.size(); }
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
