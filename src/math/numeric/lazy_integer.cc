#include "math/numeric/lazy_integer.h"

#include "math/numeric/residue.h"

namespace rewardloop::math {
namespace {

uint64_t MulMod(uint64_t a, uint64_t b, uint64_t m) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b % m);
}

uint64_t RationalModulo(const Rational& integer, uint64_t m) {
  int64_t small;
  if (integer.ToInt64(&small)) {
    const int64_t r = static_cast<int64_t>(static_cast<__int128>(small) % static_cast<__int128>(m));
    return r < 0 ? static_cast<uint64_t>(r) + m : static_cast<uint64_t>(r);
  }
  return mpz_fdiv_ui(mpq_numref(integer.big()), m);
}

// Certainly above 2^(kExactBitsMax / 2) in absolute value.
bool IsHuge(const Expr* e, const ExactContext& context, const Binding* env, int depth) {
  if (depth > kEvalDepthMax) return false;
  Rational base;
  switch (e->kind) {
    case Kind::kNeg:
      return IsHuge(e->child[0], context, env, depth + 1);
    case Kind::kPow:
      if (EvaluateExact(e->child[0], context, env, &base, depth + 1) == ExactStatus::kOk) {
        if (!base.is_integer() || base.bits() < 2) return false;
      } else if (!IsHuge(e->child[0], context, env, depth + 1)) {
        return false;
      }
      break;
    case Kind::kFactorial:
      break;
    default:
      return false;
  }
  // Refused by exact arithmetic for its size, and the size of such a power or factorial is that of
  // an integer.
  return StructuralSign(e->child[e->kind == Kind::kPow ? 1 : 0], context, env, depth + 1) > 0 &&
         EvaluateExact(e, context, env, &base, depth + 1) == ExactStatus::kTooBig;
}

bool PowerModulo(const Expr* e, uint64_t m, const ExactContext& context, const Binding* env,
                 uint64_t* out, int depth) {
  uint64_t base;
  if (!EvaluateModulo(e->child[0], m, context, env, &base, depth + 1)) return false;
  Rational exponent;
  if (EvaluateExact(e->child[1], context, env, &exponent, depth + 1) == ExactStatus::kOk) {
    if (!exponent.is_integer() || exponent.sign() < 0) return false;
    if (exponent.is_zero()) return false;  // x^0 with a huge x: the exact path's business
    int64_t n;
    if (exponent.ToInt64(&n)) {
      *out = PowModU64(base, n, m);
      return context.fuel.Spend(300);
    }
  } else if (context.fuel.empty() || StructuralSign(e->child[1], context, env, depth + 1) <= 0) {
    return false;
  }
  // The exponent is above 2^63, so above every prime power in m: Euler's theorem holds in the form
  // a^e = a^(e mod lambda + lambda) for every a.
  if (!context.fuel.Spend(3000)) return false;
  const uint64_t lambda = Carmichael(m);
  uint64_t reduced;
  if (!EvaluateModulo(e->child[1], lambda, context, env, &reduced, depth + 1)) return false;
  *out = MulMod(PowModU64(base, reduced, m), PowModU64(base, lambda, m), m);
  return context.fuel.Spend(600);
}

bool FactorialModulo(const Expr* e, uint64_t m, const ExactContext& context, const Binding* env,
                     uint64_t* out, int depth) {
  Rational n;
  const ExactStatus status = EvaluateExact(e->child[0], context, env, &n, depth + 1);
  if (status == ExactStatus::kOk) {
    if (!n.is_integer() || n.sign() < 0) return false;
    int64_t small;
    if (n.ToInt64(&small) && static_cast<uint64_t>(small) < m) {
      if (small > kResidueFactorialMax || !context.fuel.Spend(small * 4)) return false;
      uint64_t product = 1 % m;
      for (int64_t k = 2; k <= small && product != 0; ++k) product = MulMod(product, k, m);
      *out = product;
      return true;
    }
  } else if (StructuralSign(e->child[0], context, env, depth + 1) <= 0) {
    return false;
  } else {
    // Too large to write down, so above any 64-bit modulus, but an integer only if its residue says
    // so.
    uint64_t ignored;
    if (!EvaluateModulo(e->child[0], 2, context, env, &ignored, depth + 1)) return false;
  }
  *out = 0;
  return true;
}

}  // namespace

