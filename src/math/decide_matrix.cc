// Vectors and matrices: written-out sums, products and determinants of small ones, and equality entry by entry.
#include <algorithm>

#include "math/comparer.h"

namespace rewardloop::math {

// a\mathbf i + b\mathbf j + c\mathbf k as a column; null when e has no unit vectors.
const Expr* Comparer::VectorFromUnits(E e) {
  if (!IsScalarKind(e->kind)) return nullptr;
  static constexpr std::string_view kNames[] = {"\\vec i", "\\vec j", "\\vec k"};
  bool any = false, third = false;
  Any(e, [&](E x) {
    if (x->kind == Kind::kSymbol && x->text.starts_with("\\vec ")) { any = true; third |= x->text.back() == 'k'; }
    return false;
  });
  if (!any) return nullptr;
  NodeList entries(arena_);
  E zero = build_.Integer(0), one = build_.Integer(1);
  if (!zero || !one) return nullptr;
  for (size_t axis = 0; axis < (third ? 3u : 2u); ++axis) {
    E value = e;
    for (size_t k = 0; k < 3 && value; ++k) value = rewardloop::math::Substitute(value, HashName(kNames[k]), k == axis ? one : zero, *arena_);
    if (!entries.Add(value)) return nullptr;
  }
  Expr* matrix = build_.Make(Kind::kMatrix, entries.span());
  if (!matrix) return nullptr;
  matrix->aux = static_cast<int32_t>(entries.size());
  matrix->aux2 = 1;
  matrix->flags |= kFlagVector;
  return matrix;
}

// a + b + ... of matrices.
const Expr* Comparer::MatrixSum(E e) {
  E sum = AsMatrix((*e)[0]);
  for (uint32_t i = 1; i < e->child_count && sum; ++i) {
    E m = AsMatrix((*e)[i]);
    if (!m || m->aux != sum->aux || m->aux2 != sum->aux2) return nullptr;
    NodeList entries(arena_);
    for (uint32_t k = 0; k < m->child_count; ++k) if (!entries.Add(build_.Make(Kind::kAdd, {(*sum)[k], (*m)[k]}))) return nullptr;
    sum = Rebuild(sum, entries.span());
  }
  return sum;
}

const Expr* Comparer::MatrixTimes(E a, E b) {
  if (a->aux2 != b->aux || !fuel_->Spend(int64_t{b->aux} * b->aux2 * a->aux * 8)) return nullptr;
  NodeList entries(arena_);
  for (int32_t r = 0; r < a->aux; ++r) {
    for (int32_t c = 0; c < b->aux2; ++c) {
      NodeList terms(arena_);
      for (int32_t k = 0; k < b->aux; ++k) {
        if (!terms.Add(build_.Make(Kind::kMul, {(*a)[static_cast<uint32_t>(r * a->aux2 + k)], (*b)[static_cast<uint32_t>(k * b->aux2 + c)]}))) return nullptr;
      }
      if (!entries.Add(terms.size() == 1 ? terms[0] : build_.Make(Kind::kAdd, terms.span()))) return nullptr;
    }
  }
  Expr* product = build_.Make(Kind::kMatrix, entries.span());
  if (!product) return nullptr;
  product->aux = a->aux;
  product->aux2 = b->aux2;
  return product;
}

// Factors of which some are matrices.
const Expr* Comparer::MatrixProduct(E e) {
  E product = nullptr;
  NodeList scalars(arena_);
  for (E factor : e->children()) {
    E m = Any(factor, [](E x) { return x->kind == Kind::kMatrix; }) ? AsMatrix(factor) : nullptr;
    if (!m) {
      if (!IsScalarKind(factor->kind) || !scalars.Add(factor)) return nullptr;
      continue;
    }
    product = product ? MatrixTimes(product, m) : m;
    if (!product) return nullptr;
  }
  if (!product || scalars.size() == 0) return product;
  E scale = scalars.size() == 1 ? scalars[0] : build_.Make(Kind::kMul, scalars.span());
  return scale ? MapEntries(product, [&](E x) { return build_.Make(Kind::kMul, {scale, x}); }) : nullptr;
}

const Expr* Comparer::Transposed(E m) {
  NodeList entries(arena_);
  for (int32_t c = 0; c < m->aux2; ++c) for (int32_t r = 0; r < m->aux; ++r) entries.Add((*m)[static_cast<uint32_t>(r * m->aux2 + c)]);
  Expr* t = build_.Make(Kind::kMatrix, entries.span());
  if (!t) return nullptr;
  t->aux = m->aux2;
  t->aux2 = m->aux;
  return t;
}

// Evaluates sums, products and scalings of matrices; null when e is no matrix expression.
const Expr* Comparer::AsMatrix(E e) {
  if (e->kind == Kind::kMatrix) return e;
  if (e->kind == Kind::kTuple || e->kind == Kind::kInterval) return nullptr;
  if (!Any(e, [](E x) { return x->kind == Kind::kMatrix; })) return VectorFromUnits(e);
  switch (e->kind) {
    case Kind::kNeg: {
      E m = AsMatrix((*e)[0]);
      return m ? MapEntries(m, [&](E x) { return build_.Neg(x); }) : nullptr;
    }
    case Kind::kDiv: {
      E m = AsMatrix((*e)[0]);
      if (!m || !IsScalarKind((*e)[1]->kind)) return nullptr;
      return MapEntries(m, [&](E x) { return build_.Make(Kind::kDiv, {x, (*e)[1]}); });
    }
    case Kind::kAdd: return MatrixSum(e);
    case Kind::kMul: return MatrixProduct(e);
    case Kind::kPow: {
      if ((*e)[1]->kind != Kind::kNumber || (*e)[1]->text != "2") return nullptr;
      E square = build_.Make(Kind::kMul, {(*e)[0], (*e)[0]});
      return square ? AsMatrix(square) : nullptr;
    }
    case Kind::kFunction: {
      E m = e->fn == Function::kTranspose ? AsMatrix((*e)[0]) : nullptr;
      return m ? Transposed(m) : nullptr;
    }
    default: return nullptr;
  }
}

// e with determinants and traces of small matrices written out; null when memory is out.
const Expr* Comparer::ReduceDeterminants(E e) {
  const auto reducible = [](E x) { return x->kind == Kind::kFunction && (x->fn == Function::kDet || x->fn == Function::kTrace); };
  if (!Any(e, reducible)) return e;
  NodeList children(arena_);
  bool changed = false;
  for (E child : e->children()) {
    E reduced = ReduceDeterminants(child);
    if (!children.Add(reduced)) return nullptr;
    changed |= reduced != child;
  }
  if (!reducible(e)) return changed ? Rebuild(e, children.span()) : e;
  E m = AsMatrix(children[0]);
  if (!m || m->aux != m->aux2 || m->aux > kDeterminantMax) return e;
  const auto n = static_cast<uint32_t>(m->aux);
  if (e->fn == Function::kTrace) {
    NodeList diagonal(arena_);
    for (uint32_t i = 0; i < n; ++i) diagonal.Add((*m)[i * n + i]);
    return n == 1 ? diagonal[0] : build_.Make(Kind::kAdd, diagonal.span());
  }
  return Determinant(m, 0, (1u << n) - 1);
}

// Laplace expansion along row `row` of the columns in `columns`.
const Expr* Comparer::Determinant(E m, uint32_t row, uint32_t columns) {
  const auto n = static_cast<uint32_t>(m->aux);
  if (row == n) return build_.Integer(1);
  NodeList terms(arena_);
  bool negative = false;
  for (uint32_t c = 0; c < n; ++c) {
    if (!(columns >> c & 1)) continue;
    E minor = Determinant(m, row + 1, columns & ~(1u << c));
    E term = minor ? build_.Make(Kind::kMul, {(*m)[row * n + c], minor}) : nullptr;
    if (negative && term) term = build_.Neg(term);
    if (!terms.Add(term)) return nullptr;
    negative = !negative;
  }
  return terms.size() == 1 ? terms[0] : build_.Make(Kind::kAdd, terms.span());
}

// i + 2j as a vector, for a side that is compared with one; null when other letters occur.
const Expr* Comparer::UnitLetters(E e) {
  if (!PureScalar(e)) return nullptr;
  E vector = e;
  for (E symbol : FreeSymbols(e)) {
    if (symbol->text != "j" && symbol->text != "k") return nullptr;
    E unit = build_.Symbol(symbol->text == "j" ? "\\vec j" : "\\vec k");
    vector = vector && unit ? rewardloop::math::Substitute(vector, symbol->number, unit, *arena_) : nullptr;
  }
  return vector ? ReplaceImaginary(vector, build_.Symbol("\\vec i")) : nullptr;
}

const Expr* Comparer::ReplaceImaginary(E e, E by) {
  if (e->kind == Kind::kConstant && e->fn == Function::kI) return by;
  if (!Any(e, [](E x) { return x->kind == Kind::kConstant && x->fn == Function::kI; })) return e;
  NodeList children(arena_);
  for (E child : e->children()) if (!children.Add(ReplaceImaginary(child, by))) return nullptr;
  return Rebuild(e, children.span());
}

Decision Comparer::Matrices(E g, E p) {
  const auto vectors = [](E e) { return Any(e, [](E x) { return x->kind == Kind::kSymbol && x->text.starts_with("\\vec "); }); };
  if (vectors(g) != vectors(p)) {
    E plain = vectors(g) ? p : g;
    if (E rewritten = UnitLetters(plain); rewritten && rewritten != plain) return vectors(g) ? Matrices(g, rewritten) : Matrices(rewritten, p);
  }
  E gm = AsMatrix(g), pm = AsMatrix(p);
  const auto vector = [](E m) { return m && (m->aux == 1 || m->aux2 == 1); };
  if (gm && pm) {
    const bool units = (gm->flags | pm->flags) & kFlagVector;
    const bool shapes = gm->aux == pm->aux && gm->aux2 == pm->aux2;
    if (!shapes && units && vector(gm) && vector(pm) && gm->child_count != pm->child_count) {
      // a vector of the plane written with i and j alone has a third entry 0
      return Different("matrix");
    }
    if (!shapes && !(units && vector(gm) && vector(pm))) return Different("matrix", "shape_mismatch");
    return Ordered(gm->children(), pm->children(), "matrix");
  }
  E m = gm ? gm : pm;
  E other = gm ? p : g;
  if (!m) return Different("matrix", "type_mismatch");
  if (other->kind == Kind::kFunction && other->fn == Function::kTranspose && (*other)[0]->kind == Kind::kTuple) other = (*other)[0];
  if (!vector(m) || (other->kind != Kind::kTuple && !(other->kind == Kind::kInterval && other->flags == 3))) return Different("matrix", "type_mismatch");
  return gm ? Ordered(m->children(), other->children(), "matrix") : Ordered(other->children(), m->children(), "matrix");
}

}  // namespace rewardloop::math
