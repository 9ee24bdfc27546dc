// How free-text answers are compared: SQuAD's normalisation, without what it gets wrong about
// numbers and symbols.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rewardloop::answer {

// Lower case (Unicode case folding, NFC), punctuation of prose removed, "a", "an", "the" before
// another word removed, white space made single spaces. Unlike SQuAD's: a minus sign before a digit
// stays (-5 is not 5), as do a decimal point or "/", ":", "-" between digits, "%" and all other
// symbols (C++ is not C); a comma between groups of three digits goes (1,000 is 1000). A text that
// would lose everything is kept as it is. Invalid UTF-8 becomes U+FFFD.
std::string NormalizeText(std::string_view text);

// The normalised text's words; in scripts without spaces between words every character is one.
std::vector<std::string> Tokens(std::string_view normalized);

// True for an answer whose brackets carry meaning: "[1, 2]", "(3, 4)", "{}[]". Such answers are
// compared by NormalizeStructure().
bool IsStructured(std::string_view text);
// As written, but for white space beside punctuation, the kind of quotes, and case.
std::string NormalizeStructure(std::string_view text);

}  // namespace rewardloop::answer
