#include "scorers/user_function.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/hash128.h"
#include "rewardloop/engine.h"
#include "scorers/function_scorer.h"
#include "workers/frames.h"
#include "workers/function_name.h"
#include "workers/launcher_host.h"
#include "workers/node.h"
#include "workers/pool.h"

namespace rewardloop {
namespace {

using workers::CallReply;

constexpr int64_t kOtherDescriptors = 64;

Verdict VerdictOfFailure(const CallReply& reply) {
  switch (reply.kind) {
    case CallReply::Kind::kTimeout: return Verdict::Of(ItemStatus::kTimeout, "timeout", reply.text, true);
    case CallReply::Kind::kPoison: return Verdict::Error("poison", reply.text);
    case CallReply::Kind::kQueueTimeout: return Verdict::Of(ItemStatus::kRejected, "queue_timeout", reply.text);
    case CallReply::Kind::kBroken: return Verdict::Error("no_worker", reply.text, true);
    case CallReply::Kind::kVerdicts:
    case CallReply::Kind::kCancelled: break;
  }
  return Verdict::Of(ItemStatus::kCancelled, "cancelled", reply.text);
}

class UserFunction final : public FunctionScorer {
 public:
  UserFunction(std::shared_ptr<workers::WorkerPool> pool, std::string function, bool is_batch)
      : FunctionScorer(std::move(function), is_batch), pool_(std::move(pool)) {}

 protected:
  Task<std::vector<Verdict>> Call(std::vector<const RewardItem*> items, ScoreContext& context,
                                  ScoreContext::Limits limits) const override {
    workers::CallRequest request;
    request.items = static_cast<uint32_t>(items.size());
    request.seed = context.SeedOf(*items[0]);
    request.label = items[0]->item_id;
    std::vector<std::string_view> texts;
    const std::string json = UserItems(items, context, &texts);
    request.payload = workers::CallPayload(json, texts);
    Task<CallReply> call = pool_->Call(std::move(request), {limits.timeout_ns, limits.queue_deadline_ns}, context.stop(),
                                       [&context](int64_t now_ns) { context.MarkStarted(now_ns); });
    const CallReply reply = co_await std::move(call);
    if (reply.kind == CallReply::Kind::kVerdicts) co_return VerdictsOfReply(reply.text, items.size(), function());
    co_return std::vector<Verdict>(items.size(), VerdictOfFailure(reply));
  }
  bool ends_late_calls() const override { return true; }

 private:
  const std::shared_ptr<workers::WorkerPool> pool_;
};

Result<std::string> ReadSource(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return NotFound("there is no Python file '" + path + "'", "paths are relative to the working folder");
  }
  return text.str();
}

std::string Hex(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(value));
  return std::string(text, 12);
}

std::vector<std::string> SplitNames(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream stream(text);
  for (std::string name; std::getline(stream, name, ',');) {
    name.erase(0, name.find_first_not_of(' '));
    name.erase(name.find_last_not_of(' ') + 1);
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

}  // namespace

Result<std::shared_ptr<Scorer>> MakeUserFunction(const UserFunctionSpec& spec, const WorkerSettings& settings,
                                                 Executor* executor, Log* log,
                                                 std::vector<std::function<void()>>* on_close) {
  const auto name = workers::ParseFunctionName(spec.name);
  if (!name) return InvalidArgument("'" + spec.name + "' names no function", "write path/to/file.py:fn or pkg.mod:fn");
  if (name->attribute.empty()) return InvalidArgument("'" + spec.name + "' names no function", "write " + name->path + ":NAME");
  Json source, path;
  std::string digest;
  if (!name->path.empty()) {
    RL_ASSIGN_OR_RETURN(std::string text, ReadSource(name->path));
    Hash128 hash;
    hash.Add(text);
    digest = Hex(hash.Finish()[0]);
    source = Json(std::move(text));
    std::string absolute = name->path;
    if (char* const real = realpath(absolute.c_str(), nullptr)) {
      absolute = real;
      std::free(real);
    }
    path = Json(absolute);
  }
  RL_ASSIGN_OR_RETURN(const workers::Interpreter interpreter, workers::FindInterpreter(settings.python));

  workers::PoolOptions options;
  options.name = spec.name;
  options.workers = static_cast<int>(settings.num_workers > 0 ? settings.num_workers : AvailableCpus());
  options.threads = static_cast<int>(settings.threads_per_worker);
  options.max_concurrent = settings.max_concurrent;
  options.import_timeout_ns = settings.import_timeout_ns;
  // Two descriptors a worker at a time when two of each may be about, and those of the process itself.
  const std::string what = std::to_string(options.workers) + " workers of '" + spec.name + "'";
  RL_RETURN_IF_ERROR(workers::EnsureDescriptors(kOtherDescriptors + 4 * (options.workers + 1), what.c_str()));
  const int64_t memory = settings.worker_memory > 0 ? settings.worker_memory : workers::MemoryOfNode() / 2;
  options.hello = Json::MakeObject({
      {"protocol", int64_t{workers::kProtocol}},
      {"name", spec.name},
      {"module", name->module},
      {"attribute", name->attribute},
      {"path", path},
      {"source", source},
      {"arguments", spec.args.is_object() ? spec.args : Json::MakeObject()},
      {"form", spec.form.empty() ? Json() : Json(spec.form)},
      {"threads", settings.threads_per_worker},
      {"memory", memory},
      {"network", spec.form != "origin"},
      {"sys_path", settings.sys_path},
  });
  RL_ASSIGN_OR_RETURN(std::unique_ptr<workers::WorkerHost> host,
                      workers::StartLauncher({interpreter, SplitNames(settings.hide_env), settings.worker_gpus}));
  auto pool = workers::WorkerPool::Make(executor, log, std::move(host), std::move(options));
  const Result<workers::FunctionInfo> info = pool->Start();
  if (!info.ok()) {
    pool->Close();
    return Status(info.status().code(),
                  info.status().message() + " [Python interpreter: " + interpreter.path + ", from " + interpreter.found_by + "]",
                  info.status().hint());
  }
  if (on_close) on_close->push_back([pool] { pool->Close(); });
  auto scorer = std::make_shared<UserFunction>(std::move(pool), spec.name, info->is_batch);
  scorer->SetIdentity(spec.name, "1+" + (digest.empty() ? info->digest : digest));
  return std::shared_ptr<Scorer>(std::move(scorer));
}

}  // namespace rewardloop
