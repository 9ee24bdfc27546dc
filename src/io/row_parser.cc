#include "io/row_parser.h"

#include <simdjson.h>

#include <algorithm>

#include "io/line_reader.h"

namespace rewardloop {
namespace {

namespace dom = simdjson::dom;

static_assert(kLinePadding >= simdjson::SIMDJSON_PADDING);

// A parser that has seen a huge row is replaced, so that one row does not cost its memory for the
// rest of the run.
constexpr size_t kKeepCapacityBytes = size_t{8} << 20;

Json ToJson(const dom::element& element) {
  switch (element.type()) {
    case dom::element_type::NULL_VALUE:
      return Json();
    case dom::element_type::BOOL:
      return Json(bool(element));
    case dom::element_type::INT64:
      return Json(int64_t(element));
    case dom::element_type::UINT64:
      return Json(uint64_t(element));
    case dom::element_type::DOUBLE:
      return Json(double(element));
    case dom::element_type::STRING:
      return Json(std::string_view(element));
    case dom::element_type::ARRAY: {
      Json::Array elements;
      for (const dom::element child : dom::array(element)) elements.push_back(ToJson(child));
      return Json(std::move(elements));
    }
    case dom::element_type::OBJECT: {
      Json object = Json::MakeObject();
      for (const auto& [key, child] : dom::object(element)) object.Set(key, ToJson(child));
      return object;
    }
    default:
      return Json();  // numbers that do not fit are errors of the parser, so never here
  }
}

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What usually stands behind a mistake at `rest`.
std::string HintFor(std::string_view rest) {
  for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
    if (rest.substr(0, word.size()) == word) {
      return std::string(word) + " is not JSON; Python writes it unless allow_nan=False: use null";
    }
  }
  if (rest.substr(0, 1) == "'")
    return "JSON text is in double quotes; is this a printed Python dict?";
  if (rest.substr(0, 4) == "None" || rest.substr(0, 4) == "True" || rest.substr(0, 5) == "False") {
    return "this is Python, not JSON: null, true and false";
  }
  return "";
}

// Byte offset of the character with number `column`, from 1.
size_t OffsetOfColumn(std::string_view line, size_t column) {
  size_t offset = 0;
  for (size_t at = 1; at < column && offset < line.size(); ++at) {
    ++offset;
    while (offset < line.size() && (static_cast<unsigned char>(line[offset]) & 0xC0) == 0x80)
      ++offset;
  }
  return offset;
}

size_t SkipSpace(std::string_view text, size_t at) {
  while (at < text.size() &&
         (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n'))
    ++at;
  return at;
}

// End of the string whose opening quote is at `at`.
size_t EndOfString(std::string_view text, size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == '"')
      return at + 1;
  }
  return text.size();
}

size_t EndOfValue(std::string_view text, size_t at) {
  if (text[at] == '"') return EndOfString(text, at);
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = EndOfString(text, at);
      if (depth == 0) return at;
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') {
      if (depth == 0) return at;  // the end of the enclosing object
      if (--depth == 0) return at + 1;
    }
    if (depth == 0 && (c == ',' || c == ' ' || c == '\t' || c == '\r' || c == '\n')) return at;
    ++at;
  }
  return at;
}

std::string UnescapeKey(std::string_view raw_key) {
  if (raw_key.find('\\') == std::string_view::npos)
    return std::string(raw_key.substr(1, raw_key.size() - 2));
  const auto parsed = Json::Parse(raw_key);
  return parsed.ok() && parsed->is_string() ? parsed->AsString() : std::string(raw_key);
}

}  // namespace

std::vector<RawColumn> SplitColumns(std::string_view line) {
  std::vector<RawColumn> columns;
  size_t at = SkipSpace(line, 0) + 1;  // behind the brace
  while (true) {
    at = SkipSpace(line, at);
    if (at >= line.size() || line[at] == '}') return columns;
    if (line[at] == ',') {
      ++at;
      continue;
    }
    const size_t key_end = EndOfString(line, at);
    RawColumn& column = columns.emplace_back();
    column.raw_key = line.substr(at, key_end - at);
    column.key = UnescapeKey(column.raw_key);
    at = SkipSpace(line, SkipSpace(line, key_end) + 1);  // behind the colon
    if (at >= line.size()) return columns;
    const size_t value_end = EndOfValue(line, at);
    column.raw_value = line.substr(at, value_end - at);
    at = value_end;
  }
}

struct RowParser::Impl {
  std::vector<std::string> wanted;
  std::vector<std::string> watched;
  dom::parser parser;

  Status Fill(const dom::object& row, Json* columns, bool* has_watched) const {
    for (const auto& [key, value] : row) {
      if (Contains(watched, key)) *has_watched = true;
      if (Contains(wanted, key)) columns->Set(key, ToJson(value));
    }
    return Status();
  }

  // The fast parser refuses what Json keeps (integers of any size, lone surrogates) and does not
  // say where a mistake is.
  Status ParseSlowly(const std::string& line, Json* columns, bool* has_watched) const {
    auto parsed = Json::Parse(line);
    if (!parsed.ok()) {
      const std::string message = parsed.status().message();  // "LINE:COLUMN: text", always line 1
      const std::string rest = message.substr(message.find(':') + 1);
      const size_t column = std::strtoul(rest.c_str(), nullptr, 10);
      return InvalidArgument(rest,
                             HintFor(std::string_view(line).substr(OffsetOfColumn(line, column))));
    }
    if (!parsed->is_object()) return NotAnObject(parsed->TypeName());
    for (const auto& [key, value] : parsed->AsObject()) {
      if (Contains(watched, key)) *has_watched = true;
      if (Contains(wanted, key)) columns->Set(key, value);
    }
    return Status();
  }

  static Status NotAnObject(std::string_view type) {
    return InvalidArgument(
        "1: a row must be a JSON object, not " + std::string(type),
        type == "array" ? "one object a line; is this a JSON file that holds one list?" : "");
  }
};

RowParser::RowParser(std::vector<std::string> wanted, std::vector<std::string> watched)
    : impl_(std::make_unique<Impl>()) {
  impl_->wanted = std::move(wanted);
  impl_->watched = std::move(watched);
}
RowParser::~RowParser() = default;

Status RowParser::Parse(const std::string& line, Json* columns, bool* has_watched) {
  *columns = Json::MakeObject();
  *has_watched = false;
  if (impl_->parser.capacity() > kKeepCapacityBytes && line.size() < kKeepCapacityBytes / 8) {
    impl_->parser = dom::parser();
  }
  dom::element root;
  // Some versions of the parser skip a byte-order mark; only the start of the file may have one.
  if (line.compare(0, 3, "\xEF\xBB\xBF") == 0)
    return impl_->ParseSlowly(line, columns, has_watched);
  const bool copy = line.capacity() < line.size() + kLinePadding;
  const auto error = impl_->parser.parse(line.data(), line.size(), copy).get(root);
  if (error) return impl_->ParseSlowly(line, columns, has_watched);
  dom::object row;
  if (root.get(row)) return Impl::NotAnObject(ToJson(root).TypeName());
  return impl_->Fill(row, columns, has_watched);
}

}  // namespace rewardloop
