// Questions about the shape of a tree, and small trees on the stack.
#pragma once

#include <cstdint>
#include <string>

#include "math/expr.h"
#include "math/numeric/exact.h"

namespace rewardloop::math {

struct TreeFacts {
  bool imaginary = false;  // contains i
  bool infinity = false;
  bool unscalar = false;  // contains a kind without a numeric value
  bool calculus = false;  // integrals, limits, derivatives
  bool integral = false;
  int64_t literal_bits = 0;  // sum of the sizes of the numbers, a few bits a node
};
void CollectFacts(const Expr* e, TreeFacts* facts);

// sum from somewhere to infinity
bool IsInfiniteSum(const Expr* e);

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
    node.depth =
        static_cast<uint16_t>(1 + (y != nullptr && y->depth > x->depth ? y->depth : x->depth));
  }
  StackExpr(const StackExpr&) = delete;
  StackExpr& operator=(const StackExpr&) = delete;

  Expr* children[2];
  Expr node{};
};

// A number as a tree: digits in text, sign and denominator around it. Lives as long as the object.
class NumberTree {
 public:
  explicit NumberTree(const Rational& value)
      : num_text_(Abs(value).Numerator().ToString()),
        den_text_(value.Denominator().ToString()),
        num_(Digits(num_text_)),
        den_(Digits(den_text_)),
        quotient_(Kind::kDiv, &num_, &den_),
        negated_(Kind::kNeg, &quotient_.node),
        negative_(value.sign() < 0) {}
  NumberTree(const NumberTree&) = delete;
  NumberTree& operator=(const NumberTree&) = delete;
  const Expr* get() const { return negative_ ? &negated_.node : &quotient_.node; }

 private:
  static Expr Digits(const std::string& text) {
    Expr e{};
    e.kind = Kind::kNumber;
    e.text = text;
    e.aux = -1;
    return e;
  }
  std::string num_text_, den_text_;
  Expr num_, den_;
  StackExpr quotient_, negated_;
  bool negative_;
};

}  // namespace rewardloop::math
