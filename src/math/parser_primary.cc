#include <algorithm>

#include "math/parser_impl.h"
#include "math/units.h"

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

Function Inverse(Function fn) {
  switch (fn) {
    case Function::kSin: return Function::kArcsin;
    case Function::kCos: return Function::kArccos;
    case Function::kTan: return Function::kArctan;
    case Function::kCot: return Function::kArccot;
    case Function::kSec: return Function::kArcsec;
    case Function::kCsc: return Function::kArccsc;
    case Function::kSinh: return Function::kArsinh;
    case Function::kCosh: return Function::kArcosh;
    case Function::kTanh: return Function::kArtanh;
    case Function::kCoth: return Function::kArcoth;
    default: return Function::kNone;
  }
}

bool IsTrig(Function fn) { return fn >= Function::kSin && fn <= Function::kArcsch; }

}  // namespace

const Expr* Parser::Primary() {
  DepthGuard guard(this);
  if (TooDeep()) return nullptr;
  switch (Type()) {
    case Tok::kNumber: return Number();
    case Tok::kWord: return Word();
    case Tok::kSymbol: { const std::string_view name = Peek().text; ++at_; return SymbolTail(name); }
    case Tok::kConstant: { const Function fn = Peek().fn; ++at_; return build_.Constant(fn); }
    case Tok::kText: {
      if (Peek().text.size() == 1 && Peek().text[0] >= 'A') return Word();
      return Fail();
    }
    case Tok::kFunction: return FunctionCall();
    case Tok::kLParen: return Round();
    case Tok::kLBracket: case Tok::kRBracket: return Square();
    case Tok::kLBrace: return Brace();
    case Tok::kLSet: return SetBraces();
    case Tok::kLAngle: return AngleVector();
    case Tok::kLAbs: ++at_; return Delimited(Tok::kRAbs, Function::kAbs);
    case Tok::kBar: return AbsoluteBars();
    case Tok::kDoubleBar: ++at_; return Delimited(Tok::kDoubleBar, Function::kAbs);
    case Tok::kLFloor: ++at_; return Delimited(Tok::kRFloor, Function::kFloor);
    case Tok::kLCeil: ++at_; return Delimited(Tok::kRCeil, Function::kCeil);
    case Tok::kFrac: return Frac();
    case Tok::kBinom: case Tok::kChoose: {
      ++at_;
      E n = FracArg(), k = n ? FracArg() : nullptr;
      return k ? build_.Call(Function::kBinomial, {n, k}) : nullptr;
    }
    case Tok::kSqrt: case Tok::kCbrt: return Sqrt();
    case Tok::kSum: case Tok::kProduct: return BigOperator();
    case Tok::kIntegral: return Integral();
    case Tok::kLimit: return Limit();
    case Tok::kBegin: return Environment(false);
    case Tok::kOverline: case Tok::kAccent: return Overline();
    case Tok::kOperatorName: return OperatorName();
    case Tok::kNamedSet: return NamedSet();
    case Tok::kDots: { ++at_; return build_.Leaf(Kind::kEllipsis); }
    case Tok::kCurrency: {
      ++at_;
      E value = Power();
      return value ? build_.Make(Kind::kCurrency, {value}) : nullptr;
    }
    default: return Fail();
  }
}

const Expr* Parser::Number() {
  const Token token = Peek();
  ++at_;
  if (Type() == Tok::kUnder && IsDigits(token.text)) {  // 1011_2
    const bool brace = Type(1) == Tok::kLBrace;
    const Token& base = Peek(brace ? 2 : 1);
    if (base.type == Tok::kNumber && IsDigits(base.text) && base.text.size() <= 2 && (!brace || Type(3) == Tok::kRBrace)) {
      const int64_t value = base.text.size() == 1 ? base.text[0] - '0' : (base.text[0] - '0') * 10 + base.text[1] - '0';
      const char top = *std::max_element(token.text.begin(), token.text.end());
      if (value >= 2 && value <= 36 && top - '0' < value) {
        at_ += brace ? 4 : 2;
        Expr* e = build_.Leaf(Kind::kBaseNumber);
        if (!e) return Fail(ParseStatus::kLimitNodes);
        e->text = token.text;
        e->number = value;
        return e;
      }
    }
    return Fail();
  }
  return NumberFromText(token.text);
}

