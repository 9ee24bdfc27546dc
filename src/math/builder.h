// Builds nodes in an arena, counts them, and hashes names.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include "math/arena.h"
#include "math/expr.h"

namespace rewardloop::math {

// FNV-1a; what Expr::number of a symbol holds.
constexpr int64_t HashName(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3ULL;
  return static_cast<int64_t>(hash);
}

// Every maker returns null when the arena or the node budget is used up; children that are null make null.
class Builder {
 public:
  Builder(Arena* arena, uint32_t nodes_max) : arena_(arena), left_(nodes_max) {}

  Expr* Make(Kind kind, std::initializer_list<const Expr*> children) {
    return Make(kind, std::span<const Expr* const>(children.begin(), children.size()));
  }
  Expr* Make(Kind kind, std::span<const Expr* const> children) {
    uint16_t depth = 0;
    for (const Expr* child : children) {
      if (!child) return nullptr;
      if (child->depth >= depth) depth = static_cast<uint16_t>(child->depth + 1);
    }
    if (left_ == 0 || depth > kTreeDepthMax || children.size() > UINT16_MAX) return nullptr;
    --left_;
    auto* e = arena_->NewArray<Expr>(1);
    if (!e) return nullptr;
    *e = Expr{};
    e->kind = kind;
    e->child_count = static_cast<uint16_t>(children.size());
    e->depth = depth;
    if (!children.empty()) {
      e->child = arena_->NewArray<Expr*>(children.size());
      if (!e->child) return nullptr;
      for (size_t i = 0; i < children.size(); ++i) e->child[i] = const_cast<Expr*>(children[i]);
    }
    return e;
  }
  Expr* Leaf(Kind kind) { return Make(kind, std::span<const Expr* const>()); }
  Expr* Symbol(std::string_view name) {
    Expr* e = Leaf(Kind::kSymbol);
    if (e) { e->text = name; e->number = HashName(name); }
    return e;
  }
  Expr* Constant(Function fn) {
    Expr* e = Leaf(Kind::kConstant);
    if (e) e->fn = fn;
    return e;
  }
  // digits without sign; stripped of leading zeros here.
  Expr* Number(std::string_view digits, int64_t exponent = 0, int32_t fraction_digits = -1) {
    while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
    Expr* e = Leaf(Kind::kNumber);
    if (e) { e->text = digits; e->number = exponent; e->aux = fraction_digits; }
    return e;
  }
  Expr* Integer(int64_t value) {
    const bool negative = value < 0;
    uint64_t rest = negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    char digits[20];
    size_t size = 0;
    do { digits[size++] = static_cast<char>('0' + rest % 10); rest /= 10; } while (rest);
    char* text = arena_->NewArray<char>(size);
    if (!text) return nullptr;
    for (size_t i = 0; i < size; ++i) text[i] = digits[size - 1 - i];
    Expr* e = Number({text, size});
    return negative ? Neg(e) : e;
  }
  Expr* Neg(const Expr* x) { return Make(Kind::kNeg, {x}); }
  Expr* Call(Function fn, std::initializer_list<const Expr*> args) {
    Expr* e = Make(Kind::kFunction, args);
    if (e) e->fn = fn;
    return e;
  }
  Expr* Text(std::string_view text) {
    Expr* e = Leaf(Kind::kText);
    if (e) e->text = text;
    return e;
  }
  Arena* arena() const { return arena_; }
  bool exhausted() const { return left_ == 0; }

 private:
  Arena* arena_;
  uint32_t left_;
};

}  // namespace rewardloop::math
