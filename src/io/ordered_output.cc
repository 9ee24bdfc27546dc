#include "io/ordered_output.h"

#include <algorithm>

#include "io/atomic_file.h"

namespace rewardloop {

bool OrderedOutput::Written(int64_t ordinal) const {
  return static_cast<size_t>(ordinal) < offsets_.size() &&
         offsets_[static_cast<size_t>(ordinal)] >= 0;
}

void OrderedOutput::Note(int64_t ordinal, int64_t offset) {
  if (!file_->is_regular()) return;
  const size_t index = static_cast<size_t>(ordinal);
  while (offsets_.size() <= index) offsets_.push_back(-1);
  offsets_[index] = offset;
}

Status OrderedOutput::Write(int64_t ordinal, std::string_view line) {
  RL_ASSIGN_OR_RETURN(const int64_t offset, file_->Append(line));
  Note(ordinal, offset);
  return Status();
}

Status OrderedOutput::WritePrefix() {
  while (true) {
    if (Written(next_)) {
      ++next_;
      continue;
    }
    const auto first = waiting_.begin();
    if (first == waiting_.end() || first->first != next_) return Status();
    waiting_bytes_ -= static_cast<int64_t>(first->second.line.size());
    RL_RETURN_IF_ERROR(Write(next_, first->second.line));
    waiting_.erase(first);
    ++next_;
  }
}

Status OrderedOutput::Add(int64_t ordinal, std::string line) {
  if (ordinal == next_) {
    RL_RETURN_IF_ERROR(Write(ordinal, line));
    ++next_;
    return WritePrefix();
  }
  waiting_bytes_ += static_cast<int64_t>(line.size());
  waiting_.emplace(ordinal, Waiting{std::move(line), clock_->NowNs()});
  return Status();
}

Status OrderedOutput::AddWritten(int64_t ordinal, int64_t offset) {
  Note(ordinal, offset);
  return WritePrefix();
}

int64_t OrderedOutput::tick_due_ns() const {
  int64_t due = file_->flush_due_ns();
  if (file_->is_regular()) {
    for (const auto& [ordinal, row] : waiting_)
      due = std::min(due, DeadlineAfter(row.since_ns, OutputFile::kMaxDelayNs));
  }
  return due;
}

Status OrderedOutput::Tick() {
  if (file_->is_regular() && !waiting_.empty()) {
    const int64_t now = clock_->NowNs();
    for (auto row = waiting_.begin(); row != waiting_.end();) {
      if (now < DeadlineAfter(row->second.since_ns, OutputFile::kMaxDelayNs)) {
        ++row;
        continue;
      }
      waiting_bytes_ -= static_cast<int64_t>(row->second.line.size());
      RL_RETURN_IF_ERROR(Write(row->first, row->second.line));
      row = waiting_.erase(row);
    }
  }
  return file_->FlushIfDue();
}

std::deque<int64_t> OrderedOutput::TakeOffsetsIfDisordered() {
  const bool in_order = std::is_sorted(offsets_.begin(), offsets_.end());
  return in_order ? std::deque<int64_t>() : std::move(offsets_);
}

}  // namespace rewardloop
