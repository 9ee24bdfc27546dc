#include "scorers/python_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "base/pystring.h"
#include "base/utf8.h"

namespace rewardloop {
namespace {

constexpr int kMaxDepth = 980;
constexpr size_t kMaxIntDigits = 4300;
// Stands for an exponent that does not fit into 64 bits.
constexpr int64_t kHugeExponent = int64_t{1} << 60;

// Every step returns whether it went well; the first failure stays in error_.
class Loads {
 public:
  explicit Loads(std::string_view text) {
    text_.reserve(text.size());
    for (size_t pos = 0; pos < text.size();) {
      const py::DecodedChar c = py::DecodeAt(text, pos);
      // What is no character gets the code point that Python's "surrogateescape" gives it.
      text_ += c.code_point == py::kNotACharacter ? 0xDC00 + static_cast<unsigned char>(text[pos])
                                                  : c.code_point;
      pos += c.size;
    }
  }

  std::variant<PythonValue, PythonError> Run() {
    PythonValue value;
    if (Document(&value)) return value;
    return std::move(error_);
  }

 private:
  static constexpr char32_t kEnd = 0xFFFFFFFF;

  char32_t At(size_t pos) const { return pos < text_.size() ? text_[pos] : kEnd; }
  static bool IsDigit(char32_t c) { return c >= U'0' && c <= U'9'; }

  bool Document(PythonValue* out) {
    if (At(0) == 0xFEFF) return Fail("Unexpected UTF-8 BOM (decode using utf-8-sig)", 0);
    SkipSpace();
    if (!Value(0, out)) return false;
    SkipSpace();
    return pos_ == text_.size() || Fail("Extra data", pos_);
  }

  bool Fail(std::string_view what, size_t pos) {
    size_t line = 1, line_begin = 0;
    for (size_t i = 0; i < pos && i < text_.size(); ++i) {
      if (text_[i] != U'\n') continue;
      ++line;
      line_begin = i + 1;
    }
    error_ = {"JSONDecodeError", std::string(what) + ": line " + std::to_string(line) + " column " +
                                     std::to_string(pos - line_begin + 1) + " (char " +
                                     std::to_string(pos) + ")"};
    return false;
  }

  void SkipSpace() {
    for (char32_t c = At(pos_); c == U' ' || c == U'\t' || c == U'\n' || c == U'\r'; c = At(pos_))
      ++pos_;
  }

  bool Accept(std::u32string_view word) {
    if (text_.compare(pos_, word.size(), word) != 0) return false;
    pos_ += word.size();
    return true;
  }

  bool Value(int depth, PythonValue* out) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    switch (At(pos_)) {
      case U'"':
        return String(&out->value.emplace<std::string>());
      case U'{':
        return Enter(depth, "object") && Object(depth, out);
      case U'[':
        return Enter(depth, "array") && Array(depth, out);
      case U'n':
        if (Accept(U"null")) return true;
        break;
      case U't':
        if (Accept(U"true")) return Set(true, out);
        break;
      case U'f':
        if (Accept(U"false")) return Set(false, out);
        break;
      case U'N':
        if (Accept(U"NaN")) return Set(std::numeric_limits<double>::quiet_NaN(), out);
        break;
      case U'I':
        if (Accept(U"Infinity")) return Set(kInfinity, out);
        break;
      case U'-':
        if (Accept(U"-Infinity")) return Set(-kInfinity, out);
        break;
      default:
        break;
    }
    return Number(out);
  }

  template <typename T>
  static bool Set(T value, PythonValue* out) {
    out->value = std::move(value);
    return true;
  }

  bool Enter(int depth, std::string_view what) {
    if (depth < kMaxDepth) return true;
    error_ = {"RecursionError", "maximum recursion depth exceeded while decoding a JSON " +
                                    std::string(what) + " from a unicode string"};
    return false;
  }

  // One "," between members, or the closing bracket: `*more` says which.
  bool Separator(char32_t close, bool* more) {
    SkipSpace();
    *more = At(pos_) == U',';
    if (!*more && At(pos_) != close) return Fail("Expecting ',' delimiter", pos_);
    ++pos_;
    if (*more) SkipSpace();
    return true;
  }

  bool Object(int depth, PythonValue* out) {
    auto dict = std::make_shared<PythonDict>();
    ++pos_;
    SkipSpace();
    bool more = At(pos_) != U'}';
    if (!more) ++pos_;
    while (more) {
      std::string key;
      PythonValue value;
      if (At(pos_) != U'"') return Fail("Expecting property name enclosed in double quotes", pos_);
      if (!String(&key)) return false;
      SkipSpace();
      if (At(pos_) != U':') return Fail("Expecting ':' delimiter", pos_);
      ++pos_;
      SkipSpace();
      if (!Value(depth + 1, &value)) return false;
      dict->Set(std::move(key), std::move(value));
      if (!Separator(U'}', &more)) return false;
    }
    return Set(std::shared_ptr<const PythonDict>(std::move(dict)), out);
  }

