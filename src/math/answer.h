// Answer: one side of a comparison, read once.
#pragma once

#include <cstdint>
#include <string_view>

#include "math/arena.h"
#include "math/expr.h"
#include "math/parser.h"

namespace rewardloop::math {

// Why an answer has another reading.
enum class ReadingKind : uint8_t {
  kFirst,
  kDecimalComma,    // 2,74 as a number
  kUngrouped,       // 1,234 as a list
  kNotScientific,   // 2e3 with the constant e
  kUnitsAsLetters,  // 5 m as a product
  kLetters,         // a word as a product of letters
};

// Everything lives in the arena it was read into, except `raw`, which views the caller's bytes.
struct Answer {
  static constexpr int kReadingsMax = 4;

  std::string_view source;  // trimmed bytes as they came
  std::string_view raw;     // trimmed and repaired
  std::string_view mapped;  // raw in ASCII spelling
  std::string_view compact; // mapped without spaces and LaTeX decoration
  std::string_view words;   // mapped as text: case-folded words without articles and punctuation
  // Readings in order of likelihood. One of kind kText when the bytes are no formula. None: `status` says why.
  const Expr* reading[kReadingsMax] = {};
  ReadingKind kind[kReadingsMax] = {};
  int readings = 0;
  ParseStatus status = ParseStatus::kEmpty;
  bool only_words = false;
  char choice = 0;          // 'A'..'J' when the answer is one choice letter
  bool is_text() const { return readings > 0 && reading[0]->kind == Kind::kText; }
};

// With `repair`, what a gold gets, damage is repaired (control characters, missing closing braces).
Answer ReadAnswer(std::string_view text, bool repair, Arena* arena);

// Without the wrapping a formula may have around it: spaces, $, \(, \[, **, trailing dots.
std::string_view TrimAnswer(std::string_view text);

}  // namespace rewardloop::math
