// Evaluates a tree at a seeded random point modulo two primes. Whatever is not + - * / and integer
// powers becomes an atom: a random value that depends on the function and on the residues of its
// arguments only. So equal residues mean "equal as rational functions of the atoms", whatever the
// atoms are.
#pragma once

#include "math/numeric/exact_eval.h"
#include "math/numeric/residue.h"

namespace rewardloop::math {

enum class ResidueStatus : uint8_t {
  kOk,
  kUndefined,    // a denominator vanishes identically
  kUnsupported,  // infinity, a kind without value, or an unlucky zero modulo one prime
  kFuel,
};

struct ResidueInfo {
  bool symbols = false;  // free symbols occur
  bool pi = false;
  bool e = false;
  bool other_atoms = false;  // any atom but pi and e
  bool partial = false;  // an atom that is not defined everywhere: log, roots, inverse functions,
                         // non-integer powers
  bool lazy = false;     // an integer power or factorial above the exact size

  // Nonzero then proves "different": pi alone, or e alone, is transcendental over the rational
  // functions.
  bool IsDecisive() const { return !other_atoms && !(pi && e); }
};

struct ResidueContext {
  const NumericOptions& options;
  Fuel& fuel;
  uint64_t seed;
  bool odd_real_roots = true;
};

ResidueStatus EvaluateResidue(const Expr* e, const ResidueContext& context, const Binding* bindings,
                              Residue* out, ResidueInfo* info);

}  // namespace rewardloop::math
