// Fuzz target: reading any bytes ends in a tree or a status, and a tree prints.
#include "math/answer.h"
#include "math/print.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (bool repair : {false, true}) {
    rewardloop::math::Arena arena(24u << 20);
    const auto answer = rewardloop::math::ReadAnswer(text, repair, &arena);
    for (int i = 0; i < answer.readings; ++i) rewardloop::math::Print(answer.reading[i]);
  }
  return 0;
}
