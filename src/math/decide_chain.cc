// What an answer says besides its value: the steps of a chain `x = a = b`, approximations, conditions. An answer is equal by its
// value; here it is refused when these contradict the value or the gold.
#include <algorithm>

#include "math/comparer.h"

namespace rewardloop::math {
namespace {

constexpr int kPlacesMax = 15;
constexpr size_t kConditionPairsMax = 64;

bool HasUnit(const Expr* e) { return e->kind == Kind::kQuantity || e->kind == Kind::kCurrency; }

const Expr* WithoutUnit(const Expr* e) {
  while (HasUnit(e)) e = (*e)[0];
  return e;
}

const Expr* WithoutSign(const Expr* e) {
  while (e->kind == Kind::kNeg) e = (*e)[0];
  return e;
}

bool HasDecimal(const Expr* e) {
  return Any(e, [](const Expr* x) { return x->kind == Kind::kNumber && x->aux >= 0; });
}

// A unit in the last place that a written number shows: 0.01 for 3.14, 100 for 2500. nullopt when e is no literal.
std::optional<Rational> LastPlace(const Expr* e) {
  e = WithoutSign(e);
  if (e->kind != Kind::kNumber) return std::nullopt;
  int64_t places = -e->number;
  if (e->aux < 0) {
    std::string_view digits = e->text;
    while (digits.size() > 1 && digits.back() == '0') { digits.remove_suffix(1); --places; }
  }
  if (places < -kPlacesMax || places > kPlacesMax) return std::nullopt;
  int64_t power = 1;
  for (int64_t i = 0; i < std::abs(places); ++i) power *= 10;
  return places >= 0 ? Rational::Of(1, power) : Rational::Of(power, 1);
}

}  // namespace

// The relations that an answer consists of.
void Comparer::Statements(E e, NodeList* out) {
  if (e->kind == Kind::kRelation) { out->Add(e); return; }
  if (e->kind != Kind::kList && e->kind != Kind::kSet && e->kind != Kind::kLabeled) return;
  for (E child : e->children()) if (child->kind != Kind::kSet) Statements(child, out);
}

// a = b or a \approx b, as steps of a calculation: false only when that cannot be so. Rounded steps are forgiven.
bool Comparer::PlausibleStep(E a, E b, char op) {
  if (HasUnit(a) && HasUnit(b) && (a->kind != b->kind || a->text != b->text)) return true;  // 5 m = 500 cm
  a = WithoutUnit(a);
  b = WithoutUnit(b);
  if (!PureScalar(a) || !PureScalar(b)) {
    const bool compound = !IsScalarKind(a->kind) && !IsScalarKind(b->kind) && !IsRelation(a) && !IsRelation(b);
    return !compound || !Closed(a) || !Closed(b) || !Decide(a, b).different();
  }
  if (!Closed(a) || !Closed(b)) {
    // Letters may have been given values in between; the same letters mean the same function.
    const auto left = FreeSymbols(a), right = FreeSymbols(b);
    const auto contains = [](const std::vector<const Expr*>& list, E symbol) { return std::any_of(list.begin(), list.end(), [&](E s) { return s->number == symbol->number; }); };
    const bool same = left.size() == right.size() && std::all_of(left.begin(), left.end(), [&](E s) { return contains(right, s); });
    if (!same || op != '=') return true;
    options_.positive_variables = true;
    const Decision equal = Numeric(a, b);
    options_.positive_variables = false;
    return !equal.different();
  }
  if (!Numeric(a, b).different()) return true;
  for (E literal : {b, a}) {
    E other = literal == b ? a : b;
    const auto place = LastPlace(literal);
    if (!place) continue;
    const bool exact = op == '=' && !HasDecimal(literal) && !HasDecimal(other) && EvaluateRational(other, *fuel_, options_);
    return !exact && WithinTolerance(a, b, *place, options_, *fuel_) == Equality::kEqual;
  }
  return (op == '~' || HasDecimal(a) || HasDecimal(b)) && WithinRelative(a, b, Rational::Of(1, 100), options_, *fuel_) == Equality::kEqual;
}

// Steps of `name = a = b` that cannot both be. Steps in letters in between are no bridge: two closed ones are compared across them.
bool Comparer::Contradicts(E relation) {
  if (relation->child_count < 3 || relation->text.find_first_not_of("=~") != relation->text.npos) return false;
  const bool named = IsName((*relation)[0]);
  E last = nullptr, last_closed = nullptr;
  char op = '=', op_closed = '=';  // '~' once an approximation lies between
  for (uint32_t i = 0; i < relation->child_count; ++i) {
    E step = (*relation)[i];
    if (i > 0 && relation->text[i - 1] == '~') op = op_closed = '~';
    if (IsName(step)) continue;
    const bool closed = Closed(step);
    E before = closed && last_closed ? last_closed : last;
    if (before && (named || (closed && Closed(before)))) {  // x + y = 2z = 10 is a system
      if (!PlausibleStep(before, step, closed && last_closed ? op_closed : op)) return true;
    }
    last = step;
    op = '=';
    if (closed) { last_closed = step; op_closed = '='; }
  }
  return false;
}

// The written decimal that an answer gives for its value, null without one.
const Expr* Comparer::Approximation(E relation) {
  if (relation->text.empty() || relation->text.back() != '~') return nullptr;
  E last = (*relation)[relation->child_count - 1u];
  const bool negative = last->kind == Kind::kNeg;
  E value = WithoutUnit(negative ? (*last)[0] : last);
  if (value->kind == Kind::kDegree) value = (*value)[0];
  if (!LastPlace(value)) return nullptr;
  return negative ? build_.Neg(value) : value;
}

// Chains about the same thing with as many steps: steps in letters must be the gold's or follow from a neighbour, and two
// approximations must not differ by a unit of the coarser one.
bool Comparer::StepsAgree(E g, E p) {
  if (E ga = Approximation(g), pa = Approximation(p); ga && pa) {
    const Rational unit = std::max(*LastPlace(ga), *LastPlace(pa), [](const Rational& x, const Rational& y) { return Rational::Compare(x, y) < 0; });
    Rational less;
    if (!Mul(unit, Rational::Of(99, 100), *fuel_, &less)) return true;
    if (WithinTolerance(ga, pa, less, options_, *fuel_) == Equality::kDifferent) return false;
  }
  if (g->child_count != p->child_count || g->child_count < 3 || g->text != p->text) return true;
  const auto closed = std::count_if(p->children().begin(), p->children().end(), [&](E c) { return !IsName(c) && Closed(c); });
  const auto follows = [&](E a, E b) { return PureScalar(a) && PureScalar(b) && Numeric(a, b).equal(); };
  for (uint32_t i = 1; i + 1 < p->child_count; ++i) {
    E step = (*p)[i];
    if (SameTree((*g)[i], step) || (Closed(step) && closed > 1)) continue;
    if (IsName(step) && IsName((*g)[i])) {
      if (SameNames((*g)[i], step).equal()) continue;
      return false;
    }
    if (follows(step, (*p)[i + 1]) || follows((*p)[i - 1], step)) continue;
    if (Decide((*g)[i], step).different()) return false;
  }
  return true;
}

// Two conditions that speak of the same thing: 1 when they agree, -1 when they do not, 0 when they speak of different things.
int Comparer::SameCondition(E a, E b) {
  if (a->kind != b->kind) return 0;
  if (IsRelation(a) && !SameTree((*a)[0], (*b)[0]) && IsName((*a)[0]) && IsName((*b)[0])) return 0;
  if (IsRelation(a) && a->text == "e" && b->text == "e") {
    // N with and without 0 have one name.
    E left = (*a)[1], right = (*b)[1];
    const auto naturals = [](E e) { return e->kind == Kind::kNamedSet && e->fn == Function::kNaturals; };
    if (naturals(left) && naturals(right) && (left->aux == 0 || right->aux == 0) && left->aux2 == right->aux2) return 1;
  }
  const Decision same = Decide(a, b);
  return same.equal() ? 1 : same.different() ? -1 : 0;
}

// Conditions, `k \in \mathbb{Z}` or `for x > 0`, where both sides have some: none is contradicted by all that the other side says
// about the same thing.
bool Comparer::ConditionsAgree(E g, E p) {
  if (g->kind != Kind::kList || p->kind != Kind::kList) return true;
  const auto conditions = [](E list) {
    size_t from = list->aux > 0 ? static_cast<size_t>(list->aux) : list->child_count;
    while (list->aux <= 0 && from > 1 && IsMembership((*list)[static_cast<uint32_t>(from - 1)])) --from;
    return list->children().subspan(from);
  };
  const auto gc = conditions(g), pc = conditions(p);
  if (gc.size() * pc.size() > kConditionPairsMax) return true;
  const auto contradicted = [&](E condition, std::span<const Expr* const> others) {
    bool against = false;
    for (E other : others) {
      const int same = SameCondition(condition, other);
      if (same > 0) return false;
      against |= same < 0;
    }
    return against;
  };
  return std::none_of(gc.begin(), gc.end(), [&](E c) { return contradicted(c, pc); }) && std::none_of(pc.begin(), pc.end(), [&](E c) { return contradicted(c, gc); });
}

Decision Comparer::Confirm(Decision equal, E g, E p) {
  if (!equal.equal() || !policy_.consistent_steps || SameTree(g, p)) return equal;
  if (!ConditionsAgree(g, p)) return Different("condition", "conditions_differ");
  NodeList gold(arena_), steps(arena_);
  Statements(g, &gold);
  Statements(p, &steps);
  for (size_t i = 0; i < steps.size(); ++i) {
    E own = steps[i];
    if (Contradicts(own)) return Different("chain", "contradiction");
    for (size_t j = 0; j < gold.size(); ++j) {
      const bool same_thing = (gold.size() == 1 && steps.size() == 1) || SameTree((*gold[j])[0], (*own)[0]);
      if (!same_thing) continue;
      if (!StepsAgree(gold[j], own)) return Different("chain", "contradiction");
      break;
    }
  }
  return fuel_->empty() ? Limit("chain") : equal;
}

}  // namespace rewardloop::math
