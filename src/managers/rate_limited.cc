// rate_limited: items pass a limiter of the engine before another manager judges them.
#include <atomic>
#include <cmath>
#include <string>

#include "managers/builtin.h"
#include "managers/verdicts.h"
#include "managers/wrapper.h"
#include "rewardloop/engine.h"

namespace rewardloop {
namespace {

class RateLimitedManager : public WrappingManager {
 public:
  struct Options {
    std::string limiter;                     // name; empty: no limit of any kind
    std::shared_ptr<rewardloop::Limiter> own;  // where the user gave it no name: goes with this manager
    std::optional<double> tokens_per_request;  // absent: the item's own length
    bool needs_length = false;
    std::optional<int64_t> timeout_ns;
  };

  RateLimitedManager(std::shared_ptr<const RewardManager> inner, Options options)
      : WrappingManager(std::move(inner)), options_(std::move(options)) {}

  LimiterUse Limiter(const RewardItem& item) const override {
    if (options_.limiter.empty()) return inner().Limiter(item);
    const double tokens = options_.tokens_per_request
                              ? *options_.tokens_per_request
                              : static_cast<double>(ResponseLength(item).value_or(0));
    return {options_.limiter, tokens};
  }
  std::optional<int64_t> timeout_ns() const override {
    const std::optional<int64_t> inner_timeout = inner().timeout_ns();
    if (!options_.timeout_ns || !inner_timeout) return options_.timeout_ns ? options_.timeout_ns : inner_timeout;
    return std::min(*options_.timeout_ns, *inner_timeout);
  }

 protected:
  std::optional<Verdict> Refuse(const RewardItem& item) const override {
    if (!options_.needs_length || ResponseLength(item)) return std::nullopt;
    return NoLength(item, "max_tpm without estimated_tokens_per_request");
  }

 private:
  const Options options_;
};

// `key` as a positive number; 0 when it is null.
Result<double> PositiveOrNull(const Json& args, std::string_view key) {
  const Json& value = *args.Find(key);
  if (value.is_null()) return 0.0;
  const double number = value.AsDouble();
  if (number > 0 && std::isfinite(number)) return number;
  return InvalidArgument(std::string(key) + " must be greater than 0, got " + value.Dump(),
                         "leave it out for no limit");
}

Result<LimiterOptions> ParseLimits(const Json& args) {
  LimiterOptions limits;
  RL_ASSIGN_OR_RETURN(const double concurrent, PositiveOrNull(args, "max_concurrent"));
  RL_ASSIGN_OR_RETURN(limits.max_rpm, PositiveOrNull(args, "max_rpm"));
  RL_ASSIGN_OR_RETURN(limits.max_tpm, PositiveOrNull(args, "max_tpm"));
  limits.max_concurrent = static_cast<int64_t>(concurrent);
  return limits;
}

// Two unnamed limiters are two limiters, also of one engine. The number only has to differ; nothing depends on its value.
std::string UniqueLimiterName(const std::string& prefix) {
  static std::atomic<uint64_t> counter{0};
  return prefix + "rate_limited#" + std::to_string(++counter);
}

// Sets the limiter that `args` speak of, if they limit anything.
Status DefineLimiter(const Json& args, const LimiterOptions& limits, const RewardManager& inner,
                     const ManagerSpec::Deps& deps, RateLimitedManager::Options* options) {
  const Json& given = *args.Find("name");
  if (given.is_null() && limits == LimiterOptions{}) return Status();
  if (!deps.engine) return FailedPrecondition("a rate limit needs an engine that keeps it");
  if (given.is_string() && given.AsString().empty()) return InvalidArgument("name must not be empty");
  // The engine passes an item through one limiter.
  if (!inner.Limiter(RewardItem()).name.empty()) {
    return InvalidArgument("the inner manager '" + inner.name() + "' has a rate limit of its own",
                           "put all limits into one rate_limited");
  }
  if (given.is_null()) {
    options->limiter = UniqueLimiterName(deps.limiter_prefix);
    options->own = deps.engine->AddLimiter(options->limiter, limits);
    return Status();
  }
  options->limiter = given.AsString();
  return deps.engine->DefineLimiter(options->limiter, limits).status();
}

Result<std::unique_ptr<RewardManager>> Make(const Json& args, const ManagerSpec::Deps& deps) {
  RL_ASSIGN_OR_RETURN(const LimiterOptions limits, ParseLimits(args));
  RL_ASSIGN_OR_RETURN(const double timeout_s, PositiveOrNull(args, "timeout"));
  RL_ASSIGN_OR_RETURN(const double estimate, PositiveOrNull(args, "estimated_tokens_per_request"));
  RL_ASSIGN_OR_RETURN(std::shared_ptr<RewardManager> inner, MakeInnerManager(args, deps));
  RateLimitedManager::Options options;
  RL_RETURN_IF_ERROR(DefineLimiter(args, limits, *inner, deps, &options));
  if (estimate > 0) options.tokens_per_request = estimate;
  options.needs_length = limits.max_tpm > 0 && estimate == 0;
  if (timeout_s > 0) options.timeout_ns = SecondsToNs(timeout_s);
  return std::unique_ptr<RewardManager>(new RateLimitedManager(std::move(inner), std::move(options)));
}

}  // namespace

ManagerSpec RateLimitedManagerSpec() {
  ManagerSpec spec;
  spec.name = "rate_limited";
  spec.summary = "Requests and tokens a minute, and how many at once, before another manager judges";
  spec.doc =
      "Items pass a limiter in order of arrival: first a slot of max_concurrent, then a request of max_rpm, then tokens of "
      "max_tpm; nothing is spent while an item waits for a slot. A request larger than one second's worth of tokens waits "
      "until the bucket is full, then goes ahead and leaves a debt that later ones wait for. The limiter belongs to the "
      "engine and is found by `name`: pipelines that use one name share it, and other limits under that name are an error; "
      "without a name the limits are this manager's own. The wait counts as queueing (queue_timeout), not as execution "
      "(timeout). An item costs estimated_tokens_per_request, else its own length; without either it is "
      "unscorable(no_length). Example: {\"max_rpm\": 600, \"max_tpm\": 100000, \"max_concurrent\": 8, \"name\": \"judge\"}.";
  spec.args = {
      {"max_rpm", "number", nullptr, "Requests a minute; absent: no limit.", {}},
      {"max_tpm", "number", nullptr, "Tokens a minute; absent: no limit.", {}},
      {"max_concurrent", "integer", nullptr, "Items in flight at once; absent: no limit.", {}},
      {"timeout", "number", nullptr, "Seconds that one attempt may take; the pipeline's timeout holds too.", {}},
      {"estimated_tokens_per_request", "number", nullptr,
       "Tokens that each item costs with max_tpm; absent: its own length in the data.", {}},
      {"name", "string", nullptr, "Name of the limiter in the engine; absent: one of this manager's own.", {}},
  };
  for (ArgSpec& arg : InnerManagerArgs()) spec.args.push_back(std::move(arg));
  spec.make = Make;
  return spec;
}

}  // namespace rewardloop
