#include "math/parser.h"

#include <algorithm>
#include <string>
#include <vector>

#include "math/parser_impl.h"
#include "math/units.h"

namespace rewardloop::math {
namespace {

template <size_t N>
bool OneOf(std::string_view word, const std::string_view (&list)[N]) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

// Words in front of an answer that say nothing.
constexpr std::string_view kLeadingWords[] = {"only", "about", "approximately", "exactly", "roughly", "nearly", "is", "are",
                                              "answer", "the", "equals", "approx", "around", "thus", "so", "therefore", "hence",
                                              "just", "precisely", "solutions", "solution", "an", "both", "by", "case", "value"};
// Words that begin a condition on what stands before.
constexpr std::string_view kConditionWords[] = {"where", "for", "with", "when", "if", "for any", "for all", "for some", "such that",
                                                "for each", "for every", "for integers", "for integer", "as", "whenever", "provided",
                                                "for any constant", "for an arbitrary constant", "for arbitrary", "on", "for real",
                                                "where n is an integer", "for any integer", "for some constant", "s.t.",
                                                "otherwise", "for any real", "for any real number", "for any real constant", "for positive integers",
                                                "for an integer", "for some integer", "for all integers", "for all real", "where c is", "is a constant", "and any"};

std::string_view FirstWord(std::string_view text) {
  const size_t space = text.find(' ');
  return space == text.npos ? text : text.substr(0, space);
}

bool IsNumeric(const Expr* e) {
  switch (e->kind) {
    case Kind::kNumber: case Kind::kConstant: case Kind::kBaseNumber: return true;
    case Kind::kNeg: case Kind::kDiv: case Kind::kAdd: case Kind::kMul: case Kind::kPow: case Kind::kSqrt: case Kind::kRoot:
    case Kind::kFactorial: case Kind::kPercent: case Kind::kPlusMinus: case Kind::kDegree:
      return std::all_of(e->children().begin(), e->children().end(), [](const Expr* c) { return IsNumeric(c); });
    default: return false;
  }
}

}  // namespace

bool HasLower(std::string_view word) {
  return std::any_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

bool LooksLikeWord(std::string_view word) { return word.size() >= 4 && word.find_first_of("aeiouyAEIOUY") != word.npos && HasLower(word); }

bool IsDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Parser::Parser(std::span<const Token> tokens, const LexOptions& options, Arena* arena)
    : tokens_(tokens), options_(options), arena_(arena), build_(arena, kNodesMax), end_(tokens.size() - 1) {}

ParseResult Parser::Run() {
  ParseResult result;
  while (Type() == Tok::kColon || Type() == Tok::kPeriod || Type() == Tok::kComma || (Type() == Tok::kRelation && (Peek().op == '=' || Peek().op == '~'))) ++at_;
  if (end_ == at_) { result.status = ParseStatus::kEmpty; return result; }
  bool only_words = true;
  for (size_t i = at_; i < end_; ++i) {
    const Tok t = tokens_[i].type;
    if (t != Tok::kWord && t != Tok::kText && t != Tok::kPeriod && t != Tok::kComma && t != Tok::kPrime && t != Tok::kAnd && t != Tok::kOr && t != Tok::kMinus) only_words = false;
  }
  only_words_ = only_words;
  DropLeadingWords();
  E root = List(Tok::kEnd);
  while (root && (Type() == Tok::kPeriod || Type() == Tok::kComma || Type() == Tok::kSemicolon || Type() == Tok::kRowSeparator)) ++at_;
  if (root && at_ != end_) Fail();
  result.status = status_;
  result.only_words = only_words;
  if (status_ == ParseStatus::kOk && !root) result.status = build_.exhausted() ? ParseStatus::kLimitNodes : ParseStatus::kLimitMemory;
  if (result.status == ParseStatus::kOk) result.root = root;
  result.unit_ambiguous = unit_ambiguous_;
  return result;
}

bool Parser::DropLeadingWords() {
  bool dropped = false;
  while (Type() == Tok::kText || Type() == Tok::kWord) {
    if (Type(1) == Tok::kEnd || Type(1) == Tok::kColon || Type(1) == Tok::kUnder || Type(1) == Tok::kCaret) break;
    std::string_view folded = Fold(Peek().text);
    const bool relation_follows = Type(1) == Tok::kRelation;
    if (folded.size() < 2 || (relation_follows && folded != "answer")) break;
    if (!OneOf(folded, kLeadingWords)) {
      bool all = Type() == Tok::kText && folded.find(' ') != folded.npos;
      for (std::string_view rest = folded; all && !rest.empty();) {
        const std::string_view word = FirstWord(rest);
        all = OneOf(word, kLeadingWords);
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
      }
      if (!all) break;
    }
    ++at_;
    dropped = true;
  }
  return dropped;
}

bool Parser::AtSeparator() const {
  switch (Type()) {
    case Tok::kComma: case Tok::kSemicolon: case Tok::kAnd: case Tok::kOr: case Tok::kRowSeparator: return true;
    default: return at_ < end_ && Peek().quad_before && StartsOperand();
  }
}

// Square brackets around one expression, as in x[2 + y], and not an interval, a list, a unit or the end of ]1, 2[.
bool Parser::SquareGroups() const {
  constexpr size_t kTokensAhead = 256;
  int depth = 0;
  for (size_t j = 0; j < kTokensAhead; ++j) {
    switch (Type(j)) {
      case Tok::kLParen: case Tok::kLBracket: case Tok::kLBrace: ++depth; break;
      case Tok::kRParen: case Tok::kRBrace: if (--depth <= 0) return false; break;
      case Tok::kRBracket:
        if (--depth > 0) break;
        return depth == 0 && j > 1 && !(j == 2 && (Type(1) == Tok::kText || (Type(1) == Tok::kWord && Peek(1).text.size() > 1)));
      case Tok::kComma: case Tok::kSemicolon: case Tok::kUnion: case Tok::kIntersection: case Tok::kRelation: if (depth == 1) return false; break;
      case Tok::kEnd: return false;
      default: break;
    }
  }
  return false;
}

bool Parser::StartsCondition() const {
  if (Type() != Tok::kText && Type() != Tok::kWord) return false;
  std::string_view text = Peek().text;
  while (!text.empty() && text.front() == '(') text.remove_prefix(1);
  std::string folded(text.substr(0, 48));
  for (char& c : folded) if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  if (OneOf(folded, kConditionWords)) return true;
  return Type() == Tok::kText && OneOf(FirstWord(folded), kConditionWords);
}

// Items up to `close`, which is left unread.
const Expr* Parser::List(Tok close) {
  DepthGuard guard(this);
  if (TooDeep()) return nullptr;
  NodeList items(arena_);
  size_t conditions_from = 0;
  bool any_or = false, any_and_or_comma = false, semicolons = false;
  std::vector<bool> ends_group;  // a semicolon follows the item
  while (true) {
    if (StartsCondition()) {
      if (items.size() == 0) return Fail();
      if (!conditions_from) conditions_from = items.size();
      ++at_;
      // A condition in words only says nothing that is compared.
      if (Type() == close || Type() == Tok::kPeriod || Type() == Tok::kEnd) break;
    }
    E item = Statement();
    if (!item) return nullptr;
    if (!items.Add(item)) return Fail(ParseStatus::kLimitMemory);
    if (Type() == Tok::kPeriod && (Type(1) == close || Type(1) == Tok::kRParen || Type(1) == Tok::kRBracket || Type(1) == Tok::kRBrace)) ++at_;
    if (StartsCondition()) continue;
    if (!AtSeparator()) break;
    while (true) {
      const Tok type = Type();
      if (type == Tok::kComma || type == Tok::kAnd || type == Tok::kRowSeparator) any_and_or_comma = true;
      else if (type == Tok::kSemicolon) {
        semicolons = true;
        ends_group.resize(items.size());
        ends_group.back() = true;
      }
      else if (type == Tok::kOr) any_or = true;
      else break;
      ++at_;
    }
    if (Type() == close || Type() == Tok::kPeriod) break;  // trailing separator
    DropLeadingWords();
  }
  if (items.size() == 1 && !conditions_from) return items[0];
  // "p = 5, q = 2; p = 7, q = 2": semicolons separate groups.
  if (semicolons && any_and_or_comma && !conditions_from) {
    NodeList groups(arena_);
    size_t from = 0;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i + 1 < items.size() && !(i < ends_group.size() && ends_group[i])) continue;
      const auto members = items.span().subspan(from, i + 1 - from);
      if (!groups.Add(members.size() == 1 ? members[0] : build_.Make(Kind::kList, members))) return Fail(ParseStatus::kLimitNodes);
      from = i + 1;
    }
    items = groups;
  }
  Expr* list = build_.Make(Kind::kList, items.span());
  if (!list) return Fail(ParseStatus::kLimitNodes);
  if (any_or) list->flags |= kFlagOr;
  if (semicolons) list->flags |= kFlagSemicolon;
  list->aux = static_cast<int32_t>(conditions_from);
  return list;
}

