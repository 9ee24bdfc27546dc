#include <algorithm>
#include <cmath>
#include <numeric>

#include "math/comparer.h"
#include "math/units.h"

namespace rewardloop::math {
namespace {

bool HasSymbol(const Expr* e) {
  return Any(e, [](const Expr* x) { return x->kind == Kind::kSymbol || x->kind == Kind::kCall; });
}

bool HasLog(const Expr* e) {
  return Any(e, [](const Expr* x) { return x->kind == Kind::kFunction && x->fn == Function::kLog; });
}

bool IsTranscendental(const Expr* e) {
  return Any(e, [](const Expr* x) {
    return (x->kind == Kind::kConstant && x->fn != Function::kInfinity) || x->kind == Kind::kFunction || x->kind == Kind::kDegree || x->kind == Kind::kIntegral;
  });
}

const Expr* Unsigned(const Expr* e) {
  while (e->kind == Kind::kNeg) e = (*e)[0];
  return e;
}

// How many more digits than the gold a decimal must show to count as an unrounded result.
constexpr int64_t kUnroundedDigitsMin = 3;

// A decimal literal, perhaps negative or a percentage: how many digits it shows.
struct DecimalInfo {
  int64_t fraction_digits = 0;
  int64_t significant = 0;
  bool truncated = false;
};
std::optional<DecimalInfo> AsDecimal(const Expr* e) {
  e = Unsigned(e);
  int64_t shift = 0;
  if (e->kind == Kind::kPercent) { shift = 2; e = Unsigned((*e)[0]); }
  if (e->kind != Kind::kNumber || (e->aux < 0 && shift == 0)) return std::nullopt;
  DecimalInfo info;
  info.fraction_digits = -e->number + shift;
  info.significant = static_cast<int64_t>(e->text.size());
  info.truncated = e->has(kFlagTruncated);
  if (e->aux < 0) info.fraction_digits = shift;
  return info;
}

bool Unevaluated(const Expr* e, bool numeric_only) {
  return Any(e, [&](const Expr* x) {
    if (x->kind == Kind::kIntegral || x->kind == Kind::kLimit || x->kind == Kind::kDerivative) return !numeric_only;
    if (x->kind != Kind::kSum && x->kind != Kind::kProduct) return false;
    if (!numeric_only) return true;
    if (x->child_count != 4) return false;
    const Expr* lower = Unsigned((*x)[2]);
    const Expr* upper = Unsigned((*x)[3]);
    return lower->kind == Kind::kNumber && upper->kind == Kind::kNumber && (upper->text.size() <= 2 || upper->text == "100");
  });
}

}  // namespace

const Expr* Comparer::Scale(E e, int64_t num, int64_t den) {
  if (num == den) return e;
  E n = build_.Integer(num), d = build_.Integer(den);
  if (!n || !d) return nullptr;
  return build_.Make(Kind::kDiv, {build_.Make(Kind::kMul, {n, e}), d});
}

Decision Comparer::Scalars(E g, E p) {
  const auto ratio = [](E e) { return e->kind == Kind::kRatio || e->kind == Kind::kTime; };
  if (g->kind == Kind::kTime && p->kind == Kind::kTime) return g->number == p->number ? Equal("time") : Different("time");
  if (ratio(g) || ratio(p)) return Ratios(g, p);
  const auto united = [](E e) { return Any(e, [](E x) { return x->kind == Kind::kQuantity || x->kind == Kind::kCurrency; }); };
  if (united(g) || united(p)) return WithUnits(g, p);
  return Plain(g, p);
}

Decision Comparer::Ratios(E g, E p) {
  const auto ratio = [](E e) { return e->kind == Kind::kRatio || e->kind == Kind::kTime; };
  if (ratio(g) && ratio(p)) {
    if (g->child_count != p->child_count) return Different("ratio");
    const bool dots = Any(g, [](E x) { return x->kind == Kind::kEllipsis; }) || Any(p, [](E x) { return x->kind == Kind::kEllipsis; });
    if (dots) return Ordered(g->children(), p->children(), "ratio");
    // 12:00 is a time, not the ratio 172:0.
    const auto zero = [](E e) { return std::any_of(e->children().begin(), e->children().end(), [](E c) { return c->kind == Kind::kNumber && c->text == "0"; }); };
    if (g->kind != p->kind && (zero(g) || zero(p))) return Different("ratio");
    for (uint32_t i = 1; i < g->child_count; ++i) {
      E left = build_.Make(Kind::kMul, {(*g)[0], (*p)[i]});
      E right = build_.Make(Kind::kMul, {(*g)[i], (*p)[0]});
      if (!left || !right) return Limit();
      Decision same = Numeric(left, right);
      if (!same.equal()) return same;
    }
    return Equal("ratio");
  }
  E r = ratio(g) ? g : p;
  if (r->child_count != 2) return Different("ratio", "type_mismatch");
  E quotient = build_.Make(Kind::kDiv, {(*r)[0], (*r)[1]});
  if (!quotient) return Limit();
  Decision same = ratio(g) ? Scalars(quotient, p) : Scalars(g, quotient);
  if (same.equal()) same.rule = "ratio";
  return same;
}

// Splits a value from its unit; *unit is "" without one, "~" for a label. False when the units inside do not fit.
static bool SplitUnit(const Expr* e, Builder* build, const Expr** value, std::string_view* unit, std::string_view* currency) {
  if (e->kind == Kind::kQuantity) {
    *value = (*e)[0];
    *unit = e->text;
    std::string_view inner;
    return (*value)->kind != Kind::kCurrency || SplitUnit(*value, build, value, &inner, currency);
  }
  if (e->kind == Kind::kCurrency) { *value = (*e)[0]; *currency = e->text.empty() ? "money" : e->text; return true; }
  if (e->kind == Kind::kNeg) {
    const Expr* inner = nullptr;
    if (!SplitUnit((*e)[0], build, &inner, unit, currency)) return false;
    return (*value = build->Neg(inner)) != nullptr;
  }
  if (e->kind == Kind::kAdd) {
    std::string_view first;
    NodeList terms(build->arena());
    for (uint32_t i = 0; i < e->child_count; ++i) {
      const Expr* term = nullptr;
      std::string_view own, money;
      if (!SplitUnit((*e)[i], build, &term, &own, &money)) return false;
      if (!money.empty()) *currency = money;
      if (own == "~") own = "";
      if (i == 0) first = own;
      int64_t num = 1, den = 1;
      if (own != first && !own.empty() && !first.empty()) {
        if (!UnitRatio(own, first, &num, &den)) return false;
      }
      if (num != den) {
        term = build->Make(Kind::kDiv, {build->Make(Kind::kMul, {build->Integer(num), term}), build->Integer(den)});
      }
      if (!terms.Add(term)) return false;
      if (first.empty()) first = own;
    }
    *unit = first;
    return (*value = build->Make(Kind::kAdd, terms.span())) != nullptr;
  }
  *value = e;
  return true;
}

Decision Comparer::WithUnits(E g, E p) {
  E gv = nullptr, pv = nullptr;
  std::string_view gu, pu, gc, pc;
  if (!SplitUnit(g, &build_, &gv, &gu, &gc) || !SplitUnit(p, &build_, &pv, &pu, &pc)) return Different("unit", "units_differ");
  const auto inside = [](E e) { return Any(e, [](E x) { return x->kind == Kind::kQuantity || x->kind == Kind::kCurrency; }); };
  if (inside(gv) || inside(pv)) return Structural(gv, pv);
  if (!gc.empty() && !pc.empty() && gc != pc && ((gc != "money" && pc != "money") || gc == "cent" || pc == "cent")) {
    if (gc == "money") gc = "usd";
    if (pc == "money") pc = "usd";
    if (gc == "usd" && pc == "cent") gv = Scale(gv, 100, 1);
    else if (gc == "cent" && pc == "usd") pv = Scale(pv, 100, 1);
    else return Different("currency", "units_differ");
    if (!gv || !pv) return Limit();
  }
  const bool g_unit = !gu.empty() && gu != "~" && gu != "unit", p_unit = !pu.empty() && pu != "~" && pu != "unit";
  if ((!gc.empty() && p_unit) || (!pc.empty() && g_unit)) return Different("unit", "units_differ");
  const auto percent = [](E e) { return Any(e, [](E x) { return x->kind == Kind::kPercent; }); };
  if ((!gc.empty() && percent(pv)) || (!pc.empty() && percent(gv))) return Different("currency", "units_differ");
  const bool angles = Any(gv, [](E x) { return x->kind == Kind::kDegree; }) || Any(pv, [](E x) { return x->kind == Kind::kDegree; });
  if (angles && ((g_unit && gu != "rad") || (p_unit && pu != "rad") || !gc.empty() || !pc.empty())) return Different("unit", "units_differ");
  if (policy_.unit_required && g_unit && !p_unit) return Different("unit", "unit_missing");
  if (policy_.unit_required && p_unit && !g_unit) return Different("unit", "unit_unexpected");
  if (g_unit && p_unit) {
    int64_t num = 1, den = 1;
    if (!UnitRatio(pu, gu, &num, &den)) return Different("unit", "units_differ");
    pv = Scale(pv, num, den);
    if (!pv) return Limit();
  }
  Decision same = Plain(gv, pv);
  if (same.equal() && (g_unit || p_unit)) same.rule = "unit";
  return same;
}

// One side at least is an angle in degrees: 90^\circ is pi/2, and 90 where no pi occurs.
Decision Comparer::Degrees(E g, E p) {
  const bool gd = g->kind == Kind::kDegree, pd = p->kind == Kind::kDegree;
  if (gd && pd) return Plain((*g)[0], (*p)[0]);
  Decision radians = Numeric(g, p);
  if (radians.equal()) { radians.rule = "degrees"; return radians; }
  E inner = gd ? (*g)[0] : (*p)[0];
  E other = gd ? p : g;
  const bool has_pi = Any(other, [](E x) { return x->kind == Kind::kConstant && x->fn == Function::kPi; });
  if (has_pi) return radians;
  return gd ? Plain(inner, other) : Plain(other, inner);
}

// One side is a percentage.
Decision Comparer::Percentage(E g, E p) {
  const bool gp = Unsigned(g)->kind == Kind::kPercent;
  Decision value = Numeric(g, p);
  if (value.equal()) return value;
  if (auto decimal = Decimals(g, p); decimal && decimal->equal()) return *decimal;
  if (gp || policy_.percent_as_number) {
    const auto drop = [&](E e) -> E {
      if (e->kind == Kind::kPercent) return (*e)[0];
      if (e->kind == Kind::kNeg && (*e)[0]->kind == Kind::kPercent) return build_.Neg((*(*e)[0])[0]);
      return e;
    };
    E left = drop(g), right = drop(p);
    if (!left || !right) return Limit();
    return Plain(left, right);
  }
  return value;
}

// One side at least is a number in a base.
Decision Comparer::BaseNumbers(E g, E p) {
  if (g->kind == Kind::kBaseNumber && p->kind == Kind::kNumber) {
    if (p->aux < 0 && p->text == g->text && p->number == 0) return Equal("base");
    if (!policy_.base_value) return Different("base", "base_missing");
  } else if (p->kind == Kind::kBaseNumber && g->kind != Kind::kBaseNumber && !policy_.base_value && p->number != 10) {
    return Different("base", "base_unexpected");
  }
  return Numeric(g, p);
}

// One side at least has letters.
Decision Comparer::InLetters(E g, E p) {
  // I and E are i and e where the other side does not use them as letters.
  for (const auto& [letter, fn] : {std::pair{"I", Function::kI}, std::pair{"E", Function::kE}}) {
    const int64_t hash = HashName(letter);
    const bool g_has = ContainsSymbol(g, hash), p_has = ContainsSymbol(p, hash);
    if (g_has == p_has) continue;
    const bool constant = Any(g_has ? p : g, [fn = fn](E x) { return x->kind == Kind::kConstant && x->fn == fn; });
    if (!constant && (HasSymbol(g_has ? p : g) || !IsTranscendental(g_has ? g : p))) continue;
    E value = build_.Constant(fn);
    E replaced = value ? rewardloop::math::Substitute(g_has ? g : p, hash, value, *arena_) : nullptr;
    if (!replaced) return Limit();
    return g_has ? Plain(replaced, p) : Plain(g, replaced);
  }
  // 3 + 4j in the notation of engineers and of Python.
  if (!HasSymbol(g) && ContainsSymbol(p, HashName("j")) && FreeSymbols(p).size() == 1 && Any(g, [](E x) { return x->kind == Kind::kConstant && x->fn == Function::kI; })) {
    E replaced = rewardloop::math::Substitute(p, HashName("j"), build_.Constant(Function::kI), *arena_);
    return replaced ? Plain(g, replaced) : Limit();
  }
  if (std::optional<Decision> constant = Antiderivatives(g, p)) return *constant;
  const auto gf = FreeSymbols(g), pf = FreeSymbols(p);
  const auto contains = [](const std::vector<const Expr*>& list, const Expr* symbol) {
    return std::any_of(list.begin(), list.end(), [&](const Expr* s) { return s->number == symbol->number; });
  };
  const bool same = std::all_of(gf.begin(), gf.end(), [&](E s) { return contains(pf, s); }) && std::all_of(pf.begin(), pf.end(), [&](E s) { return contains(gf, s); });
  if (!same && !policy_.strict_names && gf.size() == pf.size()) {
    // The same expression in other letters, taken in order of appearance.
    E renamed = p;
    for (size_t i = 0; i < pf.size() && renamed; ++i) {
      if (pf[i]->number != gf[i]->number && contains(pf, gf[i])) return Different("variables", "variables_differ");
      renamed = rewardloop::math::Substitute(renamed, pf[i]->number, gf[i], *arena_);
    }
    return renamed ? Numeric(g, renamed) : Limit();
  }
  // C and c are one name of an arbitrary constant, where each side uses only one of them.
  if (!same && gf.size() == pf.size() && gf.size() > 1) {
    for (const auto& [own, other] : {std::pair{"C", "c"}, std::pair{"c", "C"}}) {
      const int64_t ours = HashName(own), theirs = HashName(other);
      if (!ContainsSymbol(g, ours) || !ContainsSymbol(p, theirs) || ContainsSymbol(g, theirs) || ContainsSymbol(p, ours)) continue;
      E renamed = rewardloop::math::Substitute(p, theirs, build_.Symbol(own), *arena_);
      return renamed ? InLetters(g, renamed) : Limit();
    }
  }
  // An expression that vanishes everywhere is 0; nothing else loses its letters.
  const bool zero = gf.empty() && g->kind == Kind::kNumber && g->text == "0";
  if (!same && !zero) return Different("variables", "variables_differ");
  // (-1)^n, n!, cos(n pi): an index is an integer
  return Numeric(g, p);
}

Decision Comparer::Plain(E g, E p) {
  int gs = 0, ps = 0;
  const bool gi = IsInfinity(g, &gs), pi = IsInfinity(p, &ps);
  if (gi || pi) return gi && pi && gs == ps ? Equal("infinity") : Different("infinity");
  if (g->kind == Kind::kDegree || p->kind == Kind::kDegree) return Degrees(g, p);
  if ((Unsigned(g)->kind == Kind::kPercent) != (Unsigned(p)->kind == Kind::kPercent)) return Percentage(g, p);
  if (g->kind == Kind::kBaseNumber || p->kind == Kind::kBaseNumber) return BaseNumbers(g, p);
  if (!policy_.unreduced_quotients) {
    const auto quotient = [](E e) { e = Unsigned(e); return e->kind == Kind::kDiv && Unsigned((*e)[0])->kind == Kind::kNumber && Unsigned((*e)[1])->kind == Kind::kNumber; };
    const auto integer = [](E e) { e = Unsigned(e); return e->kind == Kind::kNumber && e->aux < 0; };
    if ((quotient(g) && integer(p)) || (quotient(p) && integer(g))) return Different("quotient", "unevaluated");
  }
  if (!Unevaluated(g, false)) {
    if (!policy_.allow_unevaluated && Unevaluated(p, false)) return Different("unevaluated", "unevaluated");
    if (Unevaluated(p, true)) return Different("unevaluated", "unevaluated");
  }
  if (HasSymbol(g) || HasSymbol(p)) return InLetters(g, p);
  Decision same = Numeric(g, p);
  if (same.equal() || same.equality == Equality::kLimit) return same;
  if (auto decimal = Decimals(g, p)) return *decimal;
  return same;
}

Decision Comparer::Numeric(E g, E p) {
  options_.log_base10 = false;
  const bool logs = HasLog(g) || HasLog(p);
  Decision natural = From(rewardloop::math::Compare(g, p, options_, *fuel_));
  // The tail of a series is estimated from its terms.
  const auto series = [](E e) {
    int sign = 0;
    return Any(e, [&](E x) { return (x->kind == Kind::kSum || x->kind == Kind::kProduct) && x->child_count == 4 && IsInfinity((*x)[3], &sign); });
  };
  if (natural.different() && (series(g) || series(p))) natural.reason = "not_equal_numeric";
  if (natural.equal() || !logs || natural.equality == Equality::kLimit) return natural;
  options_.log_base10 = true;
  Decision decimal = From(rewardloop::math::Compare(g, p, options_, *fuel_));
  options_.log_base10 = false;
  return decimal.equal() ? decimal : natural;
}

// The rounding policies, for closed values that are not exactly equal.
std::optional<Decision> Comparer::Decimals(E g, E p) {
  if (HasSymbol(g) || HasSymbol(p)) return std::nullopt;
  const auto gd = AsDecimal(g), pd = AsDecimal(p);
  const auto rounds = [&](E exact, E decimal, int64_t digits, const char* rule) -> std::optional<Decision> {
    if (digits < 0 || digits > 1000) return std::nullopt;
    const auto value = EvaluateRational(decimal, *fuel_, options_);
    if (!value) return std::nullopt;
    if (RoundsTo(exact, *value, static_cast<int>(digits), options_, *fuel_) == Equality::kEqual) return Equal(rule, "equal_rounded");
    return std::nullopt;
  };
  if (policy_.absolute_digits >= 0 && (gd || pd)) {
    // Tiny values are told apart exactly: an absolute tolerance would make them all equal.
    const auto tiny = [&](E e) {
      double re = 0, im = 0;
      return ApproximateForDisplay(e, options_, *fuel_, &re, &im) && std::fabs(re) < 1e-6 && std::fabs(im) < 1e-6;
    };
    Rational tolerance = Rational::Of(1, 2);
    for (int i = 0; i < policy_.absolute_digits; ++i) {
      if (i < 17) tolerance = Rational::Of(1, tolerance.small_den() * 10);
    }
    if (!tiny(g) && !tiny(p) && WithinTolerance(g, p, tolerance, options_, *fuel_) == Equality::kEqual) return Equal("tolerance", "equal_rounded");
  }
  for (bool gold_side : {true, false}) {
    const auto& decimal = gold_side ? gd : pd;
    E own = gold_side ? g : p;
    E other = gold_side ? p : g;
    if (!decimal) continue;
    if (!gold_side && !policy_.symmetric) break;
    // A decimal that only adds a digit or two is another decimal; a long one is an unrounded result.
    const auto& shown = gold_side ? pd : gd;
    if (shown && shown->fraction_digits < decimal->fraction_digits + kUnroundedDigitsMin) continue;
    if (policy_.gold_precision && (decimal->fraction_digits >= 2 || decimal->significant >= 3) && decimal->fraction_digits >= 1) {
      if (auto same = rounds(other, own, decimal->fraction_digits, "gold_precision")) return same;
    }
  }
  for (bool gold_side : {true, false}) {
    const auto& decimal = gold_side ? pd : gd;
    E exact = gold_side ? g : p;
    E shown = gold_side ? p : g;
    if (!decimal || (gold_side ? gd : pd)) continue;
    if (!gold_side && !policy_.symmetric) break;
    if (decimal->truncated && decimal->fraction_digits >= 4 && policy_.rounded_ok) {
      const auto value = EvaluateRational(shown, *fuel_, options_);
      if (value && TruncatesTo(exact, *value, static_cast<int>(std::min<int64_t>(decimal->fraction_digits, 1000)), options_, *fuel_) == Equality::kEqual) return Equal("truncated", "equal_rounded");
    }
    if (policy_.rounded_ok && decimal->significant >= 4 && !IsTranscendental(exact)) {
      // Irrational roots, and fractions too long to be written out.
      const Expr* plain = Unsigned(exact);
      const bool long_fraction = plain->kind == Kind::kDiv && Unsigned((*plain)[0])->kind == Kind::kNumber && Unsigned((*plain)[1])->kind == Kind::kNumber &&
                                 Unsigned((*plain)[0])->text.size() + Unsigned((*plain)[1])->text.size() > 6;
      if (long_fraction || !EvaluateRational(exact, *fuel_, options_)) {
        if (auto same = rounds(exact, shown, decimal->fraction_digits, "rounded")) return same;
      }
    }
  }
  return std::nullopt;
}

// F(x) + C: the constant may be called c, and it takes up whatever constant the rest differs by.
std::optional<Decision> Comparer::Antiderivatives(E g, E p) {
  const auto constant = [](E e) -> E {
    if (e->kind != Kind::kAdd) return nullptr;
    for (E term : e->children()) {
      if (term->kind == Kind::kSymbol && (term->text == "C" || term->text == "c" || term->text == "const")) return term;
    }
    return nullptr;
  };
  E gc = constant(g), pc = constant(p);
  if (!gc || !pc || FreeSymbols(g).size() < 2) return std::nullopt;
  if (pc->number != gc->number && (ContainsSymbol(g, pc->number) || ContainsSymbol(p, gc->number))) return std::nullopt;
  // Without the constant, which must stand there once.
  const auto rest = [&](E e, E letter) -> E {
    NodeList terms(arena_);
    bool removed = false;
    for (E term : e->children()) {
      if (!removed && term->kind == Kind::kSymbol && term->number == letter->number) { removed = true; continue; }
      if (!terms.Add(term)) return nullptr;
    }
    E sum = terms.size() == 1 ? terms[0] : build_.Make(Kind::kAdd, terms.span());
    return sum && !ContainsSymbol(sum, letter->number) ? sum : nullptr;
  };
  E left = rest(g, gc), right = rest(p, pc);
  if (!left || !right) return std::nullopt;
  Decision same = Numeric(left, right);
  if (same.different() && parts_ == 0) {
    E difference = Difference(left, right);
    if (!difference) return Limit();
    if (!FreeSymbols(difference).empty() && IsConstant(difference)) return Equal("antiderivative", same.reason == std::string_view("not_equal_numeric") ? "equal_numeric" : "equal_exact");
  }
  return same;
}

}  // namespace rewardloop::math
