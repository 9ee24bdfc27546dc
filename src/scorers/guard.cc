#include "scorers/guard.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <typeinfo>
#include <vector>

#include "rewardloop/scorer.h"

namespace rewardloop {
namespace {

std::string Demangled(const char* name) {
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                              std::free);
  return status == 0 ? text.get() : name;
}

}  // namespace

Verdict VerdictOfException(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& error) {
    return Verdict::Error("exception", Demangled(typeid(error).name()) + ": " + error.what());
  } catch (...) {
    return Verdict::Error("exception", "an exception that is no std::exception");
  }
}

Task<std::vector<Verdict>> Scorer::ScoreBatch(std::vector<const RewardItem*> items,
                                              ScoreContext& context) const {
  const bool waits = execution() == Execution::kAsync;
  std::vector<Verdict> verdicts;
  verdicts.reserve(items.size());
  for (const RewardItem* item : items) {
    Verdict verdict = Verdict::Of(ItemStatus::kCancelled, "cancelled", "");
    // Nobody wants the rest after a stop.
    if (!context.stop().stop_requested()) {
      try {
        if (waits) {
          verdict = co_await ScoreAsync(*item, context);
        } else {
          verdict = Score(*item, context);
        }
      } catch (...) {
        verdict = VerdictOfException(std::current_exception());
      }
    }
    verdicts.push_back(std::move(verdict));
  }
  co_return verdicts;
}

}  // namespace rewardloop
