// Json: one JSON value, the type of everything a user may put into an item (ground truth, extra info, prompt).
//
// Objects keep the order in which keys were added, so that output is stable. Integers keep their exact value: those that
// do not fit into 64 bits are kept as decimal text. Text is kept as it came (UTF-8; see base/utf8.h for what is repaired
// at the border).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "rewardloop/export.h"
#include "rewardloop/status.h"

namespace rewardloop {

// A value with value semantics. Thread-compatible.
class REWARDLOOP_EXPORT Json {
 public:
  enum class Kind { kNull, kBool, kInt, kDouble, kBigInt, kString, kArray, kObject };

  using Array = std::vector<Json>;
  // Keys in insertion order. Lookup is linear: objects of items are small.
  using Object = std::vector<std::pair<std::string, Json>>;

  Json() = default;                                    // null
  Json(std::nullptr_t) {}                              // NOLINT: implicit by design, here and below
  Json(bool value) : value_(value) {}                  // NOLINT
  Json(int value) : value_(int64_t{value}) {}          // NOLINT
  Json(int64_t value) : value_(value) {}               // NOLINT
  Json(uint64_t value);                                // NOLINT: becomes kBigInt above 2^63 - 1
  Json(double value) : value_(value) {}                // NOLINT
  Json(const char* value) : value_(std::string(value)) {}         // NOLINT
  Json(std::string_view value) : value_(std::string(value)) {}    // NOLINT
  Json(std::string value) : value_(std::move(value)) {}           // NOLINT
  Json(Array value) : value_(std::make_shared<Array>(std::move(value))) {}     // NOLINT
  Json(Object value) : value_(std::make_shared<Object>(std::move(value))) {}   // NOLINT

  // An integer of any size from its decimal text ("-" and digits, not checked).
  static Json BigInt(std::string digits);
  static Json MakeObject(std::initializer_list<std::pair<std::string, Json>> members = {}) {
    return Json(Object(members));
  }
  static Json MakeArray(std::initializer_list<Json> elements = {}) { return Json(Array(elements)); }

  // Parses one JSON text (RFC 8259, nothing else after it but white space). Errors name line and column.
  // Nesting beyond 1,024 levels is an error; numbers beyond double become an error, never infinity.
  static Result<Json> Parse(std::string_view text);

  Kind kind() const;
  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_int() const { return std::holds_alternative<int64_t>(value_); }
  bool is_double() const { return std::holds_alternative<double>(value_); }
  bool is_number() const { return is_int() || is_double() || kind() == Kind::kBigInt; }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<std::shared_ptr<Array>>(value_); }
  bool is_object() const { return std::holds_alternative<std::shared_ptr<Object>>(value_); }
  // "null", "boolean", "integer", "number", "string", "array" or "object", for messages.
  std::string_view TypeName() const;

  // Preconditions: the value is of that kind (AsDouble takes any number).
  bool AsBool() const { return std::get<bool>(value_); }
  int64_t AsInt() const { return std::get<int64_t>(value_); }
  double AsDouble() const;
  const std::string& AsString() const { return std::get<std::string>(value_); }
  const std::string& BigIntText() const;
  const Array& AsArray() const { return *std::get<std::shared_ptr<Array>>(value_); }
  const Object& AsObject() const { return *std::get<std::shared_ptr<Object>>(value_); }
  // For writing: copies first when the contents are shared with another Json.
  Array& MutableArray();
  Object& MutableObject();

  // The member named `key`, or null when there is none or this is no object. Valid until the object changes.
  const Json* Find(std::string_view key) const;
  // Sets a member (replacing one of that name in place). Turns null into an object.
  Json& Set(std::string_view key, Json value);
  // Removes a member; false when there was none.
  bool Remove(std::string_view key);
  size_t size() const;  // elements or members; 0 for anything else

  // Compact JSON text. Invalid UTF-8 is written as U+FFFD; doubles as the shortest text that reads back the same,
  // with ".0" where it would look like an integer. NaN and infinities (which no parser produces) are written as null.
  std::string Dump() const;
  void DumpTo(std::string* out) const;
  // As Dump(), but an object's members sorted by key at every level: equal values give equal text.
  std::string DumpSorted() const;

  // Deep equality; an integer equals a double of the same value; member order does not count.
  friend REWARDLOOP_EXPORT bool operator==(const Json& a, const Json& b);

 private:
  struct BigIntTag {
    std::string digits;
  };
  std::variant<std::monostate, bool, int64_t, double, std::string, std::shared_ptr<Array>, std::shared_ptr<Object>,
               std::shared_ptr<const BigIntTag>>
      value_;
};

// Appends `text` to `out` as a JSON string with its quotes.
REWARDLOOP_EXPORT void AppendJsonString(std::string_view text, std::string* out);
// Appends the shortest decimal text that reads back as `value`; "null" when it is not finite.
REWARDLOOP_EXPORT void AppendJsonDouble(double value, std::string* out);

}  // namespace rewardloop
