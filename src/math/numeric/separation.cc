#include "math/numeric/separation.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "math/numeric/flint_headers.h"
#include "math/numeric/residue.h"
#include "math/numeric/tree.h"

namespace rewardloop::math {
namespace {

// Bounds are logarithms in 1/16 bits, rounded up.
constexpr int64_t kUnit = 16;
constexpr int64_t kBoundMax = int64_t{1} << 32;

// The value is U / L with algebraic integers U, L of one field; every conjugate of U is at most
// 2^(u/16), of L 2^(l/16).
struct Bound {
  int64_t u = 0;
  int64_t l = 0;
};

class Separation {
 public:
  explicit Separation(const ExactContext& context) : context_(context) {}

  bool Visit(const Expr* e, Bound* out, int depth);
  static Bound Sum(const Bound& a, const Bound& b) {
    return {std::max(a.u + b.l, a.l + b.u) + kUnit, a.l + b.l};
  }
  // Degree bound of the field, or a value above the cap.
  int64_t Degree() const {
    int64_t degree = static_cast<int64_t>(n_euler_phi(static_cast<ulong>(root_of_unity_)));
    for (const Generator& g : generators_) {
      if (degree > kSeparationDegreeMax) break;
      degree *= g.index;
    }
    return degree;
  }

 private:
  struct Generator {
    uint64_t key;
    int64_t index;
  };

  bool Root(const Bound& x, uint64_t key, int64_t index, Bound* out);
  bool Power(const Expr* e, Bound* out, int depth);
  bool Trigonometric(const Expr* e, Bound* out);
  bool AddRootOfUnity(int64_t order) {
    if (order > kSeparationDegreeMax) return false;
    root_of_unity_ = std::lcm(root_of_unity_, order);
    return root_of_unity_ <= kSeparationDegreeMax;
  }
  static bool InRange(const Bound& b) { return b.u < kBoundMax && b.l < kBoundMax; }
  static Bound OfRational(const Rational& x) {
    return {x.num_bits() * kUnit, x.is_integer() ? 0 : x.den_bits() * kUnit};
  }
  // One key for sqrt(2), 2^(1/2) and sqrt(4/2).
  uint64_t Key(const Expr* radicand, int64_t index) {
    Rational value;
    const bool exact = EvaluateExact(radicand, context_, nullptr, &value) == ExactStatus::kOk;
    return Mix((exact ? value.Hash() : TreeHash(radicand)) + static_cast<uint64_t>(index));
  }

