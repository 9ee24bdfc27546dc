// OutputFile, OrderedOutput and AtomicFile: when bytes reach the file, and in which order.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/atomic_file.h"
#include "io/ordered_output.h"
#include "io/output_lock.h"
#include "io/test_files.h"

namespace rewardloop {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

class ManualClock : public Clock {
 public:
  int64_t NowNs() const override { return now_; }
  void Advance(int64_t ns) { now_ += ns; }

 private:
  int64_t now_ = 5 * kSecond;
};

struct Fixture {
  explicit Fixture(int64_t keep_bytes = -1)
      : file(*OutputFile::Open(folder.File("out"), keep_bytes, &clock)) {}
  TempFolder folder;
  ManualClock clock;
  std::unique_ptr<OutputFile> file;
};

TEST(OutputFileTest, RowsReachTheFileAfterOneSecondAtTheLatest) {
  Fixture f;
  ASSERT_TRUE(f.file->Append("a\n").ok());
  EXPECT_EQ(f.file->flush_due_ns(), f.clock.NowNs() + kSecond);
  f.clock.Advance(kSecond / 2);
  ASSERT_TRUE(f.file->Append("b\n").ok());
  ASSERT_TRUE(f.file->FlushIfDue().ok());
  EXPECT_EQ(f.folder.Read("out"), "");
  f.clock.Advance(kSecond / 2);
  ASSERT_TRUE(f.file->FlushIfDue().ok());
  EXPECT_EQ(f.folder.Read("out"), "a\nb\n");
  EXPECT_EQ(f.file->flush_due_ns(), kNoDeadline);
}

TEST(OutputFileTest, UnwritablePathsAreNamed) {
  ManualClock clock;
  const auto file = OutputFile::Open("/nonexistent/out.jsonl", -1, &clock);
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().message(),
            "/nonexistent/out.jsonl: cannot be written: No such file or directory");
}

TEST(OutputFileTest, FullDisksAreReported) {
  ManualClock clock;
  auto file = OutputFile::Open("/dev/full", -1, &clock);
  if (!file.ok()) GTEST_SKIP() << "no /dev/full here";
  ASSERT_TRUE((*file)->Append("row\n").ok());
  const Status status = (*file)->Flush();
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("No space left"), std::string::npos);
  EXPECT_EQ(status.hint(), "");  // a device cannot be resumed
}

TEST(OrderedOutputTest, RowsThatEndInAnyOrderAreWrittenInInputOrder) {
  Fixture f;
  OrderedOutput output(f.file.get(), &f.clock);
  for (const int64_t ordinal : {2, 0, 3, 1, 4}) {
    ASSERT_TRUE(output.Add(ordinal, std::to_string(ordinal) + "\n").ok());
  }
  ASSERT_TRUE(f.file->Flush().ok());
  EXPECT_EQ(f.folder.Read("out"), "0\n1\n2\n3\n4\n");
  EXPECT_TRUE(output.TakeOffsetsIfDisordered().empty());
}

TEST(OrderedOutputTest, ARowWaitsOneSecondForAnEarlierOneThenTheFileIsPutInOrderAtTheEnd) {
  Fixture f;
  OrderedOutput output(f.file.get(), &f.clock);
  ASSERT_TRUE(output.Add(1, "one\n").ok());
  ASSERT_TRUE(output.Add(2, "two\n").ok());
  ASSERT_TRUE(output.Tick().ok());
  EXPECT_EQ(output.waiting_rows(), 2);
  f.clock.Advance(kSecond);
  ASSERT_TRUE(output.Tick().ok());
  EXPECT_EQ(output.waiting_rows(), 0);
  f.clock.Advance(kSecond);
  ASSERT_TRUE(output.Tick().ok());
  EXPECT_EQ(f.folder.Read("out"), "one\ntwo\n");
  ASSERT_TRUE(output.Add(0, "zero\n").ok());
  ASSERT_TRUE(output.Add(3, "three\n").ok());
  ASSERT_TRUE(f.file->Close().ok());
  EXPECT_EQ(f.folder.Read("out"), "one\ntwo\nzero\nthree\n");
  ASSERT_TRUE(RewriteLines(f.folder.File("out"), output.TakeOffsetsIfDisordered()).ok());
  EXPECT_EQ(f.folder.Read("out"), "zero\none\ntwo\nthree\n");
}

