// Root separation bounds (Burnikel, Funke, Mehlhorn, Schirra, Schmitt): how close to zero an
// algebraic number given by
// + - * / roots can be without being zero.
#pragma once

#include <cstdint>
#include <optional>

#include "math/numeric/exact_eval.h"

namespace rewardloop::math {

inline constexpr int64_t kSeparationDegreeMax = 1 << 12;

// B such that |a - b| < 2^-B proves a = b, for closed algebraic trees; sines and cosines of
// rational multiples of pi and the imaginary unit are algebraic. nullopt when a tree is not seen to
// be algebraic or the degree is above the cap.
std::optional<int64_t> SeparationBits(const Expr* a, const Expr* b, const ExactContext& context);

// r with e = r * pi, where the tree shows it (pi/7, 20 degrees, 0).
std::optional<Rational> MultipleOfPi(const Expr* e, const ExactContext& context, int depth = 0);

}  // namespace rewardloop::math
