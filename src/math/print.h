// Prints a tree back, for explanations: unambiguous plain notation, not meant to be read again.
#pragma once

#include <string>

#include "math/expr.h"

namespace rewardloop::math {

std::string Print(const Expr* e);
// "integer", "rational", "decimal", "expression", "interval", "text", ...
std::string_view TypeName(const Expr* e);
std::string_view FunctionName(Function fn);

}  // namespace rewardloop::math
