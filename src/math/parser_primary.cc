// Operands, numbers.
#include <algorithm>

#include "math/parser_impl.h"

namespace rewardloop::math {

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
    case Tok::kFunction: return Peek().fn == Function::kNone ? Cis() : FunctionCall();
    case Tok::kMod: return ModCall();
    case Tok::kRelation: return KeyboardVector();
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
      if (E scaled = value ? Scaled(value) : nullptr) value = scaled;
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

}  // namespace rewardloop::math
