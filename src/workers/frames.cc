#include "workers/frames.h"

#include <cstring>

namespace rewardloop::workers {
namespace {

// Little-endian, as worker.py's struct formats say.
template <typename T>
void Append(T value, std::string* out) {
  for (size_t i = 0; i < sizeof(T); ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

template <typename T>
T Read(const char* data) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(static_cast<unsigned char>(data[i])) << (8 * i);
  return value;
}

}  // namespace

std::string Frame(FrameKind kind, std::string_view body) {
  std::string frame;
  frame.reserve(kFrameHeader + body.size());
  const size_t begun = BeginFrame(kind, &frame);
  frame += body;
  EndFrame(begun, &frame);
  return frame;
}

size_t BeginFrame(FrameKind kind, std::string* frames) {
  const size_t begun = frames->size();
  Append(uint32_t{0}, frames);
  frames->push_back(static_cast<char>(kind));
  return begun;
}

void EndFrame(size_t begun, std::string* frames) {
  std::string length;
  Append(static_cast<uint32_t>(frames->size() - begun - kFrameHeader), &length);
  frames->replace(begun, length.size(), length);
}

std::string CallPayload(std::string_view json, const std::vector<std::string_view>& texts) {
  size_t size = sizeof(uint32_t) + json.size();
  for (const std::string_view text : texts) size += text.size();
  std::string payload;
  payload.reserve(size);
  Append(static_cast<uint32_t>(json.size()), &payload);
  payload += json;
  for (const std::string_view text : texts) payload += text;
  return payload;
}

void AppendCall(const CallEntry& call, std::string* body) {
  Append(call.id, body);
  Append(call.slot, body);
  Append(call.items, body);
  Append(call.seed, body);
  Append(static_cast<uint32_t>(call.payload.size()), body);
  *body += call.payload;
}

std::string CancelFrame(const std::vector<uint64_t>& calls) {
  std::string body;
  for (const uint64_t call : calls) Append(call, &body);
  return Frame(kCancel, body);
}

bool ForEachReply(std::string_view body, const std::function<void(uint64_t, std::string_view)>& reply) {
  while (!body.empty()) {
    constexpr size_t kEntry = 12;
    if (body.size() < kEntry) return false;
    const uint64_t id = Read<uint64_t>(body.data());
    const uint32_t length = Read<uint32_t>(body.data() + 8);
    if (body.size() - kEntry < length) return false;
    reply(id, body.substr(kEntry, length));
    body.remove_prefix(kEntry + length);
  }
  return true;
}

bool FrameReader::Feed(std::string_view bytes, const std::function<void(uint8_t, std::string_view)>& frame) {
  buffer_ += bytes;
  size_t start = 0;
  while (buffer_.size() - start >= kFrameHeader) {
    const uint32_t length = Read<uint32_t>(buffer_.data() + start);
    if (length > kMaxFrame) return false;
    if (buffer_.size() - start - kFrameHeader < length) break;
    frame(static_cast<uint8_t>(buffer_[start + 4]), std::string_view(buffer_).substr(start + kFrameHeader, length));
    start += kFrameHeader + length;
  }
  buffer_.erase(0, start);
  return true;
}

}  // namespace rewardloop::workers
