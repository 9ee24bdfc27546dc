#include "math/numeric/tree.h"

#include <algorithm>

#include "math/numeric/numeric.h"
#include "math/numeric/residue.h"

namespace rewardloop::math {
namespace {

constexpr int kShapeDepthMax = kTreeDepthMax + 100;

bool IsScope(const Expr* e) {
  return e->kind == Kind::kSum || e->kind == Kind::kProduct || e->kind == Kind::kLimit ||
         (e->kind == Kind::kIntegral && e->child_count == 4);
}

struct Scope {
  int64_t symbol;
  const Scope* next;
};

void CollectSymbols(const Expr* e, const Scope* scope, int depth, std::vector<const Expr*>* out) {
  if (depth > kShapeDepthMax) return;
  if (e->kind == Kind::kSymbol) {
    for (const Scope* s = scope; s != nullptr; s = s->next) {
      if (s->symbol == e->number) return;
    }
    for (const Expr* known : *out) {
      if (known->number == e->number) return;
    }
    out->push_back(e);
    return;
  }
  if (IsScope(e) && e->child_count >= 2 && e->child[1]->kind == Kind::kSymbol) {
    const Scope inner{e->child[1]->number, scope};
    CollectSymbols(e->child[0], &inner, depth + 1, out);
    for (uint32_t i = 2; i < e->child_count; ++i)
      CollectSymbols(e->child[i], scope, depth + 1, out);
    return;
  }
  for (const Expr* child : e->children()) CollectSymbols(child, scope, depth + 1, out);
}

bool Contains(const Expr* e, int64_t symbol, int depth) {
  if (depth > kShapeDepthMax) return true;
  if (e->kind == Kind::kSymbol) return e->number == symbol;
  if (IsScope(e) && e->child_count >= 2 && e->child[1]->number == symbol) {
    for (uint32_t i = 2; i < e->child_count; ++i) {
      if (Contains(e->child[i], symbol, depth + 1)) return true;
    }
    return false;
  }
  for (const Expr* child : e->children()) {
    if (Contains(child, symbol, depth + 1)) return true;
  }
  return false;
}

const Expr* Replace(const Expr* e, int64_t symbol, const Expr* value, Arena& arena, int depth) {
  if (depth > kShapeDepthMax) return nullptr;
  if (e->kind == Kind::kSymbol) return e->number == symbol ? value : e;
  if (!Contains(e, symbol, depth)) return e;
  Expr* copy = arena.NewArray<Expr>(1);
  Expr** child = arena.NewArray<Expr*>(e->child_count);
  if (copy == nullptr || child == nullptr) return nullptr;
  *copy = *e;
  copy->child = child;
  copy->depth = 0;
  const bool hides = IsScope(e) && e->child_count >= 2 && e->child[1]->number == symbol;
  for (uint32_t i = 0; i < e->child_count; ++i) {
    if (hides && i < 2) {
      child[i] = e->child[i];
      continue;
    }
    child[i] = const_cast<Expr*>(Replace(e->child[i], symbol, value, arena, depth + 1));
    if (child[i] == nullptr || child[i]->depth >= kTreeDepthMax) return nullptr;
    copy->depth = std::max<uint16_t>(copy->depth, child[i]->depth + 1);
  }
  return copy;
}

}  // namespace

void CollectFacts(const Expr* e, TreeFacts* facts) {
  facts->literal_bits += 4;
  switch (e->kind) {
    case Kind::kNumber:
      facts->literal_bits +=
          static_cast<int64_t>(e->text.size()) * 4 + (e->number < 0 ? -e->number : e->number) * 4;
      return;
    case Kind::kBaseNumber:
      facts->literal_bits += static_cast<int64_t>(e->text.size()) * 6;
      return;
    case Kind::kConstant:
      facts->imaginary |= e->fn == Function::kI;
      facts->infinity |= e->fn == Function::kInfinity;
      return;
    case Kind::kIntegral:
    case Kind::kLimit:
    case Kind::kDerivative:
      facts->calculus = true;
      facts->integral |= e->kind == Kind::kIntegral;
      break;
    case Kind::kSum:
      if (IsInfiniteSum(e)) {  // the bound is not a value
        for (uint32_t i = 0; i < 3; ++i) CollectFacts(e->child[i], facts);
        return;
      }
      break;
    case Kind::kPlusMinus:
      facts->unscalar = true;
      return;
    default:
      if (!IsScalarKind(e->kind)) {
        facts->unscalar = true;
        return;
      }
  }
  for (const Expr* child : e->children()) CollectFacts(child, facts);
}

bool IsInfiniteSum(const Expr* e) {
  return e->kind == Kind::kSum && e->child_count == 4 && e->child[1]->kind == Kind::kSymbol &&
         e->child[3]->kind == Kind::kConstant && e->child[3]->fn == Function::kInfinity;
}

bool SameTree(const Expr* a, const Expr* b, int depth) {
  if (a == b) return true;
  if (depth > kShapeDepthMax || a->kind != b->kind || a->fn != b->fn ||
      a->child_count != b->child_count || a->number != b->number || a->text != b->text ||
      a->aux2 != b->aux2) {
    return false;
  }
  if (a->kind == Kind::kLimit && a->flags != b->flags) return false;
  for (uint32_t i = 0; i < a->child_count; ++i) {
    if (!SameTree(a->child[i], b->child[i], depth + 1)) return false;
  }
  return true;
}

uint64_t TreeHash(const Expr* e, int depth) {
  if (depth > kShapeDepthMax) return 0;
  uint64_t h = Mix(static_cast<uint64_t>(e->kind) * 256 + static_cast<uint64_t>(e->fn));
  h = Mix(h ^ static_cast<uint64_t>(e->number));
  for (char c : e->text) h = Mix(h ^ static_cast<unsigned char>(c));
  for (const Expr* child : e->children()) h = Mix(h + TreeHash(child, depth + 1));
  return h;
}

std::vector<const Expr*> FreeSymbols(const Expr* e) {
  std::vector<const Expr*> out;
  CollectSymbols(e, nullptr, 0, &out);
  return out;
}

bool ContainsSymbol(const Expr* e, int64_t symbol_hash) { return Contains(e, symbol_hash, 0); }

const Expr* Substitute(const Expr* e, int64_t symbol_hash, const Expr* replacement, Arena& arena) {
  return Replace(e, symbol_hash, replacement, arena, 0);
}

}  // namespace rewardloop::math
