// Compares expressions with free variables at seeded points in ball arithmetic.
#pragma once

#include <vector>

#include "math/numeric/ball_eval.h"
#include "math/numeric/numeric.h"

namespace rewardloop::math {

inline constexpr int kPointsWanted = 8;
inline constexpr int kPointsNeeded = 4;
inline constexpr int kPointCandidates = 32;
inline constexpr int kVariablesMax = 64;

// Draws values for variables: reals of both signs and several sizes, small integers for variables
// that stand under factorials, binomials, as exponents of negative numbers, and as bounds of sums.
class PointSource {
 public:
  // Variables of both trees, in an order that does not depend on which comes first. False when
  // there are too many.
  bool Init(const Expr* a, const Expr* b, const NumericOptions& options);

  // Fills the values of candidate number `index`; the bindings stay valid until the next call.
  const Binding* Draw(int index);
  bool empty() const { return variables_.empty(); }
  bool has_integers() const { return has_integers_; }
  const std::vector<int64_t>& variables() const { return variables_; }

 private:
  void MarkIntegers(const Expr* e, int depth);
  void MarkSymbolsOf(const Expr* e, int depth);

  std::vector<int64_t> variables_;
  std::vector<char> integer_;
  std::vector<Rational> values_;
  std::vector<Binding> bindings_;
  uint64_t seed_ = 0;
  bool positive_ = false;
  bool has_integers_ = false;
  bool has_series_ = false;
};

// The value at a point, with precision raised until it is decided or kPrecisionPointsMax is
// reached.
inline constexpr slong kPrecisionPoints = 128;
inline constexpr slong kPrecisionPointsMax = 2048;

NumericResult ComparePoints(const Expr* a, const Expr* b, bool odd_real_roots,
                            const NumericOptions& options, Fuel& fuel);

// a = c * b at all points, for one constant c? See numeric.h.
RatioResult RatioAtPoints(const Expr* a, const Expr* b, bool odd_real_roots,
                          const NumericOptions& options, Fuel& fuel);

// Is e defined at some point (or, without variables, at all)? kEqual: yes, kDifferent: nowhere
// tried, kUnknown: has no value here, kLimit.
Equality DefinedSomewhere(const Expr* e, bool odd_real_roots, const NumericOptions& options,
                          Fuel& fuel);

}  // namespace rewardloop::math
