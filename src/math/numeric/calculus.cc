#include "math/numeric/calculus.h"

#include "math/builder.h"
#include "math/numeric/limit_at_infinity.h"
#include "math/numeric/tree.h"

namespace rewardloop::math {
namespace {

constexpr uint32_t kCalculusNodesMax = 8192;

class Calculus {
 public:
  Calculus(const NumericOptions& options, Arena& arena, Fuel* fuel)
      : options_(options), fuel_(fuel), arena_(arena), build_(&arena, kCalculusNodesMax) {}

  const Expr* Differentiate(const Expr* e, int64_t x);
  const Expr* Evaluate(const Expr* e);

 private:
  const Expr* Number(int64_t n) { return build_.Integer(n); }
  const Expr* Times(const Expr* a, const Expr* b) { return build_.Make(Kind::kMul, {a, b}); }
  const Expr* Over(const Expr* a, const Expr* b) { return build_.Make(Kind::kDiv, {a, b}); }
  const Expr* Plus(const Expr* a, const Expr* b) { return build_.Make(Kind::kAdd, {a, b}); }
  const Expr* Minus(const Expr* a, const Expr* b) { return Plus(a, build_.Neg(b)); }
  const Expr* Power(const Expr* a, const Expr* b) { return build_.Make(Kind::kPow, {a, b}); }
  const Expr* Square(const Expr* a) { return Power(a, Number(2)); }
  const Expr* Call(Function fn, const Expr* a) { return build_.Call(fn, {a}); }
  const Expr* Root(const Expr* a) { return build_.Make(Kind::kSqrt, {a}); }

  const Expr* DifferentiatePower(const Expr* e, int64_t x);
  const Expr* DifferentiateFunction(const Expr* e, int64_t x);
  // f'(u) for a function of one argument; null without a rule.
  const Expr* Outer(Function fn, const Expr* u);
  const Expr* EvaluateLimit(const Expr* body, const Expr* variable, const Expr* point, int depth);