const Expr* Parser::Statement() {
  DepthGuard guard(this);
  if (TooDeep()) return nullptr;
  if (Type() == Tok::kForall || Type() == Tok::kExists) {
    const bool all = Type() == Tok::kForall;
    ++at_;
    E inner = Statement();
    Expr* e = inner ? build_.Make(Kind::kLabeled, {inner}) : nullptr;
    if (e) e->text = all ? "\\forall" : "\\exists";
    return e;
  }
  if (E label = Label()) return label;
  if (status_ != ParseStatus::kOk) return nullptr;
  return RelationChain();
}

// `Paolo: 18`, `\text{Minimum: }1`, `AB: ...` is a ratio.
const Expr* Parser::Label() {
  size_t n = 0;
  while (n < 4 && (Type(n) == Tok::kWord || Type(n) == Tok::kText)) ++n;
  if (n == 0) return nullptr;
  const bool colon_inside = Type(n - 1) == Tok::kText && Peek(n - 1).text.ends_with(':');
  const bool colon_after = Type(n) == Tok::kColon;
  if (!colon_inside && !colon_after) return nullptr;
  const std::string_view first = Peek().text;
  if (!colon_inside && n == 1 && Type() == Tok::kWord && (first.size() < 3 || !HasLower(first))) return nullptr;
  const Token& last = Peek(n - 1);
  std::string_view name(first.data(), static_cast<size_t>(last.text.data() + last.text.size() - first.data()));
  if (name.size() > 200) return nullptr;
  while (!name.empty() && (name.back() == ':' || name.back() == ' ')) name.remove_suffix(1);
  at_ += n + (colon_after ? 1 : 0);
  if (Type() == Tok::kEnd) return Fail();
  E value = RelationChain();
  if (!value) return nullptr;
  Expr* e = build_.Make(Kind::kLabeled, {value});
  if (!e) return Fail(ParseStatus::kLimitNodes);
  e->text = Fold(name);
  return e;
}

