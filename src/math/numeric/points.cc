#include "math/numeric/points.h"

#include <algorithm>

#include "math/numeric/residue.h"
#include "math/numeric/tree.h"

namespace rewardloop::math {
namespace {

constexpr int64_t kDenominator = 1'048'573;  // a prime: no value is special to any period or root
constexpr int64_t kAgreementBits = 100;
constexpr slong kPrecisionRatio = 256;

}  // namespace

bool PointSource::Init(const Expr* a, const Expr* b, const NumericOptions& options) {
  for (const Expr* tree : {a, b}) {
    for (const Expr* symbol : FreeSymbols(tree)) {
      if (std::find(variables_.begin(), variables_.end(), symbol->number) == variables_.end()) {
        variables_.push_back(symbol->number);
      }
    }
  }
  if (variables_.size() > static_cast<size_t>(kVariablesMax)) return false;
  std::sort(variables_.begin(), variables_.end());
  integer_.assign(variables_.size(), 0);
  values_.resize(variables_.size());
  seed_ = options.seed;
  positive_ = options.positive_variables;
  MarkIntegers(a, 0);
  MarkIntegers(b, 0);
  for (char c : integer_) has_integers_ |= c != 0;
  bindings_.resize(variables_.size());
  for (size_t i = 0; i < bindings_.size(); ++i) {
    bindings_[i] = {variables_[i], &values_[i],
                    i + 1 < bindings_.size() ? &bindings_[i + 1] : nullptr};
  }
  return true;
}

void PointSource::MarkSymbolsOf(const Expr* e, int depth) {
  if (depth > kEvalDepthMax) return;
  if (e->kind == Kind::kSymbol) {
    const auto it = std::lower_bound(variables_.begin(), variables_.end(), e->number);
    if (it != variables_.end() && *it == e->number) integer_[it - variables_.begin()] = 1;
    return;
  }
  for (const Expr* child : e->children()) MarkSymbolsOf(child, depth + 1);
}

void PointSource::MarkIntegers(const Expr* e, int depth) {
  if (depth > kEvalDepthMax) return;
  switch (e->kind) {
    case Kind::kFactorial:
    case Kind::kDoubleFactorial:
      MarkSymbolsOf(e->child[0], depth + 1);
      break;
    case Kind::kSum:
    case Kind::kProduct:
      has_series_ |= IsInfiniteSum(e);
      for (uint32_t i = 2; i < e->child_count; ++i) MarkSymbolsOf(e->child[i], depth + 1);
      break;
    case Kind::kPow:
      if (e->child[0]->kind == Kind::kNeg) MarkSymbolsOf(e->child[1], depth + 1);
      break;
    case Kind::kFunction:
      if (e->fn == Function::kBinomial || e->fn == Function::kGcd || e->fn == Function::kLcm ||
          e->fn == Function::kMod) {
        for (const Expr* child : e->children()) MarkSymbolsOf(child, depth + 1);
      }
      break;
    default:
      break;
  }
  for (const Expr* child : e->children()) MarkIntegers(child, depth + 1);
}

const Binding* PointSource::Draw(int index) {
  if (variables_.empty()) return nullptr;
  for (size_t i = 0; i < variables_.size(); ++i) {
    const uint64_t r = Mix(seed_ ^ Mix(static_cast<uint64_t>(variables_[i])) ^
                           (static_cast<uint64_t>(index) << 32));
    const uint64_t kind = Mix(r);
    if (integer_[i]) {
      // The first integer variable takes these values in turn, so that they are all different; the
      // others are small, and both n > k and n < k occur.
      constexpr int64_t kIntegers[] = {3, 6, 2, 11, 5, 17, 8, 23, 4, 13, 7, 10, 1, 9, 12, 14};
      const bool first = i == static_cast<size_t>(std::find(integer_.begin(), integer_.end(), 1) -
                                                  integer_.begin());
      values_[i] = Rational(first ? kIntegers[index % 16] : static_cast<int64_t>(r % 9) + 1);
      continue;
    }
    const int64_t fraction = static_cast<int64_t>(r % static_cast<uint64_t>(kDenominator - 2)) + 1;
    // Value = sign * (low + fraction / prime * width).
    struct Shape {
      int sign, low, width;
    };
    constexpr Shape kShapes[] = {{1, 0, 1},  {1, 1, 3}, {-1, 0, 1},  {1, 4, 6},
                                 {-1, 1, 3}, {1, 0, 1}, {1, 10, 90}, {-1, 4, 40}};
    // The first candidates have all variables small and positive, where most functions are defined.
    const size_t pick = index < 2 ? static_cast<size_t>(kind % 2) : static_cast<size_t>(kind % 8);
    const Shape shape = kShapes[pick];
    if (has_series_) {  // where power series converge fast
      values_[i] = Rational::Of((positive_ ? 1 : shape.sign) * fraction, 2 * kDenominator);
      continue;
    }
    values_[i] = Rational::Of(
        (positive_ ? 1 : shape.sign) * (shape.low * kDenominator + shape.width * fraction),
        kDenominator);
  }
  return bindings_.data();
}

namespace {

// Evaluates with rising precision until the value is known to `bits` relative bits.
BallStatus EvaluateWell(const Expr* e, const Binding* env, bool odd_real_roots,
                        const NumericOptions& options, Fuel& fuel, slong from, Ball* out,
                        BallInfo* info) {
  constexpr slong kUndecidedPrecisionMax = 512;  // a pole or a jump was hit exactly
  BallStatus status = BallStatus::kUndecided;
  for (slong prec = from; prec <= std::max(from, kUndecidedPrecisionMax); prec *= 2) {
    *info = BallInfo();
    status = EvaluateBall(e, {options, fuel, prec, odd_real_roots}, env, out, info);
    if (status != BallStatus::kUndecided) break;
  }
  return status;
}

// Bits that must agree: values far from 1 can hide a difference of moderate size.
int64_t NeededBits(const BallInfo& x, const BallInfo& y) {
  return kAgreementBits + 2 * std::min(kScaleMax / 4, std::max(x.scale_bits, y.scale_bits));
}

// Does the difference, which contains zero, leave room for anything but zero?
bool Agrees(const Ball& difference, const Ball& x, int64_t needed) {
  const int64_t error = std::max(UpperExponent(difference.re()), UpperExponent(difference.im()));
  int64_t scale = std::max(UpperExponent(x.re()), UpperExponent(x.im()));
  if (scale <= -kScaleMax || scale >= kScaleMax || x.ContainsZero()) scale = 0;
  return error <= scale - needed;
}

enum class PointVerdict : uint8_t { kAgree, kDiffer, kSkip, kUnsupported, kFuel };

PointVerdict ComparePoint(const Expr* a, const Expr* b, const Binding* env, bool integers,
                          bool odd_real_roots, const NumericOptions& options, Fuel& fuel) {
  for (slong prec = kPrecisionPoints; prec <= kPrecisionPointsMax; prec *= 2) {
    Ball x, y;
    BallInfo info_x, info_y;
    const BallStatus sx = EvaluateWell(a, env, odd_real_roots, options, fuel, prec, &x, &info_x);
    if (sx == BallStatus::kFuel) return PointVerdict::kFuel;
    const BallStatus sy = EvaluateWell(b, env, odd_real_roots, options, fuel, prec, &y, &info_y);
    if (sy == BallStatus::kFuel) return PointVerdict::kFuel;
    if (sx == BallStatus::kUnsupported || sy == BallStatus::kUnsupported)
      return PointVerdict::kUnsupported;
    if (sx == BallStatus::kUndecided || sy == BallStatus::kUndecided) return PointVerdict::kSkip;
    if (sx == BallStatus::kUndefined || sy == BallStatus::kUndefined) {
      // C(n, k) and n!/(k!(n-k)!) part company only where one of them says nothing.
      return sx == sy || integers ? PointVerdict::kSkip : PointVerdict::kDiffer;
    }
    // Without i in either text the question is one about reals: where both leave them, the point
    // says nothing.
    if (odd_real_roots && x.IsNonReal() && y.IsNonReal()) return PointVerdict::kSkip;
    Ball difference;
    acb_sub(difference.get(), x.get(), y.get(), prec);
    if (!difference.IsFinite()) return PointVerdict::kSkip;
    if (!difference.ContainsZero()) return PointVerdict::kDiffer;
    const int64_t needed = NeededBits(info_x, info_y);
    if (Agrees(difference, x, needed)) return PointVerdict::kAgree;
    if (needed > kPrecisionPointsMax) return PointVerdict::kSkip;
    while (prec * 2 < needed) prec *= 2;
  }
  return PointVerdict::kSkip;
}

}  // namespace

NumericResult ComparePoints(const Expr* a, const Expr* b, bool odd_real_roots,
                            const NumericOptions& options, Fuel& fuel) {
  PointSource points;
  if (!points.Init(a, b, options)) return {Equality::kUnknown, Method::kPoints};
  int agreed = 0;
  for (int i = 0; i < kPointCandidates && agreed < kPointsWanted; ++i) {
    switch (
        ComparePoint(a, b, points.Draw(i), points.has_integers(), odd_real_roots, options, fuel)) {
      case PointVerdict::kAgree:
        ++agreed;
        break;
      case PointVerdict::kDiffer:
        return {Equality::kDifferent, Method::kPoints};
      case PointVerdict::kSkip:
        break;
      case PointVerdict::kUnsupported:
        return {Equality::kUnknown, Method::kPoints};
      case PointVerdict::kFuel:
        return {agreed >= kPointsNeeded ? Equality::kEqual : Equality::kLimit, Method::kPoints};
    }
  }
  return {agreed >= kPointsNeeded ? Equality::kEqual : Equality::kUnknown, Method::kPoints};
}

RatioResult RatioAtPoints(const Expr* a, const Expr* b, bool odd_real_roots,
                          const NumericOptions& options, Fuel& fuel) {
  PointSource points;
  RatioResult result;
  if (!points.Init(a, b, options)) return result;
  int agreed = 0;
  bool have_ratio = false;
  Ball ratio;
  for (int i = 0; i < kPointCandidates && agreed < kPointsWanted; ++i) {
    const Binding* env = points.Draw(i);
    Ball x, y;
    BallInfo info_x, info_y;
    const BallStatus sx =
        EvaluateWell(a, env, odd_real_roots, options, fuel, kPrecisionRatio, &x, &info_x);
    const BallStatus sy =
        EvaluateWell(b, env, odd_real_roots, options, fuel, kPrecisionRatio, &y, &info_y);
    if (fuel.empty()) {
      result.equality = Equality::kLimit;
      return result;
    }
    if (sx == BallStatus::kUnsupported || sy == BallStatus::kUnsupported) return result;
    const bool one_undefined = (sx == BallStatus::kUndefined && sy == BallStatus::kOk) ||
                               (sx == BallStatus::kOk && sy == BallStatus::kUndefined);
    if (one_undefined && !points.has_integers()) {
      result.equality = Equality::kDifferent;
      return result;
    }
    if (sx != BallStatus::kOk || sy != BallStatus::kOk) continue;
    if (odd_real_roots && (x.IsNonReal() || y.IsNonReal())) continue;
    if (x.ContainsZero() || y.ContainsZero()) continue;
    Ball q;
    acb_div(q.get(), x.get(), y.get(), kPrecisionRatio);
    if (!have_ratio) {
      ratio = q;
      have_ratio = true;
      agreed = 1;
      continue;
    }
    Ball difference;
    acb_sub(difference.get(), q.get(), ratio.get(), kPrecisionRatio);
    if (!difference.ContainsZero()) {
      result.equality = Equality::kDifferent;
      return result;
    }
    if (Agrees(difference, ratio, NeededBits(info_x, info_y))) ++agreed;
  }
  if (agreed < kPointsNeeded) return result;
  result.equality = Equality::kEqual;
  if (ratio.IsReal())
    result.sign = arb_is_positive(ratio.re()) ? 1 : arb_is_negative(ratio.re()) ? -1 : 0;
  return result;
}

Equality DefinedSomewhere(const Expr* e, bool odd_real_roots, const NumericOptions& options,
                          Fuel& fuel) {
  PointSource points;
  if (!points.Init(e, e, options)) return Equality::kUnknown;
  const int tries = points.empty() ? 1 : kPointCandidates;
  for (int i = 0; i < tries; ++i) {
    Ball x;
    BallInfo info;
    switch (
        EvaluateWell(e, points.Draw(i), odd_real_roots, options, fuel, kPrecisionMin, &x, &info)) {
      case BallStatus::kOk:
        return Equality::kEqual;
      case BallStatus::kUnsupported:
        return Equality::kUnknown;
      case BallStatus::kFuel:
        return Equality::kLimit;
      default:
        break;
    }
  }
  return Equality::kDifferent;
}

}  // namespace rewardloop::math
