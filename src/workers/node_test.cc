#include "workers/node.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace rewardloop::workers {
namespace {

TEST(Node, MemoryIsAtMostThatOfTheMachine) {
  const int64_t physical = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  EXPECT_GT(MemoryOfNode(), int64_t{16} << 20);
  EXPECT_LE(MemoryOfNode(), physical);
}

TEST(Node, TheSoftLimitOfDescriptorsIsRaisedAndALackNamesBothFigures) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = std::min<rlim_t>(64, before.rlim_max);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_TRUE(EnsureDescriptors(65, "9 workers").ok() || before.rlim_max < 65);
  rlimit after{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
  if (before.rlim_max != RLIM_INFINITY) {
    const int64_t too_many = static_cast<int64_t>(before.rlim_max) + 1;
    const Status lack = EnsureDescriptors(too_many, "9 workers");
    EXPECT_EQ(lack.code(), StatusCode::kResourceExhausted);
    EXPECT_NE(lack.message().find("9 workers need " + std::to_string(too_many)), std::string::npos);
    EXPECT_NE(lack.message().find(std::to_string(before.rlim_max)), std::string::npos);
  }
  setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace rewardloop::workers
