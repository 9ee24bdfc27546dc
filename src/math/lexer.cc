#include "math/lexer.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace rewardloop::math {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

constexpr std::string_view kSizing[] = {"left", "right", "middle", "big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl",
                                        "Bigr", "biggl", "biggr", "Biggl", "Biggr", "bigm", "Bigm", "mleft", "mright"};
// Commands without meaning; the second kind has one argument that is dropped too.
constexpr std::string_view kNoise[] = {"displaystyle", "textstyle", "scriptstyle", "scriptscriptstyle", "limits", "nolimits",
                                       "hfill", "hline", "nonumber", "notag", "mathop", "mathrel", "mathord", "strut", "thinspace",
                                       "negthinspace", "medspace", "thickspace", "enspace", "allowbreak", "rm", "bf", "it", "tt",
                                       "sf", "centering", "ensuremath", "therefore", "because", "relax", "Large", "large", "small",
                                       "normalsize", "it", "mathstrut", "quadd", "mathclose", "mathopen", "unit", "bold"};
constexpr std::string_view kNoiseWithArgument[] = {"hspace", "vspace", "phantom", "tag", "label", "color", "cline", "kern",
                                                   "hphantom", "vphantom"};
// Commands whose braces hold words, or mathematics in another type face.
constexpr std::string_view kTextCommands[] = {"text", "mbox", "textbf", "textit", "textrm", "textnormal", "texttt", "textsf",
                                              "hbox", "textsc", "emph", "mathrm", "mathit", "mathsf", "operatorname", "mathtt",
                                              "textup", "textmd", "textsl"};
constexpr std::string_view kFontCommands[] = {"mathbf", "boldsymbol", "bm", "mathcal", "mathscr", "mathfrak", "pmb", "boxed",
                                              "fbox", "mathnormal", "cancel", "bold", "framebox", "colorbox"};

