// Tokens of an answer: LaTeX and plain notation in one alphabet.
#pragma once

#include <cstdint>
#include <string_view>

#include "math/expr.h"

namespace rewardloop::math {

enum class Tok : uint8_t {
  kEnd,
  kNumber,    // digits with an optional decimal point, exponent and thousands separators
  kWord,      // a run of plain letters, not yet split into names
  kSymbol,    // one named symbol (\alpha, \mathbf{x}); name in Token::text
  kText,      // content of \text{...} and the like, or prose in another script
  kFunction,  // Token::fn
  kConstant,  // Token::fn
  kNamedSet,  // Token::fn
  kPlus, kMinus, kPlusMinus, kMinusPlus, kTimes, kSlash, kDivide, kCaret, kUnder, kBang, kPrime, kPercent, kDegree,
  kComma, kSemicolon, kColon, kPeriod,
  kLParen, kRParen, kLBracket, kRBracket, kLBrace, kRBrace, kLSet, kRSet, kLAngle, kRAngle,
  kBar, kLAbs, kRAbs, kDoubleBar, kLFloor, kRFloor, kLCeil, kRCeil,
  kRelation,  // Token::op
  kUnion, kIntersection, kSetMinus,
  kAmpersand, kRowSeparator, kBegin, kEndEnv,
  kFrac, kBinom, kSqrt, kCbrt, kOver, kChoose, kOverline, kAccent,
  kSum, kProduct, kIntegral, kLimit, kArrow,
  kMod,       // \bmod and "mod"
  kPmod,      // \pmod
  kAnd, kOr, kDots, kQuad, kCurrency, kForall, kExists, kNot, kOperatorName,
  kSuperscript,  // Unicode superscript digits; digits in Token::text
  kSubscript,
  kVulgar,       // a Unicode fraction; text "1/2"
  kUnknown,      // a command or byte nobody knows
};

struct Token {
  Tok type = Tok::kEnd;
  Function fn = Function::kNone;
  char op = 0;               // RelOp of kRelation
  bool space_before = false;  // white space or \, before it
  bool quad_before = false;   // \quad, \newline or the like before it: may separate statements
  uint32_t begin = 0;        // bytes in the answer
  uint32_t end = 0;
  std::string_view text;     // as the type says; else the bytes
};

struct Command {
  std::string_view name;
  Tok type;
  Function fn = Function::kNone;
  char op = 0;
};

// The command called `name` (without the backslash), or null.
const Command* FindCommand(std::string_view name);
// As FindCommand, for a name that runs on into letters ("quadx"): the longest known beginning of 3 or more letters.
const Command* FindCommandPrefix(std::string_view name);
// A plain word that is mathematics ("sqrt", "pi", "cos"), or null.
const Command* FindWord(std::string_view name);

}  // namespace rewardloop::math
