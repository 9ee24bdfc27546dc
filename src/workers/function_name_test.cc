#include "workers/function_name.h"

#include <gtest/gtest.h>

namespace rewardloop::workers {
namespace {

struct Case {
  const char* text;
  const char* path;
  const char* module;
  const char* attribute;
};

TEST(FunctionName, FilesAndModules) {
  const Case cases[] = {
      {"rewards.py:fn", "rewards.py", "", "fn"},
      {"a/b c/rewards.py:fn", "a/b c/rewards.py", "", "fn"},
      {"/abs/x.py:Class.method", "/abs/x.py", "", "Class.method"},
      {"../x.py:fn", "../x.py", "", "fn"},
      {"odd:name.py:fn", "odd:name.py", "", "fn"},
      {"rewards.py:", "rewards.py", "", ""},  // a message can name the file
      {"mod:fn", "", "mod", "fn"},
      {"pkg.mod_2:Class.method", "", "pkg.mod_2", "Class.method"},
      {"größe:fn", "", "größe", "fn"},
  };
  for (const Case& expected : cases) {
    const auto name = ParseFunctionName(expected.text);
    ASSERT_TRUE(name) << expected.text;
    EXPECT_EQ(name->text, expected.text);
    EXPECT_EQ(name->path, expected.path) << expected.text;
    EXPECT_EQ(name->module, expected.module) << expected.text;
    EXPECT_EQ(name->attribute, expected.attribute) << expected.text;
  }
}

TEST(FunctionName, WhatIsNeither) {
  for (const char* text : {"", "fn", "gsm8k", "verl/gsm8k", ":fn", "mod:", "a..b:fn", ".mod:fn", "mod.:fn", "mod:fn.", "2mod:fn",
                           "mod:2fn", "a/b:fn", "mod:f n", "mod: fn", ".py:fn"}) {
    EXPECT_FALSE(ParseFunctionName(text)) << text;
  }
}

}  // namespace
}  // namespace rewardloop::workers
