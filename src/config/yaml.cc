// YAML to Json with the place of every key. The only file that sees yaml-cpp.
#include <yaml-cpp/yaml.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>

#include "rewardloop/config.h"

namespace rewardloop {
namespace {

constexpr size_t kMaxConfigBytes = size_t{4} << 20;
constexpr int kMaxDepth = 64;
constexpr int kMaxNodes = 100'000;  // aliases can multiply a small file

class YamlReader {
 public:
  explicit YamlReader(const std::string& file_name) : file_(file_name) {}

  Result<ConfigSource> Run(std::string_view text) {
    YAML::Node root;
    try {
      const auto documents = YAML::LoadAll(std::string(text));
      if (documents.size() > 1)
        return InvalidArgument(file_ + ":1:1: more than one YAML document", "keep one");
      if (!documents.empty()) root = documents[0];
    } catch (const YAML::Exception& error) {
      return InvalidArgument(Place(error.mark) + ": " + error.msg);
    }
    ConfigSource source;
    source.values = Json::MakeObject();
    if (!root.IsDefined() || root.IsNull()) return source;
    if (!root.IsMap()) {
      return InvalidArgument(Place(root.Mark()) + ": a configuration is a map of keys",
                             "write one `key: value` a line");
    }
    RL_RETURN_IF_ERROR(Convert(root, 0, "", &source.values, &source.origin));
    return source;
  }

 private:
  std::string Place(const YAML::Mark& mark) const {
    const int line = mark.line < 0 ? 0 : mark.line;
    const int column = mark.column < 0 ? 0 : mark.column;
    return file_ + ":" + std::to_string(line + 1) + ":" + std::to_string(column + 1);
  }

  Status Convert(const YAML::Node& node, int depth, const std::string& path, Json* out,
                 std::map<std::string, std::string>* origin) {
    if (depth > kMaxDepth) return InvalidArgument(Place(node.Mark()) + ": nested too deeply");
    if (++nodes_ > kMaxNodes) return InvalidArgument(Place(node.Mark()) + ": too many values");
    switch (node.Type()) {
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null:
        *out = Json();
        return Status();
      case YAML::NodeType::Scalar:
        *out = Scalar(node);
        return Status();
      case YAML::NodeType::Sequence: {
        Json::Array elements;
        for (const auto& element : node) {
          RL_RETURN_IF_ERROR(Convert(element, depth + 1, "", &elements.emplace_back(), nullptr));
        }
        *out = Json(std::move(elements));
        return Status();
      }
      case YAML::NodeType::Map:
        return Map(node, depth, path, out, origin);
    }
    return Status();
  }

  Status Map(const YAML::Node& node, int depth, const std::string& path, Json* out,
             std::map<std::string, std::string>* origin) {
    *out = Json::MakeObject();
    for (const auto& entry : node) {
      if (!entry.first.IsScalar())
        return InvalidArgument(Place(entry.first.Mark()) + ": a key must be text");
      const std::string& key = entry.first.Scalar();
      if (out->Find(key))
        return InvalidArgument(Place(entry.first.Mark()) + ": the key '" + key +
                               "' is given twice");
      const std::string member_path = path.empty() ? key : path + "." + key;
      if (origin) (*origin)[member_path] = Place(entry.first.Mark());
      Json value;
      RL_RETURN_IF_ERROR(
          Convert(entry.second, depth + 1, member_path, &value, depth == 0 ? origin : nullptr));
      if (depth == 0 && key == "schema") {
        if (!(value == Json(kSchemaVersion))) {
          return InvalidArgument(
              Place(entry.first.Mark()) + ": schema " + value.Dump() + " is not known",
              "this version reads schema " + std::to_string(kSchemaVersion));
        }
        continue;
      }
      out->Set(key, std::move(value));
    }
    return Status();
  }

  // Plain scalars by the YAML 1.2 core schema; quoted ones are text.
  static Json Scalar(const YAML::Node& node) {
    const std::string& text = node.Scalar();
    if (node.Tag() == "!") return Json(text);
    if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL")
      return Json();
    if (text == "true" || text == "True" || text == "TRUE") return Json(true);
    if (text == "false" || text == "False" || text == "FALSE") return Json(false);
    const std::string_view digits =
        text[0] == '+' ? std::string_view(text).substr(1) : std::string_view(text);
    const char* const end = digits.data() + digits.size();
    int64_t integer;
    auto parsed = std::from_chars(digits.data(), end, integer);
    if (parsed.ec == std::errc() && parsed.ptr == end) return Json(integer);
    double number;
    parsed = std::from_chars(digits.data(), end, number);
    const bool looks_numeric =
        digits.find_first_not_of("+-.0123456789eE") == std::string_view::npos;
    if (looks_numeric && parsed.ec == std::errc() && parsed.ptr == end) return Json(number);
    return Json(text);
  }

  std::string file_;
  int nodes_ = 0;
};

}  // namespace

Result<ConfigSource> ParseConfigYaml(std::string_view text, const std::string& file_name) {
  if (text.size() > kMaxConfigBytes) {
    return InvalidArgument(
        file_name + ": larger than " + std::to_string(kMaxConfigBytes) + " bytes",
        "is this a configuration file?");
  }
  try {
    return YamlReader(file_name).Run(text);
  } catch (const std::exception& error) {
    return InvalidArgument(file_name + ": not readable as YAML: " + error.what());
  }
}

Result<ConfigSource> ReadConfigFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFound("cannot read the configuration " + path + ": " + std::strerror(errno));
  std::string text(kMaxConfigBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad())
    return InvalidArgument("cannot read the configuration " + path + ": " + std::strerror(errno));
  text.resize(static_cast<size_t>(file.gcount()));
  return ParseConfigYaml(text, path);
}

}  // namespace rewardloop
