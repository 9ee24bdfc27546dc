// Exceptions of the Python functions that parity scorers reproduce.
#pragma once

#include <string>
#include <string_view>

#include "rewardloop/json.h"
#include "rewardloop/result.h"

namespace rewardloop {

// An exception as Python prints it: "TypeError: 'int' object is not iterable".
struct PythonError {
  std::string type;
  std::string message;
};

// type(value).__name__ of what json.loads() makes of `value`.
std::string_view PythonTypeName(const Json& value);

PythonError TypeError(std::string message);
// AttributeError for `value.attribute`.
PythonError NoAttribute(const Json& value, std::string_view attribute);
PythonError NoAttributeOfNone(std::string_view attribute);

// error(exception) whose message starts with the exception's type.
Verdict RaisedVerdict(const PythonError& error);

}  // namespace rewardloop
