// Matrices, cases, decorated letters, named sets.
#include <algorithm>

#include "math/parser_impl.h"

namespace rewardloop::math {

// The condition of a case: `\text{if } x > 0`, `otherwise`.
const Expr* Parser::CaseCondition() {
  const bool statement = StartsCondition() && Fold(Peek().text) != "otherwise";
  E words = statement ? nullptr : build_.Text(Fold(Peek().text));
  ++at_;
  return statement ? Statement() : words;
}

// A statement of `cases` or of a system, and what commas join to it: a condition, or more statements. The last one is returned,
// those before are added.
const Expr* Parser::CaseEntry(bool cases, NodeList* entries, size_t* row, size_t* rows) {
  if (StartsCondition()) ++at_;
  E entry = Statement();
  while (entry && (Type() == Tok::kComma || Type() == Tok::kPeriod || Type() == Tok::kSemicolon || Type() == Tok::kAnd)) {
    ++at_;
    if (Type() == Tok::kRowSeparator || Type() == Tok::kEndEnv || Type() == Tok::kAmpersand) break;
    if (cases && *row == 0) {  // "x^2, x > 0" or "x^2, \text{if } x > 0"
      if (!entries->Add(entry)) return Fail(ParseStatus::kLimitMemory);
      ++*row;
      if (StartsCondition()) {
        if (Fold(Peek().text) == "otherwise") return CaseCondition();
        ++at_;
      }
    }
    E more = Statement();
    if (!more) return nullptr;
    if (*row == 0) {
      if (!entries->Add(entry)) return nullptr;
      ++*rows;
    }
    entry = more;
  }
  if (!entry || !cases || *row != 0 || !StartsCondition()) return entry;
  if (!entries->Add(entry)) return Fail(ParseStatus::kLimitMemory);  // value \text{ if } condition
  ++*row;
  return CaseCondition();
}

const Expr* Parser::Environment(bool braced) {
  DepthGuard guard(this);
  if (TooDeep()) return nullptr;
  const std::string_view name = Peek().text;
  ++at_;
  const bool determinant = name == "vmatrix" || name == "Vmatrix";
  const bool matrix = name.ends_with("matrix") || name == "array" || name == "tabular";
  const bool cases = name == "cases" || name == "dcases" || name == "rcases" || (braced && name == "array");
  NodeList entries(arena_);
  size_t columns = 0, row = 0, rows = 0;
  bool ragged = false;
  const bool brackets = in_brackets_;
  in_brackets_ = true;
  while (Type() != Tok::kEndEnv) {
    if (Type() == Tok::kEnd) return Fail();
    if (Type() == Tok::kRowSeparator || Type() == Tok::kAmpersand) {
      const bool new_row = Type() == Tok::kRowSeparator;
      ++at_;
      if (new_row) {
        if (row) { if (columns && row != columns) ragged = true; columns = std::max(columns, row); ++rows; row = 0; }
      }
      continue;
    }
    if (cases && row >= 1 && StartsCondition() && Type(1) == Tok::kAmpersand && Fold(Peek().text) != "otherwise") {
      at_ += 2;  // a column for the word "if"
      continue;
    }
    E entry = nullptr;
    if (cases && row >= 1 && (Type() == Tok::kText || Type() == Tok::kWord) && !StartsOperand()) {
      entry = CaseCondition();
    } else if (cases || !matrix) {
      entry = CaseEntry(cases, &entries, &row, &rows);
    } else {
      entry = RelationChain();
    }
    if (!entry) return nullptr;
    if (!entries.Add(entry)) return Fail(ParseStatus::kLimitMemory);
    ++row;
  }
  ++at_;
  in_brackets_ = brackets;
  if (row) { if (columns && row != columns) ragged = true; columns = std::max(columns, row); ++rows; }
  if (entries.size() == 0) return Fail();
  if (cases && columns == 2) return build_.Make(Kind::kCases, entries.span());
  if (!matrix || cases) {
    if (entries.size() == 1) return entries[0];
    return build_.Make(Kind::kList, entries.span());
  }
  if (ragged || columns * rows != entries.size()) return Fail();
  Expr* e = build_.Make(Kind::kMatrix, entries.span());
  if (!e) return Fail(ParseStatus::kLimitNodes);
  e->aux = static_cast<int32_t>(rows);
  e->aux2 = static_cast<int32_t>(columns);
  return determinant ? build_.Call(Function::kDet, {e}) : e;
}

const Expr* Parser::Overline() {
  const bool accent = Type() == Tok::kAccent;
  const std::string_view command = Peek().text;
  ++at_;
  if (accent && Type() == Tok::kLBrace && Type(1) == Tok::kWord && Type(2) == Tok::kRBrace && Peek(1).text.size() == 1 && (command == "\\hat" || command == "\\vec")) {
    const char letter = Peek(1).text[0];
    if (letter == 'i' || letter == 'j' || letter == 'k') {
      at_ += 3;
      return build_.Symbol(letter == 'i' ? "\\vec i" : letter == 'j' ? "\\vec j" : "\\vec k");
    }
  }
  E inner = Type() == Tok::kLBrace ? Brace() : Primary();
  if (!inner) return nullptr;
  if (accent) return inner;
  Expr* e = build_.Make(Kind::kCall, {inner});
  if (e) e->text = "overline";
  return e;
}

const Expr* Parser::OperatorName() { return Fail(); }

const Expr* Parser::NamedSet() {
  const Function fn = Peek().fn;
  ++at_;
  Expr* e = build_.Leaf(Kind::kNamedSet);
  if (!e) return Fail(ParseStatus::kLimitNodes);
  e->fn = fn;
  // R^+, Z_{>0}, N_0, N^*
  for (int i = 0; i < 2 && (Type() == Tok::kCaret || Type() == Tok::kUnder); ++i) {
    const bool caret = Type() == Tok::kCaret;
    ++at_;
    const bool brace = Take(Tok::kLBrace);
    const size_t first = at_;
    while (at_ < end_ && (brace ? Type() != Tok::kRBrace : at_ == first)) {
      switch (Type()) {
        case Tok::kPlus: e->aux = 1; break;
        case Tok::kMinus: e->aux = -1; break;
        case Tok::kRelation: e->aux = Peek().op == '>' ? 1 : Peek().op == '<' ? -1 : Peek().op == ']' ? 2 : 0; break;
        case Tok::kTimes: if (caret) e->aux = fn == Function::kNaturals ? 1 : 3; break;
        case Tok::kNumber:
          if (!caret && fn == Function::kNaturals && Peek().text == "0") e->aux = 2;
          else if (!caret && fn == Function::kNaturals && Peek().text == "1") e->aux = 1;
          else e->aux2 = static_cast<int32_t>(HashName(Peek().text) & 0x3fffffff) * 2 + 1 + caret;
          break;
        default: break;
      }
      ++at_;
    }
    if (brace && !Take(Tok::kRBrace)) return Fail();
  }
  return e;
}

}  // namespace rewardloop::math
