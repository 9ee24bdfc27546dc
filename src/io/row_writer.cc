#include "io/row_writer.h"

#include <algorithm>
#include <charconv>

#include "io/row_parser.h"

namespace rewardloop {
namespace {

bool IsOutputColumn(std::string_view key, bool timing) {
  if (key == "timing") return timing;
  const auto& names = OutputColumns();
  return std::find(names.begin(), names.end(), key) != names.end();
}

// The row without its closing brace; `empty` tells whether a comma is needed behind it.
std::string_view OpenRow(std::string_view line, bool* empty) {
  const size_t end = line.rfind('}');
  const size_t last = line.find_last_not_of(" \t\r\n", end - 1);
  *empty = line[last] == '{';
  return line.substr(0, last + 1);
}

void AppendMember(std::string_view raw_key, std::string_view raw_value, bool* first,
                  std::string* out) {
  if (!*first) out->push_back(',');
  *first = false;
  out->append(raw_key).append(":").append(raw_value);
}

// Columns whose names are needed move into the object `input`, together with an own column of that
// name.
void AppendColumns(std::string_view line, const RowShape& shape, bool timing, bool* first,
                   std::string* out) {
  const std::vector<RawColumn> columns = SplitColumns(line);
  const auto moves = [&](const RawColumn& column) {
    if (column.key == "item_id") return !shape.has_id;
    return column.key == "input" || IsOutputColumn(column.key, timing);
  };
  bool any = false;  // but `input` itself
  for (const RawColumn& column : columns) any = any || (column.key != "input" && moves(column));
  out->push_back('{');
  std::string moved = "{";
  bool first_moved = true;
  for (const RawColumn& column : columns) {
    if (any && moves(column))
      AppendMember(column.raw_key, column.raw_value, &first_moved, &moved);
    else
      AppendMember(column.raw_key, column.raw_value, first, out);
  }
  moved.push_back('}');
  if (any) AppendMember("\"input\"", moved, first, out);
}

void AppendOptionalString(const std::optional<std::string>& text, std::string* out) {
  if (text)
    AppendJsonString(*text, out);
  else
    out->append("null");
}

void AppendInt(int64_t value, std::string* out) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value);
  out->append(digits, end.ptr);
}

void AppendComponents(const std::vector<Component>& components, std::string* out) {
  out->push_back('{');
  for (size_t i = 0; i < components.size(); ++i) {
    if (i > 0) out->push_back(',');
    AppendJsonString(components[i].name, out);
    out->push_back(':');
    AppendJsonDouble(components[i].value, out);
  }
  out->push_back('}');
}

void AppendError(const std::optional<RewardError>& error, std::string* out) {
  if (!error) {
    out->append("null");
    return;
  }
  out->append("{\"class\":");
  AppendJsonString(error->error_class, out);
  out->append(",\"message\":");
  AppendJsonString(error->message, out);
  out->append(error->retryable ? ",\"retryable\":true}" : ",\"retryable\":false}");
}

void AppendTiming(const Timing& timing, std::string* out) {
  out->append(",\"timing\":{\"queued\":");
  AppendInt(timing.queued_ns, out);
  out->append(",\"started\":");
  AppendInt(timing.started_ns, out);
  out->append(",\"finished\":");
  AppendInt(timing.finished_ns, out);
  out->append(",\"attempts\":");
  AppendInt(timing.attempts, out);
  out->push_back('}');
}

}  // namespace

const std::vector<std::string>& OutputColumns() {
  static const std::vector<std::string> names = {"item_id",   "status", "score",
                                                 "extracted", "reason", "components",
                                                 "extra",     "error",  "timing"};
  return names;
}

void AppendOutputRow(std::string_view line, const RowShape& shape, const RewardResult& result,
                     bool timing, std::string* out) {
  bool first = true;
  if (shape.has_other)
    AppendColumns(line, shape, timing, &first, out);
  else
    out->append(OpenRow(line, &first));
  if (!shape.has_id) {
    out->append(first ? "\"item_id\":" : ",\"item_id\":");
    AppendJsonString(result.item_id, out);
    first = false;
  }
  out->append(first ? "\"status\":\"" : ",\"status\":\"");
  out->append(ItemStatusName(result.status)).append("\",\"score\":");
  if (result.score)
    AppendJsonDouble(*result.score, out);
  else
    out->append("null");
  out->append(",\"extracted\":");
  AppendOptionalString(result.extracted, out);
  out->append(",\"reason\":");
  AppendJsonString(result.reason, out);
  out->append(",\"components\":");
  AppendComponents(result.components, out);
  out->append(",\"extra\":");
  if (result.extra.is_object())
    result.extra.DumpTo(out);
  else
    out->append("{}");
  out->append(",\"error\":");
  AppendError(result.error, out);
  if (timing) AppendTiming(result.timing, out);
  out->append("}\n");
}

}  // namespace rewardloop
