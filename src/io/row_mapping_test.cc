#include "io/row_mapping.h"

#include <gtest/gtest.h>

namespace rewardloop {
namespace {

Json Parsed(std::string_view text) {
  const auto json = Json::Parse(text);
  EXPECT_TRUE(json.ok()) << json.status().message();
  return json.ok() ? *json : Json();
}

RewardItem Item(std::string_view preset, std::string_view fields, std::string_view row) {
  const auto map = FieldMap::Make(preset, Parsed(fields));
  EXPECT_TRUE(map.ok()) << map.status().message();
  RewardItem item;
  const Status status = map->ToItem(Parsed(row), "line:1", &item);
  EXPECT_TRUE(status.ok()) << status.message();
  return item;
}

Status Problem(std::string_view row) {
  RewardItem item;
  return FieldMap::Make("", Json())->ToItem(Parsed(row), "line:1", &item);
}

TEST(FieldMapTest, OwnNames) {
  const RewardItem item =
      Item("", "null", R"({"item_id": "a", "data_source": "openai/gsm8k", "prompt": "p",
      "response": "r", "ground_truth": 72, "extra_info": {"k": 1}, "group_id": 5, "group_size": 8, "rollout_id": "r1",
      "session_id": "s", "index": 3, "num_tokens": 12, "stop_reason": "length"})");
  EXPECT_EQ(item.item_id, "a");
  EXPECT_EQ(item.data_source, "openai/gsm8k");
  EXPECT_EQ(item.prompt, Json("p"));
  EXPECT_EQ(*item.Response(), "r");
  EXPECT_EQ(item.ground_truth, Json(72));
  EXPECT_EQ(item.extra_info.Dump(), R"({"k":1})");
  EXPECT_EQ(*item.group_id, "5");
  EXPECT_EQ(*item.group_size, 8);
  EXPECT_EQ(*item.rollout_id, "r1");
  EXPECT_EQ(*item.session_id, "s");
  EXPECT_EQ(*item.index, 3);
  EXPECT_EQ(*item.outputs[0].LengthInTokens(), 12);
  EXPECT_EQ(item.outputs[0].stop_reason, "length");
}

TEST(FieldMapTest, RowsWithoutAnIdTakeTheGivenOne) {
  EXPECT_EQ(Item("", "null", R"({"response": "r"})").item_id, "line:1");
  EXPECT_EQ(Item("", "null", R"({"response": "r", "item_id": null})").item_id, "line:1");
  EXPECT_EQ(Item("", "null", R"({"response": "r", "item_id": 7})").item_id, "7");
}

TEST(FieldMapTest, NullResponseIsAnOutputWithoutText) {
  const RewardItem item = Item("", "null", R"({"response": null})");
  ASSERT_EQ(item.outputs.size(), 1u);
  EXPECT_EQ(item.Response(), nullptr);
}

TEST(FieldMapTest, OutputsOfTextsAndObjects) {
  const RewardItem item =
      Item("", "null", R"({"outputs": ["first", {"text": "last", "token_ids": [1, 2, 3],
      "stop_reason": "stop"}]})");
  ASSERT_EQ(item.outputs.size(), 2u);
  EXPECT_EQ(*item.outputs[0].text, "first");
  EXPECT_EQ(*item.Response(), "last");
  EXPECT_EQ(*item.outputs[1].LengthInTokens(), 3);
}

TEST(FieldMapTest, DottedPathsAndColumnsWithADot) {
  EXPECT_EQ(
      *Item("", R"({"response": "output.text"})", R"({"output": {"text": "nested"}})").Response(),
      "nested");
  EXPECT_EQ(*Item("", R"({"response": "output.text"})", R"({"output.text": "flat"})").Response(),
            "flat");
}

TEST(FieldMapTest, VerlRolloutDumpAndDataSetRow) {
  const RewardItem dump =
      Item("verl", "null",
           R"({"input": "user: 1+1?", "output": "2", "gts": "2", "score": 1.0, "step": 3})");
  EXPECT_EQ(dump.prompt, Json("user: 1+1?"));
  EXPECT_EQ(*dump.Response(), "2");
  EXPECT_EQ(dump.ground_truth, Json("2"));
  const RewardItem row =
      Item("verl", "null",
           R"({"data_source": "openai/gsm8k", "prompt": [{"role": "user", "content": "q"}],
      "reward_model": {"style": "rule", "ground_truth": "72"}, "extra_info": {"index": 0}, "response": "#### 72", "uid": "u"})");
  EXPECT_EQ(row.ground_truth, Json("72"));
  EXPECT_EQ(row.data_source, "openai/gsm8k");
  EXPECT_EQ(*row.group_id, "u");
}

