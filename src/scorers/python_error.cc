#include "scorers/python_error.h"

namespace rewardloop {

std::string_view PythonTypeName(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::kNull:
      return "NoneType";
    case Json::Kind::kBool:
      return "bool";
    case Json::Kind::kInt:
    case Json::Kind::kBigInt:
      return "int";
    case Json::Kind::kDouble:
      return "float";
    case Json::Kind::kString:
      return "str";
    case Json::Kind::kArray:
      return "list";
    case Json::Kind::kObject:
      return "dict";
  }
  return "object";
}

PythonError TypeError(std::string message) { return {"TypeError", std::move(message)}; }

PythonError NoAttribute(const Json& value, std::string_view attribute) {
  return {"AttributeError", "'" + std::string(PythonTypeName(value)) +
                                "' object has no attribute '" + std::string(attribute) + "'"};
}

PythonError NoAttributeOfNone(std::string_view attribute) { return NoAttribute(Json(), attribute); }

Verdict RaisedVerdict(const PythonError& error) {
  return Verdict::Error("exception", error.type + ": " + error.message);
}

}  // namespace rewardloop
