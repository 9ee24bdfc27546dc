#include "pipeline/trace.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "pipeline/testing.h"
#include "rewardloop/simulator.h"

namespace rewardloop {
namespace {

using Kind = PipelineEvent::Kind;

struct Trace : ::testing::Test {
  // Of its own for each test: they run at the same time.
  std::string path = ::testing::TempDir() + "trace_" + ::testing::UnitTest::GetInstance()->current_test_info()->name() +
                     std::to_string(::getpid()) + ".json";
  ~Trace() override { std::remove(path.c_str()); }

  std::unique_ptr<TraceWriter> Open() {
    auto writer = TraceWriter::Open(path);
    EXPECT_TRUE(writer.ok());
    return std::move(*writer);
  }
  // All events of the file, which must be valid JSON.
  Json::Array Read() {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    const Result<Json> parsed = Json::Parse(text.str());
    EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
    return parsed.ok() && parsed->is_array() ? parsed->AsArray() : Json::Array();
  }
  // Those of one phase, as "pid/tid name ts+dur".
  static std::vector<std::string> Slices(const Json::Array& events) {
    std::vector<std::string> lines;
    for (const Json& event : events) {
      if (event.Find("ph")->AsString() != "X") continue;
      lines.push_back(event.Find("pid")->Dump() + "/" + event.Find("tid")->Dump() + " " + event.Find("name")->AsString() +
                      " " + event.Find("ts")->Dump() + "+" + event.Find("dur")->Dump());
    }
    return lines;
  }
};

PipelineEvent Event(Kind kind, int64_t time_ns, std::string_view id, int32_t attempt = 1) {
  return {.kind = kind, .time_ns = time_ns, .step = 0, .submit = 1, .item_id = id, .status = ItemStatus::kScored,
          .attempt = attempt};
}

TEST_F(Trace, QueueAndScoreSlicesByHand) {
  auto writer = Open();
  writer->OnEvent(Event(Kind::kSubmitted, 1000, "a"));
  writer->OnEvent(Event(Kind::kSubmitted, 1000, "b"));
  writer->OnEvent(Event(Kind::kStarted, 3000, "a"));
  writer->OnEvent(Event(Kind::kStarted, 4500, "b"));   // while a runs: second lane
  writer->OnEvent(Event(Kind::kFinished, 5001, "a"));
  writer->OnEvent(Event(Kind::kSubmitted, 6000, "c"));
  writer->OnEvent(Event(Kind::kStarted, 6000, "c"));   // a's lane is free again
  writer->OnEvent(Event(Kind::kFinished, 7000, "b"));
  writer->OnEvent(Event(Kind::kFinished, 8000, "c"));
  EXPECT_TRUE(writer->Close().ok());
  EXPECT_EQ(Slices(Read()), (std::vector<std::string>{"1/0 a 1.0+2.0", "1/1 b 1.0+3.5", "2/0 a 3.0+2.001",
                                                      "1/0 c 6.0+0.0", "2/1 b 4.5+2.5", "2/0 c 6.0+2.0"}));
}

TEST_F(Trace, RetriesAreOneSliceAndRejectedItemsOnlyQueued) {
  auto writer = Open();
  writer->OnEvent(Event(Kind::kSubmitted, 0, "a"));
  writer->OnEvent(Event(Kind::kStarted, 1000, "a", 1));
  writer->OnEvent(Event(Kind::kRetry, 2000, "a", 1));
  writer->OnEvent(Event(Kind::kStarted, 3000, "a", 2));
  writer->OnEvent(Event(Kind::kFinished, 4000, "a", 2));
  writer->OnEvent(Event(Kind::kSubmitted, 0, "r"));
  PipelineEvent rejected = Event(Kind::kFinished, 9000, "r", 0);
  rejected.status = ItemStatus::kRejected;
  writer->OnEvent(rejected);
  EXPECT_TRUE(writer->Close().ok());
  const Json::Array events = Read();
  EXPECT_EQ(Slices(events), (std::vector<std::string>{"1/0 a 0.0+1.0", "2/0 a 1.0+3.0", "1/1 r 0.0+9.0"}));
  EXPECT_EQ(events.back().Find("args")->Find("status")->AsString(), "rejected");
}

TEST_F(Trace, GroupsAndMarksAreInstantsAndIdsAreEscaped) {
  auto writer = Open();
  writer->OnEvent(Event(Kind::kGroupDelivered, 2500, "g\"\n\\\xff"));
  PipelineEvent step = Event(Kind::kSamplingDone, 2700, "");
  step.step = 3;
  writer->OnEvent(step);
  writer->Mark(3000, "a mark");
  EXPECT_TRUE(writer->Close().ok());
  EXPECT_TRUE(writer->Close().ok());
  writer->Mark(4000, "too late");
  std::vector<std::string> names;
  for (const Json& event : Read()) {
    if (event.Find("ph")->AsString() == "i") names.push_back(event.Find("name")->AsString());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"group g\"\n\\\xEF\xBF\xBD", "step 3: sampling done", "a mark"}));
}

