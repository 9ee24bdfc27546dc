// json.loads() of CPython 3.11 with its values and their equality: what it accepts beyond JSON
// (NaN, Infinity, lone surrogates, repeated keys), what it refuses and with which message.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "scorers/python_error.h"

namespace rewardloop {

struct PythonDict;
struct PythonInt {
  std::string digits;  // canonical decimal text
};

// A value that json.loads() returns. Cheap to copy; contents are never changed after parsing.
struct PythonValue {
  using List = std::vector<PythonValue>;
  // None, bool, int, float, str (UTF-8, surrogates as in base/pystring.h), list, dict.
  std::variant<std::monostate, bool, PythonInt, double, std::string, std::shared_ptr<const List>,
               std::shared_ptr<const PythonDict>>
      value;

  const std::string* AsStr() const { return std::get_if<std::string>(&value); }
  const List* AsList() const;
  const PythonDict* AsDict() const;
};

struct PythonDict {
  std::vector<std::pair<std::string, PythonValue>> items;  // in insertion order, keys unique
  std::unordered_map<std::string, size_t> index;

  const PythonValue* Find(const std::string& key) const;
  void Set(std::string key, PythonValue value);
};

// The value, or the exception: JSONDecodeError with position, ValueError for more than 4,300
// digits, RecursionError for deeper nesting than the interpreter's stack allows (here: 980 levels;
// the origin's limit depends on its callers).
std::variant<PythonValue, PythonError> PythonJsonLoads(std::string_view text);

// a == b: True == 1 == 1.0, NaN != NaN.
bool PythonEqual(const PythonValue& a, const PythonValue& b);
// How containers compare their elements: the same object, or equal. json.loads() has one NaN
// object, so NaN matches NaN.
bool PythonSameOrEqual(const PythonValue& a, const PythonValue& b);
// Equal for two values exactly where they are one key of a dict; nullopt for what cannot be hashed
// (list, dict).
std::optional<std::string> PythonHashKey(const PythonValue& value);

}  // namespace rewardloop
