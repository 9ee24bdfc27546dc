// What the command says: messages on stderr, answers on stdout.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rewardloop/json.h"
#include "rewardloop/log.h"
#include "rewardloop/status.h"

namespace rewardloop::cli {

// Prints "error: MESSAGE" and "hint: ..." to stderr and returns the exit status for it.
int Fail(const Status& status);
void Warn(const Status& status);
// Prints a record of the engine's log to stderr, from any thread, in one piece. With `over_progress` it takes the place of a
// progress line.
void SayRecord(const LogRecord& record, bool over_progress);
// The exit status that stands for `status`; kExitUsage for everything a user can cause.
int ExitStatusOf(const Status& status);

// Writes to stdout; false when its reader has gone or the disk is full. Says so once.
bool Print(std::string_view text);

// `count` with separators: 1,234,567.
std::string Grouped(int64_t count);
// `text` on one line, cut in the middle to about `limit` bytes (whole characters), for tables and
// messages.
std::string Excerpt(std::string_view text, size_t limit);
// A score as people write it: 1, 0.5, -0.25.
std::string ScoreText(double value);
// "1 row", "2 rows".
std::string Plural(int64_t count, std::string_view noun);

// A Json value as its own text: strings without quotes, everything else as JSON.
std::string TextOf(const Json& value);

}  // namespace rewardloop::cli