  bool Array(int depth, PythonValue* out) {
    auto list = std::make_shared<PythonValue::List>();
    ++pos_;
    SkipSpace();
    bool more = At(pos_) != U']';
    if (!more) ++pos_;
    while (more) {
      if (!Value(depth + 1, &list->emplace_back()) || !Separator(U']', &more)) return false;
    }
    return Set(std::shared_ptr<const PythonValue::List>(std::move(list)), out);
  }

  // Four hexadecimal digits that start at `pos`. `error_pos` is named when they are none.
  bool Hex4(size_t pos, size_t error_pos, char32_t* unit) {
    *unit = 0;
    for (size_t i = pos; i < pos + 4; ++i) {
      const char32_t c = At(i);
      const char32_t lower = c | 0x20;
      if (!IsDigit(c) && !(c < 0x80 && lower >= U'a' && lower <= U'f'))
        return Fail("Invalid \\uXXXX escape", error_pos);
      *unit = *unit << 4 | (IsDigit(c) ? c - U'0' : lower - U'a' + 10);
    }
    return true;
  }

  // pos_ is at the 'u' of an escape.
  bool UnicodeEscape(std::string* out) {
    const size_t begin = pos_ + 1;
    size_t end = begin + 4;
    // The closing quote must be there too.
    if (end >= text_.size()) return Fail("Invalid \\uXXXX escape", pos_);
    char32_t c, low;
    if (!Hex4(begin, end - 5, &c)) return false;
    if (c >= 0xD800 && c <= 0xDBFF && end + 6 < text_.size() && text_[end] == U'\\' &&
        text_[end + 1] == U'u') {
      if (!Hex4(end + 2, end + 1, &low)) return false;
      if (low >= 0xDC00 && low <= 0xDFFF) {
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
        end += 6;
      }
    }
    AppendUtf8(c, out);
    pos_ = end;
    return true;
  }

  bool Escape(size_t string_begin, std::string* out) {
    constexpr std::u32string_view kNames = U"\"\\/bfnrt";
    constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    ++pos_;
    if (At(pos_) == kEnd) return Fail("Unterminated string starting at", string_begin);
    if (At(pos_) == U'u') return UnicodeEscape(out);
    const size_t which = kNames.find(At(pos_));
    if (which == kNames.npos) return Fail("Invalid \\escape", pos_ - 1);
    *out += kMeant[which];
    ++pos_;
    return true;
  }

  bool String(std::string* out) {
    const size_t begin = pos_++;
    for (char32_t c = At(pos_); c != U'"'; c = At(pos_)) {
      if (c == kEnd) return Fail("Unterminated string starting at", begin);
      if (c <= 0x1F) return Fail("Invalid control character at", pos_);
      if (c == U'\\') {
        if (!Escape(begin, out)) return false;
      } else {
        AppendUtf8(c, out);
        ++pos_;
      }
    }
    ++pos_;
    return true;
  }

  bool Number(PythonValue* out) {
    const size_t begin = pos_;
    size_t end = begin;
    if (At(end) == U'-') ++end;
    if (!IsDigit(At(end))) return Fail("Expecting value", begin);
    if (At(end) == U'0') {
      ++end;
    } else {
      end = SkipDigits(end);
    }
    const size_t int_end = end;
    if (At(end) == U'.' && IsDigit(At(end + 1))) end = SkipDigits(end + 1);
    if (At(end) == U'e' || At(end) == U'E') {
      const size_t sign = At(end + 1) == U'+' || At(end + 1) == U'-' ? 1 : 0;
      if (IsDigit(At(end + 1 + sign))) end = SkipDigits(end + 1 + sign);
    }
    pos_ = end;
    std::string digits(text_.begin() + begin, text_.begin() + end);
    if (end != int_end) return Set(ToDouble(digits), out);
    const size_t count = digits.size() - (digits[0] == '-' ? 1 : 0);
    if (count > kMaxIntDigits) {
      error_ = {"ValueError",
                "Exceeds the limit (4300 digits) for integer string conversion: value has " +
                    std::to_string(count) +
                    " digits; use sys.set_int_max_str_digits() to increase the limit"};
      return false;
    }
    return Set(PythonInt{digits == "-0" ? "0" : std::move(digits)}, out);
  }

