// Inside of the decision; included by decide*.cc only.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "math/builder.h"
#include "math/decide.h"
#include "math/parser_impl.h"

namespace rewardloop::math {

// Any node for which `test` holds.
template <typename Test>
bool Any(const Expr* e, Test test) {
  if (test(e)) return true;
  for (const Expr* child : e->children()) if (Any(child, test)) return true;
  return false;
}

// A bound of a piece of the real line; null is minus or plus infinity.
struct Piece {
  const Expr* lower;
  const Expr* upper;
  bool lower_closed;
  bool upper_closed;
};

// A finite union of pieces, sorted and merged.
struct RealSet {
  static constexpr size_t kPiecesMax = 64;
  Piece pieces[kPiecesMax];
  size_t size = 0;
};

class Comparer {
 public:
  using E = const Expr*;

  Comparer(const Policy& policy, uint64_t seed, Arena* arena, Fuel* fuel)
      : policy_(policy), arena_(arena), fuel_(fuel), build_(arena, kNodesMax) {
    options_.seed = seed;
  }

  // `g` is the gold's side.
  Decision Decide(E g, E p);
  // `equal` unless the prediction contradicts itself or the gold in what it says besides its value.
  Decision Confirm(Decision equal, E g, E p);

 private:
  struct Inside {
    explicit Inside(int* level) : level(level) { ++*level; }
    ~Inside() { --*level; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    int* level;
  };

  static constexpr int kDepthMax = 60;
  static constexpr int kDeterminantMax = 5;
  static constexpr size_t kInexactElementsMax = 256;
  static constexpr size_t kPairsWithoutSketchMax = 64;
  static constexpr size_t kRepetitionElementsMax = 16;
  static constexpr int64_t kDecisionCost = 60;

  static Decision Equal(const char* rule, const char* reason = "equal_exact") { return {Equality::kEqual, reason, rule}; }
  static Decision Different(const char* rule, const char* reason = "not_equal") { return {Equality::kDifferent, reason, rule}; }
  static Decision Unknown(const char* rule, const char* reason = "undecided") { return {Equality::kUnknown, reason, rule}; }
  static Decision Limit(const char* rule = "") { return {Equality::kLimit, "limit_fuel", rule}; }
  static Decision From(NumericResult result);

  // ---- decide.cc
  E Strip(E e);
  bool ContainsPlusMinus(E e);
  E ExpandPlusMinus(E e, int sign);
  E Rebuild(E e, std::span<const Expr* const> children);
  Decision Kinds(E g, E p);
  Decision Structural(E g, E p);
  std::optional<Decision> Sums(E g, E p);
  Decision Congruences(E g, E p);
  E AsCount(E labeled);
  std::optional<Decision> NamedSetLetters(E g, E p);
  E UnitLetters(E e);
  E ReplaceImaginary(E e, E by);
  // Only scalars, and no +- in them.
  bool PureScalar(E e) { return !Any(e, [](E x) { return !IsScalarKind(x->kind) || x->kind == Kind::kPlusMinus; }); }
  Decision Cases(E g, E p);
  Decision Matrices(E g, E p);
  Decision TupleLike(E g, E p);
  E AsMatrix(E e);
  E MatrixSum(E e);
  E MatrixTimes(E a, E b);
  E MatrixProduct(E e);
  E Transposed(E m);
  template <typename Fn>
  E MapEntries(E m, Fn fn) {
    NodeList entries(arena_);
    for (E entry : m->children()) if (!entries.Add(fn(entry))) return nullptr;
    return Rebuild(m, entries.span());
  }
  E VectorFromUnits(E e);
  E ReduceDeterminants(E e);
  E Determinant(E m, uint32_t row, uint32_t columns);

  // ---- decide_scalar.cc
  Decision Scalars(E g, E p);
  Decision Plain(E g, E p);
  Decision Degrees(E g, E p);
  Decision Percentage(E g, E p);
  Decision BaseNumbers(E g, E p);
  Decision InLetters(E g, E p);
  Decision WithUnits(E g, E p);
  Decision Numeric(E g, E p);
  std::optional<Decision> Decimals(E g, E p);
  Decision Ratios(E g, E p);
  E Scale(E e, int64_t num, int64_t den);
  bool Closed(E e) { return FreeSymbols(e).empty(); }
  std::optional<Decision> Antiderivatives(E g, E p);