TEST(OrderedOutputTest, RowsOfAnEarlierRunTakeTheirPlace) {
  TempFolder folder;
  folder.Write("out", "kept 0\nkept 2\ntorn");
  ManualClock clock;
  auto file = *OutputFile::Open(folder.File("out"), 14, &clock);
  OrderedOutput output(file.get(), &clock);
  ASSERT_TRUE(output.AddWritten(0, 0).ok());
  ASSERT_TRUE(output.Add(1, "new 1\n").ok());
  ASSERT_TRUE(output.AddWritten(2, 7).ok());
  ASSERT_TRUE(output.Add(3, "new 3\n").ok());
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(folder.Read("out"), "kept 0\nkept 2\nnew 1\nnew 3\n");
  ASSERT_TRUE(RewriteLines(folder.File("out"), output.TakeOffsetsIfDisordered()).ok());
  EXPECT_EQ(folder.Read("out"), "kept 0\nnew 1\nkept 2\nnew 3\n");
}

TEST(OutputLockTest, OneHolderAtATime) {
  TempFolder folder;
  const std::string path = folder.Write("out", "rows\n");
  auto first = *OutputLock::Acquire(path);
  EXPECT_FALSE(first->made_file());
  const auto second = OutputLock::Acquire(path);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().message(), path + ": another process is writing this file");
  first.reset();
  EXPECT_TRUE(OutputLock::Acquire(path).ok());
  EXPECT_EQ(folder.Read("out"), "rows\n");
}

TEST(OutputLockTest, FollowsAFileThatWasReplaced) {
  TempFolder folder;
  const std::string path = folder.Write("out", "before");
  const auto first = *OutputLock::Acquire(path);
  ASSERT_TRUE(WriteFileAtomically(path, "after").ok());  // as the end of a run does
  EXPECT_TRUE(OutputLock::Acquire(path).ok());
}

TEST(OutputLockTest, LeavesNoEmptyFileWhenNothingWasWritten) {
  TempFolder folder;
  const std::string path = folder.File("new");
  EXPECT_TRUE((*OutputLock::Acquire(path))->made_file());
  EXPECT_FALSE(std::filesystem::exists(path));
  (*OutputLock::Acquire(path))->KeepFile();
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(AtomicFileTest, NothingHappensWithoutCommit) {
  TempFolder folder;
  folder.Write("file", "before");
  {
    auto file = *AtomicFile::Open(folder.File("file"));
    ASSERT_TRUE(file->Append("after").ok());
  }
  EXPECT_EQ(folder.Read("file"), "before");
  EXPECT_FALSE(std::filesystem::exists(folder.File("file.tmp")));
  ASSERT_TRUE(WriteFileAtomically(folder.File("file"), "after").ok());
  EXPECT_EQ(folder.Read("file"), "after");
}

TEST(AtomicFileTest, LinksStayLinks) {
  TempFolder folder;
  folder.Write("file", "before");
  std::filesystem::create_symlink("file", folder.File("link"));
  ASSERT_TRUE(WriteFileAtomically(folder.File("link"), "after").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder.File("link")));
  EXPECT_EQ(folder.Read("file"), "after");
}

TEST(AtomicFileTest, APipeKeepsItsPlace) {
  TempFolder folder;
  const std::string path = folder.File("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  ASSERT_TRUE(WriteFileAtomically(path, "report").ok());
  char text[16];
  ASSERT_EQ(::read(reader, text, sizeof text), 6);
  EXPECT_EQ(std::string(text, 6), "report");
  ::close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(path));
}

TEST(AtomicFileTest, TornLastLineIsNotALine) {
  TempFolder folder;
  const std::string path = folder.Write("file", "a\n\nlonger\ntorn");
  std::vector<std::pair<int64_t, std::string>> lines;
  int64_t whole = 0;
  const auto take = [&](int64_t offset, std::string_view line) {
    lines.emplace_back(offset, line);
    return Status();
  };
  ASSERT_TRUE(ForEachWholeLine(path, take, &whole).ok());
  EXPECT_EQ(lines,
            (std::vector<std::pair<int64_t, std::string>>{{0, "a"}, {2, ""}, {3, "longer"}}));
  EXPECT_EQ(whole, 10);
}

}  // namespace
}  // namespace rewardloop