const Expr* Parser::RelationChain() {
  E first = RatioLevel();
  if (!first) return nullptr;
  if (Type() != Tok::kRelation && Type() != Tok::kArrow) return first;
  NodeList sides(arena_);
  sides.Add(first);
  char* ops = nullptr;
  size_t count = 0, capacity = 0;
  while (Type() == Tok::kRelation || Type() == Tok::kArrow) {
    const char op = Type() == Tok::kArrow ? static_cast<char>(RelOp::kMaps) : Peek().op;
    ++at_;
    if (count == capacity) {
      char* bigger = arena_->NewArray<char>(capacity = capacity * 4 + 8);
      if (!bigger) return Fail(ParseStatus::kLimitMemory);
      std::copy(ops, ops + count, bigger);
      ops = bigger;
    }
    ops[count++] = op;
    // `a \equiv b \pmod m`
    E side = RatioLevel();
    if (!side || !sides.Add(side)) return nullptr;
    if (Type() == Tok::kPmod || (Type() == Tok::kLParen && Type(1) == Tok::kMod)) {
      const bool parens = Type() == Tok::kLParen;
      at_ += parens ? 2 : 1;
      E modulus = Type() == Tok::kLBrace ? Brace() : Unary();
      if (!modulus) return nullptr;
      if (parens && !Take(Tok::kRParen)) return Fail();
      return build_.Make(Kind::kCongruence, {sides[0], side, modulus});
    }
  }
  Expr* e = build_.Make(Kind::kRelation, sides.span());
  if (!e) return Fail(ParseStatus::kLimitNodes);
  e->text = {ops, count};
  return e;
}

