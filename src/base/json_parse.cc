// Json::Parse: strict RFC 8259 with line and column of the first mistake.
//
// Hot paths (JSONL rows) read with simdjson in src/io; this reader serves configs, arguments and messages, keeps big
// integers exact and is the one that says where a mistake is.
#include <charconv>
#include <cmath>
#include <string>

#include "base/utf8.h"
#include "rewardloop/json.h"

namespace rewardloop {
namespace {

constexpr int kMaxDepth = 1024;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Json> Run() {
    Json value;
    SkipSpace();
    if (!Value(&value, 0)) return Fail();
    SkipSpace();
    if (pos_ != text_.size()) {
      Error("unexpected text after the value");
      return Fail();
    }
    return value;
  }

 private:
  bool Error(std::string message) {
    if (message_.empty()) message_ = std::move(message);
    return false;
  }

  Status Fail() const {
    size_t line = 1, column = 1;
    for (size_t i = 0; i < pos_ && i < text_.size(); ++i) {
      if (text_[i] == '\n') {
        ++line;
        column = 1;
      } else if ((static_cast<unsigned char>(text_[i]) & 0xC0) != 0x80) {
        ++column;
      }
    }
    return InvalidArgument(std::to_string(line) + ":" + std::to_string(column) + ": " + message_);
  }

  void SkipSpace() {
    while (pos_ < text_.size()) {
      const char c = text_[pos_];
      if (c != ' ' && c != '\t' && c != '\n' && c != '\r') break;
      ++pos_;
    }
  }

  bool Literal(std::string_view word) {
    if (text_.substr(pos_, word.size()) != word) return Error("not a JSON value");
    pos_ += word.size();
    return true;
  }

  bool Value(Json* out, int depth) {
    if (depth > kMaxDepth) return Error("nested deeper than " + std::to_string(kMaxDepth) + " levels");
    if (pos_ >= text_.size()) return Error("the text ends where a value should be");
    switch (text_[pos_]) {
      case '{': return Members(out, depth);
      case '[': return Elements(out, depth);
      case '"': {
        std::string value;
        if (!String(&value)) return false;
        *out = Json(std::move(value));
        return true;
      }
      case 't': *out = Json(true); return Literal("true");
      case 'f': *out = Json(false); return Literal("false");
      case 'n': *out = Json(); return Literal("null");
      default: return Number(out);
    }
  }

  bool Members(Json* out, int depth) {
    Json::Object members;
    ++pos_;
    SkipSpace();
    if (Take('}')) {
      *out = Json(std::move(members));
      return true;
    }
    while (true) {
      SkipSpace();
      if (pos_ >= text_.size() || text_[pos_] != '"') return Error("expected a key in double quotes");
      std::string key;
      if (!String(&key)) return false;
      SkipSpace();
      if (!Take(':')) return Error("expected ':' after the key");
      SkipSpace();
      Json value;
      if (!Value(&value, depth + 1)) return false;
      // As everywhere in the field (Python, simdjson's users): the last of several equal keys counts.
      bool replaced = false;
      for (auto& [name, member] : members) {
        if (name == key) {
          member = std::move(value);
          replaced = true;
          break;
        }
      }
      if (!replaced) members.emplace_back(std::move(key), std::move(value));
      SkipSpace();
      if (Take('}')) break;
      if (!Take(',')) return Error("expected ',' or '}'");
    }
    *out = Json(std::move(members));
    return true;
  }

  bool Elements(Json* out, int depth) {
    Json::Array elements;
    ++pos_;
    SkipSpace();
    if (Take(']')) {
      *out = Json(std::move(elements));
      return true;
    }
    while (true) {
      SkipSpace();
      Json value;
      if (!Value(&value, depth + 1)) return false;
      elements.push_back(std::move(value));
      SkipSpace();
      if (Take(']')) break;
      if (!Take(',')) return Error("expected ',' or ']'");
    }
    *out = Json(std::move(elements));
    return true;
  }

  bool Take(char c) {
    if (pos_ >= text_.size() || text_[pos_] != c) return false;
    ++pos_;
    return true;
  }

  bool Hex4(uint32_t* out) {
    if (pos_ + 4 > text_.size()) return Error("\\u needs four hexadecimal digits");
    uint32_t value = 0;
    const char* const begin = text_.data() + pos_;
    const auto parsed = std::from_chars(begin, begin + 4, value, 16);
    if (parsed.ptr != begin + 4) return Error("\\u needs four hexadecimal digits");
    pos_ += 4;
    *out = value;
    return true;
  }

