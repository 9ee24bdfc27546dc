// Expr: the syntax tree of an answer, as the parser reads it.
//
// Nodes live in an Arena and are trivially destructible; a tree is valid as long as its arena is not reset. Everything that
// changes the meaning of an answer is in the tree (units, percent, degrees, bracket kinds), so no later step looks at the
// text again. The parser never simplifies: `2/4` stays a kDiv of 2 and 4.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace rewardloop::math {

enum class Kind : uint8_t {
  // ---- Scalars: IsScalarKind() ----------------------------------------------------------------------------------------
  kNumber,       // text: decimal digits, no sign, no leading zeros ("0" for zero). The value is digits * 10^number.
                 //   aux: fraction digits written (2 for "0.50"), -1 for an integer without a decimal point.
  kConstant,     // fn: kPi, kE, kI or kInfinity
  kSymbol,       // text: name ("x", "alpha", "x_1", "AB"); number: hash of the name, equal names have equal hashes
  kAdd,          // n >= 2 terms. Subtraction is an addition of kNeg.
  kMul,          // n >= 2 factors
  kNeg,          // (x)
  kDiv,          // (numerator, denominator)
  kPow,          // (base, exponent)
  kSqrt,         // (radicand): principal square root
  kRoot,         // (radicand, index): \sqrt[index]{radicand}; odd index of a negative real means the real root
  kFactorial,    // (n)
  kDoubleFactorial,  // (n)
  kFunction,     // fn says which; children as listed at Function
  kCall,         // text: name of a function nobody defined, e.g. "f"; children: arguments
  kSum,          // (body, variable, lower, upper); also (body, variable, set) with 3 children
  kProduct,      // as kSum
  kIntegral,     // (body, variable) or (body, variable, lower, upper)
  kLimit,        // (body, variable, point); kFlagFromAbove / kFlagFromBelow
  kDerivative,   // (body, variable, order): d^order/dvariable^order body
  kPercent,      // (x): x / 100
  kDegree,       // (x): x * pi / 180
  kPlusMinus,    // (b) for +-b, (a, b) for a +- b; kFlagMinusPlus for \mp. Expanded into a list before any arithmetic.
  kBaseNumber,   // text: digits as written; number: the base (2..36)
  // ---- Compounds ------------------------------------------------------------------------------------------------------
  kTuple,        // n >= 1 in brackets; aux: Bracket of the opening, aux2: Bracket of the closing one
  kList,         // n >= 2 separated by commas, semicolons, "and", "or" without brackets; kFlagOr when all are "or"
  kSet,          // n >= 0 in braces
  kInterval,     // (lower, upper); kFlagLowerClosed, kFlagUpperClosed. Two-element round brackets parse as kTuple.
  kUnion,        // n sets
  kIntersection,
  kSetDifference,  // (a, b)
  kNamedSet,     // fn: kReals, kIntegers, kNaturals, kRationals, kComplexes, kPrimes or kEmptySet; aux: +1 positive part, -1
                 //   negative part, 0 all
  kSetBuilder,   // (element, condition...)
  kMatrix,       // aux rows * aux2 columns entries, row by row
  kRelation,     // n >= 2 sides; text: n - 1 bytes, each a RelOp
  kAnd,          // n statements that hold together
  kOr,           // n statements of which one holds
  kLabeled,      // (value); text: label ("Paolo", "P")
  kCongruence,   // (a, b, modulus)
  kRatio,        // a : b : ..., n >= 2
  kTime,         // number: seconds since midnight
  kCases,        // value, condition, value, condition ...; a last value without condition has kText "otherwise"
  kQuantity,     // (value); text: canonical unit expression; a child list of units is not kept
  kCurrency,     // (value); text: currency code, "" when only the sign of money is known
  kText,         // text: words, case-folded, single spaces
  kEllipsis,     // \ldots inside a list
};

inline constexpr bool IsScalarKind(Kind kind) { return kind <= Kind::kBaseNumber; }

enum class Function : uint8_t {
  kNone,
  // kConstant
  kPi, kE, kI, kInfinity,
  // kNamedSet
  kReals, kIntegers, kNaturals, kRationals, kComplexes, kPrimes, kEmptySet,
  // kFunction, one argument
  kSin, kCos, kTan, kCot, kSec, kCsc,
  kArcsin, kArccos, kArctan, kArccot, kArcsec, kArccsc,
  kSinh, kCosh, kTanh, kCoth, kSech, kCsch,
  kArsinh, kArcosh, kArtanh, kArcoth, kArsech, kArcsch,
  kExp,
  kLn,
  kLog,   // (x): base not written; 10 or e, see NumericOptions::log_base10
  kAbs,   // also the modulus of a complex number
  kFloor, kCeil,
  kSign,
  kGamma,
  kRe, kIm, kConj, kArg,
  // two arguments
  kLogBase,   // (base, x)
  kBinomial,  // (n, k)
  kMod,       // (a, m): a mod m, in [0, m) for positive m
  kAtan2,
  // n >= 1 arguments
  kGcd, kLcm, kMax, kMin,
  // of a kMatrix
  kDet, kTrace, kTranspose, kNorm,
};

// Byte of kRelation::text.
enum class RelOp : char {
  kEq = '=', kNe = '#', kLt = '<', kLe = '[', kGt = '>', kGe = ']', kApprox = '~', kIn = 'e', kNotIn = 'n', kSubset = 's',
  kMaps = 'm', kEquiv = 'q', kSimilar = 'p',
};

enum class Bracket : int8_t { kRound, kSquare, kAngle };

enum Flag : uint8_t {
  kFlagOr = 1,            // kList
  kFlagMinusPlus = 1,     // kPlusMinus
  kFlagLowerClosed = 1,   // kInterval
  kFlagUpperClosed = 2,   // kInterval
  kFlagFromAbove = 1,     // kLimit
  kFlagFromBelow = 2,     // kLimit
  kFlagMixed = 1,         // kAdd: mixed number, integer then proper fraction
  kFlagTruncated = 1,     // kNumber: written with dots at the end, "0.333..."
  kFlagScientific = 2,    // kNumber: written with an exponent
  kFlagGrouped = 4,       // kNumber: written with thousands separators
  kFlagAmbiguousComma = 8,  // kNumber: "1,234" that may also be a list of two
  kFlagVector = 1,        // kMatrix: written as a vector (angle brackets, i j k)
  kFlagSemicolon = 2,     // kList: separated by semicolons
  kFlagWordConstant = 1,  // kConstant: written as a plain letter (`e`, `i`), might be a variable
};

inline constexpr uint16_t kTreeDepthMax = 700;

struct Expr {
  Kind kind;
  Function fn;
  uint8_t flags;
  uint8_t parens;        // 1 when written inside its own round brackets
  uint16_t child_count;
  uint16_t depth;        // levels below, 0 for a leaf; at most kTreeDepthMax, so recursion over a tree is safe
  Expr** child;          // child_count pointers, arena memory
  std::string_view text;
  int64_t number;
  int32_t aux;
  int32_t aux2;

  std::span<Expr* const> children() const { return {child, child_count}; }
  const Expr* operator[](uint32_t i) const { return child[i]; }
  bool is(Kind k) const { return kind == k; }
  bool is_fn(Function f) const { return fn == f; }
  bool has(Flag f) const { return (flags & f) != 0; }
};
static_assert(sizeof(Expr) == 48);

}  // namespace rewardloop::math
