// Generated pairs: rewritings that keep the value must be equal, mutations that change it late or
// little must be different. That a mutation changes the value is known by construction: it adds,
// multiplies or replaces by an exact nonzero amount.
#include <flint/fmpz_poly.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "math/builder.h"
#include "math/numeric/flint_headers.h"
#include "math/numeric/numeric.h"
#include "math/numeric/residue.h"

namespace rewardloop::math {
namespace {

// Draws from one seed; every tree is valid as long as the object.
class Generator {
 public:
  explicit Generator(uint64_t seed) : state_(seed) {}

  uint64_t Next() { return Mix(state_++); }
  int64_t Below(int64_t n) { return static_cast<int64_t>(Next() % static_cast<uint64_t>(n)); }
  Builder& build() { return build_; }

  const Expr* Int(int64_t n) { return build_.Integer(n); }
  const Expr* Power(const Expr* a, int64_t n) { return build_.Make(Kind::kPow, {a, Int(n)}); }
  const Expr* Plus(const Expr* a, const Expr* b) { return build_.Make(Kind::kAdd, {a, b}); }
  const Expr* Times(const Expr* a, const Expr* b) { return build_.Make(Kind::kMul, {a, b}); }
  const Expr* Over(const Expr* a, const Expr* b) { return build_.Make(Kind::kDiv, {a, b}); }
  const Expr* Call(Function fn, const Expr* a) { return build_.Call(fn, {a}); }

  // A positive real constant.
  const Expr* Positive(int depth) {
    const int64_t n = Below(90) + 2;
    if (depth == 0) return Int(n);
    switch (Below(9)) {
      case 0:
        return Int(n);
      case 1:
        return Over(Int(n), Int(Below(90) + 2));
      case 2:
        return build_.Make(Kind::kSqrt, {Positive(depth - 1)});
      case 3:
        return build_.Make(Kind::kRoot, {Positive(depth - 1), Int(Below(4) + 2)});
      case 4:
        return Plus(Positive(depth - 1), Positive(depth - 1));
      case 5:
        return Times(Positive(depth - 1), Positive(depth - 1));
      case 6:
        return build_.Constant(Below(2) == 0 ? Function::kPi : Function::kE);
      case 7:
        return Call(Function::kExp, Over(Int(n), Int(60)));
      default:
        return Call(Function::kLn, Int(n + 1));
    }
  }

  // The same value written otherwise.
  const Expr* Rewrite(const Expr* e) {
    switch (e->kind) {
      case Kind::kAdd:
        return Plus(Rewrite(e->child[1]), Rewrite(e->child[0]));
      case Kind::kMul:
        if (Below(2) == 0) return Over(Rewrite(e->child[1]), Over(Int(1), Rewrite(e->child[0])));
        return Times(Rewrite(e->child[1]), Rewrite(e->child[0]));
      case Kind::kDiv: {
        const Expr* factor = Int(Below(7) + 2);
        return Over(Times(Rewrite(e->child[0]), factor), Times(factor, Rewrite(e->child[1])));
      }
      case Kind::kSqrt: {  // sqrt(x) = sqrt(9x)/3
        const int64_t k = Below(5) + 2;
        return Over(build_.Make(Kind::kSqrt, {Times(Int(k * k), Rewrite(e->child[0]))}), Int(k));
      }
      case Kind::kRoot:
        return build_.Make(Kind::kPow, {Rewrite(e->child[0]), Over(Int(1), e->child[1])});
      case Kind::kFunction:
        if (e->fn == Function::kExp)
          return build_.Make(Kind::kPow, {build_.Constant(Function::kE), e->child[0]});
        if (e->fn == Function::kLn) {  // ln n = 2 ln sqrt(n)
          return Times(Int(2), Call(Function::kLn, build_.Make(Kind::kSqrt, {e->child[0]})));
        }
        return e;
      default:
        return e;
    }
  }

