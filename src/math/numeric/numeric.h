// Decides whether two scalar expressions have the same value, and how they are ordered.
//
// Every function is a pure function of its arguments: no clock, no locale, no floating point of the
// C library, fixed precision ladder, points derived from NumericOptions::seed. Safe to call from
// many threads on shared trees. Trees must be scalar (IsScalarKind); other kinds inside them, and
// kPlusMinus, give kUnknown. All work is charged to `fuel`.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "math/arena.h"
#include "math/expr.h"
#include "math/fuel.h"
#include "math/numeric/exact.h"

namespace rewardloop::math {

enum class Equality : uint8_t {
  kEqual,      // proved, or wrong with a probability below 2^-60
  kDifferent,  // proved; also a defined value against an undefined one
  kUnknown,    // no method decides it, or both are undefined
  kLimit,      // fuel or a size limit ended the attempt
};

enum class Method : uint8_t {
  kNone,
  kStructure,   // the same tree
  kRational,    // exact rational arithmetic
  kResidue,     // identity of rational functions modulo two 61-bit primes
  kBall,        // ball arithmetic
  kSeparation,  // ball arithmetic against a root separation bound
  kPoints,      // balls at seeded points
  kLazyPower,   // numbers too large to write down
  kUndefined,   // division by zero, 0^0, logarithm of zero ...
};
// "exact", "residue", ...; a literal.
const char* MethodName(Method method);

struct NumericResult {
  Equality equality = Equality::kUnknown;
  Method method = Method::kNone;
};

struct NumericOptions {
  bool log_base10 = false;          // meaning of Function::kLog; false: natural
  bool positive_variables = false;  // free variables take positive values only
  uint64_t seed = 0x243F6A8885A308D3u;
};

NumericResult Compare(const Expr* a, const Expr* b, const NumericOptions& options, Fuel& fuel);

// The value of a closed tree that exact arithmetic finds rational (2^10/3, 50%, sqrt(4)); nullopt
// when it is irrational, undefined, not closed, not recognised as rational, or above the size cap.
std::optional<Rational> EvaluateRational(const Expr* e, Fuel& fuel,
                                         const NumericOptions& options = {});

// Hash of the rational value, nullopt where EvaluateRational() gives none.
std::optional<uint64_t> ValueKey(const Expr* e, Fuel& fuel, const NumericOptions& options = {});

enum class Order : uint8_t { kLess, kEqual, kGreater, kUnknown };
// Of two closed reals; +-infinity allowed on both sides.
Order CompareOrder(const Expr* a, const Expr* b, const NumericOptions& options, Fuel& fuel);

// Is a = c * b for a constant c that is not zero and does not depend on the variables? sign: of c
// when it is real, else 0. kUnknown when a or b vanishes identically.
struct RatioResult {
  Equality equality = Equality::kUnknown;
  int sign = 0;
};
RatioResult ConstantRatio(const Expr* a, const Expr* b, const NumericOptions& options, Fuel& fuel);

// e = k * variable + c with k and c free of the variable. nullopt when not linear, undecided, or k
// is zero.
struct Linear {
  const Expr* k;
  const Expr* c;
};
std::optional<Linear> LinearIn(const Expr* e, const Expr* variable, const NumericOptions& options,
                               Arena& arena, Fuel& fuel);

// Is |exact - decimal| <= 10^-fraction_digits / 2, i.e. is `decimal` a correct rounding of the
// closed real `exact`? kEqual: yes.
Equality RoundsTo(const Expr* exact, const Rational& decimal, int fraction_digits,
                  const NumericOptions& options, Fuel& fuel);
// Is `decimal` = `exact` with the digits after the fraction_digits-th cut off?
Equality TruncatesTo(const Expr* exact, const Rational& decimal, int fraction_digits,
                     const NumericOptions& options, Fuel& fuel);
// Is |a - b| <= tolerance (absolute), of closed reals or complex numbers?
Equality WithinTolerance(const Expr* a, const Expr* b, const Rational& tolerance,
                         const NumericOptions& options, Fuel& fuel);
// Is |a - b| <= tolerance * |b|?
Equality WithinRelative(const Expr* a, const Expr* b, const Rational& tolerance,
                        const NumericOptions& options, Fuel& fuel);

// Free symbols in order of first appearance, each once; variables of sums, products, integrals,
// limits and derivatives are bound there.
std::vector<const Expr*> FreeSymbols(const Expr* e);
bool ContainsSymbol(const Expr* e, int64_t symbol_hash);  // free occurrences
// e with the free occurrences of the symbol replaced; shares untouched subtrees. Null when the
// arena is full.
const Expr* Substitute(const Expr* e, int64_t symbol_hash, const Expr* replacement, Arena& arena);

// The closed value as a complex double, for messages and for sorting only; false when it has none.
bool ApproximateForDisplay(const Expr* e, const NumericOptions& options, Fuel& fuel, double* re,
                           double* im);

}  // namespace rewardloop::math
