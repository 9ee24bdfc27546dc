// The parser: tokens of one answer to a tree. Precedence climbing, no backtracking over more than a few tokens.
#pragma once

#include <string_view>

#include "math/arena.h"
#include "math/expr.h"
#include "math/lexer.h"

namespace rewardloop::math {

inline constexpr int kDepthMax = 1400;  // calls; a bracket takes 7, so 200 levels of brackets
inline constexpr uint32_t kNodesMax = 32 * 1024;

enum class ParseStatus : uint8_t { kOk, kSyntax, kEmpty, kLimitTokens, kLimitNodes, kLimitDepth, kLimitMemory };

struct ParseResult {
  ParseStatus status = ParseStatus::kSyntax;
  const Expr* root = nullptr;
  bool only_words = false;       // no number, operator or command: may be a text
  bool comma_ambiguous = false;  // see LexResult
  bool decimal_comma_possible = false;
  bool scientific_ambiguous = false;
  bool unit_ambiguous = false;   // "5 m": a unit or a product
};

// `text` must outlive the tree (names are views of it or of the arena).
ParseResult Parse(std::string_view text, const LexOptions& options, Arena* arena);

}  // namespace rewardloop::math
