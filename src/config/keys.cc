// The table of configuration keys: one line a key, from which files, flags, Python and
// documentation are made.
#include "rewardloop/config.h"

namespace rewardloop {
namespace {

constexpr char kJudging[] = "What judges";
constexpr char kRows[] = "Where columns are";
constexpr char kMeaning[] = "What results mean";
constexpr char kLimits[] = "Limits and retries";
constexpr char kGroups[] = "Groups";
constexpr char kResources[] = "Resources";
constexpr char kFunctions[] = "Python functions";

class KeyList {
 public:
  ConfigKey& Add(const char* section, const char* name, const char* type, Json value,
                 const char* doc, std::vector<std::string> choices = {}) {
    ConfigKey key;
    key.name = name;
    key.type = type;
    key.default_value = std::move(value);
    key.doc = doc;
    key.choices = std::move(choices);
    key.section = section;
    key.nullable = key.default_value.is_null();
    return keys.emplace_back(std::move(key));
  }
  void Number(const char* section, const char* name, const char* type, Json value, double minimum,
              const char* doc, bool affects_scores = false) {
    ConfigKey& key = Add(section, name, type, std::move(value), doc);
    key.minimum = minimum;
    key.affects_scores = affects_scores;
  }

  std::vector<ConfigKey> keys;
};

void AddFunctionKeys(KeyList* list) {
  const auto word = [&](const char* name, const char* doc) {
    list->Add(kFunctions, name, "string", "", doc).affects_scores = false;
  };
  list->Number(kFunctions, "num_workers", "integer", 0, 0,
               "Worker processes of a Python function; 0: the CPUs at hand.");
  list->Number(kFunctions, "threads_per_worker", "integer", 8, 1,
               "Calls of a blocking function at once, a worker; 1: in its main thread.");
  word("python", "Interpreter; empty: REWARDLOOP_PYTHON, VIRTUAL_ENV, the one beside, python3.");
  list->Number(kFunctions, "import_timeout", "number", 120.0, 0, "Seconds that loading may take.");
  list->Number(kFunctions, "worker_memory", "integer", 0, 0,
               "Bytes that a worker may allocate; 0: half of the machine's.");
  word("hide_env", "Environment variables that workers do not see: NAME,PREFIX*.");
  word("worker_gpus", "Devices that workers see; empty: none, all: the caller's.");
}

std::vector<ConfigKey> MakeKeys() {
  KeyList list;
  std::vector<ConfigKey>& keys = list.keys;
  const auto add = [&](const char* section, const char* name, const char* type, Json value,
                       const char* doc, std::vector<std::string> choices = {}) -> ConfigKey& {
    return list.Add(section, name, type, std::move(value), doc, std::move(choices));
  };
  const auto number = [&](const char* section, const char* name, const char* type, Json value,
                          double minimum, const char* doc, bool affects_scores = false) {
    list.Number(section, name, type, std::move(value), minimum, doc, affects_scores);
  };

  add(kJudging, "scorer", "string", "", "Scorer for every row; empty: chosen by data source.");
  add(kJudging, "scorer_args", "object", nullptr, "Arguments of the scorer.");
  add(kJudging, "manager", "string", "naive", "How a scorer's verdict becomes a reward.");
  add(kJudging, "manager_args", "object", nullptr, "Arguments of the manager.");
  add(kJudging, "dispatch", "string", "native", "Table that picks the scorer by data source.",
      {"native", "verl"});
  add(kJudging, "data_sources", "object", nullptr,
      "Data source, or prefix*, to scorer, before the table: a name, or {scorer: name, args: "
      "{...}}.");
  add(kJudging, "unknown_rewards", "string", "raise",
      "A data source that nobody knows: stop (raise), or end the row as unscorable (warn).",
      {"raise", "warn"});

  add(kRows, "preset", "string", "",
      "Column names of another program's rollouts; empty: rewardloop's own.",
      {"", "verl", "trl", "openrlhf", "slime", "chat"});
  add(kRows, "fields", "object", nullptr, "Field to column, e.g. response: output.text.");

  add(kMeaning, "on_error", "string", "raise",
      "What becomes of a missing score: raise, null, zero, value:<number> or drop_group.")
      .affects_scores = false;
  keys.back().nullable = true;  // null is one of the policies
  number(kMeaning, "seed", "integer", 0, 0, "Seed of the scorers that draw random numbers.", true);

  number(kLimits, "timeout", "number", 10.0, 0,
         "Seconds for one attempt at one row; null: no limit.");
  keys.back().nullable = true;
  number(kLimits, "total_timeout", "number", nullptr, 0,
         "Seconds for all attempts at one row; null: no limit.");
  number(kLimits, "queue_timeout", "number", nullptr, 0,
         "Seconds that a row may wait before it starts, then it is rejected; null: no limit.");
  number(kLimits, "max_attempts", "integer", 1, 1, "Attempts at a row whose error is retryable.");
  number(kLimits, "retry_delay", "number", 0.1, 0,
         "Seconds before the second attempt; doubles each time.");

  add(kGroups, "grouping", "string", "submit", "When a group without group_size closes.",
      {"submit", "explicit"})
      .affects_scores = false;
  number(kGroups, "group_size", "integer", 0, 0,
         "Trajectories a group, for rows that do not say; 0: see grouping.");
  number(kGroups, "group_deadline", "number", nullptr, 0,
         "Seconds from a group's first row until it is delivered as it is; null: no limit.");

  number(kResources, "threads", "integer", 0, 0,
         "Threads for rules; 0: num_workers, else the CPUs at hand.");
  number(kResources, "max_concurrent", "integer", 256, 1, "Waiting rows in flight at once.");
  number(kResources, "backlog_items", "integer", 4096, 1, "Rows accepted and not finished.");
  number(kResources, "backlog_bytes", "integer", int64_t{256} << 20, 1, "Their bytes.");
  add(kResources, "overflow", "string", "block", "What a full backlog does.",
      {"block", "drop_oldest", "reject"})
      .affects_scores = false;
  number(kResources, "uncollected_items", "integer", 65536, 1,
         "Finished results that nobody took yet.");
  number(kResources, "uncollected_bytes", "integer", int64_t{1} << 30, 1, "Their bytes.");

  AddFunctionKeys(&list);
  return keys;
}

}  // namespace

const std::vector<ConfigKey>& ConfigKeys() {
  static const std::vector<ConfigKey> keys = MakeKeys();
  return keys;
}

const ConfigKey* FindConfigKey(std::string_view name) {
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

Json ConfigSchema() {
  Json properties = Json::MakeObject();
  Json schema_version = Json::MakeObject({{"type", "integer"},
                                          {"description", "Version of this file's format."},
                                          {"const", kSchemaVersion}});
  properties.Set("schema", std::move(schema_version));
  for (const ConfigKey& key : ConfigKeys()) {
    Json property = Json::MakeObject();
    property.Set("type",
                 key.nullable ? Json::MakeArray({Json(key.type), Json("null")}) : Json(key.type));
    property.Set("description", key.doc);
    property.Set("default", key.default_value);
    if (!key.choices.empty()) {
      Json::Array choices(key.choices.begin(), key.choices.end());
      property.Set("enum", Json(std::move(choices)));
    }
    if (key.minimum) property.Set("minimum", *key.minimum);
    if (key.name == "on_error") property.Set("pattern", "^(raise|null|zero|drop_group|value:.+)$");
    properties.Set(key.name, std::move(property));
  }
  return Json::MakeObject({{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                           {"title", "rewardloop configuration"},
                           {"type", "object"},
                           {"additionalProperties", false},
                           {"properties", std::move(properties)}});
}

}  // namespace rewardloop
