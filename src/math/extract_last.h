// Where nothing announces an answer: the last formula, the last number, what the last sentence says.
#pragma once

#include <cstddef>
#include <string_view>

#include "math/arena.h"

namespace rewardloop::math {

// Without white space around it.
std::string_view Trim(std::string_view text);
// Without sentence marks and emphasis around it.
std::string_view Bare(std::string_view text);
// Whether `text` is language rather than a formula.
bool IsProse(std::string_view text);

// Last $...$, \(...\), \[...\] or $$...$$ of `text`; formulas joined by commas, "and", "or" belong together.
bool LastFormula(std::string_view text, size_t* begin, size_t* end);
// Last number of `text` that stands alone, with sign, separators, fraction, percent sign.
bool LastNumber(std::string_view text, size_t* begin, size_t* end);
// What the last sentence says after its verb, when that is a formula: "the polynomial is x^2+1".
bool AfterVerb(std::string_view text, std::string_view* answer, Arena* arena);
// Numbers on several lines and nothing else: none of them is the answer.
bool IsGrid(std::string_view text);
// "perm(5, 2)", one call of a function, known or not: no number inside it is the answer.
bool IsCall(std::string_view text);

}  // namespace rewardloop::math
