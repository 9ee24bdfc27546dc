// Words, names, and what follows a name: subscripts, arguments.
#include <algorithm>

#include "math/parser_impl.h"

namespace rewardloop::math {
namespace {

// Letters that are functions when round brackets follow: f(x), but not x(x+1).
bool NamesFunction(std::string_view name) {
  static constexpr std::string_view kNames[] = {"f", "g", "h", "F", "G", "H", "phi", "varphi", "psi", "Phi", "Psi"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

bool AllUpper(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

// A vowel, a small letter, and no alphabetical order (abcd is a product).
bool ReadsAsWord(std::string_view word) {
  return word.find_first_of("aeiouyAEIOUY") != word.npos && std::any_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; }) &&
         !std::is_sorted(word.begin(), word.end());
}

}  // namespace

const Expr* Parser::Word() {
  const std::string_view run = Peek().text;
  const bool statement_start = at_ == 0 || Type() == Tok::kWord;
  (void)statement_start;
  ++at_;
  if (run.size() == 1) {
    if (Type() != Tok::kUnder) {
      if (run == "e" || run == "i" || (run == "I" && Type() != Tok::kLParen)) {
        if (run == "I") {
          // The letter I is a name unless it multiplies a number.
          const bool factor = at_ >= 2 && (tokens_[at_ - 2].type == Tok::kNumber || tokens_[at_ - 2].type == Tok::kTimes);
          if (!factor) return SymbolTail(run);
        }
        Expr* constant = build_.Constant(run == "e" ? Function::kE : Function::kI);
        if (!constant) return Fail(ParseStatus::kLimitNodes);
        constant->flags |= kFlagWordConstant;
        return constant;
      }
    }
    // x2, F1: a digit glued to a letter is an index
    if (Type() == Tok::kNumber && !Peek().space_before && Peek().end - Peek().begin <= 2 && IsDigits(Peek().text) &&
        Peek().begin == tokens_[at_ - 1].end && run != "d") {
      char* name = arena_->NewArray<char>(4 + Peek().text.size());
      if (!name) return Fail(ParseStatus::kLimitMemory);
      name[0] = run[0];
      name[1] = '_';
      std::copy(Peek().text.begin(), Peek().text.end(), name + 2);
      const size_t size = 2 + Peek().text.size();
      ++at_;
      return build_.Symbol({name, size});
    }
    return SymbolTail(run);
  }
  if (Type() == Tok::kLParen && !Peek().space_before) {
    if (E built = Constructor(run)) return built;
    if (status_ != ParseStatus::kOk) return nullptr;
  }
  // Name of several letters on the left of a relation: Maximum = 2.
  if (run.size() >= 3 && !AllUpper(run) && (Type() == Tok::kRelation || Type() == Tok::kUnder) && (at_ < 2 || tokens_[at_ - 2].type == Tok::kComma || tokens_[at_ - 2].type == Tok::kAnd || tokens_[at_ - 2].type == Tok::kSemicolon)) return SymbolTail(run);
  // Language is no product of letters.
  if (!only_words_ && run.size() >= 4 && ReadsAsWord(run)) return Fail();
  NodeList letters(arena_);
  for (size_t i = 0; i + 1 < run.size(); ++i) {
    const std::string_view letter = run.substr(i, 1);
    Expr* e = letter == "e" ? build_.Constant(Function::kE) : letter == "i" ? build_.Constant(Function::kI) : build_.Symbol(letter);
    if (e && e->kind == Kind::kConstant) e->flags |= kFlagWordConstant;
    if (!letters.Add(e)) return Fail(ParseStatus::kLimitNodes);
  }
  const std::string_view last = run.substr(run.size() - 1);
  E tail = nullptr;
  if (Type() != Tok::kUnder && (last == "e" || last == "i")) {
    Expr* constant = build_.Constant(last == "e" ? Function::kE : Function::kI);
    if (constant) constant->flags |= kFlagWordConstant;
    tail = constant;
  } else {
    tail = SymbolTail(last);
  }
  // ab^2 is a * b^2
  if (tail && Type() == Tok::kCaret && !AllUpper(run)) {
    ++at_;
    E exponent = Exponent();
    tail = exponent ? build_.Make(Kind::kPow, {tail, exponent}) : nullptr;
  }
  if (!tail || !letters.Add(tail)) return status_ == ParseStatus::kOk ? Fail(ParseStatus::kLimitNodes) : nullptr;
  Expr* product = build_.Make(Kind::kMul, letters.span());
  if (!product) return Fail(ParseStatus::kLimitNodes);
  product->text = run;
  return product;
}

// f^{-1}(x) and f'(x); null, with nothing read, when something else stands here.
const Expr* Parser::DecoratedCall(std::string_view name) {
  const bool inverse = Type() == Tok::kCaret && Type(1) == Tok::kLBrace && Type(2) == Tok::kMinus && Type(3) == Tok::kNumber && Peek(3).text == "1" &&
                       Type(4) == Tok::kRBrace && Type(5) == Tok::kLParen;
  const bool derivative = Type() == Tok::kPrime && Type(1) == Tok::kLParen;
  if (!inverse && !derivative) return nullptr;
  char* text = arena_->NewArray<char>(name.size() + 3);
  if (!text) return Fail(ParseStatus::kLimitMemory);
  char* out = std::copy(name.begin(), name.end(), text);
  for (char c : std::string_view(inverse ? "^-1" : "'")) *out++ = c;
  at_ += inverse ? 5 : 1;
  E args = Round();
  Expr* e = args ? build_.Make(Kind::kCall, {args}) : nullptr;
  if (!e) return status_ == ParseStatus::kOk ? Fail(ParseStatus::kLimitNodes) : nullptr;
  e->text = {text, static_cast<size_t>(out - text)};
  return e;
}

// Do the round brackets here hold the arguments of `name`? f(x): always; W(n) = ...: when a relation follows them.
bool Parser::HasArguments(std::string_view name, size_t name_at, bool indexed) const {
  if (NamesFunction(name)) return true;
  if (name.size() != 1 && name.find('_') == name.npos) return false;
  const Tok before = name_at == 0 ? Tok::kComma : tokens_[name_at - 1].type;
  const bool start = before == Tok::kComma || before == Tok::kAnd || before == Tok::kOr || before == Tok::kRelation || before == Tok::kLParen || before == Tok::kSemicolon || indexed;
  size_t j = 1;
  while (Type(j) == Tok::kWord || Type(j) == Tok::kSymbol || Type(j) == Tok::kComma || Type(j) == Tok::kNumber || Type(j) == Tok::kMinus) ++j;
  const bool upper = name[0] >= 'A' && name[0] <= 'Z';
  const Tok after = Type(j + 1);
  const bool named = after == Tok::kRelation || (upper && (after == Tok::kComma || after == Tok::kRParen) && Type(1) != Tok::kNumber);
  const bool call = start && Type(j) == Tok::kRParen && named;
  return after == Tok::kRelation && Peek(j + 1).op != '=' ? call && upper : call;
}

const Expr* Parser::Arguments(std::string_view name) {
  ++at_;
  const bool brackets = in_brackets_;
  in_brackets_ = true;
  E args = List(Tok::kRParen);
  in_brackets_ = brackets;
  if (!args || !Take(Tok::kRParen)) return status_ == ParseStatus::kOk ? Fail() : nullptr;
  Expr* e = args->kind == Kind::kList ? build_.Make(Kind::kCall, args->children()) : build_.Make(Kind::kCall, {args});
  if (!e) return Fail(ParseStatus::kLimitNodes);
  e->text = name;
  return e;
}

// P(1, 2); null, with nothing read, when it is none.
const Expr* Parser::LabeledPoint(std::string_view name) {
  int depth = 0;
  bool comma = false;
  size_t j = 0;
  for (; Type(j) != Tok::kEnd && j < kTokensAheadMax; ++j) {
    if (Type(j) == Tok::kLParen) ++depth;
    if (Type(j) == Tok::kRParen && --depth == 0) break;
    comma |= depth == 1 && Type(j) == Tok::kComma;
  }
  const Tok after = Type(j + 1);
  const bool ends = after == Tok::kEnd || after == Tok::kComma || after == Tok::kAnd || after == Tok::kOr || after == Tok::kSemicolon || after == Tok::kPeriod;
  if (!comma || depth != 0 || !ends) return nullptr;
  E point = Round();
  Expr* e = point ? build_.Make(Kind::kLabeled, {point}) : nullptr;
  if (e) e->text = name;
  return e;
}

// The symbol `name` with what follows it: subscript, argument list.
const Expr* Parser::SymbolTail(std::string_view name) {
  DepthGuard guard(this);
  if (TooDeep()) return nullptr;
  bool complex = false;
  E index = nullptr;
  const size_t name_at = at_ - 1;
  if (Type() == Tok::kUnder) {
    name = SubscriptName(name, &complex, &index);
    if (status_ != ParseStatus::kOk) return nullptr;
  }
  if (NamesFunction(name)) {
    if (E call = DecoratedCall(name)) return call;
    if (status_ != ParseStatus::kOk) return nullptr;
  }
  if (Type() == Tok::kLParen && !Peek().quad_before) {
    if (HasArguments(name, name_at, complex)) return Arguments(name);
    if (name.size() == 1 && name[0] >= 'A' && name[0] <= 'Z') {
      if (E count = Combinations(name)) return count;
      if (status_ != ParseStatus::kOk) return nullptr;
      if (E point = LabeledPoint(name)) return point;
      if (status_ != ParseStatus::kOk) return nullptr;
    }
  }
  Expr* e = complex ? build_.Make(Kind::kCall, {index}) : build_.Symbol(name);
  if (!e) return Fail(ParseStatus::kLimitNodes);
  if (complex) e->text = name;
  return e;
}

// Reads `_...`. A plain subscript joins the name; an expression makes *complex true and *index its value.
std::string_view Parser::SubscriptName(std::string_view name, bool* complex, E* index) {
  ++at_;
  const bool brace = Take(Tok::kLBrace);
  const size_t first = at_;
  size_t last = first;
  if (brace) {
    int depth = 1;
    while (last < end_) {
      if (tokens_[last].type == Tok::kLBrace) ++depth;
      if (tokens_[last].type == Tok::kRBrace && --depth == 0) break;
      ++last;
    }
    if (last == end_) { Fail(); return name; }
  } else {
    if (first >= end_) { Fail(); return name; }
    last = first + 1;
  }
  bool simple = true;
  size_t size = name.size() + 1;
  for (size_t i = first; i < last; ++i) {
    const Tok type = tokens_[i].type;
    if (type == Tok::kPlus || type == Tok::kMinus || type == Tok::kTimes || type == Tok::kSlash || type == Tok::kFrac || type == Tok::kLParen) simple = false;
    if (type == Tok::kPlus && i + 1 == last) simple = true;
    size += tokens_[i].text.size();
  }
  if (simple || size > 200) {
    char* text = arena_->NewArray<char>(size);
    if (!text) { Fail(ParseStatus::kLimitMemory); return name; }
    char* out = std::copy(name.begin(), name.end(), text);
    *out++ = '_';
    for (size_t i = first; i < last; ++i) {
      std::string_view piece = tokens_[i].text;
      if (piece.starts_with('\\')) piece.remove_prefix(1);
      for (char c : piece) if (c != ' ' && c != '{' && c != '}') *out++ = c;
    }
    at_ = last + (brace ? 1 : 0);
    return {text, static_cast<size_t>(out - text)};
  }
  *complex = true;
  *index = brace ? List(Tok::kRBrace) : Primary();
  if (!*index) return name;
  if (brace && !Take(Tok::kRBrace)) { Fail(); return name; }
  char* text = arena_->NewArray<char>(name.size() + 1);
  if (!text) { Fail(ParseStatus::kLimitMemory); return name; }
  std::copy(name.begin(), name.end(), text);
  text[name.size()] = '_';
  return {text, name.size() + 1};
}

// `e` with every i that was written as a letter replaced by a symbol.
const Expr* Parser::RenameImaginary(E e, E index) {
  if (e->kind == Kind::kConstant && e->fn == Function::kI && e->has(kFlagWordConstant)) return index;
  if (e->child_count == 0) return e;
  Expr* copy = build_.Make(e->kind, e->children());
  if (!copy) return Fail(ParseStatus::kLimitNodes);
  Expr** child = copy->child;
  const uint16_t depth = copy->depth;
  *copy = *e;
  copy->child = child;
  copy->depth = depth;
  for (uint32_t i = 0; i < e->child_count; ++i) {
    E renamed = RenameImaginary((*e)[i], index);
    if (!renamed) return nullptr;
    child[i] = const_cast<Expr*>(renamed);
  }
  return copy;
}

}  // namespace rewardloop::math
