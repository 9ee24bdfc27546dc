// Trees nobody would write: huge literals, towers, poles, functions out of their domain. Nothing
// may crash, abort inside a library, or use more than its fuel; a tree equals itself or stays
// undecided, and never equals itself plus one.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "math/builder.h"
#include "math/numeric/numeric.h"
#include "math/numeric/residue.h"

namespace rewardloop::math {
namespace {

class Wild {
 public:
  explicit Wild(uint64_t seed) : state_(seed) {}
  Builder& build() { return build_; }

  const Expr* Tree(int depth) {
    if (depth == 0) return Leaf();
    switch (Below(16)) {
      case 0:
        return Make(Kind::kAdd, depth);
      case 1:
        return Make(Kind::kMul, depth);
      case 2:
        return Make(Kind::kDiv, depth);
      case 3:
      case 4:
        return Make(Kind::kPow, depth);
      case 5:
        return build_.Neg(Tree(depth - 1));
      case 6:
        return build_.Make(Kind::kSqrt, {Tree(depth - 1)});
      case 7:
        return Make(Kind::kRoot, depth);
      case 8:
        return build_.Make(Below(2) == 0 ? Kind::kFactorial : Kind::kDoubleFactorial,
                           {Tree(depth - 1)});
      case 9:
        return build_.Make(Below(2) == 0 ? Kind::kPercent : Kind::kDegree, {Tree(depth - 1)});
      case 10:
        return Scope(depth);
      case 11:
        return build_.Call(static_cast<Function>(static_cast<int>(Function::kLogBase) + Below(4)),
                           {Tree(depth - 1), Tree(depth - 1)});
      case 12:
        return build_.Call(static_cast<Function>(static_cast<int>(Function::kGcd) + Below(4)),
                           {Tree(depth - 1), Tree(depth - 1)});
      default: {
        constexpr int kFirst = static_cast<int>(Function::kSin),
                      kLast = static_cast<int>(Function::kArg);
        return build_.Call(static_cast<Function>(kFirst + Below(kLast - kFirst + 1)),
                           {Tree(depth - 1)});
      }
    }
  }

 private:
  int64_t Below(int64_t n) {
    return static_cast<int64_t>(Mix(state_++) % static_cast<uint64_t>(n));
  }
  const Expr* Make(Kind kind, int depth) {
    return build_.Make(kind, {Tree(depth - 1), Tree(depth - 1)});
  }
  const Expr* Symbol() { return build_.Symbol(Below(3) == 0 ? "y" : "x"); }
  const Expr* Scope(int depth) {
    switch (Below(5)) {
      case 0:
        return build_.Make(Kind::kSum, {Tree(depth - 1), Symbol(), Leaf(), Leaf()});
      case 1:
        return build_.Make(Kind::kProduct, {Tree(depth - 1), Symbol(), Leaf(), Leaf()});
      case 2:
        return build_.Make(Kind::kIntegral, {Tree(depth - 1), Symbol(), Leaf(), Leaf()});
      case 3:
        return build_.Make(Kind::kLimit, {Tree(depth - 1), Symbol(), Leaf()});
      default:
        return build_.Make(Kind::kDerivative,
                           {Tree(depth - 1), Symbol(), build_.Integer(1 + Below(3))});
    }
  }
  const Expr* Leaf() {
    switch (Below(10)) {
      case 0:
        return build_.Integer(0);
      case 1:
        return build_.Integer(Below(2) == 0 ? INT64_MAX : INT64_MIN);
      case 2:
        return build_.Number("7", (Below(2) == 0 ? -1 : 1) * Below(1'000'001));
      case 3:
        return build_.Number("123456789012345678901234567890123456789", -Below(60));
      case 4:
        return build_.Constant(static_cast<Function>(static_cast<int>(Function::kPi) + Below(4)));
      case 5:
        return Symbol();
      case 6:
        return build_.Integer(Below(20'000));
      default:
        return build_.Integer(Below(12) - 2);
    }
  }

  uint64_t state_;
  Arena arena_{1 << 22};
  Builder build_{&arena_, 1 << 14};
};

RC_GTEST_PROP(Wild, StaysInItsBudgetAndKeepsItsVerdictsApart, (uint64_t seed)) {
  Wild wild(seed);
  const Expr* a = wild.Tree(4);
  const Expr* b = wild.Tree(3);
  const Expr* more = wild.build().Make(Kind::kAdd, {a, wild.build().Integer(1)});
  RC_PRE(a != nullptr && b != nullptr && more != nullptr);
  for (const Expr* other : {b, a, more}) {
    Fuel fuel(300'000);
    const Equality verdict = Compare(a, other, {}, fuel).equality;
    RC_ASSERT(fuel.used() <= 300'000);
    if (other == a) RC_ASSERT(verdict != Equality::kDifferent);
    if (other == more) RC_ASSERT(verdict != Equality::kEqual);
    Fuel back(300'000);
    const Equality reversed = Compare(other, a, {}, back).equality;
    // Fuel can run out on one way only; a decision never changes.
    if (fuel.left() > 0 && back.left() > 0) RC_ASSERT(verdict == reversed);
  }
  Fuel fuel(300'000);
  static_cast<void>(CompareOrder(a, b, {}, fuel));
  static_cast<void>(ConstantRatio(a, b, {}, fuel));
}

}  // namespace
}  // namespace rewardloop::math
