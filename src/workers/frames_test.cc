#include "workers/frames.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace rewardloop::workers {
namespace {

using namespace std::string_literals;

using Frames = std::vector<std::pair<int, std::string>>;

TEST(Frames, HeaderIsLengthAndKind) { EXPECT_EQ(Frame(kCalls, "abc"), "\3\0\0\0\2abc"s); }

// struct "<QIIQI" of worker_link.py.
TEST(Frames, CallIsIdSlotCountSeedLengthAndPayload) {
  std::string body;
  AppendCall({.id = 1, .slot = 2, .items = 3, .seed = 0x0807060504030201, .payload = "[]"}, &body);
  EXPECT_EQ(body, "\1\0\0\0\0\0\0\0" "\2\0\0\0" "\3\0\0\0" "\1\2\3\4\5\6\7\x08" "\2\0\0\0[]"s);
}

TEST(Frames, PayloadIsLengthOfTheJsonJsonAndTexts) { EXPECT_EQ(CallPayload("[{}]", {"te", "xt"}), "\4\0\0\0[{}]text"s); }

TEST(Frames, CancelListsIds) {
  EXPECT_EQ(CancelFrame({1, 256}), "\x10\0\0\0\3" "\1\0\0\0\0\0\0\0" "\0\1\0\0\0\0\0\0"s);
}

TEST(Frames, RepliesAreReadOneByOne) {
  std::vector<std::pair<uint64_t, std::string>> replies;
  const auto take = [&](uint64_t id, std::string_view json) { replies.emplace_back(id, json); };
  EXPECT_TRUE(ForEachReply("\7\0\0\0\0\0\0\0\2\0\0\0[]\1\0\0\0\0\0\0\0\0\0\0\0"s, take));
  EXPECT_EQ(replies, (std::vector<std::pair<uint64_t, std::string>>{{7, "[]"}, {1, ""}}));
}

TEST(Frames, TornRepliesAreToldApart) {
  int count = 0;
  const auto take = [&](uint64_t, std::string_view) { ++count; };
  const std::string whole = "\7\0\0\0\0\0\0\0\2\0\0\0[]"s;
  EXPECT_TRUE(ForEachReply("", take));
  for (size_t length = 1; length < whole.size(); ++length) EXPECT_FALSE(ForEachReply(whole.substr(0, length), take)) << length;
  EXPECT_FALSE(ForEachReply("\7\0\0\0\0\0\0\0\xff\xff\xff\xff[]"s, take));
  EXPECT_EQ(count, 0);
}

TEST(FrameReader, CutsTheSameFramesFromAnyPieces) {
  const std::string stream = Frame(kReady, "{}") + Frame(kReplies, "") + Frame(kText, std::string(300, 'x'));
  const Frames expected = {{kReady, "{}"}, {kReplies, ""}, {kText, std::string(300, 'x')}};
  for (size_t piece = 1; piece <= stream.size(); ++piece) {
    FrameReader reader;
    Frames frames;
    for (size_t at = 0; at < stream.size(); at += piece) {
      EXPECT_TRUE(reader.Feed(std::string_view(stream).substr(at, piece), [&](uint8_t kind, std::string_view body) {
        frames.emplace_back(kind, body);
      }));
    }
    EXPECT_EQ(frames, expected) << piece;
  }
}

TEST(FrameReader, LengthBeyondTheLimitIsAnErrorBeforeItsBytesCome) {
  FrameReader reader;
  const auto none = [](uint8_t, std::string_view) { FAIL(); };
  EXPECT_FALSE(reader.Feed("\1\0\0\4\x0d"s, none)) << "64 MiB and one byte";
  FrameReader largest;
  EXPECT_TRUE(largest.Feed("\0\0\0\4\x0d"s, none)) << "64 MiB";
}

}  // namespace
}  // namespace rewardloop::workers
