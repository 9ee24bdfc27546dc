#include "workers/interpreter.h"

#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <string_view>

namespace rewardloop::workers {
namespace {

constexpr char kHint[] = "name one with --python, the key `python` or REWARDLOOP_PYTHON";

bool IsExecutable(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

std::string OnPath(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const size_t colon = rest.find(':');
    const std::string folder(rest.substr(0, colon));
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (IsExecutable(candidate)) return candidate;
    if (colon == std::string_view::npos) return "";
    rest.remove_prefix(colon + 1);
  }
}

std::string BesideThisProgram() {
  char link[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", link, sizeof(link));
  if (length <= 0) return "";
  const std::string path(link, static_cast<size_t>(length));
  return path.substr(0, path.rfind('/') + 1) + "python";
}

Result<Interpreter> Named(const std::string& name, const char* found_by) {
  const std::string path = name.find('/') == std::string::npos ? OnPath(name) : name;
  if (path.empty() || !IsExecutable(path)) {
    return NotFound("there is no Python interpreter '" + name + "' (from " + found_by + ")", kHint);
  }
  return Interpreter{path, found_by};
}

}  // namespace

Result<Interpreter> FindInterpreter(const std::string& named) {
  if (!named.empty()) return Named(named, "--python or the key `python`");
  if (const char* const name = std::getenv("REWARDLOOP_PYTHON"); name && *name) return Named(name, "REWARDLOOP_PYTHON");
  if (const char* const folder = std::getenv("VIRTUAL_ENV"); folder && *folder) {
    return Named(std::string(folder) + "/bin/python", "VIRTUAL_ENV");
  }
  if (const std::string beside = BesideThisProgram(); IsExecutable(beside)) return Interpreter{beside, "beside rewardloop"};
  const std::string path = OnPath("python3");
  if (path.empty()) return NotFound("there is no python3 on PATH, and Python functions need one", kHint);
  return Interpreter{path, "PATH"};
}

}  // namespace rewardloop::workers
