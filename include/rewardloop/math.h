// The math verifier: is the answer in this completion equal to the gold answer?
//
//   rewardloop::math::Options options;
//   auto verdict = rewardloop::math::Verify("\\frac{1}{2}", "... so the answer is \\boxed{0.5}.", options);
//   if (verdict.outcome == rewardloop::math::Outcome::kEqual) ...
//
// Every function here is thread-safe, blocks on nothing, throws nothing and evaluates no text: input bytes are data. A verdict
// depends on (gold, prediction, options) alone, never on time, locale, thread or machine. Work is bounded by Options::fuel.
// docs/math.md describes profiles, policies, answer kinds, limits and reason codes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rewardloop/export.h"
#include "rewardloop/status.h"

namespace rewardloop::math {

enum class Profile : uint8_t {
  kDefault,
  kStrict,         // exact values only: no rounding, no unit, label or percent freedom
  kMathVerify,     // the tolerances of the Math-Verify package: 6 decimals absolute, last match where there is no box
  // String graders of verl, bit-exact. They use none of the policies below.
  kMathReward,
  kMathDapo,
  kGsm8kStrict,
  kGsm8kFlexible,
  kMinerva,
};

// "default", "strict", "math_verify", "math_reward", "math_dapo", "gsm8k_strict", "gsm8k_flexible", "minerva".
REWARDLOOP_EXPORT std::string_view ProfileName(Profile profile);
REWARDLOOP_EXPORT Result<Profile> ParseProfile(std::string_view name);

// What counts as equal where mathematics leaves a choice. ForProfile() gives a profile's settings; change single ones after.
struct REWARDLOOP_EXPORT Policy {
  // A decimal gold with 2 or more fraction digits (or 3 or more significant ones) takes any value that rounds to it;
  // a decimal with 1 or 2 digits more is another decimal.
  bool gold_precision = true;
  // An irrational algebraic gold takes its correctly rounded decimal with at least 4 significant digits.
  bool rounded_ok = true;
  // Absolute tolerance 0.5 * 10^-digits between a decimal and any other value; negative: none.
  int absolute_digits = -1;
  // 50% equals 50 even when the gold is a plain number.
  bool percent_as_number = false;
  // A gold with a unit wants a unit in the prediction.
  bool unit_required = false;
  // A list without brackets is ordered.
  bool ordered_lists = false;
  // An unsolved inequality is accepted for the interval it describes.
  bool relation_for_set = true;
  // 1011_2 equals 11.
  bool base_value = false;
  // A prediction may leave an integral, a limit, or a sum or product with symbolic or more than 100 terms unevaluated.
  bool allow_unevaluated = true;
  // An integer quotient left undivided (3245/5) equals its value.
  bool unreduced_quotients = true;
  // Without a box or an announced answer, the last number or formula of the text is taken.
  bool last_expression = true;
  // Verify(a, b) == Verify(b, a): gold-sided freedoms are given to both sides.
  bool symmetric = false;
  // Damage in a gold is repaired: control characters that were \f, \t, \b ... of a command, missing closing braces.
  bool repair_gold = true;
  // Function and variable names must agree: f(x) is not f(y).
  bool strict_names = true;
  // A prediction whose steps contradict its value or the gold's (x = 3+3 = 7) is different, also where the value is right.
  bool consistent_steps = true;

  static Policy ForProfile(Profile profile);
};

struct Options {
  Profile profile = Profile::kDefault;
  Policy policy;  // used by kDefault, kStrict and kMathVerify
  // Everything up to the last one of these is thinking and never read; empty: read all. A completion that opens
  // "<think>" and never closes it has no answer.
  std::string think_end = "</think>";
  // Budget of one verdict in work units (about 1 ns each).
  int64_t fuel = 2'000'000;
  uint64_t seed = 0x5eed5eed5eedULL;

