#include "math/numeric/limit_at_infinity.h"

#include <vector>

#include "math/numeric/nodes.h"

namespace rewardloop::math {
namespace {

// Coefficients by rising power, trees without the symbol; empty is zero.
using Polynomial = std::vector<const Expr*>;

struct Quotient {
  Polynomial top, bottom;
};

class RationalLimit {
 public:
  RationalLimit(int64_t symbol, const NumericOptions& options, Arena& arena, Fuel& fuel)
      : symbol_(symbol), options_(options), arena_(arena), fuel_(fuel) {}

  const Expr* At(const Expr* body, int sign) {
    Quotient q;
    if (!Read(body, &q, 0) || !Trim(&q.top) || !Trim(&q.bottom) || q.bottom.empty()) return nullptr;
    if (q.top.size() < q.bottom.size()) return NumberNode(arena_, Rational(0));
    const Expr* ratio = Node(arena_, Kind::kDiv, {q.top.back(), q.bottom.back()});
    if (ratio == nullptr || q.top.size() == q.bottom.size()) return ratio;
    const Expr* zero = NumberNode(arena_, Rational(0));
    if (zero == nullptr) return nullptr;
    const Order order = CompareOrder(ratio, zero, options_, fuel_);
    if (order != Order::kLess && order != Order::kGreater) return nullptr;
    const bool odd = (q.top.size() - q.bottom.size()) % 2 != 0;
    const bool negative = (order == Order::kLess) != (sign < 0 && odd);
    Expr* infinity = Node(arena_, Kind::kConstant, {});
    if (infinity == nullptr) return nullptr;
    infinity->fn = Function::kInfinity;
    return negative ? Node(arena_, Kind::kNeg, {infinity}) : infinity;
  }

 private:
  static constexpr int kDepthMax = 100;

  // Drops leading coefficients that are zero; false when one cannot be told from zero.
  bool Trim(Polynomial* p) {
    const Expr* zero = NumberNode(arena_, Rational(0));
    if (zero == nullptr) return false;
    while (!p->empty()) {
      const Equality equality = Compare(p->back(), zero, options_, fuel_).equality;
      if (equality == Equality::kDifferent) return true;
      if (equality != Equality::kEqual) return false;
      p->pop_back();
    }
    return true;
  }

  const Expr* Fold(Kind kind, const Expr* a, const Expr* b) { return Folded(Node(arena_, kind, {a, b}), options_, arena_, fuel_); }

  bool Add(const Polynomial& a, const Polynomial& b, Polynomial* out) {
    Polynomial sum = a.size() >= b.size() ? a : b;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      sum[i] = Fold(Kind::kAdd, a[i], b[i]);
      if (sum[i] == nullptr) return false;
    }
    *out = std::move(sum);
    return true;
  }

  bool Multiply(const Polynomial& a, const Polynomial& b, Polynomial* out) {
    Polynomial product;
    if (!a.empty() && !b.empty()) {
      if (a.size() + b.size() > kLimitDegreeMax + 2) return false;
      product.assign(a.size() + b.size() - 1, nullptr);
      for (size_t i = 0; i < a.size(); ++i) {
        for (size_t j = 0; j < b.size(); ++j) {
          const Expr* term = Fold(Kind::kMul, a[i], b[j]);
          const Expr*& slot = product[i + j];
          slot = slot == nullptr ? term : Fold(Kind::kAdd, slot, term);
          if (term == nullptr || slot == nullptr || !fuel_.Spend(20)) return false;
        }
      }
    }
    *out = std::move(product);
    return true;
  }

  bool Sum(const Quotient& a, const Quotient& b, Quotient* out) {
    Polynomial left, right;
    Quotient sum;
    if (!Multiply(a.top, b.bottom, &left) || !Multiply(b.top, a.bottom, &right) || !Add(left, right, &sum.top) || !Multiply(a.bottom, b.bottom, &sum.bottom)) return false;
    *out = std::move(sum);
    return true;
  }

  bool Product(const Quotient& a, const Quotient& b, Quotient* out) {
    Quotient product;
    if (!Multiply(a.top, b.top, &product.top) || !Multiply(a.bottom, b.bottom, &product.bottom)) return false;
    *out = std::move(product);
    return true;
  }

  bool Power(const Expr* e, Quotient* out, int depth) {
    const std::optional<Rational> exponent = EvaluateRational(e->child[1], fuel_, options_);
    int64_t n = 0;
    if (!exponent || !exponent->ToInt64(&n) || std::abs(n) > static_cast<int64_t>(kLimitDegreeMax)) return false;
    Quotient base;
    if (!Read(e->child[0], &base, depth + 1)) return false;
    if (n < 0) {
      if (!Trim(&base.top) || base.top.empty()) return false;
      std::swap(base.top, base.bottom);
    }
    const Expr* one = NumberNode(arena_, Rational(1));
    if (one == nullptr) return false;
    Quotient power{{one}, {one}};
    for (int64_t i = 0; i < std::abs(n); ++i) if (!Product(power, base, &power)) return false;
    *out = std::move(power);
    return true;
  }

  bool Read(const Expr* e, Quotient* out, int depth) {
    if (depth > kDepthMax || !fuel_.Spend(20)) return false;
    const Expr* one = NumberNode(arena_, Rational(1));
    if (one == nullptr) return false;
    if (!ContainsSymbol(e, symbol_)) {
      *out = {{e}, {one}};
      return true;
    }
    switch (e->kind) {
      case Kind::kSymbol: *out = {{NumberNode(arena_, Rational(0)), one}, {one}}; return out->top[0] != nullptr;
      case Kind::kNeg: {
        const Expr* minus = NumberNode(arena_, Rational(-1));
        Quotient inner;
        return minus != nullptr && Read(e->child[0], &inner, depth + 1) && Product(inner, {{minus}, {one}}, out);
      }
      case Kind::kAdd: case Kind::kMul: {
        if (!Read(e->child[0], out, depth + 1)) return false;
        for (uint32_t i = 1; i < e->child_count; ++i) {
          Quotient next;
          if (!Read(e->child[i], &next, depth + 1)) return false;
          if (!(e->kind == Kind::kAdd ? Sum(*out, next, out) : Product(*out, next, out))) return false;
        }
        return true;
      }
      case Kind::kDiv: {
        Quotient top, bottom;
        if (!Read(e->child[0], &top, depth + 1) || !Read(e->child[1], &bottom, depth + 1) || !Trim(&bottom.top) || bottom.top.empty()) return false;
        std::swap(bottom.top, bottom.bottom);
        return Product(top, bottom, out);
      }
      case Kind::kPow: return !ContainsSymbol(e->child[1], symbol_) && Power(e, out, depth);
      default: return false;
    }
  }

  int64_t symbol_;
  const NumericOptions& options_;
  Arena& arena_;
  Fuel& fuel_;
};

}  // namespace

const Expr* LimitAtInfinity(const Expr* body, int64_t symbol, int sign, const NumericOptions& options, Arena& arena, Fuel& fuel) {
  return RationalLimit(symbol, options, arena, fuel).At(body, sign);
}

}  // namespace rewardloop::math
