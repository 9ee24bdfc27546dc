// Units: names to canonical expressions, and how many of one are in another.
#pragma once

#include <cstdint>
#include <string_view>

#include "math/arena.h"

namespace rewardloop::math {

struct Unit {
  std::string_view name;       // as written, lower case except where case matters ("mL")
  std::string_view canonical;  // "cm"
  int8_t length, mass, time, other;  // dimension; `other` names kinds that only equal themselves (0: none)
  int64_t factor_num;          // value in m, kg, s
  int64_t factor_den;
};

// The unit written as `word`, or null. Plurals are known.
const Unit* FindUnit(std::string_view word);
// True for a currency word ("dollars", "yuan"); *code gets its canonical name.
bool FindCurrency(std::string_view word, std::string_view* code);

// a = (num / den) b as powers and quotients of units, as canonical texts like "cm^2" or "m/s". False when they measure
// different things. Texts that begin with '~' are labels, not units, and never get here.
bool UnitRatio(std::string_view a, std::string_view b, int64_t* num, int64_t* den);

}  // namespace rewardloop::math