// `12`, `0.50`, `0.1(6)`, `0.333~`, `1.5e-7`.
const Expr* Parser::NumberFromText(std::string_view text) {
  int64_t exponent = 0;
  bool scientific = false;
  if (const size_t e = text.find_first_of("eE"); e != text.npos) {
    bool negative = false;
    size_t i = e + 1;
    if (text[i] == '-' || text[i] == '+') negative = text[i++] == '-';
    for (; i < text.size() && exponent < 1'000'000'000'000; ++i) exponent = exponent * 10 + (text[i] - '0');
    if (negative) exponent = -exponent;
    text = text.substr(0, e);
    scientific = true;
  }
  bool truncated = false;
  if (text.ends_with('~')) { truncated = true; text.remove_suffix(1); }
  const size_t point = text.find('.');
  if (point == text.npos) {
    Expr* e = build_.Number(text, exponent, scientific ? 0 : -1);
    if (!e) return Fail(ParseStatus::kLimitNodes);
    if (scientific) e->flags |= kFlagScientific;
    return e;
  }
  const size_t open = text.find('(', point);
  const std::string_view fraction = text.substr(point + 1, open == text.npos ? text.npos : open - point - 1);
  char* digits = arena_->NewArray<char>(text.size() + 1);
  if (!digits) return Fail(ParseStatus::kLimitMemory);
  size_t size = 0;
  for (char c : text.substr(0, point)) digits[size++] = c;
  for (char c : fraction) digits[size++] = c;
  if (size == 0) digits[size++] = '0';
  Expr* e = build_.Number({digits, size}, exponent - static_cast<int64_t>(fraction.size()), static_cast<int32_t>(fraction.size()));
  if (!e) return Fail(ParseStatus::kLimitNodes);
  if (truncated) e->flags |= kFlagTruncated;
  if (scientific) e->flags |= kFlagScientific;
  if (open == text.npos) return e;
  // x.y(r) = x.y + r / (10^|r| - 1) / 10^|y|
  std::string_view repeat = text.substr(open + 1, text.size() - open - 2);
  char* nines = arena_->NewArray<char>(repeat.size() + 1);
  if (!nines) return Fail(ParseStatus::kLimitMemory);
  std::fill(nines, nines + repeat.size(), '9');
  E tail = build_.Make(Kind::kDiv, {build_.Number(repeat, -static_cast<int64_t>(fraction.size()), static_cast<int32_t>(fraction.size())),
                                    build_.Number({nines, repeat.size()})});
  e->aux = -1;
  Expr* sum = build_.Make(Kind::kAdd, {e, tail});
  if (!sum) return Fail(ParseStatus::kLimitNodes);
  sum->parens = 1;
  return sum;
}

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