TEST_F(Trace, StreamsToTheFileAndForgetsFinishedItems) {
  auto writer = Open();
  for (int64_t i = 0; i < 20'000; ++i) {
    const std::string id = "item-" + std::to_string(i);
    writer->OnEvent(Event(Kind::kSubmitted, i * 10, id));
    writer->OnEvent(Event(Kind::kStarted, i * 10 + 3, id));
    writer->OnEvent(Event(Kind::kFinished, i * 10 + 7, id));
  }
  // Slices of 100 bytes and more, twice as many as items: all but the last buffer is in the file already.
  EXPECT_GT(std::filesystem::file_size(path), 20'000u * 200 - (512u << 10));
  EXPECT_TRUE(writer->Close().ok());
  EXPECT_EQ(Slices(Read()).size(), 40'000u);
}

TEST_F(Trace, UnwritableFileIsAnErrorThatNamesIt) {
  const auto writer = TraceWriter::Open("/nonexistent/dir/t.json");
  ASSERT_FALSE(writer.ok());
  EXPECT_NE(writer.status().message().find("/nonexistent/dir/t.json"), std::string::npos);
  auto full = TraceWriter::Open("/dev/full");
  ASSERT_TRUE(full.ok());
  EXPECT_EQ((*full)->Close().code(), StatusCode::kUnavailable);
}

// Through the public pipeline, with items that compute in chunks (their starts are reported late) and items that wait.
TEST_F(Trace, SlicesOfOneLaneNeverOverlap) {
  for (const bool waits : {false, true}) {
    auto writer = Open();
    const auto simulator = Simulator::Make({.concurrency = 4});
    std::shared_ptr<Scorer> scorer;
    if (waits) {
      auto timer = std::make_shared<testing::TimerScorer>();
      timer->delay = [](const RewardItem& item) { return static_cast<int64_t>(item.item_id.size() * 7919 % 13) * 1000; };
      scorer = timer;
    } else {
      scorer = std::make_shared<testing::FunctionScorer>([](const RewardItem&) { return Verdict::Scored(1); });
    }
    PipelineOptions options;
    options.max_concurrent = 5;
    options.on_event = [&](const PipelineEvent& event) { writer->OnEvent(event); };
    {
      const auto pipeline = testing::MakePipeline(Engine::MakeOn(simulator.get()),
                                                  std::make_shared<testing::ScorerManager>(scorer), options);
      std::vector<RewardItem> items;
      for (int i = 0; i < 300; ++i) items.push_back(testing::MakeItem(std::string(i % 9 + 1, 'x') + std::to_string(i)));
      const auto handle = pipeline->Submit(std::move(items));
      ASSERT_TRUE(pipeline->Collect(*handle).ok());
    }
    EXPECT_TRUE(writer->Close().ok());
    std::map<std::string, std::vector<std::pair<int64_t, int64_t>>> lanes;
    int slices = 0;
    for (const Json& event : Read()) {
      if (event.Find("ph")->AsString() != "X") continue;
      ++slices;
      const int64_t begin = std::llround(event.Find("ts")->AsDouble() * 1000);
      const int64_t end = begin + std::llround(event.Find("dur")->AsDouble() * 1000);
      lanes[event.Find("pid")->Dump() + "/" + event.Find("tid")->Dump()].push_back({begin, end});
    }
    EXPECT_EQ(slices, 600);
    for (auto& [lane, spans] : lanes) {
      std::sort(spans.begin(), spans.end());
      for (size_t i = 1; i < spans.size(); ++i) EXPECT_LE(spans[i - 1].second, spans[i].first) << lane;
    }
  }
}

}  // namespace
}  // namespace rewardloop
