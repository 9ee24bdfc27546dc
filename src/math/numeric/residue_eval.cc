#include "math/numeric/residue_eval.h"

#include "math/numeric/lazy_integer.h"

namespace rewardloop::math {
namespace {

// Above it an exponent makes the degree too high for the Schwartz-Zippel bound: the power is then
// an atom.
constexpr int64_t kPolynomialExponentMax = 1 << 20;
constexpr int64_t kInversionCost = 400;
// Values of the index at which a sum or product that is not added up is looked at.
constexpr int64_t kScopeValues = 12;

// Names of atoms that are not a Function.
enum AtomTag : uint64_t {
  kAtomSymbol = 1000,
  kAtomPi,
  kAtomE,
  kAtomI,
  kAtomPower,
  kAtomLog,
  kAtomGamma,
  kAtomDoubleFactorial,
  kAtomCall,
  kAtomScope,
  kAtomBigFactorial,
};

Residue FromRational(const Rational& x) {
  if (x.is_small()) {
    Residue r = Residue::Integer(x.small_num());
    if (x.small_den() != 1) r = r * Residue::Integer(x.small_den()).Inverted();
    return r;
  }
  Residue r;
  mpz_srcptr num = mpq_numref(x.big());
  mpz_srcptr den = mpq_denref(x.big());
  for (int lane = 0; lane < 2; ++lane) {
    r.num[lane] =
        mpz_fdiv_ui(num, kPrimes[lane]);  // the residue of a negative number is already in [0, p)
    r.den[lane] = mpz_fdiv_ui(den, kPrimes[lane]);
  }
  return r;
}

class Evaluator {
 public:
  Evaluator(const ResidueContext& context, ResidueInfo* info)
      : context_(context),
        fuel_(context.fuel),
        exact_{context.options, context.fuel, context.odd_real_roots},
        info_(info) {}

  ResidueStatus Eval(const Expr* e, const Binding* env, Residue* out, int depth);

 private:
  ResidueStatus Unsupported() const {
    return fuel_.empty() ? ResidueStatus::kFuel : ResidueStatus::kUnsupported;
  }
  ResidueStatus Divide(const Residue& a, const Residue& b, Residue* out);
  ResidueStatus EvalNumber(const Expr* e, Residue* out);
  ResidueStatus EvalConstant(const Expr* e, Residue* out);
  ResidueStatus EvalRoot(const Expr* e, const Binding* env, Residue* out, int depth);
  ResidueStatus EvalCall(const Expr* e, const Binding* env, Residue* out, int depth);
  ResidueStatus EvalScaled(const Expr* e, const Binding* env, Residue* out, int depth);
  ResidueStatus EvalPower(const Expr* e, const Binding* env, Residue* out, int depth);
  ResidueStatus RationalPower(const Residue& base, const Rational& exponent, bool symbolic_base,
                              bool real_root, Residue* out);
  ResidueStatus HugePower(const Expr* e, const Residue& base, const Binding* env, Residue* out,
                          int depth);
  ResidueStatus EvalFactorial(const Expr* e, const Binding* env, Residue* out, int depth);
  ResidueStatus EvalFunction(const Expr* e, const Binding* env, Residue* out, int depth);
  ResidueStatus EvalScope(const Expr* e, const Binding* env, Residue* out, int depth);
  ResidueStatus EvalFinite(const Expr* e, int64_t lower, int64_t upper, const Binding* env,
                           Residue* out, int depth);

  // An atom named by tag and the residues given.
  ResidueStatus Atom(uint64_t tag, const Residue* args, size_t count, Residue* out);
  ResidueStatus Log(const Residue& x, Residue* out) {
    info_->partial = true;
    if (x.num[0] == x.den[0] && x.num[1] == x.den[1]) {
      *out = Residue::Integer(0);
      return ResidueStatus::kOk;
    }
    return Atom(kAtomLog, &x, 1, out);
  }
  uint64_t Value(uint64_t key) const { return Mix(key ^ Mix(context_.seed)); }
  Residue Constant(uint64_t tag) const {
    return Residue::Values(Value(tag), Value(tag + 0x100000));
  }

