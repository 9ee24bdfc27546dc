#include "scorers/answer/ascii.h"
#include "scorers/answer/number_parts.h"

namespace rewardloop::answer {
namespace {

// Reads one number; each step advances `at_`.
class Reader {
 public:
  Reader(std::string_view text, size_t pos) : text_(text), at_(pos) {}

  ParsedNumber Read() {
    ParsedNumber parsed;
    parsed.begin = at_;
    const bool negative = SignAndCurrency();
    if (!Magnitude(&parsed)) return parsed;
    parsed.number.negative = negative && !IsZero(parsed.number);
    if (parsed.status == ParseStatus::kNumber) {
      Suffix(&parsed.number);
      if (Continues()) parsed.status = ParseStatus::kExpression;
    }
    parsed.end = at_;
    return parsed;
  }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool Take(std::string_view token) {
    if (!StartsWith(text_, at_, token)) return false;
    at_ += token.size();
    return true;
  }
  void SkipBlanks() {
    while (IsBlank(Peek())) ++at_;
  }

  // Nearly every number is plain ASCII: one look at the next byte spares a comparison with each
  // token.
  bool Special() const { return Peek() == '$' || Peek() == '\\' || (Peek() & 0x80); }

  bool TakeMinus() {
    if (Peek() != '-' && !(Peek() & 0x80)) return false;
    return Take("-") || Take("\xE2\x88\x92") || Take("\xEF\xBC\x8D");
  }
  bool TakeCurrency() {
    if (!Special()) return false;
    return Take("$") || Take("\\$") || Take("\xE2\x82\xAC") || Take("\xC2\xA3") ||
           Take("\xC2\xA5") || Take("\xE2\x82\xB9") || Take("\xEF\xBF\xA5");
  }

  bool SignAndCurrency() {
    bool negative = false;
    bool sign = false;
    for (;;) {
      if (!sign && (Take("+") || (negative = TakeMinus()))) {
        sign = true;
      } else if (!TakeCurrency()) {
        return negative;
      }
      SkipBlanks();
    }
  }

  // Digits, with a separator before each full group of three. False: no digit here.
  bool Digits(DigitBuffer* digits) {
    if (!IsDigit(Peek())) return false;
    const bool grouped = Peek() != '0';  // "0,123" is no thousand
    size_t run = 0;
    for (;;) {
      while (IsDigit(Peek())) {
        digits->Append(text_[at_++]);
        ++run;
      }
      const size_t separator = grouped && run <= 3 ? GroupSeparator() : 0;
      if (separator == 0) return true;
      at_ += separator;
      for (int i = 0; i < 3; ++i) digits->Append(text_[at_++]);
      run = 3;
    }
  }

  // Bytes of a thousands separator that exactly three digits follow, else 0.
  size_t GroupSeparator() const {
    if (std::string_view(",{'").find(Peek()) == std::string_view::npos && !Special()) return 0;
    for (std::string_view token : {",", "{,}", "\\,", "\\!", ",\\!", "'", "\xC2\xA0",
                                   "\xE2\x80\xAF", "\xE2\x80\x89", "\xEF\xBC\x8C"}) {
      if (!StartsWith(text_, at_, token)) continue;
      size_t i = at_ + token.size();
      size_t run = 0;
      while (i + run < text_.size() && run < 4 && IsDigit(text_[i + run])) ++run;
      if (run == 3) return token.size();
    }
    return 0;
  }

  bool Magnitude(ParsedNumber* parsed) {
    if (Peek() == '\\' || (Peek() & 0x80))
      return LatexFraction(0, parsed) || VulgarFraction(0, parsed);
    const size_t begin = at_;
    DigitBuffer digits;
    const bool whole = Digits(&digits);
    int64_t scale = 0;
    if (Peek() == '.' && IsDigit(Peek(1)) && (whole || IsDigit(Peek(1)))) {
      ++at_;
      for (; IsDigit(Peek()); ++scale) digits.Append(text_[at_++]);
    } else if (!whole) {
      return false;
    } else if (Peek() == '.' && !IsLetter(Peek(1))) {
      ++at_;  // "72." is 72
    }
    if (digits.too_long()) return Fail(ParseStatus::kLimit, parsed);
    int64_t exponent = 0;
    if (!Exponent(&exponent)) return Fail(ParseStatus::kLimit, parsed);
    parsed->number = digits.Finish(scale - exponent);
    parsed->status = ParseStatus::kNumber;
    const Number& number = parsed->number;
    // A plain integer may go on as a fraction or a mixed number.
    if (scale == 0 && exponent == 0 && number.digits.empty() && number.scale >= -18 &&
        text_[at_ - 1] != '.') {
      const Wide value = Wide{number.mantissa} * PowerOfTen(-number.scale);
      if (value <= UINT64_MAX / 2 && at_ - begin <= 2 * kSmallDigits) {
        FractionAfter(static_cast<uint64_t>(value), parsed);
      }
    }
    return true;
  }

