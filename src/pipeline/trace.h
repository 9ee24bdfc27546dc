// TraceWriter: a timeline of a run for chrome://tracing and ui.perfetto.dev, made of pipeline events.
//
//   PipelineOptions options;
//   auto trace = TraceWriter::Open("out.json");
//   options.on_event = [&](const PipelineEvent& event) { (*trace)->OnEvent(event); };
//
// Three processes: "queue" (from submit to start), "score" (from start to verdict), each with as many lanes as there are items
// at once, and "steps" (begin, end of sampling and end of a step, delivered groups and marks as instants).
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "rewardloop/pipeline.h"

namespace rewardloop {

// Thread-safe. Memory is bounded by the items that have no result yet: finished slices go to the file through a buffer.
class REWARDLOOP_EXPORT TraceWriter {
 public:
  // Creates or empties `path`. kUnavailable when it cannot be written.
  static Result<std::unique_ptr<TraceWriter>> Open(const std::string& path);
  // Closes.
  ~TraceWriter();

  void OnEvent(const PipelineEvent& event);
  // An instant of its own on the steps' track.
  void Mark(int64_t time_ns, std::string_view text);

  // Ends the JSON and closes the file; later events are ignored. Items without a result are left out. Reports the first write
  // that failed. Idempotent.
  Status Close();

 private:
  static constexpr size_t kBufferBytes = 256 << 10;

  // Parallel lanes of a track. Starts are reported late where items run in chunks, so a free lane also counts as taken until
  // the end of its last slice: slices of one lane never overlap.
  class Lanes {
   public:
    // The lowest lane that is free at `begin_ns`.
    int Take(int64_t begin_ns);
    void Free(int lane, int64_t end_ns);
    int count() const { return static_cast<int>(ends_ns_.size()); }

   private:
    std::set<int> free_;
    std::vector<int64_t> ends_ns_;
  };
  // An item between submit and verdict.
  struct OpenItem {
    int64_t queued_ns = 0;
    int64_t started_ns = -1;
    int32_t attempts = 0;
    int lane = 0;  // of the queue, then of the scorers
  };
  // Identity of an item: step, submit, id.
  using Key = std::tuple<int64_t, int64_t, std::string>;

  TraceWriter(std::FILE* file, std::string path);
  void StartLocked(const PipelineEvent& event, OpenItem* item);
  void FinishLocked(const PipelineEvent& event);
  void SliceLocked(int process, int lane, int64_t begin_ns, int64_t end_ns, const PipelineEvent& event, const OpenItem& item);
  void InstantLocked(int64_t time_ns, std::string_view text);
  int LaneLocked(int process, Lanes* lanes, int64_t begin_ns);
  // Adds one event, given without its separator.
  void AddLocked(std::string_view json);
  void FlushLocked();

  std::mutex mutex_;
  std::FILE* file_;
  const std::string path_;
  std::string buffer_;
  bool first_ = true;
  Status status_;
  std::map<Key, OpenItem> open_;
  Lanes queue_lanes_;
  Lanes score_lanes_;
};

}  // namespace rewardloop
