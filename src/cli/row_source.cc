#include "cli/row_source.h"

#include <algorithm>

namespace rewardloop::cli {
namespace {

// The id is looked at by value.
std::vector<std::string> WatchedColumns() {
  std::vector<std::string> names = OutputColumns();
  names.erase(std::find(names.begin(), names.end(), "item_id"));
  return names;
}

}  // namespace

Result<std::unique_ptr<RowSource>> RowSource::Open(const std::string& path, FieldMap fields,
                                                   std::vector<std::string> extra_columns,
                                                   int interrupt_fd) {
  RL_ASSIGN_OR_RETURN(std::unique_ptr<LineReader> reader, LineReader::Open(path, interrupt_fd));
  std::vector<std::string> wanted = fields.roots();
  wanted.emplace_back("item_id");
  wanted.insert(wanted.end(), extra_columns.begin(), extra_columns.end());
  return std::unique_ptr<RowSource>(
      new RowSource(std::move(reader), std::move(fields), std::move(wanted)));
}

RowSource::RowSource(std::unique_ptr<LineReader> reader, FieldMap fields,
                     std::vector<std::string> wanted)
    : reader_(std::move(reader)),
      fields_(std::move(fields)),
      parser_(std::move(wanted), WatchedColumns()) {}

Result<bool> RowSource::Next(Row* row) {
  RL_ASSIGN_OR_RETURN(const bool found, reader_->Next(&row->line));
  if (!found) return false;
  row->line_number = reader_->line_number();
  row->ordinal = next_ordinal_++;
  const Status parsed = parser_.Parse(row->line, &row->columns, &row->shape.has_other);
  if (!parsed.ok()) {
    return InvalidArgument(
        reader_->name() + ":" + std::to_string(row->line_number) + ":" + parsed.message(),
        parsed.hint());
  }
  row->item = RewardItem();
  row->problem =
      fields_.ToItem(row->columns, "line:" + std::to_string(row->line_number), &row->item);
  if (row->problem.code() == StatusCode::kNotFound && row->ordinal == 0) {
    // The hint is better for seeing all columns.
    RewardItem unused;
    if (const auto whole = Json::Parse(row->line); whole.ok())
      row->problem = fields_.ToItem(*whole, "", &unused);
  }
  const Json* id = row->columns.Find("item_id");
  row->shape.has_id = id && id->is_string() && id->AsString() == row->item.item_id;
  if (id && !row->shape.has_id) row->shape.has_other = true;
  return true;
}

std::string RowSource::Place(const Row& row) const {
  return reader_->name() + ":" + std::to_string(row.line_number) + ":1";
}

}  // namespace rewardloop::cli
