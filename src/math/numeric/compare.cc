// The order of the methods: exact, residues, then balls for closed trees or balls at points.
#include "math/numeric/calculus.h"
#include "math/numeric/closed.h"
#include "math/numeric/exact_eval.h"
#include "math/numeric/numeric.h"
#include "math/numeric/points.h"
#include "math/numeric/residue_eval.h"
#include "math/numeric/tree.h"

namespace rewardloop::math {
namespace {

// A part of the budget, so that one method cannot starve those after it.
class FuelShare {
 public:
  FuelShare(Fuel& fuel, int64_t divisor) : fuel_(fuel), share_(fuel.left() / divisor) {}
  ~FuelShare() { static_cast<void>(fuel_.Spend(share_.used())); }
  FuelShare(const FuelShare&) = delete;
  FuelShare& operator=(const FuelShare&) = delete;
  Fuel& get() { return share_; }

 private:
  Fuel& fuel_;
  Fuel share_;
};

NumericResult Limited() { return {Equality::kLimit, Method::kNone}; }

struct Pair {
  const Expr* a;
  const Expr* b;
  bool closed;
  bool odd_real_roots;
};

// An identity of atoms holds wherever the atoms have values: is that anywhere?
NumericResult ConfirmDefined(const Pair& pair, bool partial, Method method,
                             const NumericOptions& options, Fuel& fuel) {
  if (!partial) return {Equality::kEqual, method};
  for (const Expr* e : {pair.a, pair.b}) {
    const Equality defined = DefinedSomewhere(e, pair.odd_real_roots, options, fuel);
    if (defined == Equality::kLimit) return Limited();
    if (defined == Equality::kDifferent) return {Equality::kUnknown, Method::kUndefined};
  }
  return {Equality::kEqual, method};
}

// One side at least is undefined: different if the other has a value somewhere.
NumericResult WithUndefined(const Expr* other, bool odd_real_roots, const NumericOptions& options,
                            Fuel& fuel) {
  const bool defined = other != nullptr &&
                       DefinedSomewhere(other, odd_real_roots, options, fuel) == Equality::kEqual;
  return {defined ? Equality::kDifferent : Equality::kUnknown, Method::kUndefined};
}

// kUnknown with kNone: the residues leave the question open.
NumericResult CompareResidues(const Pair& pair, const NumericOptions& options, Fuel& budget) {
  FuelShare share(budget, 2);
  Fuel& fuel = share.get();
  const ResidueContext context{options, fuel, options.seed, pair.odd_real_roots};
  Residue x, y;
  ResidueInfo info;
  const ResidueStatus sx = EvaluateResidue(pair.a, context, nullptr, &x, &info);
  if (sx == ResidueStatus::kFuel || sx == ResidueStatus::kUnsupported) return {};
  const ResidueStatus sy = EvaluateResidue(pair.b, context, nullptr, &y, &info);
  if (sy == ResidueStatus::kFuel || sy == ResidueStatus::kUnsupported) return {};
  if (sx == ResidueStatus::kUndefined || sy == ResidueStatus::kUndefined) {
    const Expr* other = sx == sy ? nullptr : sx == ResidueStatus::kUndefined ? pair.b : pair.a;
    return WithUndefined(other, pair.odd_real_roots, options, fuel);
  }
  const Residue difference = x - y;
  if (!difference.IsUsable()) return {};
  if (difference.IsNonzeroSomewhere()) {
    if (info.IsDecisive()) return {Equality::kDifferent, Method::kResidue};
    return {};
  }
  // A closed number without atoms comes here only when it is too large to be written down.
  if (pair.closed && info.IsDecisive() && !info.pi && !info.e)
    return CompareHuge(pair.a, pair.b, options, fuel);
  return ConfirmDefined(pair, info.partial, Method::kResidue, options, fuel);
}

// What exact arithmetic leaves open, without derivatives and limits that have a rule.
NumericResult CompareFunctions(const Expr* a, const Expr* b, const TreeFacts& facts,
                               const NumericOptions& options, Fuel& fuel) {
  const Pair pair{a, b, FreeSymbols(a).empty() && FreeSymbols(b).empty(), !facts.imaginary};
  const NumericResult residues = CompareResidues(pair, options, fuel);
  if (residues.method != Method::kNone || residues.equality == Equality::kLimit) return residues;
  if (facts.infinity) return {};
  NumericResult result = pair.closed ? CompareClosed(a, b, pair.odd_real_roots, options, fuel)
                                     : ComparePoints(a, b, pair.odd_real_roots, options, fuel);
  if (result.equality == Equality::kUnknown && fuel.empty()) result.equality = Equality::kLimit;
  return result;
}

// 1 or -1 of a bare infinity, 0 of anything else.
int InfinitySign(const Expr* e) {
  const bool negative = e->kind == Kind::kNeg;
  if (negative) e = e->child[0];
  if (e->kind != Kind::kConstant || e->fn != Function::kInfinity) return 0;
  return negative ? -1 : 1;
}

}  // namespace

const char* MethodName(Method method) {
  switch (method) {
    case Method::kNone:
      return "none";
    case Method::kStructure:
      return "structure";
    case Method::kRational:
      return "exact";
    case Method::kResidue:
      return "residue";
    case Method::kBall:
      return "ball";
    case Method::kSeparation:
      return "separation";
    case Method::kPoints:
      return "points";
    case Method::kLazyPower:
      return "lazy_power";
    case Method::kUndefined:
      return "undefined";
  }
  return "none";
}

NumericResult Compare(const Expr* a, const Expr* b, const NumericOptions& options, Fuel& fuel) {
  Rational x, y;
  ExactStatus sa, sb;
  {
    FuelShare share(fuel, 2);
    const ExactContext exact{options, share.get()};
    sa = EvaluateExact(a, exact, nullptr, &x);
    sb = EvaluateExact(b, exact, nullptr, &y);
  }
  if (fuel.empty()) return Limited();
  if (sa == ExactStatus::kOk && sb == ExactStatus::kOk) {
    return {x == y ? Equality::kEqual : Equality::kDifferent, Method::kRational};
  }
  if (sa == ExactStatus::kUndefined || sb == ExactStatus::kUndefined) {
    if (sa == ExactStatus::kOk || sb == ExactStatus::kOk)
      return {Equality::kDifferent, Method::kUndefined};
    return WithUndefined(sa == sb                        ? nullptr
                         : sa == ExactStatus::kUndefined ? b
                                                         : a,
                         true, options, fuel);
  }
  TreeFacts facts;
  CollectFacts(a, &facts);
  CollectFacts(b, &facts);
  if (facts.unscalar) return {};
  if (!facts.calculus) return CompareFunctions(a, b, facts, options, fuel);
  Arena arena(kCalculusArenaBytes);
  const Expr* evaluated_a = EvaluateCalculus(a, options, arena, fuel);
  const Expr* evaluated_b = EvaluateCalculus(b, options, arena, fuel);
  if (evaluated_a == nullptr || evaluated_b == nullptr) {
    return {fuel.empty() ? Equality::kLimit : Equality::kUnknown, Method::kNone};
  }
  // A limit at infinity is gone now, or has become an infinity itself.
  facts = {};
  CollectFacts(evaluated_a, &facts);
  CollectFacts(evaluated_b, &facts);
  const int sign_a = InfinitySign(evaluated_a), sign_b = InfinitySign(evaluated_b);
  if (sign_a != 0 && sign_b != 0)
    return {sign_a == sign_b ? Equality::kEqual : Equality::kDifferent, Method::kRational};
  if (sign_a != 0 || sign_b != 0) {
    const Expr* other = sign_a != 0 ? evaluated_b : evaluated_a;
    if (EvaluateRational(other, fuel, options)) return {Equality::kDifferent, Method::kRational};
    return {};
  }
  if (!facts.calculus) return Compare(evaluated_a, evaluated_b, options, fuel);
  return CompareFunctions(evaluated_a, evaluated_b, facts, options, fuel);
}

RatioResult ConstantRatio(const Expr* a, const Expr* b, const NumericOptions& options, Fuel& fuel) {
  TreeFacts facts;
  CollectFacts(a, &facts);
  CollectFacts(b, &facts);
  RatioResult result;
  if (facts.unscalar || facts.infinity) return result;
  const bool odd = !facts.imaginary;
  bool proved = false;
  ResidueInfo info;
  Residue x[3], y[3];
  bool usable = true;
  for (int i = 0; i < 3 && usable; ++i) {
    const ResidueContext context{options, fuel, Mix(options.seed + static_cast<uint64_t>(i)), odd};
    const ResidueStatus sx = EvaluateResidue(a, context, nullptr, &x[i], &info);
    const ResidueStatus sy = EvaluateResidue(b, context, nullptr, &y[i], &info);
    if (fuel.empty()) {
      result.equality = Equality::kLimit;
      return result;
    }
    if (sx == ResidueStatus::kUndefined || sy == ResidueStatus::kUndefined) return result;
    usable = sx == ResidueStatus::kOk && sy == ResidueStatus::kOk;
    if (usable && (x[i].IsZero() || y[i].IsZero())) {
      if (!info.other_atoms) {
        // One vanishes identically: never proportional with a nonzero constant, unless both do.
        result.equality =
            x[i].IsZero() && y[i].IsZero() ? Equality::kUnknown : Equality::kDifferent;
        return result;
      }
      usable = false;
    }
  }
  if (usable) {
    // x0/y0 = x1/y1 = x2/y2 as x0 y1 = x1 y0. Atoms such as pi take other values with every seed,
    // so with them only "equal" says something.
    const Residue d1 = x[0] * y[1] - x[1] * y[0];
    const Residue d2 = x[0] * y[2] - x[2] * y[0];
    if (d1.IsUsable() && d2.IsUsable()) {
      proved = d1.IsZero() && d2.IsZero();
      if (!proved && !info.other_atoms && !info.pi && !info.e) {
        result.equality = Equality::kDifferent;
        return result;
      }
    }
  }
  result = RatioAtPoints(a, b, odd, options, fuel);
  if (proved && result.equality == Equality::kUnknown) result.equality = Equality::kEqual;
  return result;
}

}  // namespace rewardloop::math
