#include "workers/interpreter.h"

#include <gtest/gtest.h>

#include "workers/test_environment.h"

namespace rewardloop::workers {
namespace {

using testing::ScopedFolder;
using testing::ScopedVariable;

struct Places {
  ScopedFolder folder;
  std::string on_path = folder.Write("bin/python3", "", true);
  std::string in_venv = folder.Write("venv/bin/python", "", true);
  std::string other = folder.Write("other/python3.9", "", true);
  ScopedVariable path{"PATH", folder / "none" + ":" + folder / "bin"};
  ScopedVariable named{"REWARDLOOP_PYTHON", std::nullopt};
  ScopedVariable venv{"VIRTUAL_ENV", std::nullopt};
};

void ExpectFound(const Result<Interpreter>& found, const std::string& path, const std::string& how) {
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  EXPECT_EQ(found->path, path);
  EXPECT_EQ(found->found_by, how);
}

TEST(Interpreter, SearchOrder) {
  const Places places;
  ExpectFound(FindInterpreter(""), places.on_path, "PATH");
  const ScopedVariable venv("VIRTUAL_ENV", places.folder / "venv");
  ExpectFound(FindInterpreter(""), places.in_venv, "VIRTUAL_ENV");
  const ScopedVariable named("REWARDLOOP_PYTHON", places.other);
  ExpectFound(FindInterpreter(""), places.other, "REWARDLOOP_PYTHON");
  ExpectFound(FindInterpreter(places.on_path), places.on_path, "--python or the key `python`");
  ExpectFound(FindInterpreter("python3"), places.on_path, "--python or the key `python`");
}

TEST(Interpreter, EmptyVariablesCountAsUnset) {
  const Places places;
  const ScopedVariable venv("VIRTUAL_ENV", "");
  const ScopedVariable named("REWARDLOOP_PYTHON", "");
  ExpectFound(FindInterpreter(""), places.on_path, "PATH");
}

void ExpectMissing(const Result<Interpreter>& found, const std::string& what) {
  ASSERT_FALSE(found.ok()) << found->path;
  EXPECT_EQ(found.status().code(), StatusCode::kNotFound);
  EXPECT_NE(found.status().message().find(what), std::string::npos) << found.status().message();
  EXPECT_NE(found.status().hint().find("--python"), std::string::npos);
}

TEST(Interpreter, ErrorsSayWhatWasLookedForAndWhoNamedIt) {
  const Places places;
  ExpectMissing(FindInterpreter("/no/such/python"), "'/no/such/python' (from --python or the key `python`)");
  ExpectMissing(FindInterpreter("python3.99"), "'python3.99' (from --python or the key `python`)");
  ExpectMissing(FindInterpreter(places.folder.path()), "(from --python or the key `python`)");  // a folder
  ExpectMissing(FindInterpreter(places.folder.Write("plain", "")), "(from --python or the key `python`)");
  {
    // What is named and wrong is not passed over in silence.
    const ScopedVariable venv("VIRTUAL_ENV", places.folder / "gone");
    ExpectMissing(FindInterpreter(""), "gone/bin/python' (from VIRTUAL_ENV)");
    const ScopedVariable named("REWARDLOOP_PYTHON", "/no/python");
    ExpectMissing(FindInterpreter(""), "'/no/python' (from REWARDLOOP_PYTHON)");
  }
  const ScopedVariable path("PATH", places.folder / "none");
  ExpectMissing(FindInterpreter(""), "no python3 on PATH");
}

}  // namespace
}  // namespace rewardloop::workers
