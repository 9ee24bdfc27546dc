#include "math/decide.h"

#include <algorithm>

#include "math/comparer.h"
#include "math/print.h"

namespace rewardloop::math {

bool IsRelation(const Expr* e) { return e->kind == Kind::kRelation; }

bool IsInequality(const Expr* e) {
  return e->kind == Kind::kRelation && e->text.find_first_not_of("<[>]#e") == e->text.npos;
}

bool IsInfinity(const Expr* e, int* sign) {
  *sign = 1;
  while (e->kind == Kind::kNeg) { *sign = -*sign; e = (*e)[0]; }
  return e->kind == Kind::kConstant && e->fn == Function::kInfinity;
}

bool SameTree(const Expr* a, const Expr* b) {
  if (a == b) return true;
  if (a->kind != b->kind || a->fn != b->fn || a->child_count != b->child_count) return false;
  switch (a->kind) {
    case Kind::kNumber: case Kind::kBaseNumber: case Kind::kTime:
      if (a->text != b->text || a->number != b->number) return false;
      break;
    case Kind::kSymbol: case Kind::kCall: case Kind::kText: case Kind::kRelation: case Kind::kQuantity: case Kind::kCurrency: case Kind::kLabeled:
      if (a->text != b->text) return false;
      break;
    case Kind::kInterval: case Kind::kPlusMinus: case Kind::kLimit:
      if (a->flags != b->flags) return false;
      break;
    case Kind::kTuple: case Kind::kMatrix: case Kind::kNamedSet:
      if (a->aux != b->aux || a->aux2 != b->aux2) return false;
      break;
    default: break;
  }
  for (uint32_t i = 0; i < a->child_count; ++i) if (!SameTree((*a)[i], (*b)[i])) return false;
  return true;
}

Decision Comparer::From(NumericResult result) {
  const char* rule = MethodName(result.method);
  switch (result.equality) {
    case Equality::kEqual:
      return Equal(rule, result.method == Method::kBall || result.method == Method::kPoints || result.method == Method::kLazyPower ? "equal_numeric" : "equal_exact");
    case Equality::kDifferent: return Different(rule, "not_equal_proved");
    case Equality::kLimit: return Limit(rule);
    case Equality::kUnknown: break;
  }
  return Unknown(rule);
}

// k \in \mathbb{Z} at the end of an answer says what k is.
bool IsMembership(const Expr* e) {
  if (e->kind != Kind::kRelation || e->text != "e" || (*e)[0]->kind != Kind::kSymbol) return false;
  const Expr* set = (*e)[1];
  return set->kind == Kind::kNamedSet || (set->kind == Kind::kSymbol && (set->text == "Z" || set->text == "N" || set->text == "R" || set->text == "Q"));
}

// The answer without what surrounds it: conditions, memberships of parameters, a lone label.
const Expr* Comparer::Strip(E e) {
  for (int guard = 0; guard < 16; ++guard) {
    if (e->kind == Kind::kList) {
      size_t count = e->aux > 0 ? static_cast<size_t>(e->aux) : e->child_count;
      while (count > 1 && IsMembership((*e)[count - 1])) --count;
      if (count == 0) return e;
      if (count == 1) { e = (*e)[0]; continue; }
      if (count == e->child_count && e->aux == 0) return e;
      Expr* copy = build_.Make(Kind::kList, e->children().subspan(0, count));
      if (!copy) return nullptr;
      copy->flags = e->flags;
      return copy;
    }
    if (e->kind == Kind::kTuple && e->child_count == 1) { e = (*e)[0]; continue; }
    return e;
  }
  return e;
}

bool Comparer::ContainsPlusMinus(E e) {
  return Any(e, [](E x) { return x->kind == Kind::kPlusMinus; });
}

const Expr* Comparer::Rebuild(E e, std::span<const Expr* const> children) {
  Expr* copy = build_.Make(e->kind, children);
  if (!copy) return nullptr;
  copy->fn = e->fn;
  copy->flags = e->flags;
  copy->parens = e->parens;
  copy->text = e->text;
  copy->number = e->number;
  copy->aux = e->aux;
  copy->aux2 = e->aux2;
  return copy;
}

// e with every +- read as + (sign 1) or - (sign -1), \mp the other way.
const Expr* Comparer::ExpandPlusMinus(E e, int sign) {
  if (!ContainsPlusMinus(e)) return e;
  NodeList children(arena_);
  for (E child : e->children()) if (!children.Add(ExpandPlusMinus(child, sign))) return nullptr;
  if (e->kind != Kind::kPlusMinus) return Rebuild(e, children.span());
  const int s = e->has(kFlagMinusPlus) ? -sign : sign;
  E last = children[children.size() - 1];
  if (s < 0) last = build_.Neg(last);
  return children.size() == 1 ? last : build_.Make(Kind::kAdd, {children[0], last});
}

Decision Comparer::Structural(E g, E p) {
  if (SameTree(g, p)) return Equal("structure");
  if (g->kind != p->kind || g->child_count != p->child_count || g->text != p->text || g->fn != p->fn || g->child_count == 0)
    return Different("structure", "type_mismatch");
  return Ordered(g->children(), p->children(), "structure");
}

// Infinite sums and products between the same bounds: term by term. Other terms may still add up to the same, so nothing else
// follows from them.
std::optional<Decision> Comparer::Sums(E g, E p) {
  int sign = 0;
  if (g->child_count != 4 || !IsInfinity((*g)[3], &sign) || !IsInfinity((*p)[3], &sign)) return std::nullopt;
  if (!Decide((*g)[2], (*p)[2]).equal()) return std::nullopt;
  E body = (*p)[0];
  if ((*g)[1]->number != (*p)[1]->number) body = rewardloop::math::Substitute(body, (*p)[1]->number, (*g)[1], *arena_);
  if (!body) return Limit();
  Decision terms = Decide((*g)[0], body);
  if (!terms.equal()) return std::nullopt;
  terms.rule = "terms";
  return terms;
}

// C(n, k) and P(n, k) that were read as points: numbers of combinations and of arrangements; null for other labels.
const Expr* Comparer::AsCount(E labeled) {
  E pair = (*labeled)[0];
  if ((labeled->text != "C" && labeled->text != "P") || pair->kind != Kind::kTuple || pair->child_count != 2 || pair->aux != 0) return nullptr;
  E n = (*pair)[0], k = (*pair)[1];
  if (!IsScalarKind(n->kind) || !IsScalarKind(k->kind)) return nullptr;
  if (labeled->text == "C") return build_.Call(Function::kBinomial, {n, k});
  return build_.Make(Kind::kDiv, {build_.Make(Kind::kFactorial, {n}), build_.Make(Kind::kFactorial, {build_.Make(Kind::kAdd, {n, build_.Neg(k)})})});
}

// R for \mathbb{R}, where the other side is the set.
std::optional<Decision> Comparer::NamedSetLetters(E g, E p) {
  struct Letter { std::string_view name; Function set; };
  static constexpr Letter kLetters[] = {{"R", Function::kReals}, {"Z", Function::kIntegers}, {"N", Function::kNaturals}, {"Q", Function::kRationals}};
  if ((g->kind == Kind::kNamedSet) == (p->kind == Kind::kNamedSet)) return std::nullopt;
  E set = g->kind == Kind::kNamedSet ? g : p;
  E letter = set == g ? p : g;
  if (letter->kind != Kind::kSymbol || set->aux != 0 || set->aux2 != 0) return std::nullopt;
  for (const Letter& known : kLetters) if (known.set == set->fn && known.name == letter->text) return Equal("set");
  return std::nullopt;
}

Decision Comparer::Congruences(E g, E p) {
  // a = b (mod m): same modulus, same residue; the left sides are names
  Decision modulus = Decide((*g)[2], (*p)[2]);
  if (!modulus.equal()) return modulus;
  E difference = Difference((*g)[1], (*p)[1]);
  E residue = difference ? build_.Call(Function::kMod, {difference, (*g)[2]}) : nullptr;
  E zero = build_.Integer(0);
  if (!residue || !zero) return Limit();
  Decision same = Numeric(residue, zero);
  same.rule = "congruence";
  return same;
}

Decision Comparer::Cases(E g, E p) {
  if (g->child_count != p->child_count) return Different("piecewise");
  NodeList left(arena_), right(arena_);
  for (uint32_t i = 0; i + 1 < g->child_count; i += 2) {
    left.Add(build_.Make(Kind::kTuple, {(*g)[i], (*g)[i + 1]}));
    right.Add(build_.Make(Kind::kTuple, {(*p)[i], (*p)[i + 1]}));
  }
  return MatchSets(left.span(), right.span(), "piecewise");
}

Decision Comparer::TupleLike(E g, E p) {
  if (g->kind == Kind::kTuple && p->kind == Kind::kTuple) {
    const bool g_square = g->aux == 1, p_square = p->aux == 1;
    if (g_square != p_square) return Different("tuple", "brackets_differ");
    return Ordered(g->children(), p->children(), "tuple");
  }
  if (g->kind == Kind::kInterval && p->kind == Kind::kInterval) return Intervals(g, p);
  E tuple = g->kind == Kind::kTuple ? g : p;
  E interval = g->kind == Kind::kTuple ? p : g;
  if (tuple->child_count != 2) return Different("tuple", "type_mismatch");
  if (tuple->aux == 1 || interval->flags != 0) return Different("interval", "brackets_differ");
  return Ordered(g->children(), p->children(), "interval");
}

// ---- dispatch -------------------------------------------------------------------------------------------------------------

// Answers of one kind, and kinds that can be equal to each other.
Decision Comparer::Kinds(E g, E p) {
  const auto tuple_like = [](E e) { return e->kind == Kind::kTuple || e->kind == Kind::kInterval; };
  const auto has_matrix = [](E e) {
    return Any(e, [](E x) { return x->kind == Kind::kMatrix || (x->kind == Kind::kSymbol && x->text.starts_with("\\vec ")); });
  };
  const auto group = [](E e) { return e->kind == Kind::kList || e->kind == Kind::kSet; };
  if (group(g) || group(p)) return Lists(g, p);
  if (has_matrix(g) || has_matrix(p)) {
    E reduced_g = ReduceDeterminants(g), reduced_p = ReduceDeterminants(p);
    if (!reduced_g || !reduced_p) return Limit();
    if (reduced_g != g || reduced_p != p) return Decide(reduced_g, reduced_p);
    return Matrices(g, p);
  }
  if (tuple_like(g) && tuple_like(p)) return TupleLike(g, p);
  if (tuple_like(g) || tuple_like(p)) return Different("tuple", "type_mismatch");
  const auto scalar = [](E e) {
    return IsScalarKind(e->kind) || e->kind == Kind::kQuantity || e->kind == Kind::kCurrency || e->kind == Kind::kRatio || e->kind == Kind::kTime;
  };
  if (scalar(g) && scalar(p)) {
    // A minus before an interval and the like: no scalar after all.
    const auto odd = [](E e) {
      return Any(e, [](E x) {
        return !IsScalarKind(x->kind) && x->kind != Kind::kQuantity && x->kind != Kind::kCurrency && x->kind != Kind::kRatio && x->kind != Kind::kTime;
      });
    };
    const bool g_odd = odd(g), p_odd = odd(p);
    if (g_odd != p_odd) return Different("structure", "type_mismatch");
    return g_odd ? Structural(g, p) : Scalars(g, p);
  }
  return Structural(g, p);
}

Decision Comparer::Decide(E g, E p) {
  if (!fuel_->Spend(kDecisionCost) || depth_ > kDepthMax) return Limit();
  const Inside depth(&depth_);
  g = Strip(g);
  p = Strip(p);
  if (!g || !p) return Limit();
  if (SameTree(g, p)) {
    const bool undefined = Any(g, [](E x) { return x->kind == Kind::kDiv && (*x)[1]->kind == Kind::kNumber && (*x)[1]->text == "0"; });
    if (!undefined) return Equal("structure");
  }
  // C(5, 2) is a point or a number, as the other side is.
  for (bool gold_side : {true, false}) {
    E own = gold_side ? g : p, other = gold_side ? p : g;
    if (own->kind != Kind::kLabeled || !IsScalarKind(other->kind)) continue;
    if (E count = AsCount(own)) return gold_side ? Decide(count, other) : Decide(other, count);
  }
  if (std::optional<Decision> named = NamedSetLetters(g, p)) return *named;
  // Labels: both must agree, one alone says nothing.
  if (g->kind == Kind::kLabeled || p->kind == Kind::kLabeled) {
    const bool quantifier = (g->kind == Kind::kLabeled && g->text.starts_with('\\')) != (p->kind == Kind::kLabeled && p->text.starts_with('\\'));
    if (quantifier) return Different("label", "quantifiers_differ");
    if (g->kind == Kind::kLabeled && p->kind == Kind::kLabeled && g->text != p->text && policy_.strict_names) return Different("label", "labels_differ");
    return Decide(g->kind == Kind::kLabeled ? (*g)[0] : g, p->kind == Kind::kLabeled ? (*p)[0] : p);
  }
  if (g->kind == Kind::kText || p->kind == Kind::kText) {
    if (g->kind == Kind::kText && p->kind == Kind::kText) return g->text == p->text && !g->text.empty() ? Equal("text", "equal_text") : Different("text");
    return Different("text", "type_mismatch");
  }
  if (std::optional<Decision> family = Families(g, p)) return *family;
  // a +- b is two values.
  const bool g_pm = ContainsPlusMinus(g), p_pm = ContainsPlusMinus(p);
  if ((g_pm || p_pm) && !(g->kind == Kind::kList || p->kind == Kind::kList || g->kind == Kind::kSet || p->kind == Kind::kSet || IsInequality(g) || IsInequality(p))) {
    NodeList left(arena_), right(arena_);
    Elements(g, &left);
    Elements(p, &right);
    if (left.size() == 0 || right.size() == 0) return Limit();
    if (left.size() > 1 || right.size() > 1) return MatchSets(left.span(), right.span(), "plus_minus");
  }
  if (g->kind == Kind::kRelation || p->kind == Kind::kRelation) return Relations(g, p);
  if ((g->kind == Kind::kSum || g->kind == Kind::kProduct) && p->kind == g->kind && g->child_count == p->child_count) {
    if (std::optional<Decision> sums = Sums(g, p)) return *sums;
  }
  if (std::optional<Decision> sets = Sets(g, p)) return *sets;
  if (g->kind == Kind::kCongruence && p->kind == Kind::kCongruence) return Congruences(g, p);
  if (g->kind == Kind::kCases && p->kind == Kind::kCases) return Cases(g, p);
  return Kinds(g, p);
}

Decision DecideAnswers(const Answer& gold, const Answer& prediction, const Policy& policy, uint64_t seed, Arena* arena, Fuel* fuel) {
  if (gold.choice && gold.only_words) {
    const bool same = prediction.choice == gold.choice;
    if (same) return {Equality::kEqual, "equal_text", "choice"};
    if (prediction.choice) return {Equality::kDifferent, "not_equal", "choice"};
  }
  if (!gold.compact.empty() && gold.compact == prediction.compact) return {Equality::kEqual, "equal_exact", "same_text"};
  if (prediction.readings == 0) {
    switch (prediction.status) {
      case ParseStatus::kLimitTokens: return {Equality::kLimit, "limit_tokens", ""};
      case ParseStatus::kLimitNodes: return {Equality::kLimit, "limit_nodes", ""};
      case ParseStatus::kLimitDepth: return {Equality::kLimit, "limit_depth", ""};
      case ParseStatus::kLimitMemory: return {Equality::kLimit, "limit_memory", ""};
      default: return {Equality::kDifferent, "unparsed", "text"};
    }
  }
  // Words: the same words are the same answer, however they are marked up.
  if (!gold.words.empty() && gold.words == prediction.words && (gold.only_words || gold.is_text()))
    return {Equality::kEqual, "equal_text", "text"};
  Decision best{Equality::kDifferent, "type_mismatch", ""};
  bool first = true;
  const bool both_text = gold.is_text() && prediction.is_text();
  for (int i = 0; i < gold.readings; ++i) {
    for (int j = 0; j < prediction.readings; ++j) {
      // A word is read as a product of letters only against a formula.
      if (both_text && (i || j)) continue;
      // One side may need its second reading, or both the same; a decimal comma is a comma on the other side, too.
      if (i && j && (gold.kind[i] != prediction.kind[j] || gold.kind[i] == ReadingKind::kDecimalComma)) continue;
      Comparer comparer(policy, seed, arena, fuel);
      const Decision decision = comparer.Confirm(comparer.Decide(gold.reading[i], prediction.reading[j]), gold.reading[i], prediction.reading[j]);
      if (decision.equal()) return decision;
      const bool better = first || (best.different() && !decision.different());
      if (better) best = decision;
      if (decision.equality == Equality::kLimit) return decision;
      first = false;
    }
  }
  return best;
}

}  // namespace rewardloop::math
