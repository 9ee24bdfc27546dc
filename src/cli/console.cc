#include "cli/console.h"

#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/utf8.h"
#include "cli/options.h"

namespace rewardloop::cli {
namespace {

void Say(const char* kind, const Status& status) {
  std::string text = std::string(kind) + ": " + status.message() + "\n";
  if (!status.hint().empty()) text += "hint: " + status.hint() + "\n";
  std::fflush(stdout);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

int ExitStatusOf(const Status& status) {
  if (status.ok()) return kExitDone;
  return status.code() == StatusCode::kInternal ? kExitInternal : kExitUsage;
}

int Fail(const Status& status) {
  Say("error", status);
  return ExitStatusOf(status);
}

void Warn(const Status& status) { Say("warning", status); }

void SayRecord(const LogRecord& record, bool over_progress) {
  if (record.level == LogLevel::kDebug) return;
  std::string text = over_progress ? "\r\x1B[K" : "";
  if (record.level != LogLevel::kOutput) {
    text += record.level == LogLevel::kInfo ? "note" : LogLevelName(record.level);
    text += ": ";
  }
  for (const char c : RepairUtf8(LogText(record))) {
    // Tracebacks have lines; other control codes have no business on a terminal.
    const bool control = (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
    if (control) {
      text += "\xEF\xBF\xBD";
    } else {
      text.push_back(c);
    }
  }
  if (text.back() != '\n') text.push_back('\n');
  std::fwrite(text.data(), 1, text.size(), stderr);
}

bool Print(std::string_view text) {
  static bool failed = false;
  while (!text.empty() && !failed) {
    const ssize_t count = ::write(STDOUT_FILENO, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<size_t>(count));
    } else if (errno != EINTR) {
      failed = true;
      if (errno != EPIPE)
        Fail(InvalidArgument(std::string("<stdout>: cannot be written: ") + std::strerror(errno)));
    }
  }
  return !failed;
}

std::string Grouped(int64_t count) {
  std::string digits = std::to_string(count);
  for (size_t at = digits.size(); at > 3 + (digits[0] == '-' ? 1 : 0); at -= 3)
    digits.insert(at - 3, ",");
  return digits;
}

std::string Excerpt(std::string_view text, size_t limit) {
  std::string line;
  for (const char c : RepairUtf8(text)) {
    const bool space = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (space && (line.empty() || line.back() == ' ')) continue;
    if (space)
      line.push_back(' ');
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      line += "\xEF\xBF\xBD";  // no control codes on a terminal
    else
      line.push_back(c);
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  if (line.size() <= limit) return line;
  const auto boundary = [&](size_t at) {
    while (at > 0 && at < line.size() && (static_cast<unsigned char>(line[at]) & 0xC0) == 0x80)
      --at;
    return at;
  };
  const size_t head = boundary(limit / 3);
  const size_t tail = boundary(line.size() - (limit - limit / 3));
  return line.substr(0, head) + " … " + line.substr(tail);
}

std::string ScoreText(double value) {
  if (std::isfinite(value) && value == std::floor(value) && std::fabs(value) < 1e15) {
    return std::to_string(static_cast<int64_t>(value));
  }
  char text[40];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string Plural(int64_t count, std::string_view noun) {
  return Grouped(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string TextOf(const Json& value) {
  return value.is_string() ? value.AsString() : value.Dump();
}

}  // namespace rewardloop::cli
