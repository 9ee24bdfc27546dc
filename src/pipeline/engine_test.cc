#include "rewardloop/engine.h"

#include <gtest/gtest.h>

#include "rewardloop/simulator.h"

namespace rewardloop {
namespace {

TEST(Engine, DefinedLimitersStayAndAddedOnesGoWithTheirHolder) {
  const auto simulator = Simulator::Make();
  const auto engine = Engine::MakeOn(simulator.get());
  ASSERT_TRUE(engine->DefineLimiter("judge", {.max_concurrent = 4}).ok());
  EXPECT_EQ(engine->FindLimiter("judge")->options().max_concurrent, 4);
  auto held = engine->AddLimiter("own#1", {.max_concurrent = 2});
  auto other = engine->AddLimiter("own#2", {.max_concurrent = 3});
  EXPECT_EQ(engine->FindLimiter("own#1"), held);
  EXPECT_EQ(engine->FindLimiter("own#2"), other);
  held.reset();
  EXPECT_EQ(engine->FindLimiter("own#1"), nullptr);
  EXPECT_EQ(engine->FindLimiter("own#2"), other);
  EXPECT_EQ(engine->FindLimiter("nobody's"), nullptr);
}

}  // namespace
}  // namespace rewardloop