bool EvaluateModulo(const Expr* e, uint64_t m, const ExactContext& context, const Binding* bindings,
                    uint64_t* out, int depth) {
  if (depth > kEvalDepthMax || !context.fuel.Spend(10)) return false;
  Rational value;
  const ExactStatus status = EvaluateExact(e, context, bindings, &value, depth);
  if (status == ExactStatus::kOk) {
    if (!value.is_integer()) return false;
    *out = RationalModulo(value, m);
    return true;
  }
  if (status != ExactStatus::kTooBig) return false;
  switch (e->kind) {
    case Kind::kNumber: {
      if (e->number < 0) return false;
      Rational digits;
      if (!ParseNumber(e->text, 10, 0, context.fuel, &digits)) return false;
      *out = MulMod(RationalModulo(digits, m), PowModU64(10, e->number, m), m);
      return true;
    }
    case Kind::kNeg:
      if (!EvaluateModulo(e->child[0], m, context, bindings, out, depth + 1)) return false;
      *out = *out == 0 ? 0 : m - *out;
      return true;
    case Kind::kAdd:
    case Kind::kMul: {
      uint64_t total = e->kind == Kind::kAdd ? 0 : 1 % m;
      for (const Expr* child : e->children()) {
        uint64_t x;
        if (!EvaluateModulo(child, m, context, bindings, &x, depth + 1)) return false;
        total = e->kind == Kind::kMul
                    ? MulMod(total, x, m)
                    : static_cast<uint64_t>((static_cast<unsigned __int128>(total) + x) % m);
      }
      *out = total;
      return true;
    }
    case Kind::kPow:
      return PowerModulo(e, m, context, bindings, out, depth);
    case Kind::kFactorial:
      return FactorialModulo(e, m, context, bindings, out, depth);
    default:
      return false;
  }
}

int StructuralSign(const Expr* e, const ExactContext& context, const Binding* bindings, int depth) {
  if (depth > kEvalDepthMax || !context.fuel.Spend(10)) return 0;
  Rational value;
  const ExactStatus status = EvaluateExact(e, context, bindings, &value, depth);
  if (status == ExactStatus::kOk) return value.sign();
  if (status == ExactStatus::kUndefined || status == ExactStatus::kFuel) return 0;
  switch (e->kind) {
    case Kind::kNumber:
      return 1;  // only zero is not positive, and zero is exact
    case Kind::kConstant:
      return e->fn == Function::kPi || e->fn == Function::kE ? 1 : 0;
    case Kind::kNeg:
      return -StructuralSign(e->child[0], context, bindings, depth + 1);
    case Kind::kFactorial:
      return StructuralSign(e->child[0], context, bindings, depth + 1) > 0 ? 1 : 0;
    case Kind::kPow:
      return StructuralSign(e->child[0], context, bindings, depth + 1) > 0 ? 1 : 0;
    case Kind::kAdd:
    case Kind::kMul:
    case Kind::kDiv: {
      if (e->kind == Kind::kAdd) {
        // One huge term outweighs any terms that can be written down.
        const Expr* huge = nullptr;
        bool outweighs = true;
        for (const Expr* child : e->children()) {
          Rational small;
          if (EvaluateExact(child, context, bindings, &small, depth + 1) == ExactStatus::kOk) {
            outweighs = outweighs && small.num_bits() < kExactBitsMax / 4;
          } else {
            outweighs = outweighs && huge == nullptr && IsHuge(child, context, bindings, depth + 1);
            huge = child;
          }
        }
        if (outweighs && huge != nullptr) return StructuralSign(huge, context, bindings, depth + 1);
      }
      int sign = StructuralSign(e->child[0], context, bindings, depth + 1);
      for (uint32_t i = 1; i < e->child_count && sign != 0; ++i) {
        const int other = StructuralSign(e->child[i], context, bindings, depth + 1);
        sign = e->kind != Kind::kAdd ? sign * other : (sign == other ? sign : 0);
      }
      return sign;
    }
    default:
      return 0;
  }
}

}  // namespace rewardloop::math