  const NumericOptions& options_;
  Fuel* fuel_;
  Arena& arena_;
  Builder build_;
};

const Expr* Calculus::Outer(Function fn, const Expr* u) {
  switch (fn) {
    case Function::kSin:
      return Call(Function::kCos, u);
    case Function::kCos:
      return build_.Neg(Call(Function::kSin, u));
    case Function::kTan:
      return Square(Call(Function::kSec, u));
    case Function::kCot:
      return build_.Neg(Square(Call(Function::kCsc, u)));
    case Function::kSec:
      return Times(Call(Function::kSec, u), Call(Function::kTan, u));
    case Function::kCsc:
      return build_.Neg(Times(Call(Function::kCsc, u), Call(Function::kCot, u)));
    case Function::kArcsin:
      return Over(Number(1), Root(Minus(Number(1), Square(u))));
    case Function::kArccos:
      return build_.Neg(Over(Number(1), Root(Minus(Number(1), Square(u)))));
    case Function::kArctan:
      return Over(Number(1), Plus(Number(1), Square(u)));
    case Function::kArccot:
      return build_.Neg(Over(Number(1), Plus(Number(1), Square(u))));
    case Function::kSinh:
      return Call(Function::kCosh, u);
    case Function::kCosh:
      return Call(Function::kSinh, u);
    case Function::kTanh:
      return Square(Call(Function::kSech, u));
    case Function::kArsinh:
      return Over(Number(1), Root(Plus(Square(u), Number(1))));
    case Function::kArcosh:
      return Over(Number(1), Times(Root(Minus(u, Number(1))), Root(Plus(u, Number(1)))));
    case Function::kArtanh:
      return Over(Number(1), Minus(Number(1), Square(u)));
    case Function::kExp:
      return Call(Function::kExp, u);
    case Function::kLn:
      return Over(Number(1), u);
    case Function::kLog:
      if (!options_.log_base10) return Over(Number(1), u);
      return Over(Number(1), Times(u, Call(Function::kLn, Number(10))));
    case Function::kAbs:
      return Over(u, Call(Function::kAbs, u));
    default:
      return nullptr;
  }
}

const Expr* Calculus::DifferentiateFunction(const Expr* e, int64_t x) {
  if (e->fn == Function::kLogBase && e->child_count == 2) {
    return Differentiate(Over(Call(Function::kLn, e->child[1]), Call(Function::kLn, e->child[0])),
                         x);
  }
  if (e->child_count != 1) return nullptr;
  const Expr* outer = Outer(e->fn, e->child[0]);
  return outer == nullptr ? nullptr : Times(outer, Differentiate(e->child[0], x));
}

const Expr* Calculus::DifferentiatePower(const Expr* e, int64_t x) {
  const Expr* u = e->child[0];
  const Expr* v = e->child[1];
  const bool natural = u->kind == Kind::kConstant && u->fn == Function::kE;
  if (!ContainsSymbol(v, x)) {
    // Folded, so that x^2 gives 2x and not x^(2-1), which 0 would turn into 0^0 one derivative
    // later.
    Fuel small(1000);
    int64_t n;
    if (const std::optional<Rational> exact = EvaluateRational(v, small);
        exact && exact->ToInt64(&n) && n > INT64_MIN) {
      if (n == 0) return Number(0);
      if (n == 1) return Differentiate(u, x);
      const Expr* lower = n == 2 ? u : Power(u, Number(n - 1));
      return Times(Times(v, lower), Differentiate(u, x));
    }
    return Times(Times(v, Power(u, Minus(v, Number(1)))), Differentiate(u, x));
  }
  if (!ContainsSymbol(u, x)) {
    const Expr* slope = Times(e, Differentiate(v, x));
    return natural ? slope : Times(slope, Call(Function::kLn, u));
  }
  // (u^v)' = u^v (v' ln u + v u'/u)
  return Times(e, Plus(Times(Differentiate(v, x), Call(Function::kLn, u)),
                       Over(Times(v, Differentiate(u, x)), u)));
}

const Expr* Calculus::Differentiate(const Expr* e, int64_t x) {
  if (e == nullptr) return nullptr;
  if (!ContainsSymbol(e, x)) return Number(0);
  switch (e->kind) {
    case Kind::kSymbol:
      return Number(1);
    case Kind::kNeg:
      return build_.Neg(Differentiate(e->child[0], x));
    case Kind::kPercent:
      return build_.Make(Kind::kPercent, {Differentiate(e->child[0], x)});
    case Kind::kDegree:
      return build_.Make(Kind::kDegree, {Differentiate(e->child[0], x)});
    case Kind::kAdd: {
      const Expr* sum = nullptr;
      for (const Expr* child : e->children()) {
        if (!ContainsSymbol(child, x)) continue;
        const Expr* d = Differentiate(child, x);
        if (d == nullptr) return nullptr;
        sum = sum == nullptr ? d : Plus(sum, d);
        if (sum == nullptr) return nullptr;
      }
      return sum;
    }
    case Kind::kMul: {
      const Expr* sum = nullptr;
      for (uint32_t i = 0; i < e->child_count; ++i) {
        if (!ContainsSymbol(e->child[i], x)) continue;
        const Expr* term = Differentiate(e->child[i], x);
        for (uint32_t j = 0; j < e->child_count && term != nullptr; ++j) {
          if (j != i) term = Times(term, e->child[j]);
        }
        if (term == nullptr) return nullptr;
        sum = sum == nullptr ? term : Plus(sum, term);
        if (sum == nullptr) return nullptr;
      }
      return sum;
    }
    case Kind::kDiv: {
      const Expr* u = e->child[0];
      const Expr* v = e->child[1];
      if (!ContainsSymbol(v, x)) return Over(Differentiate(u, x), v);
      return Over(Minus(Times(Differentiate(u, x), v), Times(u, Differentiate(v, x))), Square(v));
    }
    case Kind::kPow:
      return DifferentiatePower(e, x);
    case Kind::kSqrt:
      return Over(Differentiate(e->child[0], x), Times(Number(2), e));
    case Kind::kRoot:
      if (ContainsSymbol(e->child[1], x)) return nullptr;
      return Over(Times(e, Differentiate(e->child[0], x)), Times(e->child[1], e->child[0]));
    case Kind::kFunction:
      return DifferentiateFunction(e, x);
    default:
      return nullptr;
  }
}

// Continuous wherever it is defined, so that a limit at a point of its domain is its value there.
bool IsContinuous(const Expr* e) {
  switch (e->kind) {
    case Kind::kNumber:
    case Kind::kBaseNumber:
    case Kind::kConstant:
    case Kind::kSymbol:
    case Kind::kAdd:
    case Kind::kMul:
    case Kind::kNeg:
    case Kind::kDiv:
    case Kind::kPow:
    case Kind::kSqrt:
    case Kind::kRoot:
    case Kind::kPercent:
    case Kind::kDegree:
      break;
    case Kind::kFunction:
      switch (e->fn) {
        case Function::kFloor:
        case Function::kCeil:
        case Function::kSign:
        case Function::kMod:
        case Function::kGcd:
        case Function::kLcm:
        case Function::kArg:
        case Function::kAtan2:
        case Function::kBinomial:
          return false;
        default:
          break;
      }
      break;
    default:
      return false;
  }
  for (const Expr* child : e->children()) {
    if (!IsContinuous(child)) return false;
  }
  return true;
}

const Expr* Calculus::EvaluateLimit(const Expr* body, const Expr* variable, const Expr* point,
                                    int depth) {
  if (depth > kLimitRuleDepthMax || body == nullptr || fuel_ == nullptr || !IsContinuous(body))
    return nullptr;
  if (!FreeSymbols(point).empty()) return nullptr;
  const bool negative = point->kind == Kind::kNeg;
  if (const Expr* end = negative ? point->child[0] : point;
      end->kind == Kind::kConstant && end->fn == Function::kInfinity)
    return LimitAtInfinity(body, variable->number, negative ? -1 : 1, options_, arena_, *fuel_);
  TreeFacts facts;
  CollectFacts(point, &facts);
  if (facts.infinity || facts.unscalar) return nullptr;
  const Expr* value = Substitute(body, variable->number, point, arena_);
  if (value == nullptr) return nullptr;
  if (body->kind == Kind::kDiv && ContainsSymbol(body->child[1], variable->number)) {
    const Expr* bottom = Substitute(body->child[1], variable->number, point, arena_);
    const Expr* zero = Number(0);
    if (bottom == nullptr || zero == nullptr) return nullptr;
    const Equality bottom_zero = Compare(bottom, zero, options_, *fuel_).equality;
    if (bottom_zero == Equality::kEqual) {
      const Expr* top = Substitute(body->child[0], variable->number, point, arena_);
      if (top == nullptr || Compare(top, zero, options_, *fuel_).equality != Equality::kEqual)
        return nullptr;
      return EvaluateLimit(Over(Differentiate(body->child[0], variable->number),
                                Differentiate(body->child[1], variable->number)),
                           variable, point, depth + 1);
    }
    if (bottom_zero != Equality::kDifferent) return nullptr;
  }
  return value;  // undefined inside, if at all, and then never equal to anything
}

const Expr* Calculus::Evaluate(const Expr* e) {
  TreeFacts facts;
  CollectFacts(e, &facts);
  if (!facts.calculus) return e;
  Expr* copy = arena_.NewArray<Expr>(1);
  Expr** child = arena_.NewArray<Expr*>(e->child_count);
  if (copy == nullptr || child == nullptr) return nullptr;
  *copy = *e;
  copy->child = child;
  for (uint32_t i = 0; i < e->child_count; ++i) {
    child[i] = const_cast<Expr*>(Evaluate(e->child[i]));
    if (child[i] == nullptr) return nullptr;
    if (child[i]->depth >= kTreeDepthMax) return nullptr;
    if (child[i]->depth >= copy->depth) copy->depth = static_cast<uint16_t>(child[i]->depth + 1);
  }
  if (e->kind == Kind::kDerivative && e->child_count >= 2 && child[1]->kind == Kind::kSymbol) {
    int64_t order = 1;
    if (e->child_count > 2) {
      Fuel small(1000);
      const std::optional<Rational> n = EvaluateRational(child[2], small);
      if (!n || !n->ToInt64(&order)) return copy;
    }
    if (order < 1 || order > kDerivativeOrderMax) return copy;
    const Expr* result = child[0];
    for (; order > 0 && result != nullptr; --order)
      result = Differentiate(result, child[1]->number);
    return result == nullptr ? copy : result;
  }
  if (e->kind == Kind::kLimit && e->child_count == 3 && child[1]->kind == Kind::kSymbol) {
    const Expr* result = EvaluateLimit(child[0], child[1], child[2], 0);
    return result == nullptr ? copy : result;
  }
  return copy;
}

}  // namespace

const Expr* Differentiate(const Expr* e, int64_t symbol, Arena& arena) {
  return Calculus(NumericOptions{}, arena, nullptr).Differentiate(e, symbol);
}

const Expr* EvaluateCalculus(const Expr* e, const NumericOptions& options, Arena& arena,
                             Fuel& fuel) {
  return Calculus(options, arena, &fuel).Evaluate(e);
}

}  // namespace rewardloop::math
