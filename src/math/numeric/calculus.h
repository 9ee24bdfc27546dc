// Derivatives and limits written in an answer, replaced by what they evaluate to.
#pragma once

#include "math/arena.h"
#include "math/expr.h"
#include "math/fuel.h"
#include "math/numeric/numeric.h"

namespace rewardloop::math {

inline constexpr int64_t kDerivativeOrderMax = 8;
inline constexpr int kLimitRuleDepthMax = 4;  // times l'Hopital's rule is applied
inline constexpr size_t kCalculusArenaBytes = 1 << 20;

// d e / d symbol. Null when a function without a rule depends on the symbol, or the arena is full.
const Expr* Differentiate(const Expr* e, int64_t symbol, Arena& arena);

// e with every kDerivative, and every kLimit that a rule covers, evaluated; subtrees without them
// are shared. What no rule covers stays as it is. Null when the arena is full.
const Expr* EvaluateCalculus(const Expr* e, const NumericOptions& options, Arena& arena,
                             Fuel& fuel);

}  // namespace rewardloop::math
