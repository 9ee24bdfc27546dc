#include <algorithm>
#include <cmath>
#include <limits>

#include "math/comparer.h"

namespace rewardloop::math {

// The single answers in e: elements of lists, both values of +-, `x = 1, 2, 3` without its name.
void Comparer::Elements(E e, NodeList* out) {
  e = Strip(e);
  if (!e) return;
  if (e->kind == Kind::kList || e->kind == Kind::kSet) {
    E carried = nullptr;
    for (uint32_t i = 0; i < e->child_count; ++i) {
      E item = (*e)[i];
      E name = nullptr, value = nullptr;
      if (e->kind == Kind::kList && IsAssignment(item, &name, &value)) {
        carried = i == 0 ? name : nullptr;
      } else if (carried && i == 1 && e->kind == Kind::kList && !IsRelation(item) && item->kind != Kind::kText) {
        // x = 1, 2, 3: the name speaks of all of them, unless a second name follows.
        bool another = false;
        for (uint32_t j = 1; j < e->child_count; ++j) another |= IsRelation((*e)[j]);
        if (!another) {
          E first_name = nullptr, first_value = nullptr;
          if (IsAssignment((*e)[0], &first_name, &first_value)) {
            NodeList kept(arena_);
            Elements(first_value, &kept);
            *out = NodeList(arena_);
            for (size_t k = 0; k < kept.size(); ++k) out->Add(kept[k]);
          }
        }
        carried = nullptr;
      }
      if (item->kind == Kind::kPlusMinus || (ContainsPlusMinus(item) && !IsInequality(item))) {
        Elements(item, out);
      } else if (item->kind == Kind::kList && e->kind == Kind::kSet) {
        Elements(item, out);
      } else {
        out->Add(item);
      }
    }
    return;
  }
  if (ContainsPlusMinus(e)) {
    // A tuple with two independent +- stands for all four; elsewhere the signs are tied.
    if (e->kind == Kind::kTuple) {
      int with = 0;
      for (E child : e->children()) with += ContainsPlusMinus(child);
      if (with == 2 && e->child_count <= 4) {
        for (int signs = 0; signs < 4; ++signs) {
          NodeList children(arena_);
          int bit = 0;
          for (E child : e->children()) {
            const bool has = ContainsPlusMinus(child);
            children.Add(has ? ExpandPlusMinus(child, (signs >> bit) & 1 ? -1 : 1) : child);
            bit += has;
          }
          if (E tuple = Rebuild(e, children.span())) out->Add(tuple);
        }
        return;
      }
    }
    E plus = ExpandPlusMinus(e, 1), minus = ExpandPlusMinus(e, -1);
    if (plus && minus) { out->Add(plus); out->Add(minus); }
    return;
  }
  out->Add(e);
}

Decision Comparer::Ordered(std::span<const Expr* const> g, std::span<const Expr* const> p, const char* rule) {
  if (g.size() != p.size()) return Different(rule, "size_mismatch");
  const Inside inside(&parts_);
  Decision worst = Equal(rule);
  for (size_t i = 0; i < g.size(); ++i) {
    Decision same = Decide(g[i], p[i]);
    if (same.different()) return Different(rule, same.reason);
    if (same.equality == Equality::kLimit) return same;
    if (!same.equal()) worst = Unknown(rule, same.reason);
    else if (worst.equal()) worst.reason = same.reason;
  }
  return worst;
}

bool Comparer::HasDecimals(std::span<const Expr* const> items) {
  return std::any_of(items.begin(), items.end(), [](E item) { return Any(item, [](E x) { return x->kind == Kind::kNumber && x->aux >= 0; }); });
}

// A double that is the same for equal answers: the value, or a weighted sum of the parts. NaN when there is none.
double Comparer::Sketch(E e) {
  double re = 0, im = 0;
  if (IsScalarKind(e->kind)) {
    if (!FreeSymbols(e).empty() || Any(e, [](E x) { return x->kind == Kind::kDegree || x->kind == Kind::kPercent || x->kind == Kind::kPlusMinus; })) return std::numeric_limits<double>::quiet_NaN();
    if (!ApproximateForDisplay(e, options_, *fuel_, &re, &im)) return std::numeric_limits<double>::quiet_NaN();
    return re + 1.618 * im;
  }
  if (e->kind != Kind::kTuple) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0, weight = 1;
  for (E child : e->children()) {
    sum += weight * Sketch(child);
    weight *= 1.37;
  }
  return sum;
}

// Large sets of exact values or of symbols, by key; nullopt when some element has none.
std::optional<Decision> Comparer::MatchKeys(std::span<const Expr* const> g, std::span<const Expr* const> p, const char* rule) {
  const auto keys = [&](std::span<const Expr* const> items, std::vector<uint64_t>* out) {
    out->reserve(items.size());
    for (E item : items) {
      std::optional<uint64_t> key = IsScalarKind(item->kind) ? ValueKey(item, *fuel_, options_) : std::nullopt;
      if (!key) return false;
      out->push_back(*key);
    }
    return true;
  };
  std::vector<uint64_t> left, right;
  if (keys(g, &left) && keys(p, &right)) {
    for (auto* list : {&left, &right}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    return left == right ? Equal(rule) : Different(rule, "elements_differ");
  }
  // Many symbols (x_1, ..., x_300) are matched by name.
  const auto names = [](std::span<const Expr* const> items, std::vector<uint64_t>* out) {
    for (E item : items) {
      if (item->kind != Kind::kSymbol) return false;
      out->push_back(static_cast<uint64_t>(item->number));
    }
    return true;
  };
  left.clear();
  right.clear();
  if (names(g, &left) && names(p, &right)) {
    for (auto* list : {&left, &right}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    return left == right ? Equal(rule) : Different(rule, "elements_differ");
  }
  return std::nullopt;
}

// Every element of one side has an equal one on the other. Exact values are matched by key, others pairwise.
Decision Comparer::MatchSets(std::span<const Expr* const> g, std::span<const Expr* const> p, const char* rule) {
  const Inside inside(&parts_);
  if (g.size() > 16 || p.size() > 16) {
    if (std::optional<Decision> exact = MatchKeys(g, p, rule)) return *exact;
  }
  if (g.size() > kInexactElementsMax || p.size() > kInexactElementsMax) return {Equality::kLimit, "limit_elements", rule};
  // Values that differ in the sixth digit need no proof; with a rounding policy at work everything is compared.
  const bool coarse = g.size() * p.size() > kPairsWithoutSketchMax && policy_.absolute_digits < 0 && !HasDecimals(g) && !HasDecimals(p);
  std::vector<double> g_sketch, p_sketch;
  if (coarse) {
    for (E item : g) g_sketch.push_back(Sketch(item));
    for (E item : p) p_sketch.push_back(Sketch(item));
  }
  const auto far = [&](size_t i, size_t j) {
    if (!coarse) return false;
    const double a = g_sketch[i], b = p_sketch[j];
    return std::fabs(a - b) > 1e-6 * std::max({1.0, std::fabs(a), std::fabs(b)});  // false for NaN
  };
  bool unknown = false;
  std::vector<char> matched(p.size(), 0);
  const char* reason = "equal_exact";
  for (size_t i = 0; i < g.size(); ++i) {
    E item = g[i];
    bool found = false, open = false;
    for (size_t j = 0; j < p.size(); ++j) {
      if (far(i, j)) continue;
      // Try what is still free first; equality is transitive, so any equal partner will do.
      if (found && matched[j]) continue;
      Decision same = Decide(item, p[j]);
      if (same.equality == Equality::kLimit) return same;
      if (same.equal()) { found = true; matched[j] = 1; reason = same.reason; if (g.size() == p.size()) break; }
      if (same.equality == Equality::kUnknown) open = true;
    }
    if (!found && !open) return Different(rule, "elements_differ");
    if (!found) unknown = true;
  }
  for (size_t j = 0; j < p.size(); ++j) {
    if (matched[j]) continue;
    bool open = false, found = false;
    for (size_t i = 0; i < g.size(); ++i) {
      if (far(i, j)) continue;
      Decision same = Decide(g[i], p[j]);
      if (same.equality == Equality::kLimit) return same;
      if (same.equal()) { found = true; break; }
      if (same.equality == Equality::kUnknown) open = true;
    }
    if (!found && !open) return Different(rule, "elements_differ");
    if (!found) unknown = true;
  }
  return unknown ? Unknown(rule) : Equal(rule, reason);
}

// A gold list that names a value twice, 36, 36, 108, wants it twice.
bool Comparer::RepetitionsAgree(std::span<const Expr* const> g, std::span<const Expr* const> p) {
  if (g.size() > kRepetitionElementsMax) return true;
  const auto count = [&](E value, std::span<const Expr* const> items) { return std::count_if(items.begin(), items.end(), [&](E item) { return Decide(value, item).equal(); }); };
  return std::all_of(g.begin(), g.end(), [&](E value) {
    const auto times = count(value, g);
    return times == 1 || times == count(value, p);
  });
}

// p = 5, q = 2, p = 7, q = 2 and p=5,q=2; p=7,q=2 become two groups; null when the names do not repeat.
const Expr* Comparer::GroupLabels(E list) {
  if (list->kind != Kind::kList || list->child_count < 4) return nullptr;
  NodeList names(arena_);
  for (E item : list->children()) {
    E name = nullptr, value = nullptr;
    if (!IsAssignment(item, &name, &value)) return nullptr;
    names.Add(name);
  }
  size_t period = 1;
  while (period < names.size() && !SameTree(names[period], names[0])) ++period;
  if (period < 2 || period == names.size() || names.size() % period) return nullptr;
  for (size_t i = period; i < names.size(); ++i) if (!SameTree(names[i], names[i - period])) return nullptr;
  NodeList groups(arena_);
  for (size_t i = 0; i < names.size(); i += period) groups.Add(build_.Make(Kind::kList, list->children().subspan(i, period)));
  return build_.Make(Kind::kList, groups.span());
}

// Splits `name = value` and `name: value` items. False when an item has no name.
bool Comparer::Labels(const NodeList& items, NodeList* names, NodeList* values, bool* repeated) {
  *repeated = false;
  for (size_t i = 0; i < items.size(); ++i) {
    E name = nullptr, value = nullptr;
    if (items[i]->kind == Kind::kLabeled && !items[i]->text.starts_with('\\')) {
      name = build_.Symbol(items[i]->text);
      value = (*items[i])[0];
    } else if (!IsAssignment(items[i], &name, &value)) {
      return false;
    }
    for (size_t j = 0; j < i; ++j) *repeated |= SameTree((*names)[j], name);
    names->Add(name);
    values->Add(value);
  }
  return true;
}

// A list of durations in falling units is their sum; null for any other list.
const Expr* Comparer::CompoundQuantity(E list) {
  static constexpr std::string_view kFalling[] = {"week", "day", "h", "min", "s"};
  if (list->kind != Kind::kList || list->child_count > 4) return nullptr;
  const std::string_view* last = std::begin(kFalling) - 1;
  for (E item : list->children()) {
    if (item->kind != Kind::kQuantity || (*item)[0]->kind != Kind::kNumber) return nullptr;
    const auto* unit = std::find(std::begin(kFalling), std::end(kFalling), item->text);
    if (unit == std::end(kFalling) || unit <= last) return nullptr;
    last = unit;
  }
  return build_.Make(Kind::kAdd, list->children());
}

// A list or set against something that is none: equal to what it has as its only element, to a tuple, to several values of +-.
Decision Comparer::ListAgainstOther(E list, E other, bool list_is_gold) {
  const auto decide = [&](E ours, E theirs) { return list_is_gold ? Decide(ours, theirs) : Decide(theirs, ours); };
  if (list->kind == Kind::kList && list->parens == 0 && other->kind == Kind::kTuple && other->aux != 1 && !ContainsPlusMinus(other)) {
    // (x, y, z) = (1, 2, 3) for 1, 2, 3
    NodeList items(arena_);
    for (E item : list->children()) {
      E name = nullptr, value = nullptr;
      items.Add(IsAssignment(item, &name, &value) ? value : item);
    }
    return list_is_gold ? Ordered(items.span(), other->children(), "list") : Ordered(other->children(), items.span(), "list");
  }
  // 2 hours and 30 minutes
  if (E sum = CompoundQuantity(list)) return decide(sum, other);
  // \{5\} is 5 where one solution was asked for; {5} as a gold means the same.
  if (list->kind == Kind::kSet && list->child_count == 1 && other->kind != Kind::kTuple && !ContainsPlusMinus(list)) return decide((*list)[0], other);
  NodeList single(arena_), many(arena_);
  Elements(other, &single);
  Elements(list, &many);
  if (single.size() > 1) return list_is_gold ? MatchSets(many.span(), single.span(), "set") : MatchSets(single.span(), many.span(), "set");
  if (many.size() == 1 && single.size() == 1) return decide(many[0], single[0]);
  return Different("set", "size_mismatch");
}

// Both labelled: by name. One labelled: its values in order, where the names are different ones.
std::optional<Decision> Comparer::LabeledLists(const NodeList& left, const NodeList& right, bool g_list, bool p_list) {
  NodeList gn(arena_), gv(arena_), pn(arena_), pv(arena_);
  bool g_repeated = false, p_repeated = false;
  const bool gl = g_list && Labels(left, &gn, &gv, &g_repeated);
  const bool pl = p_list && Labels(right, &pn, &pv, &p_repeated);
  if (gl && pl && !g_repeated && !p_repeated) {
    // The same names in any order; other names are compared in order.
    bool same_names = left.size() == right.size();
    NodeList arranged(arena_);
    for (size_t i = 0; i < gn.size() && same_names; ++i) {
      bool found = false;
      for (size_t j = 0; j < pn.size(); ++j) if (SameTree(gn[i], pn[j])) { arranged.Add(pv[j]); found = true; break; }
      same_names = found;
    }
    if (same_names) return Ordered(gv.span(), arranged.span(), "labels");
    if (policy_.strict_names) return Different("labels", "labels_differ");
    return Ordered(gv.span(), pv.span(), "labels");
  }
  if (gl != pl) {
    const auto& values = gl ? gv : pv;
    const auto& plain = gl ? right : left;
    if (gl && !g_repeated && values.size() == plain.size()) return Ordered(values.span(), plain.span(), "labels");
    return gl ? MatchSets(values.span(), plain.span(), "set") : MatchSets(plain.span(), values.span(), "set");
  }
  if (!gl) return std::nullopt;
  // Repeated names, x = 1 or x = 2: one name throughout.
  bool same = true;
  for (const NodeList* names : {&gn, &pn}) {
    for (size_t i = 0; i < names->size(); ++i) same = same && (SameTree((*names)[i], gn[0]) || SameNames((*names)[i], gn[0]).equal());
  }
  if (same || !policy_.strict_names) return MatchSets(gv.span(), pv.span(), "set");
  return std::nullopt;
}

Decision Comparer::Lists(E g, E p) {
  const auto group = [](E e) { return e->kind == Kind::kList || e->kind == Kind::kSet; };
  if (E grouped = GroupLabels(g)) g = grouped;
  if (E grouped = GroupLabels(p)) p = grouped;
  if (group(g) != group(p)) return group(g) ? ListAgainstOther(g, p, true) : ListAgainstOther(p, g, false);
  NodeList left(arena_), right(arena_);
  Elements(g, &left);
  Elements(p, &right);
  if (left.size() == 0 || right.size() == 0) return Limit();
  const bool g_list = g->kind == Kind::kList, p_list = p->kind == Kind::kList;
  if (std::optional<Decision> labeled = LabeledLists(left, right, g_list, p_list)) return *labeled;
  if (policy_.ordered_lists && g_list && p_list) return Ordered(left.span(), right.span(), "list");
  Decision same = MatchSets(left.span(), right.span(), g_list ? "list" : "set");
  if (same.equal() && g_list && p_list && !RepetitionsAgree(left.span(), right.span())) return Different("list", "elements_differ");
  return same;
}

}  // namespace rewardloop::math
