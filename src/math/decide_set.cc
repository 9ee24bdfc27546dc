#include <algorithm>

#include "math/comparer.h"

namespace rewardloop::math {
namespace {

char Mirror(char op) {
  switch (op) {
    case '<': return '>';
    case '>': return '<';
    case '[': return ']';
    case ']': return '[';
    default: return op;
  }
}

}  // namespace

bool Comparer::LooksLikeSet(E e) {
  switch (e->kind) {
    case Kind::kInterval: case Kind::kUnion: case Kind::kIntersection: case Kind::kSetDifference: case Kind::kNamedSet:
    case Kind::kSetBuilder: return true;
    case Kind::kAdd: return Any(e, [](E x) { return x->kind == Kind::kSet || x->kind == Kind::kInterval || x->kind == Kind::kSetBuilder || x->kind == Kind::kNamedSet; });
    case Kind::kList: {
      bool inequality = false;
      for (E child : e->children()) inequality |= IsInequality(child);
      return inequality;
    }
    case Kind::kRelation: return IsInequality(e);
    default: return false;
  }
}

// Order of two bounds, each a value or an infinity (sign, with a null value).
int Comparer::OrderBounds(E a, int a_infinity, E b, int b_infinity) {
  if (!a && !b) return a_infinity < b_infinity ? -1 : a_infinity > b_infinity;
  if (!a) return a_infinity;
  if (!b) return -b_infinity;
  switch (CompareOrder(a, b, options_, *fuel_)) {
    case Order::kLess: return -1;
    case Order::kEqual: return 0;
    case Order::kGreater: return 1;
    case Order::kUnknown: return 2;
  }
  return 2;
}

bool Comparer::AddPiece(RealSet* set, Piece piece) {
  if (piece.lower && piece.upper) {
    const int order = OrderBounds(piece.lower, 0, piece.upper, 0);
    if (order == 2) return false;
    if (order > 0 || (order == 0 && !(piece.lower_closed && piece.upper_closed))) return true;  // empty
  }
  if (set->size == RealSet::kPiecesMax) return false;
  set->pieces[set->size++] = piece;
  return true;
}

// Sorts and merges what touches.
bool Comparer::Normalize(RealSet* set) {
  // Insertion sort by lower bound: few pieces, and the order may be undecided.
  for (size_t i = 1; i < set->size; ++i) {
    for (size_t j = i; j > 0; --j) {
      const Piece& a = set->pieces[j - 1];
      const Piece& b = set->pieces[j];
      int order = OrderBounds(a.lower, -1, b.lower, -1);
      if (order == 2) return false;
      if (order == 0 && b.lower_closed && !a.lower_closed) order = 1;
      if (order <= 0) break;
      std::swap(set->pieces[j - 1], set->pieces[j]);
    }
  }
  size_t out = 0;
  for (size_t i = 0; i < set->size; ++i) {
    const Piece piece = set->pieces[i];
    if (out) {
      Piece& last = set->pieces[out - 1];
      const int touch = OrderBounds(last.upper, 1, piece.lower, -1);
      if (touch == 2) return false;
      if (touch > 0 || (touch == 0 && (last.upper_closed || piece.lower_closed))) {
        const int order = OrderBounds(last.upper, 1, piece.upper, 1);
        if (order == 2) return false;
        if (order < 0) { last.upper = piece.upper; last.upper_closed = piece.upper_closed; }
        else if (order == 0) last.upper_closed |= piece.upper_closed;
        continue;
      }
    }
    set->pieces[out++] = piece;
  }
  set->size = out;
  return true;
}

bool Comparer::Intersect(const RealSet& a, const RealSet& b, RealSet* out) {
  out->size = 0;
  for (size_t i = 0; i < a.size; ++i) {
    for (size_t j = 0; j < b.size; ++j) {
      Piece piece = a.pieces[i];
      const Piece& other = b.pieces[j];
      int order = OrderBounds(piece.lower, -1, other.lower, -1);
      if (order == 2) return false;
      if (order < 0) { piece.lower = other.lower; piece.lower_closed = other.lower_closed; }
      else if (order == 0) piece.lower_closed &= other.lower_closed;
      order = OrderBounds(piece.upper, 1, other.upper, 1);
      if (order == 2) return false;
      if (order > 0) { piece.upper = other.upper; piece.upper_closed = other.upper_closed; }
      else if (order == 0) piece.upper_closed &= other.upper_closed;
      if (!AddPiece(out, piece)) return false;
    }
  }
  return Normalize(out);
}

bool Comparer::Complement(const RealSet& a, RealSet* out) {
  out->size = 0;
  E lower = nullptr;
  bool lower_closed = false;
  for (size_t i = 0; i < a.size; ++i) {
    const Piece& piece = a.pieces[i];
    if (piece.lower && !AddPiece(out, {lower, piece.lower, lower_closed, !piece.lower_closed})) return false;
    if (!piece.upper) return true;
    lower = piece.upper;
    lower_closed = !piece.upper_closed;
  }
  return AddPiece(out, {lower, nullptr, lower_closed, false});
}

// variable op right, or left op variable.
bool Comparer::Bound(E e, RealSet* out, E* variable, E left, char op, E right, bool must_be_solved) {
  (void)e;
  const auto closed = [](E x) { return IsScalarKind(x->kind) && FreeSymbols(x).empty(); };
  if (!IsName(left) || left->kind == Kind::kConstant) {
    if (IsName(right) && right->kind != Kind::kConstant && closed(left)) {
      std::swap(left, right);
      op = Mirror(op);
    } else if (!must_be_solved || true) {
      // k x + c op 0 with one letter
      if (!IsScalarKind(left->kind) || !IsScalarKind(right->kind)) return false;
      int sign = 0;
      if (IsInfinity(left, &sign) || IsInfinity(right, &sign)) return false;
      E difference = Difference(left, right);
      if (!difference) return false;
      const auto free = FreeSymbols(difference);
      if (free.size() != 1) return false;
      if (must_be_solved) return false;
      const auto linear = LinearIn(difference, free[0], options_, *arena_, *fuel_);
      if (!linear || !FreeSymbols(linear->k).empty() || !FreeSymbols(linear->c).empty()) return false;
      E zero = build_.Integer(0);
      const Order direction = CompareOrder(linear->k, zero, options_, *fuel_);
      if (direction != Order::kLess && direction != Order::kGreater) return false;
      if (direction == Order::kLess) op = Mirror(op);
      right = build_.Make(Kind::kDiv, {build_.Neg(linear->c), linear->k});
      if (!right) return false;
      left = free[0];
    }
  }
  if (!closed(right)) return false;
  if (*variable && !SameTree(*variable, left)) return false;
  *variable = left;
  int sign = 0;
  E bound = IsInfinity(right, &sign) ? nullptr : right;
  out->size = 0;
  switch (op) {
    case '<': case '[':
      if (!bound && sign < 0) return true;
      return AddPiece(out, {nullptr, bound, false, bound && op == '['});
    case '>': case ']':
      if (!bound && sign > 0) return true;
      return AddPiece(out, {bound, nullptr, bound && op == ']', false});
    case '#':
      if (!bound) return false;
      return AddPiece(out, {nullptr, bound, false, false}) && AddPiece(out, {bound, nullptr, false, false});
    default: return false;
  }
}

bool Comparer::RelationToSet(E e, RealSet* out, E* variable, bool must_be_solved) {
  if (e->text == "e") {
    E left = (*e)[0];
    if (!IsName(left)) return false;
    if (*variable && !SameTree(*variable, left)) return false;
    *variable = left;
    E none = nullptr;
    return ToRealSet((*e)[1], out, &none, false);
  }
  // |x| < a and a < |x| < b
  RealSet result;
  for (uint32_t i = 0; i + 1 < e->child_count; ++i) {
    E left = (*e)[i], right = (*e)[i + 1];
    const auto absolute = [](E x) { return x->kind == Kind::kFunction && x->fn == Function::kAbs && (*x)[0]->kind == Kind::kSymbol; };
    RealSet piece;
    char op = e->text[i];
    if (absolute(left) || absolute(right)) {
      E inner = absolute(left) ? (*left)[0] : (*right)[0];
      E bound = absolute(left) ? right : left;
      if (!absolute(left)) op = Mirror(op);
      if (!FreeSymbols(bound).empty()) return false;
      E negative = build_.Neg(bound);
      E zero = build_.Integer(0);
      if (!negative || CompareOrder(bound, zero, options_, *fuel_) == Order::kLess) return false;
      if (*variable && !SameTree(*variable, inner)) return false;
      *variable = inner;
      piece.size = 0;
      if (op == '<' || op == '[') {
        if (!AddPiece(&piece, {negative, bound, op == '[', op == '['})) return false;
      } else if (op == '>' || op == ']') {
        if (!AddPiece(&piece, {nullptr, negative, false, op == ']'}) || !AddPiece(&piece, {bound, nullptr, op == ']', false})) return false;
      } else {
        return false;
      }
    } else if (!Bound(e, &piece, variable, left, op, right, must_be_solved)) {
      return false;
    }
    if (!Normalize(&piece)) return false;
    if (i == 0) {
      result = piece;
    } else {
      RealSet both;
      if (!Intersect(result, piece, &both)) return false;
      result = both;
    }
  }
  *out = result;
  return true;
}

// An interval, or a pair that may be one.
bool Comparer::PairToRealSet(E e, RealSet* out) {
  if (e->child_count != 2 || (e->kind == Kind::kTuple && e->aux == 1)) return false;
  for (E child : e->children()) if (!IsScalarKind(child->kind) || !FreeSymbols(child).empty()) return false;
  int lower_sign = 0, upper_sign = 0;
  const bool lower_infinite = IsInfinity((*e)[0], &lower_sign), upper_infinite = IsInfinity((*e)[1], &upper_sign);
  if ((lower_infinite && lower_sign > 0) || (upper_infinite && upper_sign < 0)) return false;
  const bool interval = e->kind == Kind::kInterval;
  return AddPiece(out, {lower_infinite ? nullptr : (*e)[0], upper_infinite ? nullptr : (*e)[1], !lower_infinite && interval && e->has(kFlagLowerClosed),
                        !upper_infinite && interval && e->has(kFlagUpperClosed)});
}

// R, its positive and negative parts, the empty set.
bool Comparer::NamedToRealSet(E e, RealSet* out) {
  if (e->aux2) return false;
  if (e->fn == Function::kEmptySet) return true;
  if (e->fn != Function::kReals) return false;
  E zero = build_.Integer(0);
  switch (e->aux) {
    case 0: return AddPiece(out, {nullptr, nullptr, false, false});
    case 1: return AddPiece(out, {zero, nullptr, false, false});
    case 2: return AddPiece(out, {zero, nullptr, true, false});
    case -1: return AddPiece(out, {nullptr, zero, false, false});
    case 3: return AddPiece(out, {nullptr, zero, false, false}) && AddPiece(out, {zero, nullptr, false, false});
    default: return false;
  }
}

bool Comparer::Unite(RealSet* set, const RealSet& other) {
  for (size_t i = 0; i < other.size; ++i) if (!AddPiece(set, other.pieces[i])) return false;
  return Normalize(set);
}

// A union, an intersection or a difference of two sets.
bool Comparer::JoinToRealSet(E e, RealSet* out, E* variable, bool must_be_solved) {
  RealSet left, right;
  if (!ToRealSet((*e)[0], &left, variable, must_be_solved) || !ToRealSet((*e)[1], &right, variable, must_be_solved)) return false;
  if (e->kind == Kind::kIntersection) return Intersect(left, right, out);
  if (e->kind == Kind::kUnion) {
    *out = left;
    return Unite(out, right);
  }
  RealSet complement;
  return Complement(right, &complement) && Intersect(left, complement, out);
}

// {x | conditions}
bool Comparer::BuilderToRealSet(E e, RealSet* out) {
  E element = (*e)[0];
  if (element->kind == Kind::kRelation && element->text == "e" && (*element)[1]->kind == Kind::kNamedSet && (*element)[1]->fn == Function::kReals) element = (*element)[0];
  if (element->kind != Kind::kSymbol) return false;
  RealSet result;
  result.size = 0;
  AddPiece(&result, {nullptr, nullptr, false, false});
  for (uint32_t i = 1; i < e->child_count; ++i) {
    RealSet condition, both;
    E letter = nullptr;
    if (!ToRealSet((*e)[i], &condition, &letter, false) || !letter || !SameTree(letter, element)) return false;
    if (!Intersect(result, condition, &both)) return false;
    result = both;
  }
  *out = result;
  return true;
}

// Statements: "or" joins, everything else restricts; a contradiction was meant as "or".
bool Comparer::StatementsToRealSet(E e, RealSet* out, E* variable, bool must_be_solved) {
  const bool any = e->has(kFlagOr);
  RealSet all;
  for (uint32_t i = 0; i < e->child_count; ++i) {
    RealSet piece;
    E item = (*e)[i];
    E name = nullptr, value = nullptr;
    if (any && !IsInequality(item) && IsAssignment(item, &name, &value) && IsScalarKind(value->kind) && FreeSymbols(value).empty()) {
      if (*variable && !SameTree(*variable, name)) return false;
      *variable = name;
      if (!AddPiece(&piece, {value, value, true, true})) return false;
    } else if ((!any && !IsInequality(item)) || !ToRealSet(item, &piece, variable, must_be_solved)) {
      return false;
    }
    if (i == 0) { all = piece; continue; }
    RealSet both;
    if (!any && !Intersect(all, piece, &both)) return false;
    if (any || both.size == 0) {
      if (!Unite(&all, piece)) return false;
    } else {
      all = both;
    }
  }
  *out = all;
  return true;
}

bool Comparer::ToRealSet(E e, RealSet* out, E* variable, bool must_be_solved) {
  const Inside depth(&depth_);
  if (depth_ > kDepthMax || !fuel_->Spend(20)) return false;
  out->size = 0;
  e = Strip(e);
  if (!e) return false;
  switch (e->kind) {
    case Kind::kInterval: case Kind::kTuple: return PairToRealSet(e, out);
    case Kind::kSet: {
      NodeList items(arena_);
      Elements(e, &items);
      for (size_t i = 0; i < items.size(); ++i) {
        if (!IsScalarKind(items[i]->kind) || !FreeSymbols(items[i]).empty()) return false;
        if (!AddPiece(out, {items[i], items[i], true, true})) return false;
      }
      return Normalize(out);
    }
    case Kind::kNamedSet: return NamedToRealSet(e, out);
    case Kind::kUnion: case Kind::kIntersection: case Kind::kSetDifference: return JoinToRealSet(e, out, variable, must_be_solved);
    case Kind::kAdd: {  // A - B
      if (e->child_count != 2 || (*e)[1]->kind != Kind::kNeg) return false;
      E difference = build_.Make(Kind::kSetDifference, {(*e)[0], (*(*e)[1])[0]});
      return difference && ToRealSet(difference, out, variable, must_be_solved);
    }
    case Kind::kSetBuilder: return BuilderToRealSet(e, out);
    case Kind::kRelation: return IsInequality(e) && RelationToSet(e, out, variable, must_be_solved);
    case Kind::kLabeled: return !e->text.starts_with('\\') && ToRealSet((*e)[0], out, variable, must_be_solved);
    case Kind::kList: return StatementsToRealSet(e, out, variable, must_be_solved);
    default: return false;
  }
}

Decision Comparer::RealSets(const RealSet& g, const RealSet& p) {
  if (g.size != p.size) return Different("interval", "not_equal_proved");
  Decision worst = Equal("interval");
  for (size_t i = 0; i < g.size; ++i) {
    const Piece& a = g.pieces[i];
    const Piece& b = p.pieces[i];
    if (!a.lower != !b.lower || !a.upper != !b.upper || a.lower_closed != b.lower_closed || a.upper_closed != b.upper_closed) return Different("interval", "brackets_differ");
    for (auto [x, y] : {std::pair{a.lower, b.lower}, std::pair{a.upper, b.upper}}) {
      if (!x) continue;
      Decision same = Plain(x, y);
      if (same.different()) return Different("interval", same.reason);
      if (same.equality == Equality::kLimit) return same;
      if (!same.equal()) worst = Unknown("interval");
    }
  }
  return worst;
}

Decision Comparer::Intervals(E g, E p) {
  const auto closed = [](E e, Flag flag, uint32_t i) { int sign = 0; return e->has(flag) && !IsInfinity((*e)[i], &sign); };
  const bool same_ends = closed(g, kFlagLowerClosed, 0) == closed(p, kFlagLowerClosed, 0) && closed(g, kFlagUpperClosed, 1) == closed(p, kFlagUpperClosed, 1);
  if (!same_ends) return Different("interval", "brackets_differ");
  return Ordered(g->children(), p->children(), "interval");
}

// Pieces that match one by one need no order of their bounds: families, letters as bounds. nullopt when they do not.
std::optional<Decision> Comparer::UnionsByPieces(E g, E p) {
  NodeList left(arena_), right(arena_);
  const auto flatten = [&](auto&& self, E e, NodeList* out) -> void {
    if (e->kind == Kind::kUnion) for (E child : e->children()) self(self, child, out);
    else out->Add(e);
  };
  flatten(flatten, g, &left);
  flatten(flatten, p, &right);
  constexpr size_t kUnionPiecesMax = 32;
  if (left.size() != right.size() || left.size() > kUnionPiecesMax) return std::nullopt;
  Decision same = MatchSets(left.span(), right.span(), "union");
  return same.equal() ? std::optional(same) : std::nullopt;
}

Decision Comparer::SetBuilders(E g, E p) {
  // {x | x = k pi} against k pi, and builder against builder with another letter
  const auto unwrap = [&](E e) -> E {
    if (e->kind != Kind::kSetBuilder || e->child_count < 2) return e;
    E condition = (*e)[1];
    E name = nullptr, value = nullptr;
    if (IsAssignment(condition, &name, &value) && SameTree(name, (*e)[0])) return value;
    // {k pi : k in Z}
    if (IsScalarKind((*e)[0]->kind) && (*e)[0]->kind != Kind::kSymbol && condition->kind == Kind::kRelation && condition->text == "e") return (*e)[0];
    return e;
  };
  E gu = unwrap(g), pu = unwrap(p);
  if (gu != g || pu != p) return Decide(gu, pu);
  if (g->kind == Kind::kSetBuilder && p->kind == Kind::kSetBuilder && g->child_count == p->child_count) {
    if ((*g)[0]->kind == Kind::kSymbol && (*p)[0]->kind == Kind::kSymbol && (*g)[0]->number == (*p)[0]->number) return Ordered(g->children(), p->children(), "set_builder");
    return Structural(g, p);
  }
  return Different("set_builder", "type_mismatch");
}

// Sets of reals and statements about one real number. nullopt when neither side is one.
std::optional<Decision> Comparer::Sets(E g, E p) {
  const bool gs = LooksLikeSet(g), ps = LooksLikeSet(p);
  if ((!gs && !ps) || g->kind == Kind::kMatrix || p->kind == Kind::kMatrix) return std::nullopt;
  const bool g_statement = g->kind == Kind::kRelation || g->kind == Kind::kList, p_statement = p->kind == Kind::kRelation || p->kind == Kind::kList;
  if (g_statement != p_statement) {
    // One side says "x in S" or an inequality, the other is a set.
    E statement = g_statement ? g : p;
    E other = g_statement ? p : g;
    if (statement->kind == Kind::kRelation && statement->text == "e") {
      if (statement->child_count == 2 && IsName((*statement)[0])) {
        Decision same = g_statement ? Decide((*statement)[1], other) : Decide(other, (*statement)[1]);
        return same;
      }
      return std::nullopt;
    }
    const bool set_like = LooksLikeSet(other) || other->kind == Kind::kTuple || other->kind == Kind::kSet;
    if (!set_like) return gs && ps ? std::optional<Decision>(Different("interval", "type_mismatch")) : std::nullopt;
    if (statement->kind == Kind::kList && !gs && !ps) return std::nullopt;
    if (!g_statement && !policy_.relation_for_set) return Different("interval", "relation_for_set");
  }
  if (g->kind == Kind::kUnion && p->kind == Kind::kUnion) {
    if (std::optional<Decision> same = UnionsByPieces(g, p)) return same;
  }
  if (g->kind == Kind::kInterval && p->kind == Kind::kInterval) return Intervals(g, p);
  if ((g->kind == Kind::kInterval && p->kind == Kind::kTuple) || (g->kind == Kind::kTuple && p->kind == Kind::kInterval)) return TupleLike(g, p);
  RealSet left, right;
  E gl = nullptr, pl = nullptr;
  // An unsolved inequality is a solution of nothing; between two inequalities the solving is fair.
  const bool solved = g_statement != p_statement;
  const bool g_known = ToRealSet(g, &left, &gl, solved && !g_statement) && Normalize(&left);
  const bool p_known = ToRealSet(p, &right, &pl, solved) && Normalize(&right);
  if (g_known && p_known) {
    if (gl && pl && !SameTree(gl, pl) && policy_.strict_names) return Different("interval", "labels_differ");
    return RealSets(left, right);
  }
  if (g_statement || p_statement) {
    if (g->kind == Kind::kRelation && p->kind == Kind::kRelation) {
      if (g->text == "e" && p->text == "e" && g->child_count == 2 && p->child_count == 2) {
        if (!SameTree((*g)[0], (*p)[0]) && policy_.strict_names) return Different("membership", "labels_differ");
        return Decide((*g)[1], (*p)[1]);
      }
      return std::nullopt;
    }
    if (g->kind == Kind::kList && p->kind == Kind::kList) return Lists(g, p);
    return Different("interval", "type_mismatch");
  }
  if (g->kind == Kind::kSetBuilder || p->kind == Kind::kSetBuilder) return SetBuilders(g, p);
  // A set of reals with known ends against something whose ends are no numbers, or out of order.
  if (g_known != p_known && !fuel_->empty()) return Different("set", "type_mismatch");
  if (g->kind == p->kind && (g->kind == Kind::kNamedSet)) return SameTree(g, p) ? Equal("set") : Different("set");
  if (g->kind == p->kind && g->child_count == p->child_count && g->child_count > 0) {
    Decision same = Ordered(g->children(), p->children(), "set");
    return same.equal() ? same : same.different() && g->kind == Kind::kSetDifference ? same : Unknown("set");
  }
  if (gs && ps) return Unknown("set");
  return Different("set", "type_mismatch");
}

}  // namespace rewardloop::math
