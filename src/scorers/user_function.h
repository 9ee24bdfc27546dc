// Scorers that are Python functions, run in worker processes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rewardloop/log.h"
#include "rewardloop/json.h"
#include "rewardloop/scorer.h"

namespace rewardloop {

// How the workers of user functions are run; one pool a function. Configuration keys of the same names.
struct WorkerSettings {
  std::string python;           // interpreter; empty: see workers/interpreter.h
  int64_t num_workers = 0;      // 0: the CPUs at hand
  int64_t threads_per_worker = 8;
  int64_t max_concurrent = 256;
  int64_t worker_memory = 0;    // bytes a worker may allocate; 0: half of the node's
  std::string hide_env;         // names of environment variables, with commas between them
  std::string worker_gpus;      // empty: none; "all": the caller's; else device numbers
  int64_t import_timeout_ns = 120'000'000'000;
  Json sys_path;                // list of folders, or null: the interpreter's own, after the working folder
};

// A function and how it is to be called.
struct UserFunctionSpec {
  std::string name;   // "rewards.py:fn" or "pkg.mod:fn"
  std::string form;   // empty: by its parameters; "origin": (response, ground_truth)
  Json args;          // object or null: keywords of the function
};

// Starts the function's workers and waits until the first has loaded it. Blocks for that long; not for tasks of the engine.
// `on_close` gets what ends the workers. kInvalidArgument and kNotFound name the interpreter, how it was found, the file and
// the nearest name.
Result<std::shared_ptr<Scorer>> MakeUserFunction(const UserFunctionSpec& spec, const WorkerSettings& settings,
                                                 Executor* executor, Log* log,
                                                 std::vector<std::function<void()>>* on_close);

// What a reply of a worker, a JSON list, says of `count` items. For other ways to run such functions, too.
std::vector<Verdict> VerdictsOfReply(std::string_view json, size_t count, const std::string& function);

// The item as user functions see it, as JSON (python/rewardloop/_calls.py, make_item).
// `seed` is that of its random numbers. With `texts`, the only response of an item goes there as it is, and the item has its
// length, "text_bytes", in its place.
void AppendUserItem(const RewardItem& item, uint64_t seed, std::string* out, std::vector<std::string_view>* texts = nullptr);
// A JSON list of them.
std::string UserItems(const std::vector<const RewardItem*>& items, const ScoreContext& context,
                      std::vector<std::string_view>* texts = nullptr);

}  // namespace rewardloop
