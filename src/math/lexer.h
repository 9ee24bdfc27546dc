// The lexer: bytes of one answer to tokens. LaTeX wrapping (\left, \displaystyle, $, \boxed, spaces) is transparent.
#pragma once

#include <span>
#include <string_view>

#include "math/arena.h"
#include "math/token.h"

namespace rewardloop::math {

inline constexpr size_t kAnswerBytesMax = 64 * 1024;
inline constexpr size_t kTokensMax = 16 * 1024;

struct LexOptions {
  bool group_commas = true;    // "1,234" is one number
  bool decimal_comma = false;  // "2,74" is one number
  bool scientific = true;      // "2e3" is a number
  bool units_as_symbols = false;  // "5 m" is a product
};

enum class LexStatus : uint8_t { kOk, kTooManyTokens, kOutOfMemory };

struct LexResult {
  LexStatus status = LexStatus::kOk;
  std::span<const Token> tokens;  // ends with kEnd
  // The answer could also be read with the option switched.
  bool comma_ambiguous = false;
  bool decimal_comma_possible = false;
  bool scientific_ambiguous = false;
};

// `text` is ASCII where it is mathematics (MapUnicode) and outlives the tokens.
LexResult Lex(std::string_view text, const LexOptions& options, Arena* arena);

}  // namespace rewardloop::math
