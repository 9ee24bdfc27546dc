#include "base/utf8.h"

#include <cstdint>

namespace rewardloop {
namespace {

bool IsContinuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// Bytes of the longest prefix of a well-formed sequence at the start of `text`, and whether it is complete.
// Table 3-7 of the Unicode standard.
int PrefixLength(std::string_view text, bool* complete) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  *complete = false;
  if (lead < 0x80) {
    *complete = true;
    return 1;
  }
  int length;
  unsigned char low = 0x80, high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return 0;
  }
  if (text.size() < 2 || byte(1) < low || byte(1) > high) return 1;
  for (int i = 2; i < length; ++i) {
    if (static_cast<size_t>(i) >= text.size() || !IsContinuation(byte(i))) return i;
  }
  *complete = true;
  return length;
}

// First byte at or after `from` that is not ASCII.
size_t SkipAscii(std::string_view text, size_t from) {
  while (from + 8 <= text.size()) {
    uint64_t word;
    __builtin_memcpy(&word, text.data() + from, 8);
    if (word & 0x8080808080808080u) break;
    from += 8;
  }
  while (from < text.size() && static_cast<unsigned char>(text[from]) < 0x80) ++from;
  return from;
}

}  // namespace

int Utf8SequenceLength(std::string_view text) {
  bool complete;
  const int length = PrefixLength(text, &complete);
  return complete ? length : 0;
}

bool IsValidUtf8(std::string_view text) {
  for (size_t i = SkipAscii(text, 0); i < text.size(); i = SkipAscii(text, i)) {
    const int length = Utf8SequenceLength(text.substr(i));
    if (length == 0) return false;
    i += length;
  }
  return true;
}

std::string RepairUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  size_t i = 0;
  while (i < text.size()) {
    const size_t ascii_end = SkipAscii(text, i);
    out.append(text, i, ascii_end - i);
    i = ascii_end;
    if (i == text.size()) break;
    bool complete;
    const int length = PrefixLength(text.substr(i), &complete);
    if (complete) {
      out.append(text, i, length);
      i += length;
    } else {
      out += "\xEF\xBF\xBD";
      i += length == 0 ? 1 : length;
    }
  }
  return out;
}

void AppendUtf8(char32_t code_point, std::string* out) {
  const auto put = [&](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | code_point >> 18);
    put(0x80 | (code_point >> 12 & 0x3F));
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

}  // namespace rewardloop
