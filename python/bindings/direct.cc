#include "direct.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>

#include "rewardloop/clock.h"
#include "rewardloop/engine.h"
#include "scorers/guard.h"

namespace rewardloop::python {
namespace {

// Items that one thread takes at a time.
constexpr size_t kChunk = 64;

Verdict Judge(const Scorer& scorer, const RewardItem& item) {
  ScoreContext context(nullptr, kNoDeadline, std::stop_token(), 0);
  if (scorer.execution() != Execution::kCpu) {
    return Verdict::Error("needs_engine", "scorer '" + scorer.name() + "' waits: use it through a pipeline");
  }
  try {
    Verdict verdict = scorer.Score(item, context);
    if (verdict.status == ItemStatus::kScored && !std::isfinite(verdict.score)) {
      return Verdict::Error("non_finite", "scorer '" + scorer.name() + "' returned a score that is not finite");
    }
    return verdict;
  } catch (...) {
    return VerdictOfException(std::current_exception());
  }
}

}  // namespace

const ScorerRegistry& Scorers() {
  static const auto* const registry = new ScorerRegistry(ScorerRegistry::WithBuiltins());
  return *registry;
}

const ManagerRegistry& Managers() {
  static const auto* const registry = new ManagerRegistry(ManagerRegistry::WithBuiltins());
  return *registry;
}

namespace {

// Calls body(begin, end) for ranges that cover [0, size), on the calling thread and up to threads - 1 others. `threads` <= 0: one a CPU.
template <typename Body>
void InChunks(size_t size, int threads, const DirectScorer::Stop& stop, const Body& body) {
  const size_t chunks = (size + kChunk - 1) / kChunk;
  if (threads <= 0) threads = AvailableCpus();
  std::atomic<size_t> next{0};
  const auto work = [&] {
    const size_t chunk = next++;
    if (chunk < chunks) body(chunk * kChunk, std::min(size, (chunk + 1) * kChunk));
    return chunk < chunks;
  };
  std::vector<std::jthread> helpers;
  const size_t wanted = std::min<size_t>(threads, chunks);
  for (size_t i = 1; i < wanted; ++i) {
    helpers.emplace_back([&work] {
      while (work()) continue;
    });
  }
  while (work()) {
    if (stop()) next = chunks;
  }
}

}  // namespace

void DirectScorer::JudgePair(const Pair& pair, RewardResult* result) const {
  try {
    if (!math_->JudgePair(pair.gold, pair.completion, result)) return;
  } catch (...) {
    return;  // said of an item
  }
  result->scorer = scorer_->name();
  result->scorer_version = scorer_->version();
}

void DirectScorer::JudgePairs(std::span<const Pair> pairs, int threads, const Stop& stop, RewardResult* results) const {
  InChunks(pairs.size(), threads, stop, [&](size_t begin, size_t end) {
    const int64_t started_ns = Clock::Real().NowNs();
    for (size_t i = begin; i < end; ++i) JudgePair(pairs[i], &results[pairs[i].index]);
    const int64_t finished_ns = Clock::Real().NowNs();
    for (size_t i = begin; i < end; ++i) results[pairs[i].index].timing = {started_ns, started_ns, finished_ns, 1};
  });
}

RewardResult DirectScorer::Score(const RewardItem& item) const {
  RewardResult result;
  result.item_id = item.item_id;
  result.group_id = item.group_id;
  result.timing.queued_ns = result.timing.started_ns = Clock::Real().NowNs();
  result.timing.attempts = 1;
  Verdict verdict = Judge(*scorer_, item);
  result.timing.finished_ns = Clock::Real().NowNs();
  result.status = verdict.status;
  if (verdict.status == ItemStatus::kScored) {
    result.score = verdict.score;
    result.valid = true;
  }
  result.components = std::move(verdict.components);
  result.extra = verdict.extra.is_null() ? Json::MakeObject() : std::move(verdict.extra);
  result.extracted = std::move(verdict.extracted);
  result.reason = std::move(verdict.reason);
  result.error = std::move(verdict.error);
  result.scorer = scorer_->name();
  result.scorer_version = scorer_->version();
  return result;
}

void DirectScorer::ScoreAll(std::span<const RewardItem> items, int threads, const Stop& stop,
                            std::vector<RewardResult>* results) const {
  const size_t first = results->size();
  results->resize(first + items.size());
  InChunks(items.size(), threads, stop, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) (*results)[first + i] = Score(items[i]);
  });
}

}  // namespace rewardloop::python
