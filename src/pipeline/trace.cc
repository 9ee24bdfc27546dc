#include "pipeline/trace.h"

#include <cerrno>
#include <cstring>

#include "rewardloop/json.h"

namespace rewardloop {
namespace {

constexpr int kQueue = 1;
constexpr int kScore = 2;
constexpr int kSteps = 3;

// The format counts in microseconds; three decimals keep the nanoseconds exactly.
void AppendMicros(int64_t ns, std::string* out) {
  char text[40];
  const int64_t micros = ns / 1000;
  const int64_t rest = ns % 1000;
  const char* sign = ns < 0 && micros == 0 ? "-" : "";
  std::snprintf(text, sizeof(text), "%s%lld.%03d", sign, static_cast<long long>(micros),
                static_cast<int>(rest < 0 ? -rest : rest));
  *out += text;
}

void AppendInt(std::string_view key, int64_t value, std::string* out) {
  *out += ",\"";
  *out += key;
  *out += "\":";
  *out += std::to_string(value);
}

std::string StepText(int64_t step, const char* what) { return "step " + std::to_string(step) + ": " + what; }

std::string NameOf(std::string_view kind, int process, int lane, std::string_view text) {
  std::string json = "{\"ph\":\"M\",\"name\":\"" + std::string(kind) + "\"";
  AppendInt("pid", process, &json);
  AppendInt("tid", lane, &json);
  json += ",\"args\":{\"name\":";
  AppendJsonString(text, &json);
  return json + "}}";
}

}  // namespace

int TraceWriter::Lanes::Take(int64_t begin_ns) {
  for (auto lane = free_.begin(); lane != free_.end(); ++lane) {
    if (ends_ns_[*lane] > begin_ns) continue;
    const int taken = *lane;
    free_.erase(lane);
    return taken;
  }
  ends_ns_.push_back(0);
  return count() - 1;
}

void TraceWriter::Lanes::Free(int lane, int64_t end_ns) {
  ends_ns_[lane] = end_ns;
  free_.insert(lane);
}

Result<std::unique_ptr<TraceWriter>> TraceWriter::Open(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "wbe");
  if (!file) {
    return Status(StatusCode::kUnavailable, path + ": cannot write the trace: " + std::strerror(errno));
  }
  return std::unique_ptr<TraceWriter>(new TraceWriter(file, path));
}

TraceWriter::TraceWriter(std::FILE* file, std::string path) : file_(file), path_(std::move(path)) {
  buffer_ = "[\n";
  AddLocked(NameOf("process_name", kQueue, 0, "queue"));
  AddLocked(NameOf("process_name", kScore, 0, "score"));
  AddLocked(NameOf("process_name", kSteps, 0, "steps"));
}

TraceWriter::~TraceWriter() { (void)Close(); }

void TraceWriter::OnEvent(const PipelineEvent& event) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!file_) return;
  switch (event.kind) {
    case PipelineEvent::Kind::kSubmitted:
      open_[{event.step, event.submit, std::string(event.item_id)}] = {
          .queued_ns = event.time_ns, .started_ns = -1, .attempts = 0, .lane = LaneLocked(kQueue, &queue_lanes_, event.time_ns)};
      break;
    case PipelineEvent::Kind::kStarted:
    case PipelineEvent::Kind::kRetry: {
      auto item = open_.find({event.step, event.submit, std::string(event.item_id)});
      if (item != open_.end()) StartLocked(event, &item->second);
      break;
    }
    case PipelineEvent::Kind::kFinished:
      FinishLocked(event);
      break;
    case PipelineEvent::Kind::kGroupDelivered:
      InstantLocked(event.time_ns, "group " + std::string(event.item_id));
      break;
    case PipelineEvent::Kind::kStepBegan:
      InstantLocked(event.time_ns, StepText(event.step, "begins"));
      break;
    case PipelineEvent::Kind::kSamplingDone:
      InstantLocked(event.time_ns, StepText(event.step, "sampling done"));
      break;
    case PipelineEvent::Kind::kStepEnded:
      InstantLocked(event.time_ns, StepText(event.step, "ends"));
      break;
    case PipelineEvent::Kind::kDelivered:
      break;
  }
}

