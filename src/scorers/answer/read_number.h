// Reads the number that a declared answer states: "x = $5.00 per hour" says 5.00, "5 or 6" says
// nothing single.
#pragma once

#include <string_view>

#include "scorers/answer/number.h"
#include "scorers/answer/region.h"

namespace rewardloop::answer {

enum class ReadStatus : uint8_t {
  kNone,  // no number where the answer should be
  kNumber,
  kExpression,  // "3*4", "12:30", "5x": more than a number
  kSeveral,     // "5 or 6", "1, 2"
  kLimit,
};

struct ReadNumber {
  ReadStatus status = ReadStatus::kNone;
  Number number;
  Range where;  // the figure with its sign, currency and percent sign
};

// The number with which text[within] begins, behind words and marks that only introduce it.
ReadNumber ReadDeclaredNumber(std::string_view text, Range within);

// The last number of text[within]; digits glued to letters (H2O, m^2) are none.
ReadNumber ReadLastNumber(std::string_view text, Range within);

// A text that is a number and nothing else, a gold answer for example.
ReadNumber ReadWholeNumber(std::string_view text);

}  // namespace rewardloop::answer