  bool Fail(ParseStatus status, ParsedNumber* parsed) {
    parsed->status = status;
    return true;
  }

  // "/4" after 3, " 1/2" or "\frac12" after 2.
  void FractionAfter(uint64_t whole, ParsedNumber* parsed) {
    if (Peek() != '/' && !IsBlank(Peek()) && !Special()) return;
    const size_t begin = at_;
    uint64_t numerator = 0, denominator = 0;
    if (Take("/") || Take(" / ")) {
      if (SmallInteger(&denominator) && denominator != 0) {
        parsed->number = MakeFraction(whole, denominator);
        return;
      }
      at_ = begin;
      return;
    }
    if (Take(" ") && SmallInteger(&numerator) && Take("/") && SmallInteger(&denominator) &&
        Mixed(whole, numerator, denominator, parsed)) {
      return;
    }
    at_ = begin;
    SkipBlanks();
    if (LatexFraction(whole, parsed) || VulgarFraction(whole, parsed)) return;
    at_ = begin;
  }

  bool Mixed(uint64_t whole, uint64_t numerator, uint64_t denominator, ParsedNumber* parsed) {
    if (denominator == 0 || (whole != 0 && (numerator == 0 || numerator >= denominator)))
      return false;
    const Wide sum = Wide{whole} * denominator + numerator;
    if (sum > UINT64_MAX) return false;
    parsed->number = MakeFraction(static_cast<uint64_t>(sum), denominator);
    parsed->status = ParseStatus::kNumber;
    return true;
  }

  bool SmallInteger(uint64_t* value) {
    const size_t begin = at_;
    while (IsDigit(Peek()) && at_ - begin <= kSmallDigits) ++at_;
    if (at_ == begin || at_ - begin > kSmallDigits || IsDigit(Peek())) return false;
    *value = SmallValue(text_.substr(begin, at_ - begin));
    return true;
  }

  // {12} or one digit.
  bool LatexInteger(uint64_t* value) {
    SkipBlanks();
    if (Take("{")) {
      SkipBlanks();
      if (!SmallInteger(value)) return false;
      SkipBlanks();
      return Take("}");
    }
    if (!IsDigit(Peek())) return false;
    *value = static_cast<uint64_t>(text_[at_++] - '0');
    return true;
  }

  bool LatexFraction(uint64_t whole, ParsedNumber* parsed) {
    const size_t begin = at_;
    uint64_t numerator = 0, denominator = 0;
    if ((Take("\\frac") || Take("\\dfrac") || Take("\\tfrac")) && LatexInteger(&numerator) &&
        LatexInteger(&denominator) && Mixed(whole, numerator, denominator, parsed)) {
      return true;
    }
    at_ = begin;
    return false;
  }

  bool VulgarFraction(uint64_t whole, ParsedNumber* parsed) {
    if (Take("\xC2\xBC")) return Mixed(whole, 1, 4, parsed);
    if (Take("\xC2\xBD")) return Mixed(whole, 1, 2, parsed);
    if (Take("\xC2\xBE")) return Mixed(whole, 3, 4, parsed);
    return false;
  }

  // "e5", "E-3", "\times 10^{5}", "*10^5". False: too large to be kept.
  bool Exponent(int64_t* exponent) {
    if (std::string_view("eE \t\\*x").find(Peek()) == std::string_view::npos && !(Peek() & 0x80))
      return true;
    const size_t begin = at_;
    if (Take("e") || Take("E")) {
      if (ExponentDigits(exponent) && !IsLetter(Peek())) return InRange(*exponent);
      return Rewind(begin, exponent);
    }
    SkipBlanks();
    if (!(Take("\\times") || Take("\\cdot") || Take("\xC3\x97") || Take("*") || Take("x"))) {
      return Rewind(begin, exponent);
    }
    SkipBlanks();
    if (!Take("10^")) return Rewind(begin, exponent);
    const char close = Take("{") ? '}' : Take("(") ? ')' : '\0';
    if (!ExponentDigits(exponent)) return Rewind(begin, exponent);
    if (close != '\0') {
      if (Peek() != close) return Rewind(begin, exponent);
      ++at_;
    }
    return InRange(*exponent);
  }
  bool Rewind(size_t begin, int64_t* exponent) {
    at_ = begin;
    *exponent = 0;
    return true;
  }
  static bool InRange(int64_t exponent) {
    return exponent <= kMaxExponent && exponent >= -kMaxExponent;
  }
  bool ExponentDigits(int64_t* exponent) {
    const bool negative = TakeMinus() || (Take("+"), false);
    uint64_t value = 0;
    const size_t begin = at_;
    while (IsDigit(Peek())) {
      if (value <= static_cast<uint64_t>(kMaxExponent))
        value = value * 10 + static_cast<uint64_t>(Peek() - '0');
      ++at_;
    }
    *exponent = negative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
    return at_ > begin;
  }

