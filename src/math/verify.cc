#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "math/answer.h"
#include "math/cut_formula.h"
#include "math/decide.h"
#include "math/extract.h"
#include "math/print.h"
#include "math/string_graders/gsm8k.h"
#include "math/string_graders/math_dapo.h"
#include "math/string_graders/math_reward.h"
#include "math/string_graders/minerva.h"
#include "math/unicode_map.h"
#include "rewardloop/math.h"

namespace rewardloop::math {
namespace {

constexpr size_t kScratchBytesMax = 24u << 20;
constexpr size_t kGoldBytesMax = 16u << 20;
constexpr size_t kBareMarginBytesMax = 64;     // spaces and thinking marks around an answer that is the gold's text
constexpr size_t kGoldFirstBlockBytes = 2048;  // most golds need no more; many are cached

// Working memory of the calling thread, so that a verdict allocates nothing.
Arena& Scratch() {
  thread_local Arena arena(kScratchBytesMax);
  arena.Reset();
  return arena;
}

bool IsStringProfile(Profile profile) { return profile >= Profile::kMathReward; }

// "-?digits" without leading zeros: equal iff the bytes are.
bool IsPlainInteger(std::string_view text) {
  if (!text.empty() && text[0] == '-') text.remove_prefix(1);
  if (text.empty() || text.size() > 18 || (text[0] == '0')) return false;
  for (char c : text) if (c < '0' || c > '9') return false;
  return true;
}

bool IsMultiValued(const Answer& answer) {
  for (int i = 0; i < answer.readings; ++i) {
    const Expr* e = answer.reading[i];
    if (e->kind == Kind::kList || e->kind == Kind::kSet || e->kind == Kind::kPlusMinus) return true;
    if (e->kind == Kind::kRelation && e->child_count == 2 && ((*e)[1]->kind == Kind::kSet || (*e)[1]->kind == Kind::kPlusMinus)) return true;
  }
  return false;
}

const char* LimitReason(ParseStatus status) {
  switch (status) {
    case ParseStatus::kEmpty: return "empty_gold";
    case ParseStatus::kLimitTokens: return "limit_tokens";
    case ParseStatus::kLimitNodes: return "limit_nodes";
    case ParseStatus::kLimitDepth: return "limit_depth";
    case ParseStatus::kLimitMemory: return "limit_memory";
    default: return "unparsed_gold";
  }
}

}  // namespace

struct CompiledGold::Impl {
  explicit Impl(const Options& options) : options(options), arena(kGoldBytesMax, kGoldFirstBlockBytes) {}

  struct Gold {
    std::string_view text;   // in the arena
    Answer answer;
    bool plain_integer = false;
    bool multi_valued = false;
  };

  void Add(std::string_view gold) {
    Gold entry;
    entry.text = arena.Copy(gold);
    if (!IsStringProfile(options.profile)) {
      // A prompt's gold may hold a whole solution: what counts is its answer.
      const std::string_view repaired = options.policy.repair_gold ? RepairControlCharacters(entry.text, &arena) : entry.text;
      const Found found = FindGold(repaired, &arena);
      if (found.anchor != Anchor::kNone) entry.answer = ReadAnswer(found.text, options.policy.repair_gold, &arena);
      // The bytes themselves are the same answer, whatever the repair makes of them.
      if (found.anchor == Anchor::kWhole) entry.answer.source = TrimAnswer(entry.text);
      if (entry.answer.is_text() && !entry.answer.only_words && LooksCut(entry.answer.source)) {
        if (bad_reason.empty()) bad_reason = "unparsed_gold";
        return;
      }
      entry.plain_integer = IsPlainInteger(entry.answer.raw);
      entry.multi_valued = IsMultiValued(entry.answer);
      if (entry.answer.readings == 0) {
        if (bad_reason.empty()) bad_reason = LimitReason(entry.answer.status);
        return;
      }
      choice = choice || (entry.answer.choice && entry.answer.only_words);
      multi_valued = multi_valued || entry.multi_valued;
      text = text || entry.answer.is_text();
    }
    longest = std::max(longest, entry.text.size());
    golds.push_back(entry);
  }

