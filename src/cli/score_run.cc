#include "cli/score_run.h"

#include <algorithm>

#include "cli/console.h"
#include "cli/signals.h"
#include "io/row_writer.h"

namespace rewardloop::cli {
namespace {

// How long the oldest batch may take before its rows are taken one by one.
constexpr int64_t kWholeBatchWaitNs = 50'000'000;
constexpr int64_t kStreamWaitNs = 100'000'000;
constexpr int64_t kSweepNs = 500'000'000;
// After a signal, work in flight has this long to end by itself.
constexpr int64_t kDrainNs = 10'000'000'000;

}  // namespace

ScoreRun::ScoreRun(const Parts& parts)
    : parts_(parts),
      parser_(parts.source->fields().roots(), {}),
      next_sweep_ns_(parts.clock->NowNs() + kSweepNs) {}

RunOutcome ScoreRun::Run() {
  parts_.intake->Start();
  bool more = true;
  while (more) {
    const Status status = Step(&more);
    if (status.ok()) continue;
    // The output is gone: nothing that is still computed could be kept.
    parts_.intake->Stop();
    WakeReaders();
    (void)parts_.built->pipeline->Close(CloseMode::kCancel, kDrainNs);
    outcome_.status = status;
    return outcome_;
  }
  outcome_.status = parts_.intake->status();
  // A signal that came too late to leave anything out changes nothing.
  outcome_.interrupted = InterruptSignal() != 0 && (cut_short_ || !parts_.intake->reached_end());
  return outcome_;
}

Status ScoreRun::Step(bool* more) {
  NoticeSignal();
  std::deque<Batch> batches;
  const bool idle = pending_.empty();
  const int64_t due = parts_.output->tick_due_ns();
  const int64_t patience = std::clamp<int64_t>(
      due == kNoDeadline ? kStreamWaitNs : due - parts_.clock->NowNs(), 1'000'000, kStreamWaitNs);
  const bool coming = parts_.intake->Take(&batches, idle ? patience : 0);
  RL_RETURN_IF_ERROR(AcceptNew(std::move(batches)));
  if (!pending_.empty()) RL_RETURN_IF_ERROR(Advance());
  if (parts_.clock->NowNs() >= next_sweep_ns_) RL_RETURN_IF_ERROR(Sweep());
  RL_RETURN_IF_ERROR(parts_.output->Tick());

  if (released_rows_ > 0 && parts_.output->waiting_rows() == 0) {
    parts_.intake->Release(released_rows_, released_bytes_);
    released_rows_ = released_bytes_ = 0;
  } else if (released_rows_ > parts_.output->waiting_rows()) {
    // Rows that wait for earlier ones keep their room in the backlog.
    const int64_t rows = released_rows_ - parts_.output->waiting_rows();
    const int64_t bytes = std::max<int64_t>(0, released_bytes_ - parts_.output->waiting_bytes());
    parts_.intake->Release(rows, bytes);
    released_rows_ -= rows;
    released_bytes_ -= bytes;
  }
  const LineReader& reader = parts_.source->reader();
  const double fraction = reader.bytes_total() > 0 ? static_cast<double>(reader.bytes_read()) /
                                                         static_cast<double>(reader.bytes_total())
                                                   : -1;
  parts_.progress->Update(parts_.summary->rows(), fraction, parts_.summary->without_score());
  *more = coming || !pending_.empty();
  return Status();
}

void ScoreRun::NoticeSignal() {
  if (InterruptSignal() == 0) return;
  const int64_t now = parts_.clock->NowNs();
  if (drain_deadline_ns_ == kNoDeadline) {
    drain_deadline_ns_ = DeadlineAfter(now, kDrainNs);
    parts_.intake->Stop();
  }
  if (now >= drain_deadline_ns_ && !cancelled_) {
    cancelled_ = true;
    for (const Pending& pending : pending_)
      (void)parts_.built->pipeline->Cancel(pending.batch.handle);
  }
}

Status ScoreRun::AcceptNew(std::deque<Batch> batches) {
  for (Batch& batch : batches) {
    for (const Batch::Kept& kept : batch.kept)
      RL_RETURN_IF_ERROR(parts_.output->AddWritten(kept.ordinal, kept.offset));
    for (Batch::Refused& refused : batch.refused) {
      RewardResult result;
      result.item_id = refused.slot.item_id;
      Refuse(refused.why, &result);
      RL_RETURN_IF_ERROR(Deliver(&refused.slot, result));
    }
    if (batch.slots.empty()) continue;
    Pending& pending = pending_.emplace_back();
    pending.batch = std::move(batch);
    pending.left = pending.batch.slots.size();
    // A batch that comes after the others were cancelled has no more time than they had.
    if (cancelled_) (void)parts_.built->pipeline->Cancel(pending.batch.handle);
  }
  return Status();
}

void ScoreRun::Refuse(const Status& why, RewardResult* result) const {
  result->status = ItemStatus::kError;
  result->reason = "bad_row";
  result->error = RewardError{"bad_row", why.ToString(), false};
  if (parts_.on_error.policy == OnError::Policy::kValue) {
    result->score = parts_.on_error.value;
    result->policy_value = true;
  }
}

Status ScoreRun::Advance() {
  while (!pending_.empty()) {
    Pending& front = pending_.front();
    if (!front.streaming) {
      bool done = false;
      RL_RETURN_IF_ERROR(CollectWhole(&front, kWholeBatchWaitNs, &done));
      if (!done) front.streaming = true;
      if (!done) return Status();
    } else {
      RL_RETURN_IF_ERROR(Stream(&front, kStreamWaitNs));
      if (front.left > 0) return Status();
    }
    pending_.pop_front();
    // More that is ready is taken at once; waiting happens once a step.
    if (pending_.empty() || pending_.front().streaming ||
        !parts_.built->pipeline->Ready(pending_.front().batch.handle)) {
      return Status();
    }
  }
  return Status();
}

Status ScoreRun::Sweep() {
  next_sweep_ns_ = DeadlineAfter(parts_.clock->NowNs(), kSweepNs);
  for (size_t i = 1; i < pending_.size(); ++i) {
    Pending& pending = pending_[i];
    if (pending.left > 0) {
      pending.streaming = true;
      RL_RETURN_IF_ERROR(Stream(&pending, 0));
    }
  }
  while (!pending_.empty() && pending_.front().left == 0) pending_.pop_front();
  return Status();
}

Status ScoreRun::CollectWhole(Pending* pending, int64_t timeout_ns, bool* done) {
  auto collected = parts_.built->pipeline->Collect(pending->batch.handle, timeout_ns);
  if (!collected.ok()) {
    if (collected.status().code() == StatusCode::kDeadlineExceeded) return Status();
    return Internal("collecting results failed: " + collected.status().ToString());
  }
  if (collected->results.size() != pending->batch.slots.size()) {
    return Internal("the pipeline gave " + std::to_string(collected->results.size()) +
                    " results for " + std::to_string(pending->batch.slots.size()) + " rows");
  }
  for (size_t i = 0; i < collected->results.size(); ++i) {
    RL_RETURN_IF_ERROR(Deliver(&pending->batch.slots[i], collected->results[i]));
  }
  pending->left = 0;
  *done = true;
  return Status();
}

Status ScoreRun::Stream(Pending* pending, int64_t timeout_ns) {
  std::vector<Slot>& slots = pending->batch.slots;
  if (pending->by_id.empty()) {
    pending->arrived.assign(slots.size(), false);
    for (size_t i = 0; i < slots.size(); ++i) pending->by_id.emplace(slots[i].item_id, i);
  }
  // All in all, not a row: the output, the progress line and signals must not wait for a steady
  // trickle to end.
  const int64_t deadline_ns = DeadlineAfter(parts_.clock->NowNs(), timeout_ns);
  while (pending->left > 0) {
    const int64_t wait_ns = std::max<int64_t>(0, deadline_ns - parts_.clock->NowNs());
    auto next = parts_.built->pipeline->Next(pending->batch.handle, wait_ns);
    if (!next.ok()) {
      if (next.status().code() == StatusCode::kDeadlineExceeded) return Status();
      return Internal("streaming results failed: " + next.status().ToString());
    }
    if (!*next) return Internal("the pipeline ended a batch early");
    const RewardResult& result = **next;
    const auto slot = pending->by_id.find(result.item_id);
    if (slot == pending->by_id.end() || pending->arrived[slot->second]) {
      return Internal("the pipeline gave a result for '" + result.item_id +
                      "', which was not waited for");
    }
    pending->arrived[slot->second] = true;
    --pending->left;
    RL_RETURN_IF_ERROR(Deliver(&slots[slot->second], result));
  }
  return Status();
}

Status ScoreRun::Deliver(Slot* slot, const RewardResult& result) {
  ++released_rows_;
  released_bytes_ += slot->bytes;
  // What a signal cut short is left for --resume.
  if (cancelled_ && result.status == ItemStatus::kCancelled) {
    cut_short_ = true;
    return Status();
  }
  ++outcome_.fresh_rows;
  scratch_.clear();
  AppendOutputRow(slot->line, slot->shape, result, parts_.timing, &scratch_);
  Summarize(*slot, result);
  slot->line = std::string();
  return parts_.output->Add(slot->ordinal, scratch_);
}

void ScoreRun::Summarize(const Slot& slot, const RewardResult& result) {
  SummaryRow row;
  row.line_number = slot.line_number;
  row.item_id = slot.item_id;
  row.data_source = slot.data_source;
  row.group_id = slot.group_id;
  row.status = result.status;
  row.score = result.score;
  row.reason = result.reason;
  if (result.error) row.error_message = result.error->message;
  row.components = &result.components;
  row.extracted = result.extracted ? &*result.extracted : nullptr;
  RewardItem item;
  std::string truth;
  if (parts_.summary->WantsText(result.status, result.score, result.reason)) {
    Json columns;
    bool unused;
    if (parser_.Parse(slot.line, &columns, &unused).ok()) {
      (void)parts_.source->fields().ToItem(columns, "", &item);
      row.response = item.Response();
      if (!item.ground_truth.is_null()) truth = TextOf(item.ground_truth);
      row.ground_truth = truth;
    }
  }
  parts_.summary->Add(row);
}

}  // namespace rewardloop::cli
