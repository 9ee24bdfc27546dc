// Integers too large to write down (10^{10^{10}}, 20000!): their sign and their residues, from the
// tree alone.
#pragma once

#include <cstdint>

#include "math/numeric/exact_eval.h"

namespace rewardloop::math {

// The value modulo m of a closed integer tree built with + - * ^ !, whatever its size. False when
// the tree is not seen to be such an integer, or fuel is out. m >= 1.
[[nodiscard]] bool EvaluateModulo(const Expr* e, uint64_t m, const ExactContext& context,
                                  const Binding* bindings, uint64_t* out, int depth = 0);

// The sign where the structure shows it without computing the value: -1, 1; 0 when it does not.
int StructuralSign(const Expr* e, const ExactContext& context, const Binding* bindings,
                   int depth = 0);

}  // namespace rewardloop::math
