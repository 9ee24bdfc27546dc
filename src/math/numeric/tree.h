// Questions about the shape of a tree, and small trees on the stack.
#pragma once

#include <cstdint>

#include "math/expr.h"
#include "math/numeric/exact.h"

namespace rewardloop::math {

struct TreeFacts {
  bool imaginary = false;    // contains i
  bool infinity = false;
  bool unscalar = false;     // contains a kind without a numeric value
  bool calculus = false;     // integrals, limits, derivatives
  int64_t literal_bits = 0;  // sum of the sizes of the numbers, a few bits a node
};
void CollectFacts(const Expr* e, TreeFacts* facts);

// Same shape, same texts.
bool SameTree(const Expr* a, const Expr* b, int depth = 0);
// Equal trees have equal hashes.
uint64_t TreeHash(const Expr* e, int depth = 0);

// A node with up to two children that lives on the stack, for a - b and the like without an arena.
struct StackExpr {
  StackExpr(Kind kind, const Expr* x, const Expr* y = nullptr) {
    node.kind = kind;
    children[0] = const_cast<Expr*>(x);  // trees are read-only to everything in this folder
    children[1] = const_cast<Expr*>(y);
    node.child = children;
    node.child_count = y == nullptr ? 1 : 2;
    node.depth = static_cast<uint16_t>(1 + (y != nullptr && y->depth > x->depth ? y->depth : x->depth));
  }
  StackExpr(const StackExpr&) = delete;
  StackExpr& operator=(const StackExpr&) = delete;

  Expr* children[2];
  Expr node{};
};

}  // namespace rewardloop::math