  // A surrogate without its partner becomes U+FFFD: such text occurs in real model output and must not stop a run.
  bool UnicodeEscape(std::string* out) {
    uint32_t unit;
    if (!Hex4(&unit)) return false;
    if (unit >= 0xD800 && unit <= 0xDBFF && text_.substr(pos_, 2) == "\\u") {
      const size_t before = pos_;
      pos_ += 2;
      uint32_t low;
      if (!Hex4(&low)) return false;
      if (low >= 0xDC00 && low <= 0xDFFF) {
        AppendUtf8(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00), out);
        return true;
      }
      pos_ = before;
    }
    AppendUtf8(unit >= 0xD800 && unit <= 0xDFFF ? 0xFFFD : unit, out);
    return true;
  }

  bool String(std::string* out) {
    ++pos_;
    while (true) {
      if (pos_ >= text_.size()) return Error("the text ends inside a string");
      const unsigned char c = static_cast<unsigned char>(text_[pos_]);
      if (c == '"') {
        ++pos_;
        return true;
      }
      if (c < 0x20) return Error("control character in a string (write it as \\u00XX)");
      if (c == '\\') {
        if (!Escape(out)) return false;
        continue;
      }
      const int length = Utf8SequenceLength(text_.substr(pos_));
      if (length == 0) return Error("invalid UTF-8 in a string");
      out->append(text_, pos_, length);
      pos_ += length;
    }
  }

  bool Escape(std::string* out) {
    ++pos_;
    if (pos_ >= text_.size()) return Error("the text ends inside a string");
    const char c = text_[pos_++];
    switch (c) {
      case '"':
      case '\\':
      case '/': out->push_back(c); return true;
      case 'b': out->push_back('\b'); return true;
      case 'f': out->push_back('\f'); return true;
      case 'n': out->push_back('\n'); return true;
      case 'r': out->push_back('\r'); return true;
      case 't': out->push_back('\t'); return true;
      case 'u': return UnicodeEscape(out);
      default: --pos_; return Error("unknown escape in a string");
    }
  }

  size_t Digits() {
    const size_t begin = pos_;
    while (pos_ < text_.size() && text_[pos_] >= '0' && text_[pos_] <= '9') ++pos_;
    return pos_ - begin;
  }

  bool Number(Json* out) {
    const size_t begin = pos_;
    Take('-');
    const size_t first = pos_;
    const size_t integer_digits = Digits();
    if (integer_digits == 0) {
      pos_ = begin;
      return Error("not a JSON value");
    }
    if (integer_digits > 1 && text_[first] == '0') return Error("a number must not start with 0");
    bool is_integer = true;
    if (Take('.')) {
      is_integer = false;
      if (Digits() == 0) return Error("expected a digit after '.'");
    }
    if (pos_ < text_.size() && (text_[pos_] == 'e' || text_[pos_] == 'E')) {
      is_integer = false;
      ++pos_;
      if (!Take('-')) Take('+');
      if (Digits() == 0) return Error("expected a digit in the exponent");
    }
    const std::string_view token = text_.substr(begin, pos_ - begin);
    return is_integer ? Integer(token, out) : Decimal(token, out);
  }

  bool Integer(std::string_view token, Json* out) {
    int64_t value = 0;
    const auto parsed = std::from_chars(token.data(), token.data() + token.size(), value);
    if (parsed.ec == std::errc::result_out_of_range) {
      *out = Json::BigInt(std::string(token));
    } else {
      *out = Json(value);
    }
    return true;
  }

  bool Decimal(std::string_view token, Json* out) {
    double value = 0;
    const auto parsed = std::from_chars(token.data(), token.data() + token.size(), value);
    if (parsed.ec == std::errc::result_out_of_range) {
      // from_chars reports underflow and overflow alike; tiny numbers are 0, huge ones have no value.
      const double magnitude = std::strtod(std::string(token).c_str(), nullptr);
      if (std::isinf(magnitude)) return Error("number beyond the range of a double");
      value = magnitude;
    }
    *out = Json(value);
    return true;
  }

  std::string_view text_;
  size_t pos_ = 0;
  std::string message_;
};

}  // namespace

Result<Json> Json::Parse(std::string_view text) { return Parser(text).Run(); }

}  // namespace rewardloop