TEST(FieldMapTest, TrlCompletionsAsTextAndAsMessages) {
  EXPECT_EQ(
      *Item("trl", "null", R"({"prompt": "p", "completion": "c", "solution": "72"})").Response(),
      "c");
  const RewardItem chat = Item("trl", "null", R"({"prompt": [{"role": "user", "content": "p"}],
      "completion": [{"role": "assistant", "content": "c"}], "solution": "72", "accuracy_reward": 1.0, "advantage": 0.5})");
  EXPECT_EQ(*chat.Response(), "c");
  EXPECT_EQ(chat.ground_truth, Json("72"));
}

TEST(FieldMapTest, OpenRlhfGenerations) {
  const RewardItem item = Item(
      "openrlhf", "null", R"({"input": "p", "output": "o", "label": "72", "datasource": "gsm8k"})");
  EXPECT_EQ(item.prompt, Json("p"));
  EXPECT_EQ(*item.Response(), "o");
  EXPECT_EQ(item.ground_truth, Json("72"));
  EXPECT_EQ(item.data_source, "gsm8k");
}

TEST(FieldMapTest, SlimeSamples) {
  const RewardItem item =
      Item("slime", "null", R"({"group_index": 4, "index": 35, "prompt": "p", "response": "r",
      "response_length": 9, "label": "72", "status": "truncated", "metadata": {"rm_type": "math"}, "reward": null})");
  EXPECT_EQ(*item.group_id, "4");
  EXPECT_EQ(*item.index, 35);
  EXPECT_EQ(item.ground_truth, Json("72"));
  EXPECT_EQ(item.data_source, "math");
  EXPECT_EQ(*item.outputs[0].num_tokens, 9);
  EXPECT_EQ(item.outputs[0].stop_reason, "truncated");
}

TEST(FieldMapTest, ChatDataSplitsAtTheLastAssistantMessage) {
  const RewardItem item = Item("chat", "null", R"({"messages": [{"role": "user", "content": "q"},
      {"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}], "answer": "ab"})");
  EXPECT_EQ(*item.Response(), "ab");
  EXPECT_EQ(item.prompt.Dump(), R"([{"role":"user","content":"q"}])");
  EXPECT_EQ(item.ground_truth, Json("ab"));
}

TEST(FieldMapTest, MissingResponseNamesColumnsAndThePresetThatFits) {
  const Status status = Problem(R"({"input": "p", "output": "o", "gts": "1"})");
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_NE(status.message().find("`response`"), std::string::npos);
  EXPECT_NE(status.hint().find("--preset verl"), std::string::npos);
}

TEST(FieldMapTest, WrongTypesNameTheField) {
  EXPECT_NE(Problem(R"({"response": 5})").message().find("`response`"), std::string::npos);
  EXPECT_NE(Problem(R"({"response": "r", "extra_info": "x"})").message().find("`extra_info`"),
            std::string::npos);
  EXPECT_NE(Problem(R"({"response": "r", "group_size": 0})").message().find("`group_size`"),
            std::string::npos);
  EXPECT_NE(Problem(R"({"response": "r", "item_id": []})").message().find("`item_id`"),
            std::string::npos);
  EXPECT_NE(Problem(R"({"response": "r", "data_source": 3})").message().find("`data_source`"),
            std::string::npos);
}

TEST(FieldMapTest, UnknownNamesComeWithASuggestion) {
  const auto field = FieldMap::Make("", Json::MakeObject({{"respnse", "x"}}));
  ASSERT_FALSE(field.ok());
  EXPECT_NE(field.status().hint().find("'response'"), std::string::npos);
  const auto preset = FieldMap::Make("vrel", Json());
  ASSERT_FALSE(preset.ok());
  EXPECT_NE(preset.status().hint().find("'verl'"), std::string::npos);
}

}  // namespace
}  // namespace rewardloop