  // Percent sign and scale word.
  void Suffix(Number* number) {
    const size_t begin = at_;
    SkipBlanks();
    if (!IsLetter(Peek()) && Peek() != '%' && !Special()) {
      at_ = begin;
      return;
    }
    if (Take("%") || Take("\\%") || Take("\xEF\xBC\x85") || Word("percent") || Word("per cent")) {
      number->percent = true;
      return;
    }
    const int64_t power = Word("thousand")   ? 3
                          : Word("million")  ? 6
                          : Word("billion")  ? 9
                          : Word("trillion") ? 12
                                             : 0;
    if (power != 0) {
      Scale(power, number);
      return;
    }
    at_ = begin;
    if ((Peek() == 'k' || Peek() == 'K') && !IsLetter(Peek(1)) && !IsDigit(Peek(1))) {
      ++at_;
      Scale(3, number);
    }
  }
  bool Word(std::string_view lower) {
    if (!WordAt(text_, at_, lower)) return false;
    at_ += lower.size();
    return true;
  }
  static void Scale(int64_t power, Number* number) {
    if (IsZero(*number)) return;
    if (number->denominator == 1) {
      number->scale -= power;
      return;
    }
    const Wide numerator = Wide{number->mantissa} * PowerOfTen(power);
    if (numerator > UINT64_MAX) return;
    const bool negative = number->negative;
    *number = MakeFraction(static_cast<uint64_t>(numerator), number->denominator);
    number->negative = negative;
  }

  // Does what follows make the number a part of something larger?
  bool Continues() const {
    const char next = Peek();
    if (next == '\0') return false;
    if (IsDigit(next) || next == '_' || next == '^') return true;
    if (next == '.' || next == ':' || next == '(' || next == '/') return IsDigit(Peek(1));
    if (next == '}' || next == ')' || next == ']') return Peek(1) == '^';
    if (IsLetter(next)) {
      // A variable, the imaginary unit or a hexadecimal digit; units have more letters or others.
      return std::string_view("xyznieabcXYZNEABC").find(next) != std::string_view::npos &&
             !IsLetter(Peek(1));
    }
    if (StartsWith(text_, at_, "\xCF\x80") || StartsWith(text_, at_, "\xE2\x88\x9A")) return true;
    if (next == '\\') return LatexContinues(at_);
    size_t i = at_;
    while (i < text_.size() && IsBlank(text_[i])) ++i;
    return OperatorAt(i);
  }

  bool LatexContinues(size_t i) const {
    for (std::string_view command :
         {"\\pi", "\\sqrt", "\\times", "\\cdot", "\\div", "\\pm", "\\frac", "\\dfrac", "\\tfrac",
          "\\left(", "\\ln", "\\log", "\\sin", "\\cos", "\\tan"}) {
      if (StartsWith(text_, i, command)) return true;
    }
    return false;
  }

  // An operator with an operand behind it. i: past the blanks behind the number.
  bool OperatorAt(size_t i) const {
    if (i >= text_.size()) return false;
    if (text_[i] == '\\') return LatexContinues(i);
    const bool blank_before = i > at_;
    if (blank_before && text_[i] == 'x' && i + 1 < text_.size() && IsBlank(text_[i + 1])) {
      return OperandAt(i + 2);
    }
    if (std::string_view("*^+-/").find(text_[i]) == std::string_view::npos && !(text_[i] & 0x80))
      return false;
    for (std::string_view token : {"*", "^", "+", "-", "/", "\xC3\x97", "\xC3\xB7", "\xC2\xB1",
                                   "\xE2\x88\x92", "\xE2\x80\x93", "\xE2\x80\x94"}) {
      if (!StartsWith(text_, i, token)) continue;
      i += token.size();
      if (token != "*") return OperandAt(i);
      // Markdown stars cling to one side: "**72** (see above)".
      if (i < text_.size() && text_[i] == '*') ++i;
      const bool blank_after = i < text_.size() && IsBlank(text_[i]);
      return blank_before == blank_after && OperandAt(i);
    }
    return false;
  }

  bool OperandAt(size_t i) const {
    while (i < text_.size() && IsBlank(text_[i])) ++i;
    while (i < text_.size() &&
           (text_[i] == '(' || text_[i] == '$' || text_[i] == '.' || text_[i] == '-'))
      ++i;
    return i < text_.size() && IsDigit(text_[i]);
  }

  std::string_view text_;
  size_t at_;
};

}  // namespace

ParsedNumber ParseNumber(std::string_view text, size_t pos) {
  if (pos >= text.size()) return {};
  return Reader(text, pos).Read();
}

}  // namespace rewardloop::answer