  size_t SkipDigits(size_t pos) const {
    while (IsDigit(At(pos))) ++pos;
    return pos;
  }

  // As float(): nearest double, infinity beyond the range.
  static double ToDouble(const std::string& text) {
    double number = 0;
    const char* const end = text.data() + text.size();
    if (std::from_chars(text.data(), end, number).ec != std::errc::result_out_of_range)
      return number;
    // Out of range: only whether the first digit that is not 0 stands left or right of the point
    // can matter now.
    const size_t e = text.find_first_of("eE");
    int64_t exponent = 0;
    if (e != std::string::npos) {
      const char* const digits = text.data() + e + (text[e + 1] == '+' ? 2 : 1);
      if (std::from_chars(digits, end, exponent).ec == std::errc::result_out_of_range) {
        exponent = *digits == '-' ? -kHugeExponent : kHugeExponent;
      }
    }
    const size_t first = text.find_first_of("123456789");
    const size_t point = std::min(text.find('.'), std::min(e, text.size()));
    const bool huge = exponent + static_cast<int64_t>(point) - static_cast<int64_t>(first) > 0;
    const double magnitude = huge ? std::numeric_limits<double>::infinity() : 0.0;
    return text[0] == '-' ? -magnitude : magnitude;
  }

  PythonError error_;
  std::u32string text_;
  size_t pos_ = 0;
};

// The number as exact text: integers, integral floats and bools alike as decimal digits. Empty for
// other types.
std::string NumberText(const PythonValue& v) {
  if (const bool* b = std::get_if<bool>(&v.value)) return *b ? "1" : "0";
  if (const PythonInt* i = std::get_if<PythonInt>(&v.value)) return i->digits;
  const double* d = std::get_if<double>(&v.value);
  if (!d) return "";
  if (std::isnan(*d)) return "nan";
  if (std::isinf(*d)) return *d > 0 ? "inf" : "-inf";
  if (*d == 0) return "0";
  char text[400];  // the largest double has 309 digits
  std::snprintf(text, sizeof text, *d == std::trunc(*d) ? "%.0f" : "%a", *d);
  return text;
}

bool IsNan(const PythonValue& v) {
  const double* d = std::get_if<double>(&v.value);
  return d && std::isnan(*d);
}

}  // namespace

const PythonValue::List* PythonValue::AsList() const {
  const auto* list = std::get_if<std::shared_ptr<const List>>(&value);
  return list ? list->get() : nullptr;
}

const PythonDict* PythonValue::AsDict() const {
  const auto* dict = std::get_if<std::shared_ptr<const PythonDict>>(&value);
  return dict ? dict->get() : nullptr;
}

const PythonValue* PythonDict::Find(const std::string& key) const {
  const auto found = index.find(key);
  return found == index.end() ? nullptr : &items[found->second].second;
}

void PythonDict::Set(std::string key, PythonValue value) {
  const auto [found, inserted] = index.try_emplace(key, items.size());
  if (inserted) {
    items.emplace_back(std::move(key), std::move(value));
  } else {
    items[found->second].second = std::move(value);
  }
}

std::variant<PythonValue, PythonError> PythonJsonLoads(std::string_view text) {
  return Loads(text).Run();
}

bool PythonSameOrEqual(const PythonValue& a, const PythonValue& b) {
  return (IsNan(a) && IsNan(b)) || PythonEqual(a, b);
}

bool PythonEqual(const PythonValue& a, const PythonValue& b) {
  if (const std::string number = NumberText(a); !number.empty())
    return !IsNan(a) && number == NumberText(b);
  if (a.value.index() != b.value.index()) return false;
  if (const std::string* text = a.AsStr()) return *text == *b.AsStr();
  if (const PythonValue::List* list = a.AsList()) {
    const PythonValue::List& other = *b.AsList();
    if (list->size() != other.size()) return false;
    for (size_t i = 0; i < list->size(); ++i) {
      if (!PythonSameOrEqual((*list)[i], other[i])) return false;
    }
    return true;
  }
  if (const PythonDict* dict = a.AsDict()) {
    const PythonDict& other = *b.AsDict();
    if (dict->items.size() != other.items.size()) return false;
    for (const auto& [key, value] : dict->items) {
      const PythonValue* match = other.Find(key);
      if (!match || !PythonSameOrEqual(value, *match)) return false;
    }
    return true;
  }
  return true;  // None
}

std::optional<std::string> PythonHashKey(const PythonValue& value) {
  if (const std::string* text = value.AsStr()) return "s" + *text;
  if (value.AsList() || value.AsDict()) return std::nullopt;
  return "n" + NumberText(value);
}

}  // namespace rewardloop