// 12:00, 08:34:10, 4:30 p.m.; null, with nothing read, when no clock time stands here.
const Expr* Parser::Time() {
  size_t n = 0;
  int64_t seconds = 0;
  NodeList parts(arena_);
  while (n < 3) {
    const Token& token = Peek(2 * n);
    if (token.type != Tok::kNumber || !IsDigits(token.text) || token.text.size() > 2) break;
    if (n > 0 && (token.text.size() != 2 || token.space_before || token.text[0] > '5')) break;
    int64_t value = 0;
    for (char c : token.text) value = value * 10 + (c - '0');
    if (n == 0 && value > 24) return nullptr;
    seconds = seconds * 60 + value;
    parts.Add(NumberFromText(token.text));
    ++n;
    if (Type(2 * n - 1) != Tok::kColon) break;
  }
  if (n < 2) return nullptr;
  const size_t length = 2 * n - 1;
  const Tok next = Type(length);
  if (next == Tok::kColon || next == Tok::kSlash || next == Tok::kCaret || next == Tok::kPlus || next == Tok::kMinus || next == Tok::kTimes || next == Tok::kBang) return nullptr;
  std::string_view half = next == Tok::kText || next == Tok::kWord ? Fold(Peek(length).text) : std::string_view();
  const bool pm = half == "pm" || half == "p.m" || (half == "p" && Type(length + 1) == Tok::kPeriod);
  const bool am = half == "am" || half == "a.m" || (half == "a" && Type(length + 1) == Tok::kPeriod);
  if (!half.empty() && !pm && !am) return nullptr;
  at_ += length;
  if (n == 2) seconds *= 60;
  if (pm && seconds < 12 * 3600) seconds += 12 * 3600;
  if (am && seconds >= 12 * 3600) seconds -= 12 * 3600;
  if (pm || am) {
    ++at_;
    if (half.size() == 1) at_ += Type(1) == Tok::kWord ? 2 : 1;
    Take(Tok::kPeriod);
  }
  Expr* e = build_.Make(Kind::kTime, parts.span());
  if (!e) return Fail(ParseStatus::kLimitNodes);
  e->number = seconds;
  e->aux = pm || am;
  return e;
}

// a : b : c, and clock times.
const Expr* Parser::RatioLevel() {
  if (Type() == Tok::kNumber && Type(1) == Tok::kColon && !set_bar_) {
    if (E time = Time()) return time;
    if (status_ != ParseStatus::kOk) return nullptr;
  }
  E first = SetLevel();
  if (!first || Type() != Tok::kColon || set_bar_) return first;
  NodeList parts(arena_);
  parts.Add(first);
  while (Type() == Tok::kColon) {
    ++at_;
    E part = Type() == Tok::kDots ? (++at_, build_.Leaf(Kind::kEllipsis)) : SetLevel();
    if (!part || !parts.Add(part)) return nullptr;
  }
  E e = build_.Make(Kind::kRatio, parts.span());
  return e ? e : Fail(ParseStatus::kLimitNodes);
}

const Expr* Parser::SetLevel() {
  E left = Additive();
  while (left && (Type() == Tok::kUnion || Type() == Tok::kIntersection || Type() == Tok::kSetMinus)) {
    const Tok type = Type();
    ++at_;
    E right = Additive();
    left = build_.Make(type == Tok::kUnion ? Kind::kUnion : type == Tok::kIntersection ? Kind::kIntersection : Kind::kSetDifference, {left, right});
  }
  return left;
}

