// Compares closed expressions (no free symbols) in ball arithmetic.
#pragma once

#include "math/numeric/ball_eval.h"
#include "math/numeric/numeric.h"
#include "math/numeric/tree.h"

namespace rewardloop::math {

// a and b without free symbols; exact and residue arithmetic have left the question open.
NumericResult CompareClosed(const Expr* a, const Expr* b, bool odd_real_roots,
                            const NumericOptions& options, Fuel& fuel);

// Two closed integers or fractions above the exact size whose residues agree.
NumericResult CompareHuge(const Expr* a, const Expr* b, const NumericOptions& options, Fuel& fuel,
                          int depth = 0);

// Sign of the closed real a - b by balls only: -1, 1; 0 when they cannot be told apart within the
// ladder or are not real.
int BallSign(const Expr* a, const Expr* b, bool odd_real_roots, slong prec_max,
             const NumericOptions& options, Fuel& fuel);

}  // namespace rewardloop::math
