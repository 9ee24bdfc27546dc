// Inside of the parser; included by parser*.cc only.
#pragma once

#include <string_view>

#include "math/builder.h"
#include "math/parser.h"

namespace rewardloop::math {

// Children collected before their node exists. Grows in the arena.
class NodeList {
 public:
  explicit NodeList(Arena* arena) : arena_(arena) {}
  bool Add(const Expr* e) {
    if (!e) return false;
    if (size_ == capacity_) {
      const size_t capacity = capacity_ ? capacity_ * 4 : 4;
      auto** bigger = arena_->NewArray<const Expr*>(capacity);
      if (!bigger) return false;
      for (size_t i = 0; i < size_; ++i) bigger[i] = items_[i];
      items_ = bigger;
      capacity_ = capacity;
    }
    items_[size_++] = e;
    return true;
  }
  std::span<const Expr* const> span() const { return {items_, size_}; }
  size_t size() const { return size_; }
  const Expr* operator[](size_t i) const { return items_[i]; }
  void Set(size_t i, const Expr* e) { items_[i] = e; }

 private:
  Arena* arena_;
  const Expr** items_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

class Parser {
 public:
  Parser(std::span<const Token> tokens, const LexOptions& options, Arena* arena);
  ParseResult Run();

 private:
  using E = const Expr*;

  // Tokens that are looked at to tell C(5, 2) from a point and the like.
  static constexpr size_t kTokensAheadMax = 512;

  // ---- tokens
  const Token& Peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, end_)]; }
  Tok Type(size_t ahead = 0) const { return at_ + ahead >= end_ ? Tok::kEnd : tokens_[at_ + ahead].type; }
  bool Take(Tok type) {
    if (Type() != type) return false;
    ++at_;
    return true;
  }
  E Fail(ParseStatus status = ParseStatus::kSyntax) {
    if (status_ == ParseStatus::kOk) status_ = status;
    return nullptr;
  }
  struct DepthGuard {
    explicit DepthGuard(Parser* parser) : parser(parser) { ++parser->depth_; }
    ~DepthGuard() { --parser->depth_; }
    Parser* parser;
  };
  bool TooDeep() {
    if (depth_ <= kDepthMax) return false;
    Fail(ParseStatus::kLimitDepth);
    return true;
  }

  // ---- parser.cc: lists, statements, operators
  E List(Tok close);
  // A list inside brackets of its own: bars outside of them neither close nor divide it.
  E ListWithin(Tok close);
  bool AtSeparator() const;
  E Statement();
  E RelationChain();
  E RatioLevel();
  E Time();
  E SetLevel();
  E Additive();
  E Multiplicative();
  bool StartsOperand() const;
  bool SquareGroups() const;
  bool StartsCondition() const;
  E Label();
  bool DropLeadingWords();

  // ---- parser_power.cc
  E Mixed(E integer);
  E Unary();
  E Exponent();
  E Power();
  E Raised(E base);
  E Degrees(E base);
  E Primed(E base);

  // ---- parser_unit.cc
  struct UnitText;
  E Scaled(E value);
  bool ReadUnit(UnitText* unit);
  E Units(E value, bool numeric);

  // ---- parser_primary.cc, parser_name.cc, parser_brackets.cc, parser_function.cc, parser_operator.cc, parser_environment.cc
  E Primary();
  E Number();
  E NumberFromText(std::string_view text);
  E Word();
  E SymbolTail(std::string_view name);
  E DecoratedCall(std::string_view name);
  bool HasArguments(std::string_view name, size_t name_at, bool indexed) const;
  E Arguments(std::string_view name);
  E LabeledPoint(std::string_view name);
  std::string_view SubscriptName(std::string_view name, bool* complex, E* index);
  E Round();
  E Square();
  E Brace();
  E SetBraces();
  E AngleVector();
  E Delimited(Tok close, Function fn);
  E AbsoluteBars();
  E FracArg();
  E FracArgOrNumber();
  E RenameImaginary(E e, E index);
  E Frac();
  E Sqrt();
  E FunctionCall();
  E FunctionArgument(Function fn);
  E BigOperator();
  E Integral();
  E ScriptArgument();
  E Limit();
  E CaseCondition();
  E CaseEntry(bool cases, NodeList* entries, size_t* row, size_t* rows);
  E Environment(bool braced);
  E Overline();
  E OperatorName();
  E NamedSet();
  E Wrap(E inner, Tok open, Tok close);
  std::string_view Fold(std::string_view text);

  // ---- parser_plain.cc
  E Constructor(std::string_view name);
  E Permutations(E n, E k);
  E Combinations(std::string_view name);
  E SpacedMatrix();
  E KeyboardVector();
  E ModCall();
  E Cis();
  E NestedMatrix();
  E ComputerAlgebra(std::string_view name);

  std::span<const Token> tokens_;
  LexOptions options_;
  Arena* arena_;
  Builder build_;
  size_t at_ = 0;
  size_t end_;
  int depth_ = 0;
  int bars_ = 0;          // open | ... |
  bool set_bar_ = false;  // inside \{ ... where | means "such that"
  bool in_brackets_ = false;
  ParseStatus status_ = ParseStatus::kOk;
  bool unit_ambiguous_ = false;
  bool only_words_ = false;
  int limit_side_ = 0;
  friend struct DepthGuard;
};

bool IsDigits(std::string_view text);
bool HasLower(std::string_view word);
// A plain word that reads as language, not as a product of letters.
bool LooksLikeWord(std::string_view word);

}  // namespace rewardloop::math