  static Options ForProfile(Profile profile) {
    Options options;
    options.profile = profile;
    options.policy = Policy::ForProfile(profile);
    return options;
  }
};

enum class Outcome : uint8_t {
  kEqual,      // pays 1
  kDifferent,  // pays 0
  kNoAnswer,   // nothing to compare in the completion: pays 0
  kLimit,      // the prediction breaks a limit: pays 0
  kUnknown,    // neither equal nor different could be shown: unscorable(unknown), never paid
  kBadGold,    // the gold is empty, cannot be read or breaks a limit: unscorable(bad_ground_truth)
};
REWARDLOOP_EXPORT std::string_view OutcomeName(Outcome outcome);  // "equal", "different", "no_answer", ...

// How the answer was found in the completion.
enum class Anchor : uint8_t {
  kNone, kWhole, kBoxed, kBoxes, kAnswerTag, kHash, kFinalAnswer, kAnswerIs, kFormula, kLastExpression, kChoice, kProfile,
};
REWARDLOOP_EXPORT std::string_view AnchorName(Anchor anchor);  // "boxed", "answer_tag", ...

// Byte range of the answer in the completion. With kBoxes it spans the first to the last box.
struct Span {
  int64_t begin = -1;
  int64_t end = -1;
};

// Plain values; `reason` and `rule` are string literals.
struct MathVerdict {
  Outcome outcome = Outcome::kUnknown;
  double score = 0;              // 1 with kEqual; the string graders give their own (math_dapo: 1 or -1)
  std::string_view reason = "";  // "equal_exact", "not_equal_proved", "type_mismatch", "no_answer", "limit_fuel", ...
  std::string_view rule = "";    // what decided: "text", "rational", "residue", "ball", "set", "interval", "equation", ...
  Anchor anchor = Anchor::kNone;
  Span span;
  int64_t fuel_used = 0;

  // True when a score exists (everything but kUnknown and kBadGold).
  bool scored() const { return outcome != Outcome::kUnknown && outcome != Outcome::kBadGold; }
};

// A verdict with what a person needs to understand it.
struct Explanation {
  MathVerdict verdict;
  std::string extracted;        // the answer text as found
  std::string gold_form;        // both sides printed back as they were read
  std::string prediction_form;
  std::string gold_type;        // "integer", "rational", "interval", "text", ...
  std::string prediction_type;
};

// A gold answer, parsed and classified once. Immutable, so it may be shared between threads. The gold may be a bare answer,
// an answer in $...$, or a solution text that ends in a \boxed{} answer.
class REWARDLOOP_EXPORT CompiledGold {
 public:
  CompiledGold(std::string_view gold, const Options& options);
  // Several accepted answers: a prediction that equals one of them is equal.
  CompiledGold(std::span<const std::string> golds, const Options& options);
  ~CompiledGold();
  CompiledGold(const CompiledGold&) = delete;
  CompiledGold& operator=(const CompiledGold&) = delete;

  // False: every verdict is kBadGold, with the reason that bad_reason() names.
  bool usable() const;
  std::string_view bad_reason() const;

  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<const Impl> impl_;
};

// Compiles golds on first use and keeps the `max_entries` latest. Thread-safe.
class REWARDLOOP_EXPORT GoldCache {
 public:
  explicit GoldCache(Options options, size_t max_entries = 65536);
  ~GoldCache();
  std::shared_ptr<const CompiledGold> Get(std::string_view gold);
  const Options& options() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Judges a completion.
REWARDLOOP_EXPORT MathVerdict Verify(const CompiledGold& gold, std::string_view completion);
REWARDLOOP_EXPORT MathVerdict Verify(std::string_view gold, std::string_view completion,
                                     const Options& options = {});
// As Verify(), with both sides printed back. Slower (allocates).
REWARDLOOP_EXPORT Explanation Explain(const CompiledGold& gold, std::string_view completion);

// Compares with an answer that has been extracted already: all of `answer` is the answer.
REWARDLOOP_EXPORT MathVerdict Compare(const CompiledGold& gold, std::string_view answer);
REWARDLOOP_EXPORT MathVerdict Compare(std::string_view gold, std::string_view answer, const Options& options = {});

// verdicts[i] = Verify(golds[i], completions[i]). `golds` has as many elements as `completions`, or one for all of them.
// `threads` 0: as many as there are cores; the calling thread takes part. Equal golds are compiled once.
REWARDLOOP_EXPORT std::vector<MathVerdict> VerifyBatch(std::span<const std::string_view> golds,
                                                       std::span<const std::string_view> completions,
                                                       const Options& options = {}, int threads = 1);

struct Extraction {
  Anchor anchor = Anchor::kNone;  // kNone: no answer
  Span span;
  std::string text;
};
// Finds the answer of a completion without a gold. Boxes that belong together are joined by commas.
REWARDLOOP_EXPORT Extraction Extract(std::string_view completion, const Options& options = {});

struct VoteResult {
  // Class of each prediction, numbered by first appearance; -1: no answer.
  std::vector<int32_t> class_of;
  std::vector<int64_t> class_size;
  // Largest class (the earliest among equals); -1 when nobody answered.
  int32_t winner = -1;
  // Index of the first prediction of the winning class; -1 when nobody answered.
  int64_t representative = -1;
};
// Majority vote: groups predictions whose answers are equal (symmetric policy; undecided counts as different).
REWARDLOOP_EXPORT VoteResult Vote(std::span<const std::string_view> completions, const Options& options = {});

}  // namespace rewardloop::math