  // ---- decide_family.cc
  struct FamilyLine { E c; E d; double cv; double dv; };
  struct FamilyResidue { E value; double v; };
  std::optional<Decision> Families(E g, E p);
  bool FamilyValues(E e, NodeList* out);
  bool FamilyLines(const NodeList& items, E parameter, std::vector<FamilyLine>* out);
  std::optional<Decision> FamilyPeriod(std::span<const FamilyLine> lines, const FamilyLine& unit, int64_t* multiple, int64_t* divisor);
  std::optional<Decision> FamilyResidues(std::span<const FamilyLine> lines, double period, std::vector<FamilyResidue>* out);
  Decision FamilyMatch(std::span<const FamilyResidue> own, std::span<const FamilyResidue> others, E period, double period_value);

  // ---- decide_list.cc
  Decision Lists(E g, E p);
  Decision ListAgainstOther(E list, E other, bool list_is_gold);
  std::optional<Decision> LabeledLists(const NodeList& left, const NodeList& right, bool g_list, bool p_list);
  Decision MatchSets(std::span<const Expr* const> g, std::span<const Expr* const> p, const char* rule);
  std::optional<Decision> MatchKeys(std::span<const Expr* const> g, std::span<const Expr* const> p, const char* rule);
  bool RepetitionsAgree(std::span<const Expr* const> g, std::span<const Expr* const> p);
  bool Labels(const NodeList& items, NodeList* names, NodeList* values, bool* repeated);
  bool HasDecimals(std::span<const Expr* const> items);
  double Sketch(E e);
  Decision Ordered(std::span<const Expr* const> g, std::span<const Expr* const> p, const char* rule);
  void Elements(E e, NodeList* out);
  E GroupLabels(E list);
  E CompoundQuantity(E list);

  // ---- decide_relation.cc
  bool IsName(E e);
  bool IsAssignment(E e, E* name, E* value);
  Decision Relations(E g, E p);
  Decision RelationAgainstOther(E relation, E other, bool relation_is_gold);
  Decision Equations(E g, E p);
  Decision ClosedEquations(E g, E p);
  Decision ClosedTerms(E g, E p);
  bool IsConstant(E e);
  Decision Inequalities(E g, E p);
  E Difference(E a, E b);
  Decision SameNames(E a, E b);
  std::optional<Decision> SubstituteSolved(E equation, E name, E value);

  // ---- decide_chain.cc
  void Statements(E e, NodeList* out);
  bool PlausibleStep(E a, E b, char op);
  bool Contradicts(E relation);
  E Approximation(E relation);
  bool StepsAgree(E g, E p);
  int SameCondition(E a, E b);
  bool ConditionsAgree(E g, E p);

  // ---- decide_set.cc
  bool LooksLikeSet(E e);
  // The real set that e describes, false when it is none or its bounds cannot be ordered. *variable: the name the
  // statement is about, null for a plain set.
  bool ToRealSet(E e, RealSet* out, E* variable, bool must_be_solved);
  bool PairToRealSet(E e, RealSet* out);
  bool NamedToRealSet(E e, RealSet* out);
  bool JoinToRealSet(E e, RealSet* out, E* variable, bool must_be_solved);
  bool BuilderToRealSet(E e, RealSet* out);
  bool StatementsToRealSet(E e, RealSet* out, E* variable, bool must_be_solved);
  bool Unite(RealSet* set, const RealSet& other);
  std::optional<Decision> UnionsByPieces(E g, E p);
  Decision SetBuilders(E g, E p);
  bool RelationToSet(E e, RealSet* out, E* variable, bool must_be_solved);
  bool Bound(E e, RealSet* out, E* variable, E left, char op, E right, bool must_be_solved);
  bool AddPiece(RealSet* set, Piece piece);
  bool Normalize(RealSet* set);
  bool Intersect(const RealSet& a, const RealSet& b, RealSet* out);
  bool Complement(const RealSet& a, RealSet* out);
  int OrderBounds(E a, int a_infinity, E b, int b_infinity);  // -1, 0, 1; 2: unknown
  Decision RealSets(const RealSet& g, const RealSet& p);
  std::optional<Decision> Sets(E g, E p);
  Decision Intervals(E g, E p);

  const Policy& policy_;
  Arena* arena_;
  Fuel* fuel_;
  Builder build_;
  NumericOptions options_;
  int depth_ = 0;
  int parts_ = 0;  // lists, tuples, cases around: their constants C are one constant
};

bool IsRelation(const Expr* e);
bool IsInequality(const Expr* e);
bool IsMembership(const Expr* e);
bool IsInfinity(const Expr* e, int* sign);
// Whether the trees are the same node by node.
bool SameTree(const Expr* a, const Expr* b);
}  // namespace rewardloop::math
