// What Python's str does, on UTF-8 text: the operations that other trainers' graders are written
// in.
//
// A "character" is a code point, as in Python. Tables are those of CPython 3.11 (Unicode 14.0) on
// every machine. Surrogates (ED A0 80 ... ED BF BF, as Python's "surrogatepass" writes them) count
// as one character; any other byte that is not part of a sequence counts as one character of its
// own and belongs to no class. All functions are linear and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rewardloop::py {

// Returned by DecodeAt() for a byte that begins no sequence.
inline constexpr char32_t kNotACharacter = 0xFFFFFFFF;

struct DecodedChar {
  char32_t code_point;
  size_t size;  // bytes, at least 1
};
// The character at byte `pos`. Precondition: pos < text.size().
DecodedChar DecodeAt(std::string_view text, size_t pos);
// Byte position of the character that ends at byte `end`. Precondition: end > 0.
size_t PreviousChar(std::string_view text, size_t end);

// str.isspace(), also `\s` of re.
bool IsSpace(char32_t c);
// str.isdigit(): decimal digits of all scripts, superscripts, circled digits.
bool IsDigit(char32_t c);
// str.isalnum(); with '_' it is `\w` of re.
bool IsAlnum(char32_t c);
inline bool IsWord(char32_t c) { return c == U'_' || IsAlnum(c); }

// len(text).
size_t Length(std::string_view text);
// text[-count:], but "" for count 0.
std::string_view LastChars(std::string_view text, size_t count);
// text[start:], where a negative start counts from the end.
std::string_view SliceFrom(std::string_view text, int64_t start);

// text.isdigit().
bool IsDigitString(std::string_view text);
// text.strip().
std::string_view Strip(std::string_view text);
// text.split() without arguments.
std::vector<std::string_view> SplitSpace(std::string_view text);
// text.split(separator). Precondition: separator is not empty.
std::vector<std::string_view> Split(std::string_view text, std::string_view separator);
// text.split(separator)[-1] and text.split(separator)[0].
std::string_view AfterLast(std::string_view text, std::string_view separator);
std::string_view BeforeFirst(std::string_view text, std::string_view separator);
// text.count(part). Precondition: part is not empty.
size_t Count(std::string_view text, std::string_view part);
// text = text.replace(from, to). Precondition: from is not empty.
void Replace(std::string* text, std::string_view from, std::string_view to);
inline bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
// text.lower(), final sigma included.
std::string Lower(std::string_view text);

}  // namespace rewardloop::py