const Expr* Parser::Additive() {
  DepthGuard guard(this);
  if (TooDeep()) return nullptr;
  NodeList terms(arena_);
  E first = nullptr;
  if (Type() == Tok::kPlusMinus || Type() == Tok::kMinusPlus) {
    const bool minus_plus = Type() == Tok::kMinusPlus;
    ++at_;
    E term = Multiplicative();
    Expr* e = term ? build_.Make(Kind::kPlusMinus, {term}) : nullptr;
    if (e && minus_plus) e->flags |= kFlagMinusPlus;
    first = e;
  } else {
    first = Multiplicative();
  }
  if (!first) return nullptr;
  if (!terms.Add(first)) return Fail(ParseStatus::kLimitMemory);
  const auto sum = [&]() -> E { return terms.size() == 1 ? terms[0] : build_.Make(Kind::kAdd, terms.span()); };
  while (true) {
    const Tok type = Type();
    if (type == Tok::kPlus || type == Tok::kMinus) {
      if (type == Tok::kPlus && (Type(1) == Tok::kEnd || Type(1) == Tok::kComma || Type(1) == Tok::kRBrace)) break;
      ++at_;
      if (Type() == Tok::kDots) {  // 1 + 2 + \cdots + n
        ++at_;
        E dots = build_.Leaf(Kind::kEllipsis);
        if (!terms.Add(dots)) return nullptr;
        continue;
      }
      E term = Multiplicative();
      if (type == Tok::kMinus) term = term ? build_.Neg(term) : nullptr;
      if (!term) return nullptr;
      if (!terms.Add(term)) return Fail(ParseStatus::kLimitMemory);
    } else if (type == Tok::kPlusMinus || type == Tok::kMinusPlus) {
      ++at_;
      E left = sum();
      E right = Multiplicative();
      if (!left || !right) return nullptr;
      Expr* e = build_.Make(Kind::kPlusMinus, {left, right});
      if (!e) return Fail(ParseStatus::kLimitNodes);
      if (type == Tok::kMinusPlus) e->flags |= kFlagMinusPlus;
      terms = NodeList(arena_);
      terms.Add(e);
    } else {
      break;
    }
  }
  E result = sum();
  return result ? result : Fail(ParseStatus::kLimitNodes);
}

// May the next token begin a factor of an implicit product?
bool Parser::StartsOperand() const {
  switch (Type()) {
    case Tok::kNumber: case Tok::kWord: case Tok::kSymbol: case Tok::kConstant: case Tok::kFunction: case Tok::kLParen:
    case Tok::kLBrace: case Tok::kFrac: case Tok::kBinom: case Tok::kSqrt: case Tok::kCbrt: case Tok::kLAbs: case Tok::kLFloor:
    case Tok::kLCeil: case Tok::kSum: case Tok::kProduct: case Tok::kIntegral: case Tok::kLimit: case Tok::kBegin:
    case Tok::kOverline: case Tok::kAccent: case Tok::kOperatorName: case Tok::kNamedSet: case Tok::kLSet: return true;
    case Tok::kBar: return bars_ == 0 && !set_bar_;
    case Tok::kLBracket: return Type(1) == Tok::kBegin || SquareGroups();
    case Tok::kDoubleBar: return bars_ == 0 && !set_bar_;
    case Tok::kText: return Peek().text.size() == 1;
    default: return false;
  }
}

