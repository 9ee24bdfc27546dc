// Answers in other scripts: one pass that writes the ASCII or LaTeX spelling of every character the grammar knows.
#pragma once

#include <string_view>

#include "math/arena.h"

namespace rewardloop::math {

// True when `text` is pure ASCII (then there is nothing to map).
bool IsAscii(std::string_view text);

// `text` with full-width forms, digits of other scripts, operators, Greek letters and superscripts spelled in ASCII; other
// characters stay. The result is in `arena` (or is `text` itself); empty when the arena is full.
std::string_view MapUnicode(std::string_view text, Arena* arena);

// Puts back the backslash of commands that a JSON or Python reader turned into control characters ("\f" + "rac"). Golds only.
std::string_view RepairControlCharacters(std::string_view text, Arena* arena);

// `text` with HTML <sup>, <sub>, &lt; ... spelled in LaTeX; `text` itself where there is none.
std::string_view MapHtml(std::string_view text, Arena* arena);

}  // namespace rewardloop::math
