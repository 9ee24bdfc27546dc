#include "rewardloop/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/utf8.h"

namespace rewardloop {
namespace {

const std::string kEmptyText;

bool IsObjectKeyLess(const std::pair<std::string, Json>& a, const std::pair<std::string, Json>& b) {
  return a.first < b.first;
}

void Dump(const Json& value, bool sorted, std::string* out) {
  switch (value.kind()) {
    case Json::Kind::kNull: out->append("null"); return;
    case Json::Kind::kBool: out->append(value.AsBool() ? "true" : "false"); return;
    case Json::Kind::kInt: {
      char buffer[24];
      const auto end = std::to_chars(buffer, buffer + sizeof buffer, value.AsInt()).ptr;
      out->append(buffer, end);
      return;
    }
    case Json::Kind::kDouble: AppendJsonDouble(value.AsDouble(), out); return;
    case Json::Kind::kBigInt: out->append(value.BigIntText()); return;
    case Json::Kind::kString: AppendJsonString(value.AsString(), out); return;
    case Json::Kind::kArray: {
      out->push_back('[');
      bool first = true;
      for (const Json& element : value.AsArray()) {
        if (!first) out->push_back(',');
        first = false;
        Dump(element, sorted, out);
      }
      out->push_back(']');
      return;
    }
    case Json::Kind::kObject: {
      const Json::Object* members = &value.AsObject();
      Json::Object copy;
      if (sorted) {
        copy = *members;
        std::stable_sort(copy.begin(), copy.end(), IsObjectKeyLess);
        members = &copy;
      }
      out->push_back('{');
      bool first = true;
      for (const auto& [key, member] : *members) {
        if (!first) out->push_back(',');
        first = false;
        AppendJsonString(key, out);
        out->push_back(':');
        Dump(member, sorted, out);
      }
      out->push_back('}');
      return;
    }
  }
}

bool EqualObjects(const Json::Object& a, const Json::Object& b) {
  if (a.size() != b.size()) return false;
  Json::Object sorted_a = a, sorted_b = b;
  std::stable_sort(sorted_a.begin(), sorted_a.end(), IsObjectKeyLess);
  std::stable_sort(sorted_b.begin(), sorted_b.end(), IsObjectKeyLess);
  return sorted_a == sorted_b;
}

}  // namespace

Json::Json(uint64_t value) {
  if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    value_ = static_cast<int64_t>(value);
  } else {
    *this = BigInt(std::to_string(value));
  }
}

Json Json::BigInt(std::string digits) {
  Json value;
  value.value_ = std::make_shared<const BigIntTag>(BigIntTag{std::move(digits)});
  return value;
}

Json::Kind Json::kind() const {
  static constexpr Kind kKinds[] = {Kind::kNull,   Kind::kBool,  Kind::kInt,    Kind::kDouble,
                                    Kind::kString, Kind::kArray, Kind::kObject, Kind::kBigInt};
  return kKinds[value_.index()];
}

std::string_view Json::TypeName() const {
  switch (kind()) {
    case Kind::kNull: return "null";
    case Kind::kBool: return "boolean";
    case Kind::kInt:
    case Kind::kBigInt: return "integer";
    case Kind::kDouble: return "number";
    case Kind::kString: return "string";
    case Kind::kArray: return "array";
    case Kind::kObject: return "object";
  }
  return "null";
}

double Json::AsDouble() const {
  if (is_int()) return static_cast<double>(AsInt());
  if (is_double()) return std::get<double>(value_);
  double value = 0;
  const std::string& digits = BigIntText();
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (parsed.ec == std::errc::result_out_of_range) return digits[0] == '-' ? -HUGE_VAL : HUGE_VAL;
  return value;
}

const std::string& Json::BigIntText() const { return std::get<std::shared_ptr<const BigIntTag>>(value_)->digits; }

Json::Array& Json::MutableArray() {
  auto& pointer = std::get<std::shared_ptr<Array>>(value_);
  if (pointer.use_count() > 1) pointer = std::make_shared<Array>(*pointer);
  return *pointer;
}

Json::Object& Json::MutableObject() {
  auto& pointer = std::get<std::shared_ptr<Object>>(value_);
  if (pointer.use_count() > 1) pointer = std::make_shared<Object>(*pointer);
  return *pointer;
}

const Json* Json::Find(std::string_view key) const {
  if (!is_object()) return nullptr;
  for (const auto& [name, member] : AsObject()) {
    if (name == key) return &member;
  }
  return nullptr;
}

Json& Json::Set(std::string_view key, Json value) {
  if (!is_object()) *this = Json(Object{});
  Object& object = MutableObject();
  for (auto& [name, member] : object) {
    if (name == key) return member = std::move(value);
  }
  return object.emplace_back(std::string(key), std::move(value)).second;
}

bool Json::Remove(std::string_view key) {
  if (!Find(key)) return false;
  Object& object = MutableObject();
  object.erase(std::find_if(object.begin(), object.end(), [&](const auto& member) { return member.first == key; }));
  return true;
}

size_t Json::size() const {
  if (is_array()) return AsArray().size();
  if (is_object()) return AsObject().size();
  return 0;
}

std::string Json::Dump() const {
  std::string out;
  DumpTo(&out);
  return out;
}

void Json::DumpTo(std::string* out) const { rewardloop::Dump(*this, false, out); }

std::string Json::DumpSorted() const {
  std::string out;
  rewardloop::Dump(*this, true, &out);
  return out;
}

bool operator==(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_int() && b.is_int()) return a.AsInt() == b.AsInt();
    if (a.kind() == Json::Kind::kBigInt && b.kind() == Json::Kind::kBigInt) return a.BigIntText() == b.BigIntText();
    return a.AsDouble() == b.AsDouble();
  }
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Json::Kind::kNull: return true;
    case Json::Kind::kBool: return a.AsBool() == b.AsBool();
    case Json::Kind::kString: return a.AsString() == b.AsString();
    case Json::Kind::kArray: return a.AsArray() == b.AsArray();
    case Json::Kind::kObject: return EqualObjects(a.AsObject(), b.AsObject());
    default: return false;
  }
}

void AppendJsonString(std::string_view text, std::string* out) {
  std::string repaired;
  if (!IsValidUtf8(text)) {
    repaired = RepairUtf8(text);
    text = repaired;
  }
  static constexpr char kHex[] = "0123456789abcdef";
  out->push_back('"');
  size_t plain = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out->append(text, plain, i - plain);
    plain = i + 1;
    switch (c) {
      case '"': out->append("\\\""); break;
      case '\\': out->append("\\\\"); break;
      case '\n': out->append("\\n"); break;
      case '\r': out->append("\\r"); break;
      case '\t': out->append("\\t"); break;
      default:
        out->append("\\u00");
        out->push_back(kHex[c >> 4]);
        out->push_back(kHex[c & 15]);
    }
  }
  out->append(text, plain, std::string_view::npos);
  out->push_back('"');
}

void AppendJsonDouble(double value, std::string* out) {
  if (!std::isfinite(value)) {
    out->append("null");
    return;
  }
  char buffer[32];
  char* const end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  const std::string_view text(buffer, end - buffer);
  out->append(text);
  if (text.find_first_of(".e") == std::string_view::npos) out->append(".0");
}

}  // namespace rewardloop
