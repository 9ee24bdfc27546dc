// Byte scanning that all answer finders share. ASCII only, independent of the locale.
#pragma once

#include <cstring>
#include <string_view>

namespace rewardloop::answer {

inline constexpr size_t kNotFound = std::string_view::npos;

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
inline bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
inline bool IsLetter(char c) { return IsUpper(c) || IsLower(c); }
inline bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline bool IsBlank(char c) { return c == ' ' || c == '\t'; }
inline char Lower(char c) { return IsUpper(c) ? static_cast<char>(c + 32) : c; }

// An inline loop: the library's comparison is a call, which costs more than the usual difference in the first byte.
inline bool StartsWith(std::string_view text, size_t pos, std::string_view prefix) {
  if (pos > text.size() || text.size() - pos < prefix.size()) return false;
  for (size_t i = 0; i < prefix.size(); ++i) {
    if (text[pos + i] != prefix[i]) return false;
  }
  return true;
}

// `lower` must be in lower case.
inline bool StartsWithNoCase(std::string_view text, size_t pos, std::string_view lower) {
  if (pos > text.size() || text.size() - pos < lower.size()) return false;
  for (size_t i = 0; i < lower.size(); ++i) {
    if (Lower(text[pos + i]) != lower[i]) return false;
  }
  return true;
}

// As StartsWithNoCase, and no letter follows.
inline bool WordAt(std::string_view text, size_t pos, std::string_view lower) {
  if (!StartsWithNoCase(text, pos, lower)) return false;
  const size_t after = pos + lower.size();
  return after >= text.size() || !IsLetter(text[after]);
}

// Position of the last `c` in text[begin, end), by the C library's vector code.
inline size_t LastByte(std::string_view text, char c, size_t begin, size_t end) {
  if (begin >= end) return kNotFound;
  const void* found = memrchr(text.data() + begin, c, end - begin);
  return found ? static_cast<size_t>(static_cast<const char*>(found) - text.data()) : kNotFound;
}

inline size_t NextByte(std::string_view text, char c, size_t begin, size_t end) {
  if (begin >= end) return kNotFound;
  const void* found = memchr(text.data() + begin, c, end - begin);
  return found ? static_cast<size_t>(static_cast<const char*>(found) - text.data()) : kNotFound;
}

// Position of the last `marker` that lies in text[begin, end) as a whole.
inline size_t LastMarker(std::string_view text, std::string_view marker, size_t begin, size_t end) {
  if (end < begin + marker.size()) return kNotFound;
  size_t limit = end - marker.size() + 1;
  for (;;) {
    const size_t at = LastByte(text, marker[0], begin, limit);
    if (at == kNotFound || StartsWith(text, at, marker)) return at;
    limit = at;
  }
}

inline size_t LineEnd(std::string_view text, size_t pos, size_t end) {
  const size_t newline = NextByte(text, '\n', pos, end);
  return newline == kNotFound ? end : newline;
}

inline std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace rewardloop::answer