  // e changed by a known nonzero amount.
  const Expr* Mutate(const Expr* e, int64_t digits) {
    const Expr* little = Over(Int(Below(9) + 1), Power(Int(10), digits));
    switch (Below(3)) {
      case 0:
        return Plus(e, little);
      case 1:
        return Plus(e, build_.Neg(little));
      default:
        return Times(e, Plus(Int(1), little));  // e is positive
    }
  }

 private:
  uint64_t state_;
  Arena arena_{1 << 22};
  Builder build_{&arena_, 1 << 16};
};

RC_GTEST_PROP(Generated, RewrittenConstantsAreEqual, (uint64_t seed)) {
  Generator g(seed);
  const Expr* a = g.Positive(3);
  const Expr* b = g.Rewrite(a);
  Fuel fuel(20'000'000);
  const Equality verdict = Compare(a, b, {}, fuel).equality;
  RC_ASSERT(verdict == Equality::kEqual);
}

RC_GTEST_PROP(Generated, MutatedConstantsAreDifferent, (uint64_t seed)) {
  Generator g(seed);
  const Expr* a = g.Positive(3);
  const Expr* b = g.Mutate(g.Rewrite(a), g.Below(300) + 1);
  Fuel fuel(20'000'000);
  const Equality verdict = Compare(a, b, {}, fuel).equality;
  RC_ASSERT(verdict == Equality::kDifferent);
}

RC_GTEST_PROP(Generated, OrderAgreesWithTheMutation, (uint64_t seed)) {
  Generator g(seed);
  const Expr* a = g.Positive(2);
  const Expr* b = g.Plus(g.Rewrite(a), g.Over(g.Int(1), g.Power(g.Int(10), g.Below(200) + 1)));
  Fuel fuel(20'000'000);
  RC_ASSERT(CompareOrder(a, b, {}, fuel) == Order::kLess);
  RC_ASSERT(CompareOrder(b, a, {}, fuel) == Order::kGreater);
}

// One bit of a long integer, one digit of a long decimal: told apart, however late.
RC_GTEST_PROP(Generated, LateDigits, (uint64_t seed)) {
  Generator g(seed);
  std::string digits = "7";
  const int64_t length = g.Below(900) + 2;
  for (int64_t i = 1; i < length; ++i) digits += static_cast<char>('0' + g.Below(10));
  std::string other = digits;
  char& digit = other[static_cast<size_t>(g.Below(length))];
  digit = static_cast<char>(digit == '9' ? '8' : digit + 1);
  const int64_t exponent = -g.Below(2000);
  const Expr* x = g.build().Number(digits, exponent);
  const Expr* y = g.build().Number(other, exponent);
  Fuel fuel;
  RC_ASSERT(Compare(x, y, {}, fuel).equality == Equality::kDifferent);
  RC_ASSERT(Compare(x, x, {}, fuel).equality == Equality::kEqual);
  const Expr* root = g.build().Constant(Function::kPi);
  RC_ASSERT(Compare(g.Times(root, x), g.Times(y, root), {}, fuel).equality == Equality::kDifferent);
  RC_ASSERT(Compare(g.Times(root, x), g.Times(x, root), {}, fuel).equality == Equality::kEqual);
}

// ---- Polynomials in one variable, with FLINT's dense arithmetic as the oracle
// -----------------------------------------

const Expr* RandomPolynomial(Generator& g, int depth, fmpz_poly_t value) {
  const Expr* x = g.build().Symbol("x");
  if (depth == 0) {
    if (g.Below(2) == 0) {
      const int64_t n = g.Below(19) - 9;
      fmpz_poly_set_si(value, n);
      return g.Int(n);
    }
    fmpz_poly_zero(value);
    fmpz_poly_set_coeff_si(value, 1, 1);
    return x;
  }
  fmpz_poly_t left, right;
  fmpz_poly_init(left);
  fmpz_poly_init(right);
  const Expr* a = RandomPolynomial(g, depth - 1, left);
  const Expr* result = nullptr;
  const int64_t choice = g.Below(5);
  if (choice == 0) {
    const int64_t n = g.Below(3) + 1;
    fmpz_poly_pow(value, left, static_cast<ulong>(n));
    result = g.Power(a, n);
  } else {
    const Expr* b = RandomPolynomial(g, depth - 1, right);
    if (choice <= 2) {
      fmpz_poly_add(value, left, right);
      result = g.Plus(a, b);
    } else if (choice == 3) {
      fmpz_poly_sub(value, left, right);
      result = g.Plus(a, g.build().Neg(b));
    } else {
      fmpz_poly_mul(value, left, right);
      result = g.Times(a, b);
    }
  }
  fmpz_poly_clear(left);
  fmpz_poly_clear(right);
  return result;
}

// sum c_i x^i, as expanded by FLINT.
const Expr* Expanded(Generator& g, const fmpz_poly_t value) {
  const Expr* sum = g.Int(0);
  for (slong i = 0; i <= fmpz_poly_degree(value); ++i) {
    fmpz_t c;
    fmpz_init(c);
    fmpz_poly_get_coeff_fmpz(c, value, i);
    char* text = fmpz_get_str(nullptr, 10, c);
    const bool negative = text[0] == '-';
    const Expr* number = g.build().Number(g.build().arena()->Copy(text + (negative ? 1 : 0)));
    flint_free(text);
    fmpz_clear(c);
    if (negative) number = g.build().Neg(number);
    // x^0 is 1 and not 0^0 here.
    sum = g.Plus(sum, i == 0 ? number : g.Times(number, g.Power(g.build().Symbol("x"), i)));
  }
  return sum;
}

RC_GTEST_PROP(Oracle, PolynomialsAgreeWithFlint, (uint64_t seed)) {
  Generator g(seed);
  fmpz_poly_t p, q;
  fmpz_poly_init(p);
  fmpz_poly_init(q);
  const Expr* a = RandomPolynomial(g, 4, p);
  const Expr* b = RandomPolynomial(g, 2, q);
  Fuel fuel;
  const Equality same = Compare(a, Expanded(g, p), {}, fuel).equality;
  const Equality pair = Compare(a, b, {}, fuel).equality;
  const bool oracle = fmpz_poly_equal(p, q) != 0;
  // One coefficient changed by one.
  const slong at = static_cast<slong>(g.Below(fmpz_poly_length(p) + 2));
  fmpz_poly_set(q, p);
  fmpz_t c;
  fmpz_init(c);
  fmpz_poly_get_coeff_fmpz(c, q, at);
  fmpz_add_si(c, c, 1);
  fmpz_poly_set_coeff_fmpz(q, at, c);
  fmpz_clear(c);
  const Equality changed = Compare(a, Expanded(g, q), {}, fuel).equality;
  fmpz_poly_clear(p);
  fmpz_poly_clear(q);
  RC_ASSERT(same == Equality::kEqual);
  RC_ASSERT(pair == (oracle ? Equality::kEqual : Equality::kDifferent));
  RC_ASSERT(changed == Equality::kDifferent);
}

// The verdict does not depend on what the thread computed before.
RC_GTEST_PROP(Generated, SameVerdictAndFuelWhenRepeated, (uint64_t seed)) {
  Generator g(seed);
  const Expr* a = g.Positive(3);
  const Expr* b = g.Below(2) == 0 ? g.Rewrite(a) : g.Positive(3);
  Fuel first, second;
  const NumericResult r = Compare(a, b, {}, first);
  Generator noise(seed + 1);
  Fuel spare;
  static_cast<void>(Compare(noise.Positive(3), noise.Positive(3), {}, spare));
  const NumericResult s = Compare(a, b, {}, second);
  RC_ASSERT(r.equality == s.equality);
  RC_ASSERT(r.method == s.method);
  RC_ASSERT(first.used() == second.used());
}

}  // namespace
}  // namespace rewardloop::math
