#include "cli/row_source.h"

#include "io/row_writer.h"

namespace rewardloop::cli {

Result<std::unique_ptr<RowSource>> RowSource::Open(const std::string& path, FieldMap fields,
                                                   std::vector<std::string> extra_columns, int interrupt_fd) {
  RL_ASSIGN_OR_RETURN(std::unique_ptr<LineReader> reader, LineReader::Open(path, interrupt_fd));
  std::vector<std::string> wanted = fields.roots();
  wanted.insert(wanted.end(), extra_columns.begin(), extra_columns.end());
  return std::unique_ptr<RowSource>(new RowSource(std::move(reader), std::move(fields), std::move(wanted)));
}

RowSource::RowSource(std::unique_ptr<LineReader> reader, FieldMap fields, std::vector<std::string> wanted)
    : reader_(std::move(reader)), fields_(std::move(fields)), parser_(std::move(wanted), OutputColumns()) {}

Result<bool> RowSource::Next(Row* row) {
  RL_ASSIGN_OR_RETURN(const bool found, reader_->Next(&row->line));
  if (!found) return false;
  row->line_number = reader_->line_number();
  row->ordinal = next_ordinal_++;
  const Status parsed = parser_.Parse(row->line, &row->columns, &row->has_output_column);
  if (!parsed.ok()) {
    return InvalidArgument(reader_->name() + ":" + std::to_string(row->line_number) + ":" + parsed.message(),
                           parsed.hint());
  }
  row->item = RewardItem();
  row->problem = fields_.ToItem(row->columns, "line:" + std::to_string(row->line_number), &row->item);
  return true;
}

std::string RowSource::Place(const Row& row) const {
  return reader_->name() + ":" + std::to_string(row.line_number) + ":1";
}

}  // namespace rewardloop::cli
