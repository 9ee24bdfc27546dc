#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cli/console.h"

namespace rewardloop::cli {
namespace {

constexpr int64_t kRedrawNs = 100'000'000;
constexpr int kBarWidth = 24;

std::string Duration(double seconds) {
  const int64_t whole = static_cast<int64_t>(seconds);
  char text[32];
  std::snprintf(text, sizeof text, "%lld:%02lld", static_cast<long long>(whole / 60),
                static_cast<long long>(whole % 60));
  return text;
}

}  // namespace

bool Progress::Enabled(ProgressWhen when) {
  if (when != ProgressWhen::kAuto) return when == ProgressWhen::kAlways;
  const char* const terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) && !(terminal && std::strcmp(terminal, "dumb") == 0);
}

Progress::Progress(ProgressWhen when, Clock* clock)
    : enabled_(Enabled(when)), clock_(clock), started_ns_(clock->NowNs()) {}

void Progress::Update(int64_t rows, double fraction, int64_t without_score) {
  if (!enabled_) return;
  const int64_t now = clock_->NowNs();
  if (visible_ && now - drawn_ns_ < kRedrawNs) return;
  drawn_ns_ = now;
  visible_ = true;
  const double seconds = static_cast<double>(now - started_ns_) / 1e9;
  std::string line = "\r\x1B[Kscoring ";
  if (fraction >= 0) {
    const int filled = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * kBarWidth);
    line += "[" + std::string(static_cast<size_t>(filled), '#') +
            std::string(static_cast<size_t>(kBarWidth - filled), '.') + "] " +
            std::to_string(static_cast<int>(std::clamp(fraction, 0.0, 1.0) * 100)) + "%  ";
  }
  line += Plural(rows, "row");
  if (seconds > 0.5)
    line += "  " + Grouped(static_cast<int64_t>(static_cast<double>(rows) / seconds)) + "/s";
  if (without_score > 0) line += "  without score " + Grouped(without_score);
  if (fraction > 0.01 && seconds > 1) line += "  eta " + Duration(seconds / fraction - seconds);
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

void Progress::Clear() {
  if (!visible_) return;
  visible_ = false;
  std::fputs("\r\x1B[K", stderr);
  std::fflush(stderr);
}

}  // namespace rewardloop::cli