  const ExactContext& context_;
  std::vector<Generator> generators_;
  int64_t root_of_unity_ = 1;
};

bool Separation::Root(const Bound& x, uint64_t key, int64_t index, Bound* out) {
  if (index > kSeparationDegreeMax) return false;
  if (x.u >= x.l) {  // (U L^(k-1))^(1/k) / L
    *out = {(x.u + (index - 1) * x.l + index - 1) / index, x.l};
  } else {  // U / (U^(k-1) L)^(1/k)
    *out = {x.u, ((index - 1) * x.u + x.l + index - 1) / index};
  }
  const bool known = std::any_of(generators_.begin(), generators_.end(),
                                 [&](const Generator& g) { return g.key == key; });
  if (!known) generators_.push_back({key, index});
  return Degree() <= kSeparationDegreeMax;
}

bool Separation::Power(const Expr* e, Bound* out, int depth) {
  Rational exponent;
  int64_t p, q;
  if (EvaluateExact(e->child[1], context_, nullptr, &exponent, depth + 1) != ExactStatus::kOk)
    return false;
  if (!exponent.Numerator().ToInt64(&p) || !exponent.Denominator().ToInt64(&q)) return false;
  Bound x;
  if (!Visit(e->child[0], &x, depth + 1)) return false;
  if (q != 1 && !Root(x, Key(e->child[0], q), q, &x)) return false;
  if (p < 0) std::swap(x.u, x.l);
  const int64_t n = p < 0 ? -p : p;
  if (n > kBoundMax || static_cast<__int128>(std::max(x.u, x.l)) * n > kBoundMax) return false;
  *out = {x.u * n, x.l * n};
  return true;
}

bool Separation::Trigonometric(const Expr* e, Bound* out) {
  const std::optional<Rational> r = MultipleOfPi(e->child[0], context_);
  int64_t den;
  if (!r || !r->Denominator().ToInt64(&den) || den > kSeparationDegreeMax) return false;
  // With z = exp(i pi r) of order dividing 2 den: cos = (z + 1/z) / 2, sin = (z - 1/z) / (2 i).
  const bool cosine_only = e->fn == Function::kCos || e->fn == Function::kSec;
  if (!AddRootOfUnity(2 * den) || (!cosine_only && !AddRootOfUnity(4))) return false;
  const Bound half{kUnit, kUnit}, ratio{kUnit, kUnit};
  switch (e->fn) {
    case Function::kSin:
    case Function::kCos:
      *out = half;
      return true;
    case Function::kSec:
    case Function::kCsc:
      *out = half;
      return true;  // 2 / (z + 1/z)
    case Function::kTan:
    case Function::kCot:
      *out = ratio;
      return true;
    default:
      return false;
  }
}

bool Separation::Visit(const Expr* e, Bound* out, int depth) {
  if (depth > kEvalDepthMax || !context_.fuel.Spend(30)) return false;
  Rational value;
  const ExactStatus exact = EvaluateExact(e, context_, nullptr, &value, depth);
  if (exact == ExactStatus::kOk) {
    *out = OfRational(value);
    return InRange(*out);
  }
  if (exact != ExactStatus::kInexact) return false;
  switch (e->kind) {
    case Kind::kConstant:
      if (e->fn != Function::kI) return false;
      *out = {0, 0};
      return AddRootOfUnity(4);
    case Kind::kNeg:
    case Kind::kPercent: {
      if (!Visit(e->child[0], out, depth + 1)) return false;
      if (e->kind == Kind::kPercent) out->l += 7 * kUnit;
      return true;
    }
    case Kind::kAdd:
    case Kind::kMul: {
      if (!Visit(e->child[0], out, depth + 1)) return false;
      for (uint32_t i = 1; i < e->child_count; ++i) {
        Bound x;
        if (!Visit(e->child[i], &x, depth + 1)) return false;
        *out = e->kind == Kind::kAdd ? Sum(*out, x) : Bound{out->u + x.u, out->l + x.l};
      }
      return InRange(*out);
    }
    case Kind::kDiv: {
      Bound x, y;
      if (!Visit(e->child[0], &x, depth + 1) || !Visit(e->child[1], &y, depth + 1)) return false;
      *out = {x.u + y.l, x.l + y.u};
      return InRange(*out);
    }
    case Kind::kSqrt:
    case Kind::kRoot: {
      Rational index(2);
      int64_t k;
      if (e->kind == Kind::kRoot &&
          EvaluateExact(e->child[1], context_, nullptr, &index, depth + 1) != ExactStatus::kOk) {
        return false;
      }
      if (!index.ToInt64(&k) || k < 1) return false;
      Bound x;
      return Visit(e->child[0], &x, depth + 1) && Root(x, Key(e->child[0], k), k, out);
    }
    case Kind::kPow:
      return Power(e, out, depth);
    case Kind::kFunction:
      if (e->child_count != 1) return false;
      switch (e->fn) {
        case Function::kSin:
        case Function::kCos:
        case Function::kTan:
        case Function::kCot:
        case Function::kSec:
        case Function::kCsc:
          return Trigonometric(e, out);
        default:
          return false;
      }
    default:
      return false;
  }
}

}  // namespace

std::optional<int64_t> SeparationBits(const Expr* a, const Expr* b, const ExactContext& context) {
  Separation separation(context);
  Bound x, y;
  if (!separation.Visit(a, &x, 0) || !separation.Visit(b, &y, 0)) return std::nullopt;
  const Bound difference = Separation::Sum(x, y);
  const int64_t degree = separation.Degree();
  if (degree > kSeparationDegreeMax || difference.u > kBoundMax) return std::nullopt;
  return ((degree - 1) * difference.u + difference.l) / kUnit + 2;
}

std::optional<Rational> MultipleOfPi(const Expr* e, const ExactContext& context, int depth) {
  if (depth > kEvalDepthMax || !context.fuel.Spend(10)) return std::nullopt;
  Rational x;
  switch (e->kind) {
    case Kind::kConstant:
      if (e->fn == Function::kPi) return Rational(1);
      return std::nullopt;
    case Kind::kDegree:
      if (EvaluateExact(e->child[0], context, nullptr, &x) != ExactStatus::kOk) return std::nullopt;
      if (!Div(x, Rational(180), context.fuel, &x)) return std::nullopt;
      return x;
    case Kind::kNeg: {
      const std::optional<Rational> r = MultipleOfPi(e->child[0], context, depth + 1);
      if (!r) return std::nullopt;
      return Neg(*r);
    }
    case Kind::kAdd: {
      Rational sum(0);
      for (const Expr* child : e->children()) {
        const std::optional<Rational> r = MultipleOfPi(child, context, depth + 1);
        if (!r || !Add(sum, *r, context.fuel, &sum)) return std::nullopt;
      }
      return sum;
    }
    case Kind::kMul: {
      std::optional<Rational> pi_part;
      Rational factor(1);
      for (const Expr* child : e->children()) {
        if (EvaluateExact(child, context, nullptr, &x) == ExactStatus::kOk) {
          if (!Mul(factor, x, context.fuel, &factor)) return std::nullopt;
        } else if (pi_part || !(pi_part = MultipleOfPi(child, context, depth + 1))) {
          return std::nullopt;
        }
      }
      if (!pi_part && !factor.is_zero()) return std::nullopt;
      if (!pi_part) return Rational(0);
      if (!Mul(factor, *pi_part, context.fuel, &factor)) return std::nullopt;
      return factor;
    }
    case Kind::kDiv: {
      std::optional<Rational> r = MultipleOfPi(e->child[0], context, depth + 1);
      if (!r || EvaluateExact(e->child[1], context, nullptr, &x) != ExactStatus::kOk || x.is_zero())
        return std::nullopt;
      if (!Div(*r, x, context.fuel, &*r)) return std::nullopt;
      return r;
    }
    default:
      if (EvaluateExact(e, context, nullptr, &x) == ExactStatus::kOk && x.is_zero()) return x;
      return std::nullopt;
  }
}

}  // namespace rewardloop::math
