#include "scorers/guard.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

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

Task<std::vector<Verdict>> Scorer::ScoreBatch(std::vector<const RewardItem*> items, ScoreContext& context) const {
  struct Judge {
    const Scorer& scorer;
    ScoreContext& context;
    bool Waits(const RewardItem&) const { return scorer.execution() == Execution::kAsync; }
    Verdict Now(const RewardItem& item) const { return scorer.Score(item, context); }
    Task<Verdict> Later(const RewardItem& item) const { return scorer.ScoreAsync(item, context); }
  };
  return OneByOne(std::move(items), context, Judge{*this, context});
}

}  // namespace rewardloop
