#include "cli/intake.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace rewardloop::cli {
namespace {

// Rows of an earlier run that are handed on at once.
constexpr size_t kKeptAtOnce = 4096;
// Rows beyond this number share one place in the message about a duplicate id.
constexpr int64_t kLastNamedLine = IdTable::kAbsent - 1;

}  // namespace

Intake::Intake(RowSource* source, BuiltPipeline* built, const DoneRows* done, IntakeOptions options)
    : source_(source),
      built_(built),
      done_(done),
      options_(options),
      window_(options.max_rows, options.max_bytes, options.keep_groups) {}

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

Result<bool> Intake::WaitForRoom(const Row& row, int64_t bytes) {
  std::unique_lock lock(mutex_);
  const auto has_room = [&] {
    return rows_ == 0 || (rows_ < options_.max_rows && bytes_ + bytes <= options_.max_bytes);
  };
  // Rows of the chunk hold room too: they must be on their way before waiting for it.
  int64_t ready = first_unit_ordinal_;
  while (!stop_ && !has_room()) {
    lock.unlock();
    RL_RETURN_IF_ERROR(SubmitBefore(ready));
    lock.lock();
    room_.wait(lock, [&] { return stop_ || has_room() || rows_ <= held_rows(); });
    if (stop_ || has_room()) break;
    // Only what must not be parted is left.
    const bool continues = window_.Continues(row.item);
    if (continues && window_.unit_ordinal() == first_unit_ordinal_) {
      return InvalidArgument(
          source_->Place(row) + ": the backlog has no room for all rows of " +
              (row.item.session_id ? "session '" + *row.item.session_id
                                   : "group '" + row.item.group_id.value_or("")) +
              "', which are judged together; " + std::to_string(held_rows()) + " rows fill it",
          "raise --backlog-items or --backlog-bytes");
    }
    ready = continues ? window_.unit_ordinal() : kNoOrdinal;
    window_.CutBefore(continues ? window_.unit_line() : row.line_number);
  }
  if (stop_) return false;
  ++rows_;
  bytes_ += bytes;
  return true;
}

Status Intake::AddRow(Row row) {
  const uint32_t line = static_cast<uint32_t>(std::min(row.line_number, kLastNamedLine));
  if (const uint32_t before = ids_.Insert(row.item.item_id, line); before != IdTable::kAbsent) {
    return AlreadyExists(
        source_->Place(row) + ": item_id '" + row.item.item_id + "' stands in line " +
            std::to_string(before) + " already",
        "ids must be unique; without the column every row is named after its line");
  }
  if (window_.BeginsWith(row)) RL_RETURN_IF_ERROR(SubmitChunk());
  if (done_) {
    const uint32_t index = done_->ordinals.Find(row.item.item_id);
    if (index != IdTable::kAbsent) {
      chunk_.kept.push_back({row.ordinal, done_->offsets[index]});
      if (chunk_.kept.size() >= kKeptAtOnce)
        return SubmitBefore(first_unit_ordinal_);
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
  RL_ASSIGN_OR_RETURN(const bool has_room, WaitForRoom(row, bytes));
  if (!has_room) return Status();
  if (row.problem.ok()) RL_RETURN_IF_ERROR(window_.Join(*source_, row));

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
  Hold(std::move(slot), std::move(row.item));
  return Status();
}

void Intake::Hold(Slot slot, RewardItem item) {
  if (window_.HasUnit(item)) first_unit_ordinal_ = std::min(first_unit_ordinal_, slot.ordinal);
  if (!options_.keep_groups) {
    // Groups span submits here; what needs them counts them itself.
    item.group_id.reset();
    item.group_size.reset();
  }
  chunk_.slots.push_back(std::move(slot));
  items_.push_back(std::move(item));
}

Status Intake::SubmitChunk() { return SubmitBefore(kNoOrdinal); }

Status Intake::SubmitBefore(int64_t end) {
  // Ordinals ascend in each list, so what stays is a tail of each.
  Batch rest;
  std::vector<RewardItem> rest_items;
  const auto move_tail = [](auto* from, auto first, auto* to) {
    to->assign(std::make_move_iterator(first), std::make_move_iterator(from->end()));
    from->erase(first, from->end());
  };
  if (end != kNoOrdinal) {
    const auto slot = std::find_if(chunk_.slots.begin(), chunk_.slots.end(),
                                   [&](const Slot& held) { return held.ordinal >= end; });
    move_tail(&items_, items_.begin() + (slot - chunk_.slots.begin()), &rest_items);
    move_tail(&chunk_.slots, slot, &rest.slots);
    move_tail(&chunk_.refused,
              std::find_if(chunk_.refused.begin(), chunk_.refused.end(),
                           [&](const auto& held) { return held.slot.ordinal >= end; }),
              &rest.refused);
  }
  Batch batch = std::exchange(chunk_, std::move(rest));
  std::vector<RewardItem> items = std::exchange(items_, std::move(rest_items));
  first_unit_ordinal_ = end == kNoOrdinal || chunk_.slots.empty() ? kNoOrdinal : end;
  if (batch.empty()) return Status();
  if (!items.empty()) {
    auto handle = built_->pipeline->Submit(std::move(items));
    if (!handle.ok()) {
      const std::string where =
          source_->reader().name() + ":" + std::to_string(batch.slots.front().line_number) + ":1";
      return Status(handle.status().code(), where + ": " + handle.status().message(),
                    handle.status().hint());
    }
    batch.handle = *handle;
  }
  const std::lock_guard lock(mutex_);
  submitted_.push_back(std::move(batch));
  ready_.notify_all();
  return Status();
}

Status Intake::ReadAll() {
  while (!stopped()) {
    // A slow writer at the other end of a pipe must not keep back what is there.
    if (!source_->HasBufferedRow()) RL_RETURN_IF_ERROR(SubmitBefore(first_unit_ordinal_));
    Row row;
    auto found = source_->Next(&row);
    if (!found.ok()) {
      (void)SubmitBefore(window_.unit_ordinal());  // nobody knows whether that unit is whole
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
      (void)SubmitBefore(window_.unit_ordinal());
      return added;
    }
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