  const ResidueContext& context_;
  Fuel& fuel_;
  ExactContext exact_;
  ResidueInfo* info_;
  int scope_depth_ = 0;
};

ResidueStatus Evaluator::Atom(uint64_t tag, const Residue* args, size_t count, Residue* out) {
  info_->other_atoms = true;
  if (!fuel_.Spend(20 + kInversionCost * static_cast<int64_t>(count))) return ResidueStatus::kFuel;
  uint64_t h = Value(tag), g = Value(tag + 0x100000);
  for (size_t i = 0; i < count; ++i) {
    if (!args[i].IsUsable()) return Unsupported();
    uint64_t x[2];
    args[i].Normal(x);
    h = Mix(h + x[0]) ^ Mix(x[1]);
    g = Mix(g ^ x[1]) + Mix(x[0] + i);
  }
  *out = Residue::Values(Mix(h), Mix(g ^ h));
  return ResidueStatus::kOk;
}

ResidueStatus Evaluator::Divide(const Residue& a, const Residue& b, Residue* out) {
  if (b.IsZero()) return ResidueStatus::kUndefined;
  *out = a * b.Inverted();
  return out->IsUsable() ? ResidueStatus::kOk : Unsupported();
}

ResidueStatus Evaluator::EvalNumber(const Expr* e, Residue* out) {
  Rational digits;
  if (!ParseNumber(e->text, 10, 0, fuel_, &digits)) return Unsupported();
  *out = FromRational(digits);
  if (e->number == 0) return ResidueStatus::kOk;
  const uint64_t exponent = e->number < 0 ? -static_cast<uint64_t>(e->number) : e->number;
  const Residue scale = PowResidue(Residue::Integer(10), exponent);
  *out = *out * (e->number < 0 ? scale.Inverted() : scale);
  return fuel_.Spend(500) ? ResidueStatus::kOk : ResidueStatus::kFuel;
}

ResidueStatus Evaluator::RationalPower(const Residue& base, const Rational& exponent,
                                       bool symbolic_base, bool real_root, Residue* out) {
  int64_t p, q;
  if (!exponent.Numerator().ToInt64(&p) || !exponent.Denominator().ToInt64(&q))
    return Unsupported();
  Residue root = base;
  if (base.IsZero()) {
    if (p <= 0) return ResidueStatus::kUndefined;
    *out = Residue::Integer(0);
    return ResidueStatus::kOk;
  }
  if (q != 1) {
    info_->partial = true;
    // An odd root is another function than the principal power where both readings are told apart.
    const bool real = q % 2 != 0 && (real_root || context_.odd_real_roots);
    const Residue args[2] = {base, Residue::Integer(real ? -q : q)};
    const ResidueStatus status = Atom(kAtomPower, args, 2, &root);
    if (status != ResidueStatus::kOk) return status;
  }
  if (p < 0) root = root.Inverted();
  if (!root.IsUsable()) return Unsupported();
  const uint64_t n = p < 0 ? -static_cast<uint64_t>(p) : p;
  if (symbolic_base && n > static_cast<uint64_t>(kPolynomialExponentMax)) {
    const Residue args[2] = {root, Residue::Integer(static_cast<int64_t>(n))};
    return Atom(kAtomPower + 0x1000, args, 2, out);
  }
  *out = PowResidue(root, n);
  return fuel_.Spend(500) ? ResidueStatus::kOk : ResidueStatus::kFuel;
}

// base^exponent for a closed integer exponent above 64 bits: modulo p - 1.
ResidueStatus Evaluator::HugePower(const Expr* e, const Residue& base, const Binding* env,
                                   Residue* out, int depth) {
  const int sign = StructuralSign(e, exact_, env, depth + 1);
  if (sign == 0 || !base.IsUsable()) return Unsupported();
  uint64_t reduced[2];
  for (int lane = 0; lane < 2; ++lane) {
    if (!EvaluateModulo(e, kPrimes[lane] - 1, exact_, env, &reduced[lane], depth + 1))
      return Unsupported();
    if (base.num[lane] == 0) return Unsupported();
  }
  info_->lazy = true;
  // Fermat turns a negative exponent into the positive one by itself.
  *out = {{Field<0>::Pow(base.num[0], reduced[0]), Field<1>::Pow(base.num[1], reduced[1])},
          {Field<0>::Pow(base.den[0], reduced[0]), Field<1>::Pow(base.den[1], reduced[1])}};
  return ResidueStatus::kOk;
}

ResidueStatus Evaluator::EvalPower(const Expr* e, const Binding* env, Residue* out, int depth) {
  const Expr* exponent_tree = e->child[1];
  const bool symbols_before = info_->symbols;
  info_->symbols = false;
  Residue base;
  ResidueStatus status = Eval(e->child[0], env, &base, depth + 1);
  const bool symbolic_base = info_->symbols;
  info_->symbols = symbols_before || symbolic_base;
  if (status != ResidueStatus::kOk) return status;
  Rational exponent;
  const ExactStatus exact = EvaluateExact(exponent_tree, exact_, env, &exponent, depth + 1);
  if (exact == ExactStatus::kFuel) return ResidueStatus::kFuel;
  if (exact == ExactStatus::kUndefined) return ResidueStatus::kUndefined;
  if (exact == ExactStatus::kOk) {
    status = RationalPower(base, exponent, symbolic_base, false, out);
    if (status != ResidueStatus::kUnsupported) return status;
  }
  if (exact != ExactStatus::kInexact && !symbolic_base) {
    status = HugePower(exponent_tree, base, env, out, depth);
    if (status != ResidueStatus::kUnsupported) return status;
  }
  Residue args[2] = {base, {}};
  status = Eval(exponent_tree, env, &args[1], depth + 1);
  if (status != ResidueStatus::kOk) return status;
  info_->partial = true;
  return Atom(kAtomPower + 0x2000, args, 2, out);
}

ResidueStatus Evaluator::EvalFactorial(const Expr* e, const Binding* env, Residue* out, int depth) {
  Rational n;
  int64_t small;
  const ExactStatus exact = EvaluateExact(e->child[0], exact_, env, &n, depth + 1);
  if (exact == ExactStatus::kOk && n.is_integer()) {
    if (n.sign() < 0 && e->kind == Kind::kFactorial) return ResidueStatus::kUndefined;
    if (e->kind == Kind::kFactorial && n.ToInt64(&small) && small <= kResidueFactorialMax) {
      if (!fuel_.Spend(4 * (small % kFactorialStride))) return ResidueStatus::kFuel;
      *out = FactorialResidue(small);
      info_->lazy |= small > kExactFactorialMax;
      return ResidueStatus::kOk;
    }
  }
  Residue x;
  const ResidueStatus status = Eval(e->child[0], env, &x, depth + 1);
  if (status != ResidueStatus::kOk) return status;
  info_->partial = true;
  if (e->kind == Kind::kDoubleFactorial) return Atom(kAtomDoubleFactorial, &x, 1, out);
  return Atom(kAtomGamma, &x, 1, out);  // named by n, as Gamma(n + 1)
}

ResidueStatus Evaluator::EvalFinite(const Expr* e, int64_t lower, int64_t upper, const Binding* env,
                                    Residue* out, int depth) {
  const bool sum = e->kind == Kind::kSum;
  *out = Residue::Integer(sum ? 0 : 1);
  for (int64_t k = lower; k <= upper; ++k) {
    const Rational index(k);
    const Binding binding{e->child[1]->number, &index, env};
    Residue term;
    const ResidueStatus status = Eval(e->child[0], &binding, &term, depth + 1);
    if (status != ResidueStatus::kOk) return status;
    *out = sum ? *out + term : *out * term;
    if (!out->IsUsable()) return Unsupported();
  }
  return ResidueStatus::kOk;
}

// Sums, products, integrals, limits and derivatives: finite sums are added up, the rest are atoms
// named by their parts with the bound variable replaced by a value that depends on the nesting
// level only.
ResidueStatus Evaluator::EvalScope(const Expr* e, const Binding* env, Residue* out, int depth) {
  if (e->child_count < 2 || e->child_count > 4 || e->child[1]->kind != Kind::kSymbol)
    return Unsupported();
  if (e->kind == Kind::kSum || e->kind == Kind::kProduct) {
    int64_t lower, upper;
    const ExactStatus status = EvaluateBounds(e, exact_, env, &lower, &upper, depth);
    if (status == ExactStatus::kFuel) return ResidueStatus::kFuel;
    if (status == ExactStatus::kOk) return EvalFinite(e, lower, upper, env, out, depth);
  }
  info_->partial = true;
  Residue parts[kScopeValues + 3];
  size_t count = 0;
  const auto level = static_cast<int64_t>(Value(kAtomScope + scope_depth_) >> 3);
  // The variable of an indefinite integral and of a derivative occurs in the value too, so there it
  // stays free.
  const bool series = e->kind == Kind::kSum || e->kind == Kind::kProduct;
  const bool bound =
      series || e->kind == Kind::kLimit || (e->kind == Kind::kIntegral && e->child_count == 4);
  ResidueStatus status = ResidueStatus::kOk;
  ++scope_depth_;
  // (-1)^k is a constant at one k: an index takes several values in a row.
  for (int64_t i = 0; i < (series ? kScopeValues : 1) && status == ResidueStatus::kOk; ++i) {
    const Rational value(level + i);
    const Binding binding{e->child[1]->number, &value, env};
    status = Eval(e->child[0], bound ? &binding : env, &parts[count++], depth + 1);
  }
  --scope_depth_;
  for (uint32_t i = bound ? 2 : 1; i < e->child_count && status == ResidueStatus::kOk; ++i) {
    if (e->child[i]->kind == Kind::kConstant && e->child[i]->fn == Function::kInfinity) {
      parts[count++] = Constant(kAtomScope + 0x900);
    } else if (e->child[i]->kind == Kind::kNeg &&
               e->child[i]->child[0]->fn == Function::kInfinity) {
      parts[count++] = Constant(kAtomScope + 0x901);
    } else {
      status = Eval(e->child[i], env, &parts[count++], depth + 1);
    }
  }
  if (status != ResidueStatus::kOk) return status;
  const uint64_t tag = kAtomScope + 0x1000 + static_cast<uint64_t>(e->kind) * 16 + (e->flags & 3);
  return Atom(tag, parts, count, out);
}

ResidueStatus Evaluator::EvalFunction(const Expr* e, const Binding* env, Residue* out, int depth) {
  constexpr size_t kArgsMax = 8;
  if (e->child_count == 0 || e->child_count > kArgsMax) return Unsupported();
  Residue args[kArgsMax];
  for (uint32_t i = 0; i < e->child_count; ++i) {
    const ResidueStatus status = Eval(e->child[i], env, &args[i], depth + 1);
    if (status != ResidueStatus::kOk) return status;
  }
  const Residue& x = args[0];
  const auto atom = [&](Function fn, Residue* value) {
    return Atom(static_cast<uint64_t>(fn), args, e->child_count, value);
  };
  const auto quotient = [&](Function top, Function bottom) {
    Residue n = Residue::Integer(1), d = n;
    ResidueStatus status = top == Function::kNone ? ResidueStatus::kOk : atom(top, &n);
    if (status == ResidueStatus::kOk) status = atom(bottom, &d);
    info_->partial = true;
    return status == ResidueStatus::kOk ? Divide(n, d, out) : status;
  };
  switch (e->fn) {
    case Function::kTan:
      return quotient(Function::kSin, Function::kCos);
    case Function::kCot:
      return quotient(Function::kCos, Function::kSin);
    case Function::kSec:
      return quotient(Function::kNone, Function::kCos);
    case Function::kCsc:
      return quotient(Function::kNone, Function::kSin);
    case Function::kTanh:
      return quotient(Function::kSinh, Function::kCosh);
    case Function::kCoth:
      return quotient(Function::kCosh, Function::kSinh);
    case Function::kSech:
      return quotient(Function::kNone, Function::kCosh);
    case Function::kCsch:
      return quotient(Function::kNone, Function::kSinh);
    case Function::kExp: {
      const Residue power[2] = {Constant(kAtomE), x};
      info_->e = true;
      return Atom(kAtomPower + 0x2000, power, 2, out);
    }
    case Function::kLn:
      return Log(x, out);
    case Function::kLog:
    case Function::kLogBase: {
      const bool two = e->fn == Function::kLogBase;
      if (two && e->child_count != 2) return Unsupported();
      Residue top, bottom = Residue::Integer(1);
      ResidueStatus status = Log(two ? args[1] : x, &top);
      if (status == ResidueStatus::kOk && (two || context_.options.log_base10)) {
        status = Log(two ? x : Residue::Integer(10), &bottom);
      }
      return status == ResidueStatus::kOk ? Divide(top, bottom, out) : status;
    }
    case Function::kGamma: {
      const Residue n = x - Residue::Integer(1);
      info_->partial = true;
      return Atom(kAtomGamma, &n, 1, out);
    }
    case Function::kAbs: {
      const Residue square = x * x;  // |x| = |-x|
      return Atom(static_cast<uint64_t>(Function::kAbs), &square, 1, out);
    }
    case Function::kSin:
    case Function::kCos:
    case Function::kSinh:
    case Function::kCosh:
    case Function::kArctan:
    case Function::kArsinh:
    case Function::kRe:
    case Function::kIm:
    case Function::kConj:
      return atom(e->fn, out);
    default:
      info_->partial = true;
      return atom(e->fn, out);
  }
}

ResidueStatus Evaluator::EvalConstant(const Expr* e, Residue* out) {
  if (e->fn == Function::kPi) {
    info_->pi = true;
    *out = Constant(kAtomPi);
  } else if (e->fn == Function::kE) {
    info_->e = true;
    *out = Constant(kAtomE);
  } else if (e->fn == Function::kI) {
    info_->other_atoms = true;
    *out = Constant(kAtomI);
  } else {
    return Unsupported();
  }
  return ResidueStatus::kOk;
}

ResidueStatus Evaluator::EvalRoot(const Expr* e, const Binding* env, Residue* out, int depth) {
  Residue x;
  const ResidueStatus status = Eval(e->child[0], env, &x, depth + 1);
  if (status != ResidueStatus::kOk) return status;
  Rational index(2);
  if (e->kind == Kind::kRoot &&
      EvaluateExact(e->child[1], exact_, env, &index) != ExactStatus::kOk) {
    return Unsupported();
  }
  if (index.is_zero()) return ResidueStatus::kUndefined;
  Rational exponent;
  if (!Div(Rational(1), index, fuel_, &exponent)) return Unsupported();
  return RationalPower(x, exponent, true, true, out);
}

ResidueStatus Evaluator::EvalCall(const Expr* e, const Binding* env, Residue* out, int depth) {
  Residue args[8];
  if (e->child_count > 8) return Unsupported();
  uint64_t tag = kAtomCall;
  for (char c : e->text) tag = Mix(tag ^ static_cast<unsigned char>(c));
  for (uint32_t i = 0; i < e->child_count; ++i) {
    const ResidueStatus status = Eval(e->child[i], env, &args[i], depth + 1);
    if (status != ResidueStatus::kOk) return status;
  }
  return Atom(tag, args, e->child_count, out);
}

ResidueStatus Evaluator::EvalScaled(const Expr* e, const Binding* env, Residue* out, int depth) {
  const ResidueStatus status = Eval(e->child[0], env, out, depth + 1);
  if (status != ResidueStatus::kOk) return status;
  *out = *out * Residue::Integer(e->kind == Kind::kPercent ? 100 : 180).Inverted();
  if (e->kind == Kind::kDegree && !out->IsZero()) {
    info_->pi = true;
    *out = *out * Constant(kAtomPi);
  }
  return ResidueStatus::kOk;
}

ResidueStatus Evaluator::Eval(const Expr* e, const Binding* env, Residue* out, int depth) {
  if (depth > kEvalDepthMax) return ResidueStatus::kUnsupported;
  if (!fuel_.Spend(6)) return ResidueStatus::kFuel;
  switch (e->kind) {
    case Kind::kNumber:
      return EvalNumber(e, out);
    case Kind::kBaseNumber: {
      Rational value;
      if (!ParseNumber(e->text, static_cast<int>(e->number), 0, fuel_, &value))
        return Unsupported();
      *out = FromRational(value);
      return ResidueStatus::kOk;
    }
    case Kind::kSymbol:
      if (const Rational* value = FindBinding(env, e->number); value != nullptr) {
        *out = FromRational(*value);
      } else {
        info_->symbols = true;
        *out = Constant(Mix(static_cast<uint64_t>(e->number) ^ kAtomSymbol));
      }
      return ResidueStatus::kOk;
    case Kind::kConstant:
      return EvalConstant(e, out);
    case Kind::kNeg: {
      const ResidueStatus status = Eval(e->child[0], env, out, depth + 1);
      if (status == ResidueStatus::kOk) *out = out->Negated();
      return status;
    }
    case Kind::kAdd:
    case Kind::kMul: {
      ResidueStatus status = Eval(e->child[0], env, out, depth + 1);
      for (uint32_t i = 1; i < e->child_count && status == ResidueStatus::kOk; ++i) {
        Residue term;
        status = Eval(e->child[i], env, &term, depth + 1);
        *out = e->kind == Kind::kAdd ? *out + term : *out * term;
      }
      return status;
    }
    case Kind::kDiv: {
      Residue x, y;
      ResidueStatus status = Eval(e->child[0], env, &x, depth + 1);
      if (status == ResidueStatus::kOk) status = Eval(e->child[1], env, &y, depth + 1);
      return status == ResidueStatus::kOk ? Divide(x, y, out) : status;
    }
    case Kind::kPow:
      return EvalPower(e, env, out, depth);
    case Kind::kSqrt:
    case Kind::kRoot:
      return EvalRoot(e, env, out, depth);
    case Kind::kFactorial:
    case Kind::kDoubleFactorial:
      return EvalFactorial(e, env, out, depth);
    case Kind::kFunction:
      return EvalFunction(e, env, out, depth);
    case Kind::kCall:
      return EvalCall(e, env, out, depth);
    case Kind::kPercent:
    case Kind::kDegree:
      return EvalScaled(e, env, out, depth);
    case Kind::kSum:
    case Kind::kProduct:
    case Kind::kIntegral:
    case Kind::kLimit:
    case Kind::kDerivative:
      return EvalScope(e, env, out, depth);
    default:
      return Unsupported();
  }
}

}  // namespace

ResidueStatus EvaluateResidue(const Expr* e, const ResidueContext& context, const Binding* bindings,
                              Residue* out, ResidueInfo* info) {
  return Evaluator(context, info).Eval(e, bindings, out, 0);
}

}  // namespace rewardloop::math
