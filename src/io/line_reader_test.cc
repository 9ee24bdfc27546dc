#include "io/line_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include "io/test_files.h"

namespace rewardloop {
namespace {

struct Line {
  int64_t number;
  std::string text;
  bool operator==(const Line&) const = default;
};

std::vector<Line> ReadAll(const std::string& path) {
  auto reader = LineReader::Open(path);
  EXPECT_TRUE(reader.ok()) << reader.status().message();
  std::vector<Line> lines;
  std::string line;
  while (reader.ok()) {
    const auto found = (*reader)->Next(&line);
    EXPECT_TRUE(found.ok()) << found.status().message();
    if (!found.ok() || !*found) break;
    EXPECT_GE(line.capacity(), line.size() + kLinePadding);
    lines.push_back({(*reader)->line_number(), line});
  }
  return lines;
}

std::string Gzip(const std::string& text) {
  std::string out(compressBound(text.size()) + 64, '\0');
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(LineReaderTest, EmptyFileHasNoLines) {
  TempFolder folder;
  EXPECT_TRUE(ReadAll(folder.Write("empty", "")).empty());
  EXPECT_TRUE(ReadAll(folder.Write("blank", "\n \t\r\n\n")).empty());
}

TEST(LineReaderTest, ByteOrderMarkCrLfBlankLinesAndNoLastNewline) {
  TempFolder folder;
  const std::string path =
      folder.Write("rows", "\xEF\xBB\xBF{\"a\":1}\r\n\r\n\n{\"a\":2}\n  \n{\"a\":3}");
  EXPECT_EQ(ReadAll(path),
            (std::vector<Line>{{1, "{\"a\":1}"}, {4, "{\"a\":2}"}, {6, "{\"a\":3}"}}));
}

TEST(LineReaderTest, NulBytesAreKept) {
  TempFolder folder;
  const std::string row("a\0b", 3);
  EXPECT_EQ(ReadAll(folder.Write("rows", row + "\n")), (std::vector<Line>{{1, row}}));
}

TEST(LineReaderTest, TenMegabyteLineBetweenShortOnes) {
  TempFolder folder;
  const std::string huge(10'000'000, 'x');
  const std::vector<Line> lines = ReadAll(folder.Write("rows", "first\n" + huge + "\nlast\n"));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1].text, huge);
  EXPECT_EQ(lines[2], (Line{3, "last"}));
}

TEST(LineReaderTest, GzipOfOneAndSeveralMembers) {
  TempFolder folder;
  EXPECT_EQ(ReadAll(folder.Write("one.gz", Gzip("a\nb\n"))),
            (std::vector<Line>{{1, "a"}, {2, "b"}}));
  EXPECT_EQ(ReadAll(folder.Write("two.gz", Gzip("a\nb") + Gzip("c\nd\n"))),
            (std::vector<Line>{{1, "a"}, {2, "bc"}, {3, "d"}}));
  EXPECT_TRUE(ReadAll(folder.Write("empty.gz", Gzip(""))).empty());
}

TEST(LineReaderTest, TruncatedAndDamagedGzipAreErrors) {
  TempFolder folder;
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "row " + std::to_string(i * 7919) + "\n";
  const std::string whole = Gzip(text);
  for (const bool damaged : {false, true}) {
    std::string bytes = whole;
    if (damaged)
      bytes[bytes.size() / 2] ^= 0x55;
    else
      bytes.resize(bytes.size() / 2);
    auto reader = LineReader::Open(folder.Write("bad.gz", bytes));
    ASSERT_TRUE(reader.ok());
    std::string line;
    Result<bool> found = true;
    while (found.ok() && *found) found = (*reader)->Next(&line);
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.status().code(), StatusCode::kDataLoss);
    EXPECT_NE(found.status().message().find("bad.gz"), std::string::npos);
  }
}

TEST(LineReaderTest, MissingFileAndFolderAreNamed) {
  TempFolder folder;
  const auto missing = LineReader::Open(folder.File("nothing.jsonl"));
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.status().message().find("nothing.jsonl"), std::string::npos);
  EXPECT_NE(missing.status().message().find("No such file"), std::string::npos);
  const auto directory = LineReader::Open(folder.File(""));
  ASSERT_FALSE(directory.ok());
  EXPECT_NE(directory.status().message().find("is a directory"), std::string::npos);
}

TEST(LineReaderTest, Utf16IsToldApart) {
  TempFolder folder;
  const auto reader = LineReader::Open(folder.Write("utf16", std::string("\xFF\xFE{\0", 4)));
  ASSERT_FALSE(reader.ok());
  EXPECT_NE(reader.status().message().find("UTF-16"), std::string::npos);
}

TEST(LineReaderTest, WaitForAPipeEndsWhenInterrupted) {
  int data[2], interrupt[2];
  ASSERT_EQ(::pipe(data), 0);
  ASSERT_EQ(::pipe(interrupt), 0);
  ASSERT_EQ(::write(data[1], "row 1\nrow", 9), 9);
  auto reader = LineReader::Open("/dev/fd/" + std::to_string(data[0]), interrupt[0]);
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  std::string line;
  EXPECT_TRUE((*reader)->HasBufferedLine());
  EXPECT_TRUE(*(*reader)->Next(&line));
  EXPECT_FALSE((*reader)->HasBufferedLine());
  ASSERT_EQ(::write(interrupt[1], "x", 1), 1);
  const auto found = (*reader)->Next(&line);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.status().code(), StatusCode::kCancelled);
  for (const int fd : {data[0], data[1], interrupt[0], interrupt[1]}) ::close(fd);
}

}  // namespace
}  // namespace rewardloop
