#include <algorithm>

#include "math/comparer.h"

namespace rewardloop::math {
namespace {

bool OnlyNames(const Expr* e) {
  switch (e->kind) {
    case Kind::kSymbol: return true;
    case Kind::kConstant: return e->has(kFlagWordConstant);
    case Kind::kMul:  // AB, MBCN
      return !e->text.empty() && std::all_of(e->text.begin(), e->text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    default: return false;
  }
}

}  // namespace

// What stands on the left of `name = value`: x, f(x), a_n, AB, |AB|, (x, y), A : B, \frac{NO}{BO}.
bool Comparer::IsName(E e) {
  if (OnlyNames(e)) return true;
  switch (e->kind) {
    case Kind::kCall: return true;
    case Kind::kFunction: {  // |AB|, |z|; |x| = 5 is an equation
      E inner = (*e)[0];
      return e->fn == Function::kAbs && ((OnlyNames(inner) && inner->kind == Kind::kMul) || (inner->kind == Kind::kSymbol && (inner->text == "z" || inner->text == "w")));
    }
    case Kind::kMul: {  // \angle ABC, m\angle A
      const bool angle = Any(e, [](E x) { return x->kind == Kind::kSymbol && (x->text == "angle" || x->text == "triangle"); });
      return angle && std::all_of(e->children().begin(), e->children().end(), [](E c) { return OnlyNames(c); });
    }
    case Kind::kIntersection: case Kind::kUnion:
      return std::all_of(e->children().begin(), e->children().end(), [](E c) { return c->kind == Kind::kSymbol; });
    case Kind::kTuple: case Kind::kRatio:
      return std::all_of(e->children().begin(), e->children().end(), [&](E c) { return IsName(c); });
    case Kind::kDiv: {
      const auto segment = [](E c) { return c->kind == Kind::kMul && c->text.size() == 2 && c->text[0] >= 'A' && c->text[0] <= 'Z'; };
      const auto differential = [](E c) { return c->kind == Kind::kMul && c->child_count == 2 && c->text.size() == 2 && c->text[0] == 'd'; };
      return (segment((*e)[0]) && segment((*e)[1])) || (differential((*e)[0]) && differential((*e)[1]));
    }
    default: return false;
  }
}

// `name = value`, `name = step = value`, `name = value \approx ...`: value is the last side before an approximation.
bool Comparer::IsAssignment(E e, E* name, E* value) {
  if (e->kind != Kind::kRelation) return false;
  if (e->text.find_first_not_of("=~") != e->text.npos) return false;
  const size_t approx = e->text.find('~');
  size_t last = approx == e->text.npos || approx == 0 ? e->child_count - 1u : approx;
  E left = (*e)[0];
  *value = (*e)[static_cast<uint32_t>(last)];
  if (!IsName(left)) {
    // 11 = x, and chains with a name somewhere
    if (e->child_count == 2 && IsName((*e)[1]) && !IsName(left)) {
      left = (*e)[1];
      *value = (*e)[0];
    } else if (e->child_count > 2) {
      left = nullptr;
      for (uint32_t i = 0; i < last; ++i) if (IsName((*e)[i])) left = (*e)[i];
      if (!left) return false;
    } else {
      return false;
    }
  }
  if (SameTree(left, *value)) return false;
  // y = x y is no solved form
  if (left->kind == Kind::kSymbol && IsScalarKind((*value)->kind) && ContainsSymbol(*value, left->number)) return false;
  *name = left;
  return true;
}

const Expr* Comparer::Difference(E a, E b) {
  if (!a || !b) return nullptr;
  return build_.Make(Kind::kAdd, {a, build_.Neg(b)});
}

// f(x) and f(t): equal names after the arguments are renamed; f(1) and f(2) are two. Returns equal, different.
Decision Comparer::SameNames(E a, E b) {
  if (SameTree(a, b)) return Equal("name");
  // a(n) and a_n
  for (E call : {a, b}) {
    E other = call == a ? b : a;
    if (call->kind != Kind::kCall || other->kind != Kind::kSymbol || call->child_count != 1 || (*call)[0]->kind != Kind::kSymbol) continue;
    const std::string_view index = (*call)[0]->text;
    if (other->text.size() == call->text.size() + 1 + index.size() && other->text.starts_with(call->text) && other->text[call->text.size()] == '_' && other->text.ends_with(index)) return Equal("name");
  }
  if (a->kind != Kind::kCall || b->kind != Kind::kCall || a->text != b->text || a->child_count != b->child_count) return Different("name", "labels_differ");
  for (uint32_t i = 0; i < a->child_count; ++i) {
    const bool renamed = (*a)[i]->kind == Kind::kSymbol && (*b)[i]->kind == Kind::kSymbol;
    if (!renamed && !Decide((*a)[i], (*b)[i]).equal()) return Different("name", "labels_differ");
  }
  return Equal("name");
}

Decision Comparer::Relations(E g, E p) {
  const bool gr = IsRelation(g), pr = IsRelation(p);
  if (gr != pr) return RelationAgainstOther(gr ? g : p, gr ? p : g, gr);
  // Inequalities and memberships.
  if (!policy_.relation_for_set && g->text == "e" && p->text != "e" && IsInequality(p)) return Different("interval", "relation_for_set");
  if (IsInequality(g) || IsInequality(p)) return Inequalities(g, p);
  const bool g_equation = g->text.find_first_not_of("=~") == g->text.npos, p_equation = p->text.find_first_not_of("=~") == p->text.npos;
  if (g_equation && p_equation) return Equations(g, p);
  if (g->text == p->text) return Ordered(g->children(), p->children(), "relation");
  return Different("relation", "type_mismatch");
}

// equation = 0 with `name` := value: zero everywhere, and linear in the name?
std::optional<Decision> Comparer::SubstituteSolved(E equation, E name, E value) {
  if (name->kind != Kind::kSymbol || equation->child_count != 2 || equation->text != "=") return std::nullopt;
  for (E side : {(*equation)[0], (*equation)[1], value}) if (!IsScalarKind(side->kind)) return std::nullopt;
  E difference = Difference((*equation)[0], (*equation)[1]);
  if (!difference || !ContainsSymbol(difference, name->number)) return std::nullopt;
  if (!LinearIn(difference, name, options_, *arena_, *fuel_)) return std::nullopt;
  E substituted = rewardloop::math::Substitute(difference, name->number, value, *arena_);
  E zero = build_.Integer(0);
  if (!substituted || !zero) return Limit();
  Decision same = Numeric(substituted, zero);
  same.rule = "equation";
  return same;
}

Decision Comparer::RelationAgainstOther(E relation, E other, bool relation_is_gold) {
  E name = nullptr, value = nullptr;
  if (IsAssignment(relation, &name, &value)) {
    // A tuple of names names a tuple.
    if (other->kind == Kind::kSymbol && SameTree(other, name)) return Different("assignment", "type_mismatch");
    Decision same = relation_is_gold ? Decide(value, other) : Decide(other, value);
    // f(x) = ... against an expression in t alone
    if (same.different() && name->kind == Kind::kCall && name->child_count == 1 && (*name)[0]->kind == Kind::kSymbol && IsScalarKind(other->kind) && IsScalarKind(value->kind)) {
      const auto free = FreeSymbols(other);
      if (free.size() == 1 && free[0]->number != (*name)[0]->number && FreeSymbols(value).size() == 1) {
        E renamed = rewardloop::math::Substitute(other, free[0]->number, (*name)[0], *arena_);
        if (renamed) same = relation_is_gold ? Decide(value, renamed) : Decide(renamed, value);
      }
    }
    if (same.equal()) same.rule = same.rule && *same.rule ? same.rule : "assignment";
    return same;
  }
  // 6 * 7 = 42: a calculation that ends in its result.
  if (relation->text.find_first_not_of("=~") == relation->text.npos && !relation_is_gold && IsScalarKind(other->kind)) {
    E first = (*relation)[0], last = (*relation)[relation->child_count - 1u];
    if (relation->text.back() == '~') last = (*relation)[relation->child_count - 2u];
    const bool closed = std::all_of(relation->children().begin(), relation->children().end(), [&](E c) { return PureScalar(c) && Closed(c); });
    if (closed && first->kind != Kind::kNumber && first != last && Numeric(first, last).equal()) return Decide(other, last);
  }
  // exact \approx decimal
  if (relation->child_count == 2 && relation->text == "~" && !IsName((*relation)[0])) {
    return relation_is_gold ? Decide((*relation)[0], other) : Decide(other, (*relation)[0]);
  }
  if (IsInequality(relation)) {
    if (std::optional<Decision> sets = relation_is_gold ? Sets(relation, other) : Sets(other, relation)) return *sets;
    return Different("relation", "type_mismatch");
  }
  // xy = 6 against 6/x: the answer solves the equation for the one letter it does not use.
  if (relation_is_gold && relation->text == "=" && relation->child_count == 2 && IsScalarKind(other->kind) && IsScalarKind((*relation)[0]->kind) && IsScalarKind((*relation)[1]->kind)) {
    E difference = Difference((*relation)[0], (*relation)[1]);
    if (!difference) return Limit();
    E extra = nullptr;
    int extras = 0;
    for (E symbol : FreeSymbols(difference)) {
      if (ContainsSymbol(other, symbol->number)) continue;
      extra = symbol;
      ++extras;
    }
    bool covered = true;
    for (E symbol : FreeSymbols(other)) covered &= ContainsSymbol(difference, symbol->number);
    if (extras == 1 && covered) {
      if (auto solved = SubstituteSolved(relation, extra, other)) return *solved;
    }
  }
  return Different("equation", "type_mismatch");
}

// Does e, which has letters, have the same value everywhere?
bool Comparer::IsConstant(E e) {
  E value = e, zero = build_.Integer(0);
  for (E symbol : FreeSymbols(e)) {
    value = value && zero ? rewardloop::math::Substitute(value, symbol->number, zero, *arena_) : nullptr;
    if (!value) return false;
  }
  return Numeric(e, value).equal();
}

// What stands for a value in a closed equation: cos(10 pi / 3) in cos(10 pi / 3) = -1/2 says what was computed, so it is compared
// by its parts and not by its value alone.
Decision Comparer::ClosedTerms(E g, E p) {
  const auto named = [](E e) {
    return e->kind == Kind::kFunction || e->kind == Kind::kLimit || e->kind == Kind::kIntegral || e->kind == Kind::kSum || e->kind == Kind::kProduct || e->kind == Kind::kDerivative;
  };
  if (!named(g) && !named(p)) return Decide(g, p);
  return Structural(g, p);
}

Decision Comparer::ClosedEquations(E g, E p) {
  if (g->child_count != 2 || p->child_count != 2) return Ordered(g->children(), p->children(), "equation");
  Decision best = Different("equation");
  for (uint32_t first : {0u, 1u}) {
    Decision same = ClosedTerms((*g)[0], (*p)[first]);
    if (same.equal()) same = ClosedTerms((*g)[1], (*p)[1 - first]);
    if (same.equal() || first == 0) best = same;
    if (same.equal()) break;
  }
  best.rule = "equation";
  return best;
}

Decision Comparer::Equations(E g, E p) {
  E gn = nullptr, gv = nullptr, pn = nullptr, pv = nullptr;
  // a = b = 1: several names are equated, not one defined.
  const auto names = [&](E e) { return std::count_if(e->children().begin(), e->children().end(), [&](E c) { return IsName(c) && c->kind != Kind::kConstant; }); };
  if (g->child_count > 2 && p->child_count > 2 && names(g) > 1) return Ordered(g->children(), p->children(), "equation");
  const bool ga = IsAssignment(g, &gn, &gv), pa = IsAssignment(p, &pn, &pv);
  if (ga && pa) {
    if (gn->kind == Kind::kCall && pn->kind == Kind::kCall && gn->text == pn->text && gn->child_count == pn->child_count && IsScalarKind(gv->kind) && IsScalarKind(pv->kind)) {
      // Renamed arguments.
      E renamed = pv;
      for (uint32_t i = 0; i < pn->child_count && renamed; ++i) {
        if ((*pn)[i]->kind != Kind::kSymbol || (*gn)[i]->kind != Kind::kSymbol) {
          if (Decide((*gn)[i], (*pn)[i]).equal()) continue;
          return Different("function", "labels_differ");
        }
        if ((*pn)[i]->number != (*gn)[i]->number && !ContainsSymbol(pv, (*gn)[i]->number))
          renamed = rewardloop::math::Substitute(renamed, (*pn)[i]->number, (*gn)[i], *arena_);
      }
      if (!renamed) return Limit();
      Decision same = Decide(gv, renamed);
      if (same.equal()) same.rule = "function";
      return same;
    }
    const bool call_and_letter = (gn->kind == Kind::kCall && pn->kind == Kind::kSymbol && pn->text == "y") || (pn->kind == Kind::kCall && gn->kind == Kind::kSymbol && gn->text == "y");
    if (SameNames(gn, pn).equal() || call_and_letter || !policy_.strict_names) return Decide(gv, pv);
    if (Decide(gn, pn).equal()) return Decide(gv, pv);
  }
  const auto pure = [&](E e) { return std::all_of(e->children().begin(), e->children().end(), [&](E c) { return PureScalar(c); }); };
  if (!pure(g) || !pure(p)) {
    if (pure(g) != pure(p)) return Different("equation", "type_mismatch");
    return ClosedEquations(g, p);
  }
  // First and last side of a chain.
  E gd = Difference((*g)[0], (*g)[g->child_count - 1u]), pd = Difference((*p)[0], (*p)[p->child_count - 1u]);
  if (!gd || !pd) return Limit();
  if (Closed(gd) && Closed(pd)) return ClosedEquations(g, p);
  const RatioResult ratio = ConstantRatio(gd, pd, options_, *fuel_);
  if (ratio.equality == Equality::kEqual) {
    const auto gf = FreeSymbols(gd), pf = FreeSymbols(pd);
    if (gf.size() != pf.size() || gf.empty()) return Different("equation", "variables_differ");
    if (IsConstant(gd)) return Different("equation", "contradiction");  // 0 x = 1
    return Equal("equation");
  }
  if (ratio.equality == Equality::kLimit) return Limit("equation");
  E zero = build_.Integer(0);
  if (!zero) return Limit();
  if (ratio.equality == Equality::kUnknown) {
    // An identity says nothing; it is equal only to an identity with the same sides.
    const Decision gz = Numeric(gd, zero), pz = Numeric(pd, zero);
    if (gz.equal() && pz.equal()) {
      Decision same = Ordered(g->children(), p->children(), "equation");
      return same.equal() ? same : Different("equation", "tautology");
    }
    if (gz.equal() != pz.equal() && (gz.different() || pz.different())) return Different("equation", "tautology");
  }
  if (ga && !pa) if (auto solved = SubstituteSolved(p, gn, gv); solved && solved->equal()) return *solved;
  if (pa && !ga) if (auto solved = SubstituteSolved(g, pn, pv); solved && solved->equal()) return *solved;
  if (ratio.equality == Equality::kDifferent) return Different("equation", "not_equal_proved");
  return Unknown("equation");
}

Decision Comparer::Inequalities(E g, E p) {
  // x in S against y in S: the letters may differ only when they are not the point.
  if (std::optional<Decision> sets = Sets(g, p)) {
    if (!sets->different()) return *sets;
    if (sets->reason != std::string_view("labels_differ")) return *sets;
  }
  if (g->child_count != p->child_count) return Different("inequality", "size_mismatch");
  const auto mirrored = [](char op) {
    switch (op) {
      case '<': return '>';
      case '>': return '<';
      case '[': return ']';
      case ']': return '[';
      default: return op;
    }
  };
  const uint32_t n = g->child_count;
  const auto pure = [&](E e) { return std::all_of(e->children().begin(), e->children().end(), [&](E c) { return PureScalar(c); }); };
  if (!pure(g) || !pure(p)) {
    if (pure(g) != pure(p) || g->text != p->text) return Different("inequality", "type_mismatch");
    return Ordered(g->children(), p->children(), "inequality");
  }
  if (n == 2) {
    E gd = Difference((*g)[0], (*g)[1]), pd = Difference((*p)[0], (*p)[1]);
    if (!gd || !pd) return Limit();
    const RatioResult ratio = ConstantRatio(gd, pd, options_, *fuel_);
    if (ratio.equality == Equality::kEqual && ratio.sign != 0 && FreeSymbols(gd).size() == FreeSymbols(pd).size()) {
      const char op = ratio.sign > 0 ? p->text[0] : mirrored(p->text[0]);
      return op == g->text[0] ? Equal("inequality") : Different("inequality", "direction_differs");
    }
    if (ratio.equality == Equality::kLimit) return Limit("inequality");
    if (ratio.equality == Equality::kDifferent) return Different("inequality", "not_equal_proved");
    return Unknown("inequality");
  }
  // A chain: the same sides in the same or the opposite order.
  bool same_ops = true, reversed_ops = true;
  for (uint32_t i = 0; i + 1 < n; ++i) {
    same_ops &= g->text[i] == p->text[i];
    reversed_ops &= g->text[i] == mirrored(p->text[n - 2 - i]);
  }
  if (same_ops) {
    Decision same = Ordered(g->children(), p->children(), "inequality");
    if (!same.different()) return same;
  }
  if (reversed_ops) {
    NodeList sides(arena_);
    for (uint32_t i = 0; i < n; ++i) sides.Add((*p)[n - 1 - i]);
    return Ordered(g->children(), sides.span(), "inequality");
  }
  return Different("inequality");
}

}  // namespace rewardloop::math
