#include "cli/intake.h"

#include <algorithm>
#include <chrono>

namespace rewardloop::cli {
namespace {

constexpr int64_t kChunkRows = 256;
constexpr int64_t kChunkBytes = int64_t{1} << 20;
// Rows beyond this number share one place in the message about a duplicate id.
constexpr int64_t kLastNamedLine = IdTable::kAbsent - 1;

}  // namespace

Intake::Intake(RowSource* source, BuiltPipeline* built, const DoneRows* done, IntakeOptions options)
    : source_(source), built_(built), done_(done), options_(options) {}

Intake::~Intake() {
  Stop();
  if (thread_.joinable()) thread_.join();
}

void Intake::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void Intake::Stop() {
  const std::lock_guard lock(mutex_);
  stop_ = true;
  room_.notify_all();
}

bool Intake::stopped() const {
  const std::lock_guard lock(mutex_);
  return stop_;
}

Status Intake::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

bool Intake::reached_end() const {
  const std::lock_guard lock(mutex_);
  return reached_end_;
}

bool Intake::Take(std::deque<Batch>* out, int64_t timeout_ns) {
  std::unique_lock lock(mutex_);
  if (timeout_ns > 0 && submitted_.empty() && !ended_) {
    ready_.wait_for(lock, std::chrono::nanoseconds(timeout_ns),
                    [this] { return !submitted_.empty() || ended_; });
  }
  const bool more = !submitted_.empty() || !ended_;
  for (Batch& batch : submitted_) out->push_back(std::move(batch));
  submitted_.clear();
  return more;
}

void Intake::Release(int64_t rows, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  rows_ -= rows;
  bytes_ -= bytes;
  room_.notify_all();
}

bool Intake::WaitForRoom(int64_t bytes) {
  std::unique_lock lock(mutex_);
  const auto has_room = [&] {
    return rows_ == 0 || (rows_ < options_.max_rows && bytes_ + bytes <= options_.max_bytes);
  };
  // Rows of the chunk hold room too: they must be on their way before waiting for it.
  if (!stop_ && !has_room() && !chunk_.empty()) {
    lock.unlock();
    const Status submitted = SubmitChunk();
    lock.lock();
    if (!submitted.ok()) {
      status_ = submitted;
      return false;
    }
  }
  room_.wait(lock, [&] { return stop_ || has_room(); });
  if (stop_) return false;
  ++rows_;
  bytes_ += bytes;
  return true;
}

bool Intake::MustStayTogether(const RewardItem& item) const {
  if (last_together_.empty()) return false;
  if (item.session_id) return "s" + *item.session_id == last_together_;
  return options_.keep_groups && item.group_id && "g" + *item.group_id == last_together_;
}

Status Intake::AddRow(Row row) {
  const uint32_t line = static_cast<uint32_t>(std::min(row.line_number, kLastNamedLine));
  if (const uint32_t before = ids_.Insert(row.item.item_id, line); before != IdTable::kAbsent) {
    return AlreadyExists(
        source_->Place(row) + ": item_id '" + row.item.item_id + "' stands in line " +
            std::to_string(before) + " already",
        "ids must be unique; without the column every row is named after its line");
  }
  if (done_) {
    const uint32_t index = done_->ordinals.Find(row.item.item_id);
    if (index != IdTable::kAbsent) {
      chunk_.kept.push_back({row.ordinal, done_->offsets[index]});
      if (static_cast<int64_t>(chunk_.kept.size()) >= 16 * kChunkRows) return SubmitChunk();
      return Status();
    }
  }
  if (row.problem.code() == StatusCode::kNotFound && row.ordinal == 0) {
    return InvalidArgument(source_->Place(row) + ": " + row.problem.message(), row.problem.hint());
  }
  if (row.problem.ok()) {
    if (const Status admitted = built_->manager->Admit(row.item); !admitted.ok()) {
      return Status(admitted.code(), source_->Place(row) + ": " + admitted.message(),
                    admitted.hint());
    }
  }
  const int64_t bytes = static_cast<int64_t>(row.line.size() + row.item.ByteSize());
  if (static_cast<int64_t>(items_.size()) >= kChunkRows || chunk_bytes_ >= kChunkBytes) {
    if (!MustStayTogether(row.item)) RL_RETURN_IF_ERROR(SubmitChunk());
  }
  if (!WaitForRoom(bytes)) return Status();
  chunk_bytes_ += bytes;

  Slot slot;
  slot.ordinal = row.ordinal;
  slot.line_number = row.line_number;
  slot.line = std::move(row.line);
  slot.shape = row.shape;
  slot.item_id = row.item.item_id;
  slot.data_source = row.item.data_source;
  slot.bytes = bytes;
  if (row.item.group_id) slot.group_id = *row.item.group_id;
  if (!row.problem.ok()) {
    chunk_.refused.push_back({std::move(slot), std::move(row.problem)});
    return Status();
  }
  last_together_ = row.item.session_id                         ? "s" + *row.item.session_id
                   : options_.keep_groups && row.item.group_id ? "g" + *row.item.group_id
                                                               : "";
  if (!options_.keep_groups) {
    // Groups span submits here; what needs them counts them itself.
    row.item.group_id.reset();
    row.item.group_size.reset();
  }
  chunk_.slots.push_back(std::move(slot));
  items_.push_back(std::move(row.item));
  return Status();
}

Status Intake::SubmitChunk() {
  chunk_bytes_ = 0;
  if (chunk_.empty()) return Status();
  if (!items_.empty()) {
    auto handle = built_->pipeline->Submit(std::move(items_));
    items_ = {};
    if (!handle.ok()) {
      const std::string where =
          source_->reader().name() + ":" + std::to_string(chunk_.slots.front().line_number) + ":1";
      return Status(handle.status().code(), where + ": " + handle.status().message(),
                    handle.status().hint());
    }
    chunk_.handle = *handle;
  }
  const std::lock_guard lock(mutex_);
  submitted_.push_back(std::move(chunk_));
  chunk_ = Batch();
  ready_.notify_all();
  return Status();
}

Status Intake::ReadAll() {
  while (!stopped()) {
    // A slow writer at the other end of a pipe must not keep back what is there.
    if (!source_->HasBufferedRow()) RL_RETURN_IF_ERROR(SubmitChunk());
    Row row;
    auto found = source_->Next(&row);
    if (!found.ok()) {
      RL_RETURN_IF_ERROR(SubmitChunk());
      return found.status();
    }
    if (!*found) {
      RL_RETURN_IF_ERROR(SubmitChunk());
      const std::lock_guard lock(mutex_);
      reached_end_ = true;
      return Status();
    }
    const Status added = AddRow(std::move(row));
    if (!added.ok()) {
      RL_RETURN_IF_ERROR(SubmitChunk());
      return added;
    }
    if (!status().ok()) return status();
  }
  return Status();
}

void Intake::Loop() {
  Status status = ReadAll();
  if (status.code() == StatusCode::kCancelled)
    status = Status();  // Stop() or a signal: the caller knows
  const std::lock_guard lock(mutex_);
  status_ = std::move(status);
  ended_ = true;
  ready_.notify_all();
}

}  // namespace rewardloop::cli
