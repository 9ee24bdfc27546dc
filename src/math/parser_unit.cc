// Units, currencies, multipliers and nouns after a value.
#include <algorithm>

#include "math/parser_impl.h"
#include "math/units.h"

namespace rewardloop::math {

// A unit as it is put together from words: "kg*m/s^2".
struct Parser::UnitText {
  char text[96];
  size_t size = 0;
  size_t complete = 0;   // not 0: the unit is complete, what follows are words about it ("cm^3 of water")
  int power_next = 0;    // of "square" and "cubic"
  bool known = true;
  std::string_view currency;

  void Put(std::string_view piece) {
    if (complete) return;
    for (char c : piece) if (size < sizeof text) text[size++] = c;
  }
  void AddWord(std::string_view word) {
    if (word == "square" || word == "sq" || word == "sq.") { power_next = 2; return; }
    if (word == "cubic" || word == "cu") { power_next = 3; return; }
    if (word == "per" || word == "a" || word == "an") return Put("/");
    if (const Unit* unit = FindUnit(word)) {
      if (size && text[size - 1] != '/') Put("*");
      Put(unit->canonical);
      if (power_next) Put(power_next == 2 ? "^2" : "^3");
      power_next = 0;
      return;
    }
    std::string_view code;
    if (FindCurrency(word, &code)) currency = code;
    if (size && text[size - 1] != '/' && currency.empty() && word.size() > 1) complete = size;
    else if (!complete) known = false;
  }
  void AddWords(std::string_view rest) {
    while (!rest.empty()) {
      const std::string_view word = rest.substr(0, rest.find_first_of(" /"));
      const char separator = word.size() < rest.size() ? rest[word.size()] : 0;
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
      if (!word.empty()) AddWord(word);
      if (separator == '/') Put("/");
    }
  }
};

// 5 million: null, with nothing read, without such a word.
const Expr* Parser::Scaled(E value) {
  struct Scale { std::string_view word; int64_t factor; };
  static constexpr Scale kScales[] = {{"hundred", 100}, {"thousand", 1000}, {"million", 1'000'000}, {"billion", 1'000'000'000}, {"trillion", 1'000'000'000'000}};
  if (Type() != Tok::kText && Type() != Tok::kWord) return nullptr;
  std::string_view rest = Peek().text;
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  for (const Scale& scale : kScales) {
    if (!rest.starts_with(scale.word) || (rest.size() > scale.word.size() && rest[scale.word.size()] != ' ')) continue;
    rest.remove_prefix(scale.word.size());
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    if (rest.empty()) ++at_;
    else const_cast<Token&>(tokens_[at_]).text = rest;
    E factor = build_.Integer(scale.factor);
    return factor ? build_.Make(Kind::kMul, {value, factor}) : nullptr;
  }
  return nullptr;
}

// Words, ^n, / and * between units. False when they are no unit of any kind.
bool Parser::ReadUnit(UnitText* unit) {
  const size_t first = at_;
  bool slash = false;
  while (Type() == Tok::kText || Type() == Tok::kWord || (Type() == Tok::kPrime && at_ > first)) {
    if (at_ > first && (Type() == Tok::kWord && Peek().text.size() == 1 && !slash && !Peek().space_before)) break;
    if (StartsCondition()) break;
    unit->AddWords(Peek().text);
    ++at_;
    slash = false;
    if (Type() == Tok::kPeriod && Type(1) != Tok::kEnd && Type(1) != Tok::kComma) ++at_;
    if (Take(Tok::kCaret)) {
      const bool brace = Take(Tok::kLBrace);
      unit->Put(Take(Tok::kMinus) ? "^-" : "^");
      if (Type() != Tok::kNumber) return false;
      unit->Put(Peek().text);
      ++at_;
      if (brace && !Take(Tok::kRBrace)) return false;
    }
    if (Type() == Tok::kSlash && (Type(1) == Tok::kText || Type(1) == Tok::kWord)) { unit->Put("/"); ++at_; slash = true; }
    if (Type() == Tok::kTimes && Type(1) == Tok::kText) ++at_;
    if (Type() == Tok::kLParen && (Type(1) == Tok::kText || Type(1) == Tok::kWord) && Type(2) == Tok::kRParen) {  // yuan (A)
      unit->known = false;
      at_ += 3;
    }
  }
  if (unit->power_next && unit->size == 0) unit->known = false;
  return true;
}

const Expr* Parser::Units(E value, bool numeric) {
  if (numeric && IsScalarKind(value->kind)) {
    if (E scaled = Scaled(value)) return Units(scaled, true);
  }
  if (Type() != Tok::kText && Type() != Tok::kWord && Type() != Tok::kCurrency) return value;
  if (StartsCondition()) return value;
  if (Type() == Tok::kCurrency) {
    if (!numeric) return value;
    ++at_;
    return Type() == Tok::kRelation ? value : build_.Make(Kind::kCurrency, {value});
  }
  if (Type() == Tok::kWord && !numeric && !LooksLikeWord(Peek().text)) return value;
  if (!IsScalarKind(value->kind)) return value;
  if (Type() == Tok::kWord && !numeric) return Fail();
  UnitText unit;
  if (!ReadUnit(&unit)) return Fail();
  const bool ends = Type() == Tok::kEnd || AtSeparator() || Type() == Tok::kPeriod || Type() == Tok::kRBrace || Type() == Tok::kRParen;
  if (!numeric && !unit.known && !ends) return Fail();
  Expr* e = build_.Make(unit.currency.empty() ? Kind::kQuantity : Kind::kCurrency, {value});
  if (!e) return Fail(ParseStatus::kLimitNodes);
  if (!unit.currency.empty()) {
    e->text = unit.currency;
    return e;
  }
  e->text = "~";
  if (unit.known && unit.size) {
    while (unit.size && (unit.text[unit.size - 1] == '/' || unit.text[unit.size - 1] == '*')) --unit.size;
    e->text = arena_->Copy({unit.text, unit.size});
  }
  if (!unit.known || Type() != Tok::kNumber) return e;
  E rest = Multiplicative();  // 3 h 20 min
  if (!rest) return nullptr;
  if (rest->kind != Kind::kQuantity && rest->kind != Kind::kAdd) return Fail();
  return build_.Make(Kind::kAdd, {e, rest});
}

}  // namespace rewardloop::math