void TraceWriter::StartLocked(const PipelineEvent& event, OpenItem* item) {
  ++item->attempts;
  if (item->started_ns >= 0) return;  // a later attempt: one slice spans all of them
  if (event.kind == PipelineEvent::Kind::kRetry) return;
  SliceLocked(kQueue, item->lane, item->queued_ns, event.time_ns, event, *item);
  queue_lanes_.Free(item->lane, event.time_ns);
  item->started_ns = event.time_ns;
  item->lane = LaneLocked(kScore, &score_lanes_, event.time_ns);
}

void TraceWriter::FinishLocked(const PipelineEvent& event) {
  auto found = open_.find({event.step, event.submit, std::string(event.item_id)});
  if (found == open_.end()) return;
  const OpenItem item = found->second;
  open_.erase(found);
  const bool started = item.started_ns >= 0;
  SliceLocked(started ? kScore : kQueue, item.lane, started ? item.started_ns : item.queued_ns, event.time_ns, event, item);
  (started ? score_lanes_ : queue_lanes_).Free(item.lane, event.time_ns);
}

void TraceWriter::SliceLocked(int process, int lane, int64_t begin_ns, int64_t end_ns, const PipelineEvent& event,
                              const OpenItem& item) {
  std::string json = "{\"ph\":\"X\",\"name\":";
  AppendJsonString(event.item_id, &json);
  AppendInt("pid", process, &json);
  AppendInt("tid", lane, &json);
  json += ",\"ts\":";
  AppendMicros(begin_ns, &json);
  json += ",\"dur\":";
  AppendMicros(end_ns - begin_ns, &json);
  json += ",\"args\":{\"step\":" + std::to_string(event.step);
  AppendInt("submit", event.submit, &json);
  if (event.kind == PipelineEvent::Kind::kFinished) {
    AppendInt("attempts", item.attempts, &json);
    json += ",\"status\":\"" + std::string(ItemStatusName(event.status)) + "\"";
  }
  AddLocked(json + "}}");
}

void TraceWriter::Mark(int64_t time_ns, std::string_view text) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (file_) InstantLocked(time_ns, text);
}

void TraceWriter::InstantLocked(int64_t time_ns, std::string_view text) {
  std::string json = "{\"ph\":\"i\",\"s\":\"g\",\"name\":";
  AppendJsonString(text, &json);
  AppendInt("pid", kSteps, &json);
  AppendInt("tid", 0, &json);
  json += ",\"ts\":";
  AppendMicros(time_ns, &json);
  AddLocked(json + "}");
}

int TraceWriter::LaneLocked(int process, Lanes* lanes, int64_t begin_ns) {
  const int known = lanes->count();
  const int lane = lanes->Take(begin_ns);
  if (lane == known) AddLocked(NameOf("thread_name", process, lane, "lane " + std::to_string(lane)));
  return lane;
}

void TraceWriter::AddLocked(std::string_view json) {
  if (!first_) buffer_ += ",\n";
  first_ = false;
  buffer_ += json;
  if (buffer_.size() >= kBufferBytes) FlushLocked();
}

void TraceWriter::FlushLocked() {
  if (status_.ok() && std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size()) {
    status_ = Status(StatusCode::kUnavailable, path_ + ": cannot write the trace: " + std::strerror(errno));
  }
  buffer_.clear();
}

Status TraceWriter::Close() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!file_) return status_;
  buffer_ += "\n]\n";
  FlushLocked();
  if (std::fclose(file_) != 0 && status_.ok()) {
    status_ = Status(StatusCode::kUnavailable, path_ + ": cannot write the trace: " + std::strerror(errno));
  }
  file_ = nullptr;
  open_.clear();
  return status_;
}

}  // namespace rewardloop
