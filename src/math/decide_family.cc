// Solution families: pi/6 + k pi against pi/6 + n pi, as sets of residues modulo the period.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "math/comparer.h"

namespace rewardloop::math {
namespace {

constexpr size_t kMembersMax = 32;
constexpr int64_t kStepDenominatorMax = 48;  // of the ratio of two steps
constexpr int64_t kStepRatioMax = 4096;
constexpr int64_t kResiduesOfOneMax = 128;
constexpr size_t kResiduesMax = 256;

// The one letter of all items when it is a usual name of an integer parameter; null otherwise.
const Expr* Parameter(const NodeList& items) {
  static constexpr std::string_view kNames[] = {"k", "n", "m", "l", "j", "K", "N"};
  const Expr* found = nullptr;
  for (size_t i = 0; i < items.size(); ++i) {
    for (const Expr* symbol : FreeSymbols(items[i])) {
      if (found && found->number != symbol->number) return nullptr;
      found = symbol;
    }
  }
  return found && std::find(std::begin(kNames), std::end(kNames), found->text) != std::end(kNames) ? found : nullptr;
}

}  // namespace

// The values of e, `x = ...` without its name; false when there are too many.
bool Comparer::FamilyValues(E e, NodeList* out) {
  NodeList items(arena_);
  Elements(e, &items);
  for (size_t i = 0; i < items.size(); ++i) {
    E name = nullptr, value = nullptr;
    if (!out->Add(IsAssignment(items[i], &name, &value) ? value : items[i])) return false;
  }
  return out->size() <= kMembersMax;
}

// Everything linear in the parameter: c + k d.
bool Comparer::FamilyLines(const NodeList& items, E parameter, std::vector<FamilyLine>* out) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (!IsScalarKind(items[i]->kind)) return false;
    const auto form = LinearIn(items[i], parameter, options_, *arena_, *fuel_);
    FamilyLine line{};
    double im = 0;
    if (!form || !ApproximateForDisplay(form->c, options_, *fuel_, &line.cv, &im) || !ApproximateForDisplay(form->k, options_, *fuel_, &line.dv, &im) || std::fabs(line.dv) <= 1e-9) return false;
    line.c = form->c;
    line.d = form->k;
    out->push_back(line);
  }
  return !out->empty();
}

// The common period of all lines is *multiple / *divisor steps of `unit`; a decision when there is none.
std::optional<Decision> Comparer::FamilyPeriod(std::span<const FamilyLine> lines, const FamilyLine& unit, int64_t* multiple, int64_t* divisor) {
  for (const FamilyLine& line : lines) {
    const double ratio = std::fabs(line.dv / unit.dv);
    int64_t num = 0, den = 1;
    for (; den <= kStepDenominatorMax; ++den) {
      num = std::llround(ratio * static_cast<double>(den));
      if (num > 0 && std::fabs(ratio * static_cast<double>(den) - static_cast<double>(num)) < 1e-9 * static_cast<double>(den)) break;
    }
    if (den > kStepDenominatorMax || num > kStepRatioMax) return Different("family");
    E a = Scale(line.d, den, 1), b = Scale(unit.d, (line.dv < 0) != (unit.dv < 0) ? -num : num, 1);
    if (!a || !b) return Limit();
    Decision same = Numeric(a, b);
    if (!same.equal()) return same;
    *multiple = std::lcm(*multiple, num);
    *divisor = std::gcd(*divisor, den);
    if (*multiple > kStepRatioMax) return Decision{Equality::kLimit, "limit_elements", "family"};
  }
  return std::nullopt;
}

// The residues of `lines` modulo the period, whose value is `period`.
std::optional<Decision> Comparer::FamilyResidues(std::span<const FamilyLine> lines, double period, std::vector<FamilyResidue>* out) {
  for (const FamilyLine& line : lines) {
    const auto count = std::llround(std::fabs(period / line.dv));
    if (count > kResiduesOfOneMax || out->size() > kResiduesMax) return Decision{Equality::kLimit, "limit_elements", "family"};
    for (int64_t j = 0; j < count; ++j) {
      E value = j == 0 ? line.c : build_.Make(Kind::kAdd, {line.c, Scale(line.d, j, 1)});
      if (!value) return Limit();
      out->push_back({value, line.cv + static_cast<double>(j) * line.dv});
    }
  }
  return std::nullopt;
}

// Has every residue of one side an equal one, up to whole periods, on the other?
Decision Comparer::FamilyMatch(std::span<const FamilyResidue> own, std::span<const FamilyResidue> others, E period, double period_value) {
  for (const FamilyResidue& residue : own) {
    bool found = false;
    for (const FamilyResidue& other : others) {
      const double turns = (residue.v - other.v) / period_value;
      const double nearest = std::round(turns);
      if (std::fabs(turns - nearest) > 1e-7 || std::fabs(nearest) > 1e9) continue;
      E difference = Difference(residue.value, other.value);
      E whole = nearest == 0 ? build_.Integer(0) : Scale(period, static_cast<int64_t>(nearest), 1);
      if (!difference || !whole) return Limit();
      if (Numeric(difference, whole).equal()) { found = true; break; }
    }
    if (!found) return Different("family");
  }
  return Equal("family");
}

std::optional<Decision> Comparer::Families(E g, E p) {
  const auto angular = [](E e) {
    return Any(e, [](E x) { return (x->kind == Kind::kConstant && x->fn == Function::kPi) || x->kind == Kind::kDegree; });
  };
  const auto lettered = [](E e) { return Any(e, [](E x) { return x->kind == Kind::kSymbol || x->kind == Kind::kCall; }); };
  if (!lettered(g) || !lettered(p) || !angular(g) || !angular(p)) return std::nullopt;
  NodeList left(arena_), right(arena_);
  if (!FamilyValues(g, &left) || !FamilyValues(p, &right)) return std::nullopt;
  E gs = Parameter(left), ps = Parameter(right);
  if (!gs || !ps) return std::nullopt;
  std::vector<FamilyLine> lines[2];
  if (!FamilyLines(left, gs, &lines[0]) || !FamilyLines(right, ps, &lines[1])) {
    if (gs->number == ps->number) return std::nullopt;
    E renamed = rewardloop::math::Substitute(p, ps->number, gs, *arena_);
    return renamed ? std::optional(Decide(g, renamed)) : std::nullopt;
  }
  const FamilyLine& unit = lines[0][0];
  int64_t multiple = 1, divisor = 0;
  for (const auto& side : lines) if (auto ended = FamilyPeriod(side, unit, &multiple, &divisor)) return ended;
  E period = Scale(unit.d, multiple, divisor);
  if (!period) return Limit();
  const double value = unit.dv * static_cast<double>(multiple) / static_cast<double>(divisor);
  std::vector<FamilyResidue> residues[2];
  for (int side = 0; side < 2; ++side) if (auto ended = FamilyResidues(lines[side], value, &residues[side])) return ended;
  Decision same = FamilyMatch(residues[0], residues[1], period, value);
  return same.equal() ? FamilyMatch(residues[1], residues[0], period, value) : same;
}

}  // namespace rewardloop::math