  Options options;
  Arena arena;
  std::vector<Gold> golds;  // the usable ones
  std::string_view bad_reason;
  bool choice = false;
  bool multi_valued = false;
  bool text = false;
  size_t longest = 0;  // bytes
};

CompiledGold::CompiledGold(std::string_view gold, const Options& options) {
  auto impl = std::make_unique<Impl>(options);
  impl->Add(gold);
  impl_ = std::move(impl);
}

CompiledGold::CompiledGold(std::span<const std::string> golds, const Options& options) {
  auto impl = std::make_unique<Impl>(options);
  for (const std::string& gold : golds) impl->Add(gold);
  if (impl->golds.empty() && impl->bad_reason.empty()) impl->bad_reason = "empty_gold";
  impl_ = std::move(impl);
}

CompiledGold::~CompiledGold() = default;
bool CompiledGold::usable() const { return !impl_->golds.empty(); }
std::string_view CompiledGold::bad_reason() const { return usable() ? std::string_view() : impl_->bad_reason; }

namespace {

MathVerdict FromString(const string_graders::StringVerdict& graded, double wrong_score) {
  MathVerdict verdict;
  verdict.score = graded.correct ? 1.0 : wrong_score;
  const bool answered = graded.extracted.answer.has_value();
  verdict.outcome = graded.correct ? Outcome::kEqual : answered ? Outcome::kDifferent : Outcome::kNoAnswer;
  verdict.reason = graded.reason;
  verdict.rule = "string";
  verdict.anchor = answered ? Anchor::kProfile : Anchor::kNone;
  verdict.span = {graded.extracted.begin, graded.extracted.end};
  return verdict;
}

MathVerdict GradeString(Profile profile, std::string_view gold, std::string_view completion) {
  using namespace string_graders;
  switch (profile) {
    case Profile::kMathReward: return FromString(GradeMathReward(completion, gold), 0);
    case Profile::kMathDapo: return FromString(GradeMathDapo(completion, gold).verdict, -1);
    case Profile::kGsm8kStrict: return FromString(GradeGsm8k(completion, gold, Gsm8kMethod::kStrict), 0);
    case Profile::kGsm8kFlexible: return FromString(GradeGsm8k(completion, gold, Gsm8kMethod::kFlexible), 0);
    default: return FromString(GradeMinerva(completion, gold), 0);
  }
}

// Compares the answer that was found with every accepted gold.
MathVerdict Judge(const CompiledGold::Impl& gold, const Found& found, Arena* arena) {
  MathVerdict verdict;
  verdict.anchor = found.anchor;
  verdict.span = {static_cast<int64_t>(found.begin), static_cast<int64_t>(found.end)};
  const std::string_view text = TrimAnswer(found.text);
  if (found.anchor == Anchor::kNone || text.empty()) {
    verdict.outcome = Outcome::kNoAnswer;
    verdict.reason = "no_answer";
    if (found.anchor == Anchor::kNone) verdict.span = {};
    return verdict;
  }
  const auto equal = [&](const char* reason, const char* rule) {
    verdict.outcome = Outcome::kEqual;
    verdict.score = 1;
    verdict.reason = reason;
    verdict.rule = rule;
  };
  bool all_integers = IsPlainInteger(text);
  for (const auto& entry : gold.golds) {
    if (entry.answer.source == text || entry.answer.raw == text) { equal("equal_exact", "same_text"); return verdict; }
    all_integers = all_integers && entry.plain_integer;
  }
  if (all_integers) {
    verdict.outcome = Outcome::kDifferent;
    verdict.reason = "not_equal_proved";
    verdict.rule = "rational";
    return verdict;
  }
  const Answer answer = ReadAnswer(text, false, arena);
  Fuel fuel(gold.options.fuel);
  Decision best{Equality::kDifferent, "unparsed", ""};
  bool first = true;
  for (const auto& entry : gold.golds) {
    Decision decision = DecideAnswers(entry.answer, answer, gold.options.policy, gold.options.seed, arena, &fuel);
    if (!decision.equal() && gold.options.policy.symmetric && decision.equality != Equality::kLimit) {
      const Decision other = DecideAnswers(answer, entry.answer, gold.options.policy, gold.options.seed, arena, &fuel);
      if (other.equal()) decision = other;
    }
    if (first || decision.equal() || (best.different() && !decision.different())) best = decision;
    first = false;
    if (decision.equal()) break;
  }
  verdict.fuel_used = fuel.used();
  verdict.reason = best.reason;
  verdict.rule = best.rule;
  switch (best.equality) {
    case Equality::kEqual: verdict.outcome = Outcome::kEqual; verdict.score = 1; break;
    case Equality::kDifferent: verdict.outcome = Outcome::kDifferent; break;
    case Equality::kUnknown: verdict.outcome = Outcome::kUnknown; verdict.reason = "undecided"; break;
    case Equality::kLimit: verdict.outcome = Outcome::kLimit; break;
  }
  return verdict;
}

MathVerdict BadGold(const CompiledGold& gold) {
  MathVerdict verdict;
  verdict.outcome = Outcome::kBadGold;
  verdict.reason = gold.bad_reason();
  return verdict;
}

ExtractOptions ExtractionFor(const Options& options, bool multi_valued, bool choice, bool text) {
  ExtractOptions extract;
  extract.think_end = options.think_end;
  extract.join_boxes = multi_valued;
  extract.choice = choice;
  extract.text = text;
  extract.last_expression = options.policy.last_expression;
  return extract;
}

Found FindFor(const CompiledGold::Impl& gold, std::string_view completion, Arena* arena) {
  return FindAnswer(completion, ExtractionFor(gold.options, gold.multi_valued, gold.choice, gold.text), arena);
}

// The completion when it is, but for spaces around it, the text of a gold: nothing has to be found in it.
std::optional<Found> BareGold(const CompiledGold::Impl& gold, std::string_view completion) {
  if (completion.size() > gold.longest + kBareMarginBytesMax) return std::nullopt;
  const size_t begin = WindowBegin(completion, gold.options.think_end);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view text = TrimAnswer(completion.substr(begin));
  for (const auto& entry : gold.golds) {
    if (text.empty() || (text != entry.answer.source && text != entry.answer.raw)) continue;
    Found found;
    found.anchor = Anchor::kWhole;
    found.begin = static_cast<size_t>(text.data() - completion.data());
    found.end = found.begin + text.size();
    found.text = text;
    return found;
  }
  return std::nullopt;
}

}  // namespace

MathVerdict Verify(const CompiledGold& gold, std::string_view completion) {
  if (!gold.usable()) return BadGold(gold);
  const auto& impl = gold.impl();
  if (IsStringProfile(impl.options.profile)) {
    MathVerdict best = GradeString(impl.options.profile, impl.golds[0].text, completion);
    for (size_t i = 1; i < impl.golds.size() && best.outcome != Outcome::kEqual; ++i) {
      const MathVerdict other = GradeString(impl.options.profile, impl.golds[i].text, completion);
      if (other.outcome == Outcome::kEqual) best = other;
    }
    return best;
  }
  if (const std::optional<Found> bare = BareGold(impl, completion)) return Judge(impl, *bare, &Scratch());
  Arena& arena = Scratch();
  return Judge(impl, FindFor(impl, completion, &arena), &arena);
}

MathVerdict Verify(std::string_view gold, std::string_view completion, const Options& options) {
  return Verify(CompiledGold(gold, options), completion);
}

MathVerdict Compare(const CompiledGold& gold, std::string_view answer) {
  if (!gold.usable()) return BadGold(gold);
  if (IsStringProfile(gold.impl().options.profile)) return Verify(gold, answer);
  Found found;
  found.anchor = Anchor::kWhole;
  found.end = answer.size();
  found.text = answer;
  return Judge(gold.impl(), found, &Scratch());
}

MathVerdict Compare(std::string_view gold, std::string_view answer, const Options& options) {
  return Compare(CompiledGold(gold, options), answer);
}

Explanation Explain(const CompiledGold& gold, std::string_view completion) {
  Explanation explanation;
  explanation.verdict = Verify(gold, completion);
  const auto& impl = gold.impl();
  if (!impl.golds.empty() && impl.golds[0].answer.readings) {
    explanation.gold_form = Print(impl.golds[0].answer.reading[0]);
    explanation.gold_type = TypeName(impl.golds[0].answer.reading[0]);
  } else if (!impl.golds.empty()) {
    explanation.gold_form = impl.golds[0].text;
    explanation.gold_type = "text";
  }
  if (IsStringProfile(impl.options.profile)) {
    const Span span = explanation.verdict.span;
    if (span.begin >= 0) explanation.extracted = completion.substr(static_cast<size_t>(span.begin), static_cast<size_t>(span.end - span.begin));
    explanation.prediction_form = explanation.extracted;
    explanation.prediction_type = explanation.extracted.empty() ? "none" : "text";
    return explanation;
  }
  Arena& arena = Scratch();
  const Found found = FindFor(impl, completion, &arena);
  explanation.extracted = found.text;
  if (found.anchor == Anchor::kNone) {
    explanation.prediction_type = "none";
    return explanation;
  }
  const Answer answer = ReadAnswer(found.text, false, &arena);
  if (answer.readings) {
    explanation.prediction_form = Print(answer.reading[0]);
    explanation.prediction_type = TypeName(answer.reading[0]);
  } else {
    explanation.prediction_form = answer.raw;
    explanation.prediction_type = answer.status == ParseStatus::kEmpty ? "none" : "unparsed";
  }
  return explanation;
}

Extraction Extract(std::string_view completion, const Options& options) {
  Arena& arena = Scratch();
  const Found found = FindAnswer(completion, ExtractionFor(options, true, false, false), &arena);
  Extraction extraction;
  extraction.anchor = found.anchor;
  if (found.anchor == Anchor::kNone) return extraction;
  extraction.span = {static_cast<int64_t>(found.begin), static_cast<int64_t>(found.end)};
  extraction.text = TrimAnswer(found.text);
  return extraction;
}

std::vector<MathVerdict> VerifyBatch(std::span<const std::string_view> golds, std::span<const std::string_view> completions,
                                     const Options& options, int threads) {
  const size_t n = completions.size();
  std::vector<MathVerdict> verdicts(n);
  if (n == 0 || (golds.size() != n && golds.size() != 1)) return verdicts;
  // Equal golds, which stand together in a batch of rollouts, are compiled once.
  std::vector<uint32_t> index(n, 0);
  std::vector<std::string_view> distinct;
  if (golds.size() == 1) {
    distinct.push_back(golds[0]);
  } else {
    std::unordered_map<std::string_view, uint32_t> seen;
    seen.reserve(n);
    for (size_t i = 0; i < n; ++i) {
      if (i > 0 && golds[i] == golds[i - 1]) { index[i] = index[i - 1]; continue; }
      const auto [at, fresh] = seen.try_emplace(golds[i], static_cast<uint32_t>(distinct.size()));
      if (fresh) distinct.push_back(golds[i]);
      index[i] = at->second;
    }
  }
  std::vector<std::unique_ptr<const CompiledGold>> compiled(distinct.size());
  size_t workers = threads > 0 ? static_cast<size_t>(threads) : std::max(1u, std::thread::hardware_concurrency());
  workers = std::min(workers, (n + 63) / 64);
  const auto run = [&](size_t count, const auto& body) {
    std::atomic<size_t> next{0};
    const auto work = [&] {
      constexpr size_t kChunk = 32;
      for (size_t from; (from = next.fetch_add(kChunk)) < count;) {
        for (size_t i = from; i < std::min(count, from + kChunk); ++i) body(i);
      }
    };
    std::vector<std::thread> pool;
    for (size_t t = 1; t < workers; ++t) pool.emplace_back(work);
    work();
    for (std::thread& thread : pool) thread.join();
  };
  run(distinct.size(), [&](size_t i) { compiled[i] = std::make_unique<const CompiledGold>(distinct[i], options); });
  run(n, [&](size_t i) { verdicts[i] = Verify(*compiled[index[i]], completions[i]); });
  return verdicts;
}

VoteResult Vote(std::span<const std::string_view> completions, const Options& options) {
  // Classes need an equality that is transitive: exact values, no rounding.
  Options exact = options;
  exact.policy.gold_precision = exact.policy.rounded_ok = false;
  exact.policy.absolute_digits = -1;
  exact.policy.symmetric = true;
  VoteResult result;
  std::vector<std::unique_ptr<const CompiledGold>> representatives;
  std::vector<int64_t> first_of;
  std::unordered_map<std::string, int32_t> by_text;
  for (size_t i = 0; i < completions.size(); ++i) {
    const Extraction answer = Extract(completions[i], options);
    int32_t group = -1;
    if (answer.anchor != Anchor::kNone && !answer.text.empty()) {
      const auto known = by_text.find(answer.text);
      if (known != by_text.end()) {
        group = known->second;
      } else {
        for (size_t c = 0; c < representatives.size() && group < 0; ++c) {
          if (Compare(*representatives[c], answer.text).outcome == Outcome::kEqual) group = static_cast<int32_t>(c);
        }
        if (group < 0) {
          group = static_cast<int32_t>(representatives.size());
          representatives.push_back(std::make_unique<const CompiledGold>(answer.text, exact));
          result.class_size.push_back(0);
          first_of.push_back(static_cast<int64_t>(i));
        }
        by_text.emplace(answer.text, group);
      }
      ++result.class_size[static_cast<size_t>(group)];
    }
    result.class_of.push_back(group);
  }
  for (size_t c = 0; c < result.class_size.size(); ++c) {
    if (result.winner < 0 || result.class_size[c] > result.class_size[static_cast<size_t>(result.winner)]) result.winner = static_cast<int32_t>(c);
  }
  if (result.winner >= 0) result.representative = first_of[static_cast<size_t>(result.winner)];
  return result;
}

// Two generations: the older one is dropped when the younger one is full, so what is used stays.
struct GoldCache::Impl {
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Map = std::unordered_map<std::string, std::shared_ptr<const CompiledGold>, Hash, std::equal_to<>>;
  Options options;
  size_t generation_max;
  std::mutex mutex;
  Map young, old;
};

GoldCache::GoldCache(Options options, size_t max_entries) : impl_(std::make_unique<Impl>()) {
  impl_->options = std::move(options);
  impl_->generation_max = std::max<size_t>(1, max_entries / 2);
}
GoldCache::~GoldCache() = default;
const Options& GoldCache::options() const { return impl_->options; }

std::shared_ptr<const CompiledGold> GoldCache::Get(std::string_view gold) {
  {
    std::lock_guard lock(impl_->mutex);
    if (auto found = impl_->young.find(gold); found != impl_->young.end()) return found->second;
    if (auto found = impl_->old.find(gold); found != impl_->old.end()) {
      auto value = found->second;
      impl_->young.emplace(std::string(gold), value);
      return value;
    }
  }
  auto value = std::make_shared<const CompiledGold>(gold, impl_->options);
  std::lock_guard lock(impl_->mutex);
  if (impl_->young.size() >= impl_->generation_max) {
    impl_->old = std::move(impl_->young);
    impl_->young.clear();
  }
  return impl_->young.emplace(std::string(gold), value).first->second;
}

// ---- names ------------------------------------------------------------------------------------------------------------------

namespace {
constexpr std::string_view kProfileNames[] = {"default", "strict", "math_verify", "math_reward", "math_dapo", "gsm8k_strict", "gsm8k_flexible", "minerva"};
constexpr std::string_view kOutcomeNames[] = {"equal", "different", "no_answer", "limit", "unknown", "bad_gold"};
constexpr std::string_view kAnchorNames[] = {"none", "whole", "boxed", "boxes", "answer_tag", "hash", "final_answer", "answer_is", "formula", "last_expression", "choice", "profile"};
}  // namespace

std::string_view ProfileName(Profile profile) { return kProfileNames[static_cast<size_t>(profile)]; }
std::string_view OutcomeName(Outcome outcome) { return kOutcomeNames[static_cast<size_t>(outcome)]; }
std::string_view AnchorName(Anchor anchor) { return kAnchorNames[static_cast<size_t>(anchor)]; }

Result<Profile> ParseProfile(std::string_view name) {
  std::string known;
  for (size_t i = 0; i < std::size(kProfileNames); ++i) {
    if (kProfileNames[i] == name) return static_cast<Profile>(i);
    known += (i ? ", " : "") + std::string(kProfileNames[i]);
  }
  return NotFound("no math profile is called '" + std::string(name) + "'", "profiles: " + known);
}

Policy Policy::ForProfile(Profile profile) {
  Policy policy;
  if (profile == Profile::kStrict) {
    policy.gold_precision = policy.rounded_ok = false;
    policy.unit_required = true;
    policy.relation_for_set = false;
    policy.allow_unevaluated = false;
    policy.last_expression = false;
  }
  if (profile == Profile::kMathVerify) {
    policy.absolute_digits = 6;
    policy.consistent_steps = false;
    policy.repair_gold = false;
    policy.relation_for_set = false;
  }
  return policy;
}

}  // namespace rewardloop::math