template <size_t N>
bool Contains(const std::string_view (&list)[N], std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

class Lexer {
 public:
  Lexer(std::string_view text, const LexOptions& options, Arena* arena) : s_(text), options_(options), arena_(arena) {
    has_environment_ = s_.find("\\begin") != s_.npos;
    size_t dollars = 0;
    for (size_t i = 0; i < s_.size(); ++i) {
      if (s_[i] == '\\') ++i;
      else if (s_[i] == '$') ++dollars;
    }
    odd_dollars_ = dollars % 2 == 1;
  }

  LexResult Run() {
    while (i_ < s_.size() && result_.status == LexStatus::kOk) Step();
    Emit(Tok::kEnd, s_.size(), s_.size());
    result_.tokens = {tokens_, count_};
    return result_;
  }

 private:
  char At(size_t i) const { return i < s_.size() ? s_[i] : '\0'; }
  bool Looking(size_t i, std::string_view word) const { return s_.substr(std::min(i, s_.size()), word.size()) == word; }

  Token* Emit(Tok type, size_t begin, size_t end) {
    if (count_ == capacity_ && !Grow()) return &scratch_;
    Token& token = tokens_[count_++];
    token = Token{};
    token.type = type;
    token.space_before = space_;
    token.quad_before = quad_;
    token.begin = static_cast<uint32_t>(begin);
    token.end = static_cast<uint32_t>(end);
    token.text = s_.substr(begin, end - begin);
    space_ = quad_ = false;
    i_ = end;
    return &token;
  }

  bool Grow() {
    if (count_ >= kTokensMax) {
      result_.status = LexStatus::kTooManyTokens;
      return false;
    }
    const size_t capacity = std::max<size_t>(64, capacity_ * 4);
    Token* bigger = arena_->NewArray<Token>(capacity);
    if (!bigger) {
      result_.status = LexStatus::kOutOfMemory;
      return false;
    }
    std::copy(tokens_, tokens_ + count_, bigger);
    tokens_ = bigger;
    capacity_ = capacity;
    return true;
  }

  Tok Previous() const { return count_ ? tokens_[count_ - 1].type : Tok::kEnd; }
  bool PreviousEndsOperand() const {
    switch (Previous()) {
      case Tok::kNumber: case Tok::kWord: case Tok::kSymbol: case Tok::kConstant: case Tok::kRParen: case Tok::kRBracket:
      case Tok::kRBrace: case Tok::kRSet: case Tok::kRAbs: case Tok::kBang: return true;
      default: return false;
    }
  }

  // Position of the '}' that closes the '{' at `open`, or npos.
  size_t MatchBrace(size_t open) {
    int depth = 0;
    for (size_t i = open; i < s_.size(); ++i) {
      if (--scan_budget_ < 0) {  // unclosed groups in groups would make this quadratic
        result_.status = LexStatus::kTooManyTokens;
        return s_.npos;
      }
      if (s_[i] == '\\') ++i;
      else if (s_[i] == '{') ++depth;
      else if (s_[i] == '}' && --depth == 0) return i;
    }
    return s_.npos;
  }

  void Step() {
    const char c = s_[i_];
    if (IsSpace(c)) {
      SkipAsSpace();
    } else if (c == '\\') {
      Backslash();
    } else if (IsDigit(c) || (c == '.' && IsDigit(At(i_ + 1)) && !(Previous() == Tok::kNumber && !space_))) {
      Number();
    } else if (IsAlpha(c)) {
      Word();
    } else if (static_cast<uint8_t>(c) >= 0x80) {
      size_t end = i_;
      while (end < s_.size() && static_cast<uint8_t>(s_[end]) >= 0x80) ++end;
      Emit(Tok::kText, i_, end);
    } else {
      Punctuation(c);
    }
  }

  void Punctuation(char c) {
    const size_t i = i_;
    const char next = At(i + 1);
    switch (c) {
      case '+':
        if (next == '-') { Emit(Tok::kPlusMinus, i, i + 2); break; }
        if (Looking(i, "+/-")) { Emit(Tok::kPlusMinus, i, i + 3); break; }
        Emit(Tok::kPlus, i, i + 1);
        break;
      case '-':
        if (next == '>') { Emit(Tok::kArrow, i, i + 2); break; }
        Emit(Tok::kMinus, i, i + 1);
        break;
      case '*':
        if (next == '*') Emit(Tok::kCaret, i, i + 2);
        else Emit(Tok::kTimes, i, i + 1);
        break;
      case '/':
        if (next == '/') { Emit(Tok::kUnknown, i, i + 2); break; }
        Emit(Tok::kSlash, i, i + 1);
        break;
      case '^': Emit(Tok::kCaret, i, i + 1); break;
      case '_': Emit(Tok::kUnder, i, i + 1); break;
      case '!':
        if (next == '=' && (space_ || Previous() == Tok::kWord)) Relation(RelOp::kNe, 2);
        else Emit(Tok::kBang, i, i + 1);
        break;
      case '\'': Emit(Tok::kPrime, i, i + 1); break;
      case '%': Emit(Tok::kPercent, i, i + 1); break;
      case ',': Emit(Tok::kComma, i, i + 1); break;
      case ';': Emit(Tok::kSemicolon, i, i + 1); break;
      case ':':
        if (next == '=') Relation(RelOp::kEq, 2);
        else Emit(Tok::kColon, i, i + 1);
        break;
      case '.':
        if (next == '.' && At(i + 2) == '.') Emit(Tok::kDots, i, i + 3);
        else Emit(Tok::kPeriod, i, i + 1);
        break;
      case '(': ++depth_; Emit(Tok::kLParen, i, i + 1); break;
      case ')': --depth_; Emit(Tok::kRParen, i, i + 1); break;
      case '[': ++depth_; Emit(Tok::kLBracket, i, i + 1); break;
      case ']': --depth_; Emit(Tok::kRBracket, i, i + 1); break;
      case '{':
        if (Looking(i, "{,}")) {  // a comma that is no separator, but not inside a number
          Emit(Tok::kComma, i, i + 3);
          break;
        }
        Emit(Tok::kLBrace, i, i + 1);
        break;
      case '}': CloseBrace(); break;
      case '|':
        if (next == '|') Emit(Tok::kDoubleBar, i, i + 2);
        else Emit(sizing_ == 'l' ? Tok::kLAbs : sizing_ == 'r' ? Tok::kRAbs : Tok::kBar, i, i + 1);
        break;
      case '<':
        if (next == '=') Relation(RelOp::kLe, 2);
        else if (next == '>') Relation(RelOp::kNe, 2);
        else if (sizing_ == 'l') Emit(Tok::kLAngle, i, i + 1);
        else Relation(RelOp::kLt, 1);
        break;
      case '>':
        if (next == '=') Relation(RelOp::kGe, 2);
        else if (sizing_ == 'r') Emit(Tok::kRAngle, i, i + 1);
        else Relation(RelOp::kGt, 1);
        break;
      case '=':
        if (next == '>') Emit(Tok::kArrow, i, i + 2);
        else if (next == '<') Relation(RelOp::kLe, 2);
        else Relation(RelOp::kEq, next == '=' ? 2 : 1);
        break;
      case '~':
        if (next == '=') Relation(RelOp::kApprox, 2);
        else SkipAsSpace();
        break;
      case '&':
        if (has_environment_) Emit(Tok::kAmpersand, i, i + 1);
        else SkipAsSpace();
        break;
      case '$':
        if (odd_dollars_ && (IsDigit(next) || (next == '.' && IsDigit(At(i + 2)))) && !PreviousEndsOperand()) {
          Emit(Tok::kCurrency, i, i + 1);
        } else Dollar();
        break;
      case '"': case '`': SkipAsSpace(); break;
      default: Emit(Tok::kUnknown, i, i + 1); break;
    }
    sizing_ = 0;
  }
  void SkipAsSpace() { space_ = true; ++i_; }

  // A $ is no token; between "$y_1 = x$ $y_2 = 2x$" one statement ends.
  void Dollar() {
    SkipAsSpace();
    size_t after = s_.find_first_not_of(" \t\n\r", i_);
    quad_ |= after > i_ && after < s_.size() && s_[after] == '$';
  }

  void Relation(RelOp op, size_t length) { Emit(Tok::kRelation, i_, i_ + length)->op = static_cast<char>(op); }

  void CloseBrace() {
    if (transparent_count_ > 0 && transparent_[transparent_count_ - 1] == i_) {
      --transparent_count_;
      ++i_;
      space_ = true;
      return;
    }
    Emit(Tok::kRBrace, i_, i_ + 1);
  }

  // Reads the group after position `at` without its braces.
  bool Transparent(size_t at) {
    while (IsSpace(At(at))) ++at;
    if (At(at) != '{') { i_ = at; return true; }
    const size_t close = MatchBrace(at);
    if (transparent_count_ == transparent_.size()) { Emit(Tok::kUnknown, i_, at + 1); return false; }
    transparent_[transparent_count_++] = close;
    i_ = at + 1;
    return true;
  }

  void Backslash() {
    size_t i = i_ + 1;
    const char next = At(i);
    if (next == '\\') {
      // Doubled backslashes before a known command are an escape too many, unless rows are being separated.
      size_t j = i;
      while (At(j) == '\\') ++j;
      const bool command = IsAlpha(At(j)) || ((At(j) == '{' || At(j) == '}' || At(j) == '(' || At(j) == '%') && j - i_ == 2 && !has_environment_);
      if (command && !has_environment_) { i_ = j - 1; return Backslash1(); }
      size_t end = i + 1;
      if (At(end) == '[' && has_environment_) {  // \\[4pt]
        const size_t close = s_.substr(0, end + 12).find(']', end);
        if (close != s_.npos && s_.substr(end, close - end).find(',') == s_.npos) end = close + 1;
      }
      if (!has_environment_ && IsSpace(At(end)) && end + 1 >= s_.size()) { i_ = s_.size(); return; }
      Emit(Tok::kRowSeparator, i_, end);
      return;
    }
    Backslash1();
  }

  void Backslash1() {
    const size_t i = i_ + 1;
    const char next = At(i);
    if (!IsAlpha(next)) return Escape(next);
    size_t end = i;
    while (IsAlpha(At(end))) ++end;
    NamedCommand(s_.substr(i, end - i), end);
  }

  void Escape(char c) {
    const size_t i = i_;
    switch (c) {
      case ',': case ';': case ':': case ' ': case '!': case '>': case '/': case '\n': case '\t': case '\r':
        if (c != '!') space_ = true;
        i_ += 2;
        return;
      case '(': case ')': case '[': case ']': case '"': space_ = true; i_ += 2; return;
      case '{': ++depth_; Emit(Tok::kLSet, i, i + 2); break;
      case '}': --depth_; Emit(Tok::kRSet, i, i + 2); break;
      case '%': Emit(Tok::kPercent, i, i + 2); break;
      case '$': Emit(Tok::kCurrency, i, i + 2); break;
      case '|': Emit(Tok::kDoubleBar, i, i + 2); break;
      case '_': case '#': case '&': space_ = true; i_ += 2; return;
      case '\'': case '^': case '~': case '*': i_ += 2; return;
      case '\0': i_ += 1; return;
      default:
        if (IsDigit(c)) return void(i_ += 1);
        Emit(Tok::kUnknown, i, i + 2);
    }
    sizing_ = 0;
  }

  void NamedCommand(std::string_view name, size_t end) {
    const size_t begin = i_;
    if (Contains(kSizing, name)) {
      sizing_ = name.ends_with("left") || name.ends_with('l') ? 'l' : name.ends_with("right") || name.ends_with('r') ? 'r' : 0;
      if (name == "middle") sizing_ = 0;
      i_ = end;
      while (IsSpace(At(i_))) ++i_;
      if (At(i_) == '.' && (name == "left" || name == "right")) { ++i_; sizing_ = 0; }
      if (sizing_ && Looking(i_, "\\vert")) { Emit(sizing_ == 'l' ? Tok::kLAbs : Tok::kRAbs, i_, i_ + 5); sizing_ = 0; }
      return;
    }
    if (Contains(kTextCommands, name)) return TextCommand(name, end);
    if (Contains(kFontCommands, name)) return FontCommand(name, end);
    if (name == "mathbb" || name == "mathds" || name == "Bbb") return Blackboard(end);
    if (name == "begin" || name == "end") return Environment(name == "begin", end);
    if (Contains(kNoise, name)) return void((space_ = true, i_ = end));
    if (Contains(kNoiseWithArgument, name)) {
      const size_t close = At(end) == '{' ? MatchBrace(end) : s_.npos;
      i_ = close == s_.npos ? end : close + 1;
      return void(space_ = true);
    }
    if (name == "not") {
      i_ = end;
      while (IsSpace(At(i_))) ++i_;
      if (At(i_) == '=') return Relation(RelOp::kNe, 1);
      if (Looking(i_, "\\in")) return Relation(RelOp::kNotIn, 3);
      Emit(Tok::kUnknown, begin, end);
      return;
    }
    if (name == "displaylines" || name == "newline" || name == "par" || name == "quad" || name == "qquad") {
      space_ = quad_ = true;
      i_ = end;
      return;
    }
    if (name == "Rightarrow" || name == "implies" || name == "iff" || name == "Leftrightarrow" || name == "Longrightarrow") {
      Emit(Tok::kArrow, begin, end);
      return;
    }
    if (name == "textcircled" && At(end) == '{' && IsDigit(At(end + 1)) && At(end + 2) == '}') {
      if (Previous() == Tok::kNumber && !space_) Emit(Tok::kComma, begin, begin);
      Emit(Tok::kNumber, begin, end + 3)->text = s_.substr(end + 1, 1);
      return;
    }
    if (name == "textcirc") return Degree(begin, end);
    const Command* command = FindCommand(name);
    size_t length = name.size();
    if (!command && name.size() > 2) {
      if ((command = FindCommandPrefix(name))) length = command->name.size();
    }
    end = begin + 1 + length;
    if (!command) { Emit(Tok::kUnknown, begin, end); return; }
    if (command->type == Tok::kQuad) { space_ = quad_ = true; i_ = end; return; }
    if (command->type == Tok::kDegree) return Degree(begin, end);
    if (command->type == Tok::kPrime) return Degree(begin, end, Tok::kPrime);
    EmitCommand(*command, begin, end);
  }

  // `^\circ`, `^{\circ}` and a bare `\circ` are one token: the caret and the braces go.
  void Degree(size_t begin, size_t end, Tok type = Tok::kDegree) {
    if (count_ && tokens_[count_ - 1].type == Tok::kLBrace && count_ > 1 && tokens_[count_ - 2].type == Tok::kCaret) {
      size_t j = end;
      while (IsSpace(At(j)) || Looking(j, "\\prime")) j += IsSpace(At(j)) ? 1 : 6;
      if (At(j) == '}') { count_ -= 2; end = j + 1; }
    } else if (count_ && tokens_[count_ - 1].type == Tok::kCaret) {
      --count_;
    }
    Emit(type, begin, end);
  }

  void EmitCommand(const Command& command, size_t begin, size_t end) {
    if (sizing_ && command.type == Tok::kBar) {
      Emit(sizing_ == 'l' ? Tok::kLAbs : Tok::kRAbs, begin, end);
      sizing_ = 0;
      return;
    }
    if (command.type == Tok::kLSet) ++depth_;
    if (command.type == Tok::kRSet) --depth_;
    Token* token = Emit(command.type, begin, end);
    token->fn = command.fn;
    token->op = command.op;
    if (command.type == Tok::kSymbol) {  // \varphi is \phi in another shape
      token->text = command.name;
      if (token->text.starts_with("var")) token->text.remove_prefix(3);
    }
    sizing_ = 0;
  }

  void TextCommand(std::string_view name, size_t end) {
    const size_t begin = i_;
    if (At(end) == '*') ++end;
    size_t open = end;
    while (IsSpace(At(open))) ++open;
    if (At(open) != '{') { space_ = true; i_ = end; return; }
    const size_t close = MatchBrace(open);
    std::string_view content = s_.substr(open + 1, (close == s_.npos ? s_.size() : close) - open - 1);
    const size_t after = close == s_.npos ? s_.size() : close + 1;
    while (!content.empty() && (IsSpace(content.front()) || content.front() == '~')) content.remove_prefix(1);
    while (!content.empty() && (IsSpace(content.back()) || content.back() == '~')) content.remove_suffix(1);
    if (content.empty()) { space_ = true; i_ = after; return; }
    const bool mathematical = std::any_of(content.begin(), content.end(), [](char c) {
      return IsDigit(c) || c == '\\' || c == '^' || c == '_' || c == '=' || c == '<' || c == '>' || c == '+' || c == '$' ||
             c == '{' || static_cast<uint8_t>(c) >= 0x80;
    });
    if (mathematical) { Transparent(open); return; }
    std::string_view bare = content;
    while (!bare.empty() && (bare.back() == ',' || bare.back() == ' ')) bare.remove_suffix(1);
    while (!bare.empty() && (bare.front() == ',' || bare.front() == ' ')) bare.remove_prefix(1);
    if (bare.empty()) { Emit(Tok::kComma, begin, after); return; }
    if (bare == "and" || bare == "And" || bare == "&" || bare == "And,") { Emit(Tok::kAnd, begin, after); return; }
    if (bare == "or" || bare == "Or" || bare == "OR") { Emit(Tok::kOr, begin, after); return; }
    if (content == "," || content == ";") { Emit(content == "," ? Tok::kComma : Tok::kSemicolon, begin, after); return; }
    const bool after_value = PreviousEndsOperand() || Previous() == Tok::kSlash || Previous() == Tok::kEndEnv;
    const bool unit = (content == "min" || content == "sec" || content == "in") && after_value;
    if (const Command* word = unit ? nullptr : FindWord(content)) {
      if (word->type == Tok::kDegree) return Degree(begin, after);
      if (word->type != Tok::kSymbol && word->type != Tok::kWord) { EmitCommand(*word, begin, after); return; }
    }
    const bool face = name == "mathrm" || name == "mathit" || name == "mathsf" || name == "operatorname" || name == "mathtt";
    if (face && content.size() == 1 && (content == "e" || content == "i" || content == "d" || content == "T")) {
      Token* token = Emit(Tok::kWord, begin, after);
      token->text = content;
      return;
    }
    if (content == "th" || content == "st" || content == "nd" || content == "rd") {
      if (count_ && tokens_[count_ - 1].type == Tok::kCaret) --count_;
      i_ = after;
      return;
    }
    // "stuffed goats and": the last word joins.
    for (std::string_view joint : {" and", " or"}) {
      if (content.size() <= joint.size() || !content.ends_with(joint)) continue;
      content.remove_suffix(joint.size());
      Emit(Tok::kText, begin, after)->text = content;
      Emit(joint == " and" ? Tok::kAnd : Tok::kOr, after, after);
      return;
    }
    for (std::string_view joint : {"and ", "or "}) {
      if (content.size() <= joint.size() || !content.starts_with(joint)) continue;
      content.remove_prefix(joint.size());
      Emit(joint == "and " ? Tok::kAnd : Tok::kOr, begin, after);
      break;
    }
    Emit(Tok::kText, begin, after)->text = content;
  }

  void FontCommand(std::string_view name, size_t end) {
    if (At(end) == '{' && name.starts_with("mathb") && At(end + 2) == '}') {
      const char letter = At(end + 1);
      if (letter == 'i' || letter == 'j' || letter == 'k') {
        Emit(Tok::kSymbol, i_, end + 3)->text = letter == 'i' ? "\\vec i" : letter == 'j' ? "\\vec j" : "\\vec k";
        return;
      }
    }
    if (At(end) == ' ' && IsAlpha(At(end + 1)) && !IsAlpha(At(end + 2)) && name == "mathbf") {
      const char letter = At(end + 1);
      if (letter == 'i' || letter == 'j' || letter == 'k') {
        Emit(Tok::kSymbol, i_, end + 2)->text = letter == 'i' ? "\\vec i" : letter == 'j' ? "\\vec j" : "\\vec k";
        return;
      }
    }
    Transparent(end);
  }

  void Blackboard(size_t end) {
    const size_t begin = i_;
    const bool brace = At(end) == '{';
    size_t at = brace ? end + 1 : end;
    while (IsSpace(At(at))) ++at;
    Function fn = Function::kNone;
    switch (At(at)) {
      case 'R': fn = Function::kReals; break;
      case 'Z': fn = Function::kIntegers; break;
      case 'N': fn = Function::kNaturals; break;
      case 'Q': fn = Function::kRationals; break;
      case 'C': fn = Function::kComplexes; break;
      case 'P': fn = Function::kPrimes; break;
      default: break;
    }
    if (brace && At(at + 1) != '}') fn = Function::kNone;
    if (fn == Function::kNone) { Transparent(end); return; }
    Emit(Tok::kNamedSet, begin, at + (brace ? 2 : 1))->fn = fn;
  }

  void Environment(bool begins, size_t end) {
    const size_t begin = i_;
    while (IsSpace(At(end))) ++end;
    const size_t close = At(end) == '{' ? s_.substr(0, end + 40).find('}', end) : s_.npos;
    if (close == s_.npos) { Emit(Tok::kUnknown, begin, end); return; }
    std::string_view name = s_.substr(end + 1, close - end - 1);
    if (name.ends_with('*')) name.remove_suffix(1);
    size_t after = close + 1;
    if (begins && (name == "array" || name == "tabular")) {
      while (IsSpace(At(after))) ++after;
      if (At(after) == '{') {
        const size_t columns = MatchBrace(after);
        if (columns != s_.npos) after = columns + 1;
      }
    }
    Emit(begins ? Tok::kBegin : Tok::kEndEnv, begin, after)->text = name;
  }

  void Word() {
    const size_t begin = i_;
    size_t end = begin;
    while (IsAlpha(At(end))) ++end;
    std::string_view run = s_.substr(begin, end - begin);
    const auto next_non_space = [&](size_t at) { while (IsSpace(At(at))) ++at; return at; };
    if (run == "x" || run == "X") {  // 7.8 x 10^2
      const size_t at = next_non_space(end);
      if (Previous() == Tok::kNumber && (Looking(at, "10^") || Looking(at, "10**") || (space_ && at > end && IsDigit(At(at))))) {
        Emit(Tok::kTimes, begin, end);
        return;
      }
    }
    if (run == "U" || run == "u") {
      const char next = At(next_non_space(end));
      if ((Previous() == Tok::kRParen || Previous() == Tok::kRBracket || Previous() == Tok::kRSet) && (next == '(' || next == '[' || next == '{' || next == '\\')) {
        Emit(Tok::kUnion, begin, end);
        return;
      }
    }
    if (run.size() > 2 && run.starts_with("or") && run.size() == 3 && PreviousEndsOperand() && !space_) {
      Emit(Tok::kOr, begin, begin + 2);
      return;
    }
    if (run == "log" && IsDigit(At(end))) {  // log2(8), log10(x)
      Emit(Tok::kFunction, begin, end)->fn = Function::kLog;
      Emit(Tok::kUnder, end, end);
      return;
    }
    if (run == "atan" && At(end) == '2') {
      Emit(Tok::kFunction, begin, end + 1)->fn = Function::kAtan2;
      return;
    }
    const Command* word = run.size() > 1 ? FindWord(run) : nullptr;
    static constexpr Command kGammaLetter{"gamma", Tok::kSymbol};
    if (run == "gamma" && At(end) != '(') word = &kGammaLetter;
    if (word && word->type == Tok::kDegree) return Degree(begin, end);
    if (word && word->type != Tok::kWord) {
      // "in" and "int" and "sum" are words of a sentence unless mathematics follows.
      EmitCommand(*word, begin, end);
      if (word->type == Tok::kSqrt || word->type == Tok::kFunction) tokens_[count_ - 1].text = run;
      return;
    }
    // sinx, cosx, lnx; 2pi r written "pir" is left alone
    if (run.size() == 3 || run.size() == 4) {
      const Command* head = FindWord(run.substr(0, run.size() - 1));
      if (head && head->type == Tok::kFunction && run.substr(0, run.size() - 1).size() >= 2 && At(end) != '(' && run != "sink" && run != "cost" && run != "tank" && run != "sine") {
        EmitCommand(*head, begin, end - 1);
        return;
      }
    }
    Emit(Tok::kWord, begin, end);
  }

  // ---- numbers --------------------------------------------------------------------------------------------------------

  // Length of a thousands separator at `i` before exactly three digits, 0 when there is none.
  size_t GroupSeparator(size_t i, bool* plain_comma) const {
    *plain_comma = false;
    size_t length = 0;
    if (Looking(i, "{,}")) length = 3;
    else if (Looking(i, ",\\!")) length = 3;
    else if (Looking(i, "\\,") || Looking(i, "\\ ") || Looking(i, "\\!")|| Looking(i, "\\;")) length = 2;
    else if (Looking(i, "{,}\\!")) length = 5;
    else if (At(i) == ',' && options_.group_commas && depth_ <= 0) { length = 1; *plain_comma = true; }
    else if ((At(i) == ' ' || At(i) == '\'' || At(i) == '~') && depth_ <= 0) length = 1;
    if (length == 0) return 0;
    size_t at = i + length;
    if (length >= 3) while (IsSpace(At(at)) || Looking(at, "\\!")) at += IsSpace(At(at)) ? 1 : 2;
    if (!(IsDigit(At(at)) && IsDigit(At(at + 1)) && IsDigit(At(at + 2)) && !IsDigit(At(at + 3)))) return 0;
    if (At(i) == ' ' || At(i) == '\'') {  // "2 000" but not "1 234/5" or "1 100^2"
      const char after = At(at + 3);
      if (after == '/' || after == '^' || after == '_') return 0;
    }
    return at - i;
  }

  void Number() {
    const size_t begin = i_;
    size_t i = begin;
    while (IsDigit(At(i))) ++i;
    const size_t first = i - begin;
    bool altered = false, plain_commas = false, zero_group = false;
    // Groups of three.
    if (first >= 1 && first <= 3 && !(first > 1 && s_[begin] == '0') && !(first == 1 && s_[begin] == '0') && Previous() != Tok::kUnder) {
      size_t groups_end = i;
      bool plain = false;
      while (size_t step = GroupSeparator(groups_end, &plain)) {
        plain_commas |= plain;
        zero_group |= At(groups_end + step) == '0';  // no list has an element 034
        groups_end += step + 3;
        altered = true;
      }
      if (!altered && At(i) == '.' && IsDigit(At(i + 1))) {  // 1.234.567
        size_t j = i;
        int groups = 0;
        while (At(j) == '.' && IsDigit(At(j + 1)) && IsDigit(At(j + 2)) && IsDigit(At(j + 3)) && !IsDigit(At(j + 4))) { j += 4; ++groups; }
        if (groups >= 2 && At(j) != '.') { groups_end = j; altered = true; }
      }
      i = groups_end;
    }
    if (plain_commas && !zero_group) result_.comma_ambiguous = true;
    // Fraction.
    size_t fraction = s_.npos;
    const size_t integer_end = i;
    if (At(i) == '.' && IsDigit(At(i + 1))) {
      fraction = ++i;
      while (IsDigit(At(i))) ++i;
    } else if (At(i) == '.' && RepeatBegin(i + 1) != s_.npos) {
      fraction = ++i;
    } else if (At(i) == ',' && IsDigit(At(i + 1)) && !altered && depth_ <= 0) {
      size_t j = i + 1;
      while (IsDigit(At(j))) ++j;
      const bool only_comma = At(j) != ',' && s_.find(',') == i;
      const bool whole = s_.find_first_not_of('0', i + 1) >= j;  // "-3,0" is two numbers
      if (only_comma && !whole) {
        result_.decimal_comma_possible = true;
        if (options_.decimal_comma) { fraction = i + 1; i = j; altered = true; }
      }
    } else if (Looking(i, "{,}") && IsDigit(At(i + 3)) && !altered) {  // decimal comma as LaTeX writes it
      size_t j = i + 3;
      while (IsDigit(At(j))) ++j;
      if (j - i - 3 != 3 || first > 3) { fraction = i + 3; i = j; altered = true; }
    }
    Finish(begin, integer_end, fraction, i, altered);
  }

  // Where the repeating digits begin when "\overline{3}", "\dot{3}", "\bar{3}" or "(3)" stands at `i`; npos when not.
  size_t RepeatBegin(size_t i) const {
    for (std::string_view open : {"\\overline{", "\\dot{", "\\bar{", "("}) {
      if (!Looking(i, open)) continue;
      size_t j = i + open.size();
      while (IsDigit(At(j))) ++j;
      if (j > i + open.size() && (At(j) == '}' || At(j) == ')') && (open != "(" || At(j) == ')')) return i + open.size();
    }
    return s_.npos;
  }

  void Finish(size_t begin, size_t integer_end, size_t fraction, size_t i, bool altered) {
    size_t repeat = s_.npos, repeat_end = s_.npos;
    if (fraction != s_.npos && (repeat = RepeatBegin(i)) != s_.npos && !(At(i) == '(' && i == fraction && false)) {
      repeat_end = repeat;
      while (IsDigit(At(repeat_end))) ++repeat_end;
      altered = true;
    }
    const size_t fraction_end = i;
    if (repeat != s_.npos) i = repeat_end + 1;
    bool dots = false;
    if (fraction != s_.npos && repeat == s_.npos && fraction_end > fraction) {
      for (std::string_view mark : {"...", "\\ldots", "\\dots", "\\cdots", "…"}) {
        if (Looking(i, mark)) { dots = true; altered = true; i += mark.size(); break; }
      }
    }
    size_t exponent = s_.npos;
    if ((At(i) == 'e' || At(i) == 'E') && repeat == s_.npos && !dots) {
      size_t j = i + 1;
      if (At(j) == '+' || At(j) == '-') ++j;
      if (IsDigit(At(j))) {
        if (At(i) == 'e' && fraction == s_.npos) result_.scientific_ambiguous = true;
        if (options_.scientific) {
          exponent = i + 1;
          while (IsDigit(At(j))) ++j;
          i = j;
        }
      }
    }
    Token* token = Emit(Tok::kNumber, begin, i);
    if (!altered) return;
    char* out = arena_->NewArray<char>(i - begin + 4);
    if (!out) { result_.status = LexStatus::kOutOfMemory; return; }
    size_t size = 0;
    for (size_t k = begin; k < integer_end; ++k) if (IsDigit(s_[k])) out[size++] = s_[k];
    if (fraction != s_.npos) {
      out[size++] = '.';
      for (size_t k = fraction; k < fraction_end; ++k) out[size++] = s_[k];
    }
    if (repeat != s_.npos) {
      out[size++] = '(';
      for (size_t k = repeat; k < repeat_end; ++k) out[size++] = s_[k];
      out[size++] = ')';
    }
    if (dots) out[size++] = '~';
    if (exponent != s_.npos) {
      out[size++] = 'e';
      for (size_t k = exponent; k < i; ++k) out[size++] = s_[k];
    }
    token->text = {out, size};
  }

  std::string_view s_;
  LexOptions options_;
  Arena* arena_;
  size_t i_ = 0;
  LexResult result_;
  Token* tokens_ = nullptr;
  size_t count_ = 0;
  size_t capacity_ = 0;
  Token scratch_;
  int64_t scan_budget_ = 16 * static_cast<int64_t>(kAnswerBytesMax);
  bool space_ = false;
  bool quad_ = false;
  bool has_environment_ = false;
  bool odd_dollars_ = false;
  char sizing_ = 0;  // 'l' after \left, 'r' after \right
  int depth_ = 0;    // of brackets
  std::array<size_t, 64> transparent_{};  // closing braces that are not tokens
  size_t transparent_count_ = 0;
};

}  // namespace

LexResult Lex(std::string_view text, const LexOptions& options, Arena* arena) { return Lexer(text, options, arena).Run(); }

}  // namespace rewardloop::math
