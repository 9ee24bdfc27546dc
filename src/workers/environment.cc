#include "workers/environment.h"

#include <unistd.h>

#include <map>
#include <string_view>

namespace rewardloop::workers {
namespace {

bool Matches(std::string_view name, std::string_view pattern) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return name == pattern;
}

// Workers run side by side: threads of their own inside a numeric library would only compete.
constexpr const char* kThreadCounts[] = {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                                         "NUMEXPR_NUM_THREADS"};
constexpr const char* kDevices[] = {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"};

}  // namespace

std::vector<std::pair<std::string, std::string>> WorkerEnvironment(const std::vector<std::string>& hidden, const std::string& gpus) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals);
    bool keep = true;
    for (const std::string& pattern : hidden) keep = keep && !Matches(name, pattern);
    if (keep) variables.emplace(name, text.substr(equals + 1));
  }
  for (const char* const name : kThreadCounts) variables[name] = "1";
  variables.emplace("PYTHONHASHSEED", "0");  // sets iterate alike in every worker
  if (gpus != "all") {
    for (const char* const name : kDevices) variables[name] = gpus;
  }
  return {variables.begin(), variables.end()};
}

}  // namespace rewardloop::workers
