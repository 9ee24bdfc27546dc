// The Python files that are part of this library, as text. Made by the build from *.py (embed.cmake).
#pragma once

#include <string_view>

namespace rewardloop::workers {

extern const std::string_view kLauncherSource;  // launcher.py
extern const std::string_view kWorkerSource;    // worker.py, which imports the others:
extern const std::string_view kWorkerLinkSource;    // worker_link.py
extern const std::string_view kWorkerRandomSource;  // worker_random.py
extern const std::string_view kCallsSource;     // python/rewardloop/_calls.py

}  // namespace rewardloop::workers
