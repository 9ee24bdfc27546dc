// Environment variables and folders for tests.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace rewardloop::workers::testing {

// Sets a variable, or unsets it, until the end of the scope. Not thread-safe.
class ScopedVariable {
 public:
  ScopedVariable(std::string name, std::optional<std::string> value) : name_(std::move(name)) {
    if (const char* const old = std::getenv(name_.c_str())) old_ = old;
    Set(value);
  }
  ~ScopedVariable() { Set(old_); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  void Set(const std::optional<std::string>& value) {
    if (value) {
      setenv(name_.c_str(), value->c_str(), 1);
    } else {
      unsetenv(name_.c_str());
    }
  }
  const std::string name_;
  std::optional<std::string> old_;
};

// A folder of its own that is gone at the end of the scope.
class ScopedFolder {
 public:
  ScopedFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "rewardloop-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~ScopedFolder() { std::filesystem::remove_all(path_); }
  ScopedFolder(const ScopedFolder&) = delete;
  ScopedFolder& operator=(const ScopedFolder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  // Writes a file, executable or not; its path.
  std::string Write(const std::string& name, const std::string& text, bool executable = false) const {
    const std::filesystem::path path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    if (executable) std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path.string();
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace rewardloop::workers::testing