const Expr* Parser::Multiplicative() {
  DepthGuard guard(this);
  if (TooDeep()) return nullptr;
  const size_t start = at_;
  E left = Unary();
  if (!left) return nullptr;
  NodeList factors(arena_);
  factors.Add(left);
  const auto product = [&]() -> E { return factors.size() == 1 ? factors[0] : build_.Make(Kind::kMul, factors.span()); };
  while (true) {
    const Tok type = Type();
    if (type == Tok::kTimes) {
      ++at_;
      if (Type() == Tok::kDots) {
        ++at_;
        if (!factors.Add(build_.Leaf(Kind::kEllipsis))) return nullptr;
        continue;
      }
      E right = Unary();
      if (!right) return nullptr;
      if (!factors.Add(right)) return Fail(ParseStatus::kLimitMemory);
    } else if (type == Tok::kSlash || type == Tok::kDivide) {
      ++at_;
      E numerator = product();
      E right = Unary();
      if (!numerator || !right) return nullptr;
      E quotient = build_.Make(Kind::kDiv, {numerator, right});
      factors = NodeList(arena_);
      if (!factors.Add(quotient)) return Fail(ParseStatus::kLimitNodes);
    } else if ((type == Tok::kMod && Type(1) != Tok::kEnd) || (type == Tok::kPercent && Type(1) == Tok::kNumber)) {
      ++at_;
      E base = product();
      E right = Unary();
      if (!base || !right) return nullptr;
      E mod = build_.Call(Function::kMod, {base, right});
      factors = NodeList(arena_);
      if (!factors.Add(mod)) return Fail(ParseStatus::kLimitNodes);
    } else if (type == Tok::kDots && factors.size() > 0 && Type(1) != Tok::kEnd && Type(1) != Tok::kComma && Type(1) != Tok::kPlus && Type(1) != Tok::kMinus) {
      ++at_;
      if (!factors.Add(build_.Leaf(Kind::kEllipsis))) return nullptr;
    } else if (StartsOperand() && !Peek().quad_before && !StartsCondition()) {
      if (type == Tok::kLSet) break;
      if (type == Tok::kWord || type == Tok::kText) {
        // Units and prose end the product.
        const std::string_view word = Peek().text;
        const E before = factors[factors.size() - 1];
        if (!only_words_ && before->kind == Kind::kMul && !before->text.empty() && HasLower(before->text) && word.size() > 1 && HasLower(word) && Peek().space_before) return Fail();
        if (LooksLikeWord(word) || (type == Tok::kText && IsNumeric(factors[factors.size() - 1]))) break;
        if (IsNumeric(factors[factors.size() - 1]) && word.size() > 1 && FindUnit(word)) break;
        std::string_view code;
        if (FindCurrency(word, &code)) break;
        const bool lone_number = at_ == start + 1 && factors[0]->kind == Kind::kNumber;
        if (lone_number && word.size() == 1 && Peek().space_before && FindUnit(word) && word != "L" && word != "N" && word != "J" && word != "W" &&
            (Type(1) == Tok::kEnd || Type(1) == Tok::kPeriod || Type(1) == Tok::kSlash || (Type(1) == Tok::kCaret && Type(2) == Tok::kNumber && (Type(3) == Tok::kEnd || Type(3) == Tok::kSlash)))) {
          unit_ambiguous_ = true;
          if (!options_.units_as_symbols) break;
        }
      }
      if (type == Tok::kNumber) {
        E last = factors[factors.size() - 1];
        const bool negative = last->kind == Kind::kNeg && (*last)[0]->kind == Kind::kNumber;
        if (last->kind == Kind::kNumber || last->kind == Kind::kSymbol || negative) {
          E mixed = factors.size() == 1 && last->kind != Kind::kSymbol ? Mixed(negative ? (*last)[0] : last) : nullptr;
          if (!mixed) return status_ == ParseStatus::kOk ? Fail() : nullptr;
          factors.Set(0, negative ? build_.Neg(mixed) : mixed);
          continue;
        }
      }
      if (type == Tok::kFrac && factors.size() == 1) {
        const bool negative = factors[0]->kind == Kind::kNeg;
        if ((left = Mixed(negative ? (*factors[0])[0] : factors[0]))) {
          factors.Set(0, negative ? build_.Neg(left) : left);
          continue;
        }
      }
      if (status_ != ParseStatus::kOk) return nullptr;
      E right = Power();
      if (!right) return nullptr;
      if (!factors.Add(right)) return Fail(ParseStatus::kLimitMemory);
    } else {
      break;
    }
  }
  E result = product();
  if (!result) return Fail(ParseStatus::kLimitNodes);
  return Units(result, IsNumeric(result));
}

std::string_view Parser::Fold(std::string_view text) {
  char* out = arena_->NewArray<char>(text.size() + 1);
  if (!out) return {};
  size_t size = 0;
  for (char c : text) {
    if (c == ' ' || c == '\n' || c == '\t' || c == '~') {
      if (size && out[size - 1] != ' ') out[size++] = ' ';
    } else {
      out[size++] = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    }
  }
  while (size && (out[size - 1] == ' ' || out[size - 1] == ',' || out[size - 1] == '.')) --size;
  return {out, size};
}

ParseResult Parse(std::string_view text, const LexOptions& options, Arena* arena) {
  const LexResult lexed = Lex(text, options, arena);
  ParseResult result;
  if (lexed.status != LexStatus::kOk) {
    result.status = lexed.status == LexStatus::kTooManyTokens ? ParseStatus::kLimitTokens : ParseStatus::kLimitMemory;
    return result;
  }
  result = Parser(lexed.tokens, options, arena).Run();
  result.comma_ambiguous = lexed.comma_ambiguous;
  result.decimal_comma_possible = lexed.decimal_comma_possible;
  result.scientific_ambiguous = lexed.scientific_ambiguous;
  return result;
}

}  // namespace rewardloop::math
