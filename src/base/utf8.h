// UTF-8 at the border: what is not valid is found and repaired, never passed on.
#pragma once

#include <string>
#include <string_view>

namespace rewardloop {

// Length of the valid UTF-8 sequence at the start of `text` (1 to 4), or 0 when there is none. Surrogates, overlong forms
// and code points above U+10FFFF are not valid. `text` must not be empty.
int Utf8SequenceLength(std::string_view text);

bool IsValidUtf8(std::string_view text);

// `text` with each maximal invalid part replaced by U+FFFD (the substitution that the Unicode standard recommends and that
// Python's errors="replace" makes).
std::string RepairUtf8(std::string_view text);

// Appends `code_point` to `out`.
void AppendUtf8(char32_t code_point, std::string* out);

}  // namespace rewardloop