// Constructors of computer algebra: Rational(1, 2), Eq(y, 2*x), FiniteSet(1, 2), Matrix([[1, 2]]). Null when `name` is none.
const Expr* Parser::Constructor(std::string_view name) {
  struct Entry { std::string_view name; Kind kind; std::string_view op; };
  static constexpr Entry kEntries[] = {
      {"Rational", Kind::kDiv, ""}, {"Eq", Kind::kRelation, "="}, {"Ne", Kind::kRelation, "#"}, {"Lt", Kind::kRelation, "<"}, {"Le", Kind::kRelation, "["},
      {"Gt", Kind::kRelation, ">"}, {"Ge", Kind::kRelation, "]"}, {"FiniteSet", Kind::kSet, ""}, {"Union", Kind::kUnion, ""}, {"Interval", Kind::kInterval, ""},
      {"Matrix", Kind::kMatrix, ""}, {"Integer", Kind::kNumber, ""}, {"Float", Kind::kNumber, ""}, {"Tuple", Kind::kTuple, ""}, {"root", Kind::kRoot, ""}};
  const Entry* entry = std::find_if(std::begin(kEntries), std::end(kEntries), [&](const Entry& e) { return e.name == name; });
  if (entry == std::end(kEntries)) return nullptr;
  ++at_;
  E inner = List(Tok::kRParen);
  if (!inner || !Take(Tok::kRParen)) return status_ == ParseStatus::kOk ? Fail() : nullptr;
  const bool many = inner->kind == Kind::kList && !inner->parens;
  if (entry->kind == Kind::kNumber || (entry->kind == Kind::kMatrix && !many) || (entry->kind == Kind::kDiv && !many)) return many ? Fail() : inner;
  const size_t count = many ? inner->child_count : 1;
  const bool pair = entry->kind == Kind::kDiv || entry->kind == Kind::kRelation || entry->kind == Kind::kInterval || entry->kind == Kind::kUnion || entry->kind == Kind::kRoot;
  if ((pair && count != 2) || entry->kind == Kind::kMatrix) return Fail();
  Expr* e = many ? build_.Make(entry->kind, inner->children()) : build_.Make(entry->kind, {inner});
  if (!e) return Fail(ParseStatus::kLimitNodes);
  if (entry->kind == Kind::kRelation) e->text = entry->op;
  if (entry->kind == Kind::kInterval) e->flags = kFlagLowerClosed | kFlagUpperClosed;
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
  // f^{-1}(x) and f'(x)
  if (NamesFunction(name)) {
    const bool inverse = Type() == Tok::kCaret && Type(1) == Tok::kLBrace && Type(2) == Tok::kMinus && Type(3) == Tok::kNumber && Peek(3).text == "1" &&
                         Type(4) == Tok::kRBrace && Type(5) == Tok::kLParen;
    const bool derivative = Type() == Tok::kPrime && Type(1) == Tok::kLParen;
    if (inverse || derivative) {
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
  }
  // f(x): always; W(n) = ...: when a relation follows the brackets
  if (Type() == Tok::kLParen && !Peek().quad_before) {
    bool call = NamesFunction(name);
    if (!call && (name.size() == 1 || name.find('_') != name.npos)) {
      const size_t before = name_at;
      const bool start = before == 0 || tokens_[before - 1].type == Tok::kComma || tokens_[before - 1].type == Tok::kAnd ||
                         tokens_[before - 1].type == Tok::kOr || tokens_[before - 1].type == Tok::kRelation || tokens_[before - 1].type == Tok::kLParen ||
                         tokens_[before - 1].type == Tok::kSemicolon || complex;
      size_t j = 1;
      while (Type(j) == Tok::kWord || Type(j) == Tok::kSymbol || Type(j) == Tok::kComma || Type(j) == Tok::kNumber || Type(j) == Tok::kMinus) ++j;
      const bool upper = name[0] >= 'A' && name[0] <= 'Z';
      call = start && Type(j) == Tok::kRParen && (Type(j + 1) == Tok::kRelation || (upper && (Type(j + 1) == Tok::kComma || Type(j + 1) == Tok::kRParen) && Type(1) != Tok::kNumber));
      if (Type(j + 1) == Tok::kRelation && Peek(j + 1).op != '=') call = call && upper;
    }
    if (call) {
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
    // P(1, 2): a labelled point
    if (name.size() == 1 && name[0] >= 'A' && name[0] <= 'Z') {
      int depth = 0;
      bool comma = false;
      size_t j = 0;
      for (; Type(j) != Tok::kEnd; ++j) {
        if (Type(j) == Tok::kLParen) ++depth;
        if (Type(j) == Tok::kRParen && --depth == 0) break;
        comma |= depth == 1 && Type(j) == Tok::kComma;
      }
      const Tok after = Type(j + 1);
      if (comma && depth == 0 && (after == Tok::kEnd || after == Tok::kComma || after == Tok::kAnd || after == Tok::kOr || after == Tok::kSemicolon || after == Tok::kPeriod)) {
        E point = Round();
        Expr* e = point ? build_.Make(Kind::kLabeled, {point}) : nullptr;
        if (e) e->text = name;
        return e;
      }
    }
  }
  if (complex) {
    Expr* e = build_.Make(Kind::kCall, {index});
    if (!e) return Fail(ParseStatus::kLimitNodes);
    e->text = name;
    return e;
  }
  Expr* e = build_.Symbol(name);
  return e ? e : Fail(ParseStatus::kLimitNodes);
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

// Makes of `inner` (a list or one item) what its brackets say.
const Expr* Parser::Wrap(E inner, Tok open, Tok close) {
  const auto bracket = [](Tok type) { return type == Tok::kLParen || type == Tok::kRParen ? Bracket::kRound : Bracket::kSquare; };
  const bool list = inner->kind == Kind::kList && !inner->parens;
  if (!list) {
    if (bracket(open) != bracket(close)) return Fail();
    if (bracket(open) == Bracket::kSquare && inner->kind == Kind::kInterval) {
      Expr* e = build_.Make(Kind::kTuple, {inner});
      if (e) e->aux = e->aux2 = static_cast<int32_t>(Bracket::kSquare);
      return e;
    }
    auto* copy = build_.Make(inner->kind, inner->children());
    if (!copy) return Fail(ParseStatus::kLimitNodes);
    E* children = nullptr;
    (void)children;
    Expr** child = copy->child;
    const uint16_t depth = copy->depth;
    *copy = *inner;
    copy->child = child;
    copy->depth = depth;
    copy->parens = 1;
    return copy;
  }
  if (inner->aux > 0 || inner->has(kFlagOr)) {
    Expr* copy = build_.Make(Kind::kList, inner->children());
    if (!copy) return Fail(ParseStatus::kLimitNodes);
    copy->flags = inner->flags;
    copy->aux = inner->aux;
    copy->parens = 1;
    return copy;
  }
  const bool mixed = bracket(open) != bracket(close);
  const bool french = open == Tok::kRBracket || close == Tok::kLBracket;
  // [[1,2],[3,4]]
  if (!mixed && !french && bracket(open) == Bracket::kSquare) {
    const auto row = [](E e) { return (e->kind == Kind::kInterval && e->flags == 3) || (e->kind == Kind::kTuple && e->aux == 1 && e->aux2 == 1); };
    bool matrix = true;
    for (E child : inner->children()) matrix = matrix && row(child) && child->child_count == (*inner)[0]->child_count;
    if (matrix) {
      NodeList entries(arena_);
      for (E child : inner->children()) for (E entry : child->children()) entries.Add(entry);
      Expr* e = build_.Make(Kind::kMatrix, entries.span());
      if (!e) return Fail(ParseStatus::kLimitNodes);
      e->aux = inner->child_count;
      e->aux2 = (*inner)[0]->child_count;
      return e;
    }
  }
  if (inner->child_count == 2 && (mixed || french || bracket(open) == Bracket::kSquare)) {
    Expr* e = build_.Make(Kind::kInterval, inner->children());
    if (!e) return Fail(ParseStatus::kLimitNodes);
    if (open == Tok::kLBracket) e->flags |= kFlagLowerClosed;
    if (close == Tok::kRBracket) e->flags |= kFlagUpperClosed;
    return e;
  }
  if (mixed || french) return Fail();
  Expr* e = build_.Make(Kind::kTuple, inner->children());
  if (!e) return Fail(ParseStatus::kLimitNodes);
  e->aux = static_cast<int32_t>(bracket(open));
  e->aux2 = static_cast<int32_t>(bracket(close));
  return e;
}

const Expr* Parser::Round() {
  ++at_;
  const int bars = bars_;
  const bool set_bar = set_bar_;
  bars_ = 0;
  set_bar_ = false;
  // (C): a letter in brackets stays what it is
  E inner = List(Tok::kRParen);
  bars_ = bars;
  set_bar_ = set_bar;
  if (!inner) return nullptr;
  const Tok close = Type();
  if (close != Tok::kRParen && close != Tok::kRBracket) return Fail();
  ++at_;
  return Wrap(inner, Tok::kLParen, close);
}

const Expr* Parser::Square() {
  const Tok open = Type();
  ++at_;
  const int bars = bars_;
  const bool set_bar = set_bar_;
  bars_ = 0;
  set_bar_ = false;
  E inner = List(Tok::kRBracket);
  bars_ = bars;
  set_bar_ = set_bar;
  if (!inner) return nullptr;
  const Tok close = Type();
  if (close != Tok::kRParen && close != Tok::kRBracket && close != Tok::kLBracket) return Fail();
  ++at_;
  return Wrap(inner, open, close);
}

// Plain braces: a group; with commas a list.
const Expr* Parser::Brace() {
  ++at_;
  const int bars = bars_;
  const bool set_bar = set_bar_;
  bars_ = 0;
  set_bar_ = false;
  E inner = nullptr;
  if (Type() == Tok::kRBrace) {  // {} is nothing: the operand follows
    ++at_;
    bars_ = bars;
    set_bar_ = set_bar;
    return Type() == Tok::kEnd ? Fail() : Power();
  }
  inner = List(Tok::kRBrace);
  bars_ = bars;
  set_bar_ = set_bar;
  if (!inner) return nullptr;
  if (Type() == Tok::kOver || Type() == Tok::kChoose) {
    const bool over = Type() == Tok::kOver;
    ++at_;
    E bottom = List(Tok::kRBrace);
    inner = !bottom ? nullptr : over ? build_.Make(Kind::kDiv, {inner, bottom}) : build_.Call(Function::kBinomial, {inner, bottom});
    if (!inner) return nullptr;
  }
  if (!Take(Tok::kRBrace)) return Fail();
  return inner;
}

const Expr* Parser::SetBraces() {
  if (Type(1) == Tok::kBegin) {  // \left\{ \begin{array} ... \end{array} \right.
    ++at_;
    E system = Environment(true);
    Take(Tok::kRSet);
    return system;
  }
  ++at_;
  if (Take(Tok::kRSet)) {
    Expr* e = build_.Leaf(Kind::kNamedSet);
    if (e) e->fn = Function::kEmptySet;
    return e;
  }
  const int bars = bars_;
  const bool set_bar = set_bar_;
  bars_ = 0;
  set_bar_ = true;
  E first = List(Tok::kRSet);
  set_bar_ = false;
  E result = nullptr;
  if (first && (Type() == Tok::kBar || Type() == Tok::kColon || Type() == Tok::kSemicolon)) {
    ++at_;
    E conditions = List(Tok::kRSet);
    if (conditions) {
      NodeList parts(arena_);
      parts.Add(first);
      if (conditions->kind == Kind::kList && !conditions->has(kFlagOr)) {
        for (E child : conditions->children()) parts.Add(child);
      } else {
        parts.Add(conditions);
      }
      result = build_.Make(Kind::kSetBuilder, parts.span());
    }
  } else if (first) {
    result = first->kind == Kind::kList && !first->parens ? build_.Make(Kind::kSet, first->children()) : build_.Make(Kind::kSet, {first});
  }
  bars_ = bars;
  set_bar_ = set_bar;
  if (!result) return nullptr;
  if (!Take(Tok::kRSet) && !Take(Tok::kRBrace)) return Fail();
  return result;
}

const Expr* Parser::AngleVector() {
  ++at_;
  E inner = List(Tok::kRAngle);
  if (!inner || !Take(Tok::kRAngle)) return status_ == ParseStatus::kOk ? Fail() : nullptr;
  Expr* e = inner->kind == Kind::kList ? build_.Make(Kind::kTuple, inner->children()) : build_.Make(Kind::kTuple, {inner});
  if (!e) return Fail(ParseStatus::kLimitNodes);
  e->aux = e->aux2 = static_cast<int32_t>(Bracket::kAngle);
  return e;
}

const Expr* Parser::Delimited(Tok close, Function fn) {
  const int bars = bars_;
  const bool set_bar = set_bar_;
  bars_ = 0;
  set_bar_ = false;
  E inner = List(close);
  bars_ = bars;
  set_bar_ = set_bar;
  if (!inner || !Take(close)) return status_ == ParseStatus::kOk ? Fail() : nullptr;
  if (inner->kind == Kind::kList) return Fail();
  if (inner->kind == Kind::kMatrix) fn = Function::kDet;
  return build_.Call(fn, {inner});
}

const Expr* Parser::AbsoluteBars() {
  if (bars_ > 0 || set_bar_) {
    if (!set_bar_) return Fail();
  }
  ++at_;
  ++bars_;
  const bool set_bar = set_bar_;
  set_bar_ = false;
  E inner = Additive();
  set_bar_ = set_bar;
  --bars_;
  if (!inner || (!Take(Tok::kBar) && !Take(Tok::kRAbs))) return status_ == ParseStatus::kOk ? Fail() : nullptr;
  return build_.Call(inner->kind == Kind::kMatrix ? Function::kDet : Function::kAbs, {inner});
}

// One argument of \frac: a group, or a single digit, letter or command.
const Expr* Parser::FracArg() {
  DepthGuard guard(this);
  if (TooDeep()) return nullptr;
  if (Type() == Tok::kLBrace) return Brace();
  if (Type() == Tok::kNumber && Peek().text.size() > 1 && IsDigits(Peek().text)) {
    auto& token = const_cast<Token&>(tokens_[at_]);
    E digit = build_.Number(token.text.substr(0, 1));
    token.text.remove_prefix(1);
    token.space_before = false;
    return digit;
  }
  if (Type() == Tok::kWord && Peek().text.size() > 1) {
    auto& token = const_cast<Token&>(tokens_[at_]);
    E letter = build_.Symbol(token.text.substr(0, 1));
    token.text.remove_prefix(1);
    return letter;
  }
  if (Type() == Tok::kMinus) { ++at_; E x = FracArg(); return x ? build_.Neg(x) : nullptr; }
  return Primary();
}

const Expr* Parser::Frac() {
  ++at_;
  if (Type() == Tok::kLParen && (Type(1) != Tok::kEnd)) {  // frac(1, 2) and \frac(1)(2)
    E numerator = Round();
    if (!numerator) return nullptr;
    if (numerator->kind == Kind::kTuple && numerator->child_count == 2) return build_.Make(Kind::kDiv, {(*numerator)[0], (*numerator)[1]});
    E denominator = FracArg();
    return denominator ? build_.Make(Kind::kDiv, {numerator, denominator}) : nullptr;
  }
  const size_t before = at_;
  E numerator = FracArg();
  if (!numerator) return nullptr;
  E denominator = FracArg();
  if (!denominator) return nullptr;
  // \frac{d}{dx} f
  const bool d_over = numerator->kind == Kind::kSymbol && numerator->text == "d" && denominator->kind == Kind::kMul &&
                      denominator->child_count == 2 && denominator->text.starts_with('d') && (*denominator)[1]->kind == Kind::kSymbol;
  (void)before;
  if (d_over && StartsOperand()) {
    E body = Multiplicative();
    E one = build_.Integer(1);
    return body ? build_.Make(Kind::kDerivative, {body, (*denominator)[1], one}) : nullptr;
  }
  E e = build_.Make(Kind::kDiv, {numerator, denominator});
  return e ? e : Fail(ParseStatus::kLimitNodes);
}

const Expr* Parser::Sqrt() {
  const bool cube = Type() == Tok::kCbrt;
  ++at_;
  E index = nullptr;
  if (cube) index = build_.Integer(3);
  if (Type() == Tok::kLBracket) {
    ++at_;
    index = List(Tok::kRBracket);
    if (!index || !Take(Tok::kRBracket)) return status_ == ParseStatus::kOk ? Fail() : nullptr;
  }
  E radicand = nullptr;
  if (Type() == Tok::kLBrace) radicand = Brace();
  else if (Type() == Tok::kLParen) radicand = Round();
  else if (Type() == Tok::kMinus) { ++at_; radicand = build_.Neg(Primary()); }
  else radicand = Primary();
  if (!radicand) return status_ == ParseStatus::kOk ? Fail() : nullptr;
  E e = index ? build_.Make(Kind::kRoot, {radicand, index}) : build_.Make(Kind::kSqrt, {radicand});
  return e ? e : Fail(ParseStatus::kLimitNodes);
}

// The argument of a function written without brackets: sin 2x, ln|x|, cos 20^\circ.
const Expr* Parser::FunctionArgument(Function fn) {
  DepthGuard guard(this);
  if (TooDeep()) return nullptr;
  if (Take(Tok::kMinus)) {
    E operand = FunctionArgument(fn);
    return operand ? build_.Neg(operand) : nullptr;
  }
  NodeList factors(arena_);
  bool pi = false;
  while (true) {
    if (factors.size() && (Type() == Tok::kFunction || Type() == Tok::kSum || Type() == Tok::kIntegral || Type() == Tok::kText || Type() == Tok::kBegin ||
                           Type() == Tok::kLSet || Peek().quad_before || !StartsOperand() || StartsCondition()))
      break;
    if (factors.size() && Type() == Tok::kLParen && factors[factors.size() - 1]->parens) break;
    if (factors.size() && Type() == Tok::kNumber) break;
    pi |= Type() == Tok::kConstant;
    E factor = Power();
    if (!factor || !factors.Add(factor)) return nullptr;
  }
  E product = factors.size() == 1 ? factors[0] : build_.Make(Kind::kMul, factors.span());
  // sin pi/6
  if (product && pi && IsTrig(fn) && Type() == Tok::kSlash && Type(1) == Tok::kNumber) {
    ++at_;
    E divisor = Number();
    product = divisor ? build_.Make(Kind::kDiv, {product, divisor}) : nullptr;
  }
  return product;
}

const Expr* Parser::FunctionCall() {
  const Token token = Peek();
  Function fn = token.fn;
  ++at_;
  E base = nullptr, exponent = nullptr;
  if (token.text == "lg" || token.text == "\\lg") base = build_.Integer(10);
  for (int i = 0; i < 2; ++i) {
    if (Type() == Tok::kUnder) {
      ++at_;
      base = FracArgOrNumber();
      if (!base) return nullptr;
    }
    if (Type() == Tok::kCaret && !exponent) {
      ++at_;
      exponent = Exponent();
      if (!exponent) return nullptr;
    }
  }
  E args = nullptr;
  bool bracketed = false;
  if (Type() == Tok::kLParen || Type() == Tok::kLBrace || (Type() == Tok::kLSet && fn >= Function::kGcd) || (Type() == Tok::kLBracket)) {
    bracketed = true;
    args = Type() == Tok::kLParen ? Round() : Type() == Tok::kLBrace ? Brace() : Type() == Tok::kLSet ? SetBraces() : Square();
  } else {
    args = FunctionArgument(fn);
  }
  if (!args) return status_ == ParseStatus::kOk ? Fail() : nullptr;
  (void)bracketed;
  if (args->kind == Kind::kInterval && args->flags != (kFlagLowerClosed | kFlagUpperClosed)) return Fail();  // f(1, 2] is a slip
  const bool many = args->kind == Kind::kTuple || args->kind == Kind::kSet || args->kind == Kind::kList || args->kind == Kind::kInterval;
  const auto children = many ? args->children() : std::span<Expr* const>();
  const Function inverse = exponent && exponent->kind == Kind::kNeg && (*exponent)[0]->kind == Kind::kNumber && (*exponent)[0]->text == "1" ? Inverse(fn) : Function::kNone;
  if (inverse != Function::kNone) { fn = inverse; exponent = nullptr; }
  Expr* call = nullptr;
  if (token.text == "factorial") {
    call = build_.Make(Kind::kFactorial, {args});
  } else if (fn == Function::kLog && base) {
    call = build_.Call(Function::kLogBase, {base, args});
  } else if (fn == Function::kLog && many && children.size() == 2) {
    call = build_.Call(Function::kLogBase, {children[1], children[0]});
  } else {
    if (base && fn != Function::kMax && fn != Function::kMin) return Fail();
    const size_t arity = fn == Function::kLogBase || fn == Function::kBinomial || fn == Function::kMod || fn == Function::kAtan2 ? 2
                         : fn >= Function::kGcd && fn <= Function::kMin                                                              ? 0
                                                                                                                                     : 1;
    if (arity && (many ? children.size() : 1) != arity) return Fail();
    call = many ? build_.Make(Kind::kFunction, std::span<const Expr* const>(args->child, args->child_count)) : build_.Make(Kind::kFunction, {args});
    if (call) call->fn = fn;
  }
  if (!call) return Fail(ParseStatus::kLimitNodes);
  if (!exponent) return call;
  return build_.Make(Kind::kPow, {call, exponent});
}

const Expr* Parser::FracArgOrNumber() {
  if (Type() == Tok::kLBrace) return Brace();
  if (Type() == Tok::kNumber) {
    // \log_28: LaTeX takes one digit, "log10(x)" means all of them
    if (Type(1) != Tok::kLParen && Type(1) != Tok::kLBrace && Peek().text.size() > 1 && Peek().begin > 0) return FracArg();
    return NumberFromText(tokens_[at_++].text);
  }
  return Primary();
}

const Expr* Parser::BigOperator() {
  const Kind kind = Type() == Tok::kSum ? Kind::kSum : Kind::kProduct;
  ++at_;
  E lower = nullptr, upper = nullptr;
  if (Type() == Tok::kLParen && !Peek().space_before) return Fail();
  for (int i = 0; i < 2; ++i) {
    if (Take(Tok::kUnder)) lower = Type() == Tok::kLBrace ? Brace() : Primary();
    else if (Take(Tok::kCaret)) upper = Type() == Tok::kLBrace ? Brace() : Exponent();
    else break;
    if (status_ != ParseStatus::kOk) return nullptr;
  }
  E body = Multiplicative();
  if (!body) return nullptr;
  if (!lower || lower->kind != Kind::kRelation || lower->child_count != 2 || (*lower)[0]->kind != Kind::kSymbol) {
    // i as an index reads as the imaginary unit
    if (lower && lower->kind == Kind::kRelation && lower->child_count == 2 && (*lower)[0]->kind == Kind::kConstant && (*lower)[0]->fn == Function::kI && upper) {
      if (lower->text != "=") return Fail();
      E index = build_.Symbol("i");
      body = RenameImaginary(body, index);
      if (!body) return nullptr;
      return build_.Make(kind, {body, index, (*lower)[1], upper});
    }
    return Fail();
  }
  if (lower->text == "e") return build_.Make(kind, {body, (*lower)[0], (*lower)[1]});
  if (lower->text != "=" || !upper) return Fail();
  return build_.Make(kind, {body, (*lower)[0], (*lower)[1], upper});
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

// An unbraced bound: \int_0^1, \int_-1^1.
const Expr* Parser::Bound() {
  const bool negative = Take(Tok::kMinus);
  E value = Primary();
  return negative && value ? build_.Neg(value) : value;
}

const Expr* Parser::Integral() {
  ++at_;
  E lower = nullptr, upper = nullptr;
  for (int i = 0; i < 2; ++i) {
    if (Take(Tok::kUnder)) lower = Type() == Tok::kLBrace ? Brace() : Bound();
    else if (Take(Tok::kCaret)) upper = Type() == Tok::kLBrace ? Brace() : Exponent();
    else break;
    if (status_ != ParseStatus::kOk) return nullptr;
  }
  // Find the differential on this level.
  int depth = 0;
  size_t j = at_;
  for (; j < end_; ++j) {
    const Tok type = tokens_[j].type;
    if (type == Tok::kLBrace || type == Tok::kLParen || type == Tok::kLBracket) ++depth;
    if (type == Tok::kRBrace || type == Tok::kRParen || type == Tok::kRBracket) --depth;
    if (depth < 0) return Fail();
    if (depth == 0 && type == Tok::kWord) {
      const std::string_view run = tokens_[j].text;
      if (run == "d" && j + 1 < end_ && (tokens_[j + 1].type == Tok::kWord || tokens_[j + 1].type == Tok::kSymbol)) break;
      if (run.size() >= 2 && run[run.size() - 2] == 'd') break;
    }
  }
  if (j == end_) return Fail();
  auto& differential = const_cast<Token&>(tokens_[j]);
  std::string_view variable;
  size_t next = j + 1;
  size_t body_end = j;
  if (differential.text == "d") {
    variable = tokens_[j + 1].text;
    next = j + 2;
  } else {
    variable = differential.text.substr(differential.text.size() - 1);
    if (differential.text.size() > 2) {
      differential.text.remove_suffix(2);
      body_end = j + 1;
    }
  }
  E body = nullptr;
  if (body_end == at_) {
    body = build_.Integer(1);
  } else {
    const size_t end = end_;
    end_ = body_end;
    body = Additive();
    if (body && at_ != end_) { end_ = end; return Fail(); }
    end_ = end;
  }
  if (!body) return nullptr;
  at_ = next;
  E symbol = build_.Symbol(variable);
  if (lower && upper) return build_.Make(Kind::kIntegral, {body, symbol, lower, upper});
  if (lower || upper) return Fail();
  return build_.Make(Kind::kIntegral, {body, symbol});
}

const Expr* Parser::Limit() {
  ++at_;
  if (!Take(Tok::kUnder)) return Fail();
  limit_side_ = 0;
  E approach = Type() == Tok::kLBrace ? Brace() : nullptr;
  if (!approach) return status_ == ParseStatus::kOk ? Fail() : nullptr;
  const int side = limit_side_;
  limit_side_ = 0;
  if (approach->kind != Kind::kRelation || approach->child_count != 2 || approach->text != "m" || (*approach)[0]->kind != Kind::kSymbol) return Fail();
  E body = Multiplicative();
  Expr* e = body ? build_.Make(Kind::kLimit, {body, (*approach)[0], (*approach)[1]}) : nullptr;
  if (!e) return status_ == ParseStatus::kOk ? Fail(ParseStatus::kLimitNodes) : nullptr;
  if (side) e->flags |= side > 0 ? kFlagFromAbove : kFlagFromBelow;
  return e;
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
    E entry = nullptr;
    if (cases && row >= 1 && StartsCondition() && Type(1) == Tok::kAmpersand && Fold(Peek().text) != "otherwise") {
      at_ += 2;  // a column for the word "if"
      continue;
    }
    if (cases && row >= 1 && (Type() == Tok::kText || Type() == Tok::kWord) && !StartsOperand()) {
      if (StartsCondition() && Fold(Peek().text) != "otherwise") {
        ++at_;
        entry = Statement();
      } else {
        entry = build_.Text(Fold(Peek().text));
        ++at_;
      }
    } else if (cases || !matrix) {
      if (StartsCondition()) ++at_;
      entry = Statement();
      while (entry && (Type() == Tok::kComma || Type() == Tok::kPeriod || Type() == Tok::kSemicolon || Type() == Tok::kAnd)) {
        ++at_;
        if (Type() == Tok::kRowSeparator || Type() == Tok::kEndEnv || Type() == Tok::kAmpersand) break;
        if (cases && row == 0) {  // "x^2, x > 0" or "x^2, \text{if } x > 0"
          if (!entries.Add(entry)) return Fail(ParseStatus::kLimitMemory);
          ++row;
          if (StartsCondition()) {
            if (Fold(Peek().text) == "otherwise") { entry = build_.Text("otherwise"); ++at_; break; }
            ++at_;
          }
        }
        E more = Statement();
        if (!more) return nullptr;
        if (row >= 1) { entry = more; } else { if (!entries.Add(entry)) return nullptr; entry = more; ++rows; }
      }
      if (entry && cases && row == 0 && StartsCondition()) {  // value \text{ if } condition
        if (!entries.Add(entry)) return Fail(ParseStatus::kLimitMemory);
        ++row;
        if (Fold(Peek().text) == "otherwise") { entry = build_.Text("otherwise"); ++at_; }
        else { ++at_; entry = Statement(); }
      }
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
