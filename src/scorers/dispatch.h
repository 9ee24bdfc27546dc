// Which scorer a data source gets: the dispatch tables "native" and "verl", and the user's
// overrides.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rewardloop/json.h"
#include "rewardloop/status.h"

namespace rewardloop {

// What is known of a data source.
struct DispatchEntry {
  std::string pattern;   // a data source, or a prefix followed by "*"
  std::string scorer;    // empty: known, but nothing here can score it
  Json args;             // object or null
  std::string why_none;  // one sentence, where `scorer` is empty
};

// Data sources are compared exactly: case and white space count. A user's override wins over the
// table; among either, an exact name wins over a prefix and a longer prefix over a shorter one.
//
// Thread-safe once the last override is added.
class DispatchTable {
 public:
  // "native": what is right for each source. "verl": what verl's default_compute_score() calls, and
  // nothing else. kNotFound for other names.
  static Result<DispatchTable> Named(std::string_view name);
  static std::vector<std::string> Names();

  // `pattern` is a data source or "prefix*"; `target` the name of a scorer or {"scorer": name,
  // "args": {...}}. Whether the scorer exists is not checked here. kInvalidArgument for another
  // shape, kAlreadyExists for a second override.
  Status Override(std::string_view pattern, const Json& target);

  // Null for a data source that nobody knows. Valid until the next Override().
  const DispatchEntry* Find(std::string_view data_source) const;

  // kNotFound for a data source that Find() does not know: names it, the nearest known one and how
  // to map it.
  Status Unknown(std::string_view data_source) const;

  const std::string& name() const { return name_; }
  // All, overrides first, in the order of their patterns.
  std::vector<const DispatchEntry*> entries() const;

 private:
  class Level {
   public:
    bool Add(DispatchEntry entry);  // false where the pattern is there
    const DispatchEntry* Find(std::string_view data_source) const;
    void AppendTo(std::vector<const DispatchEntry*>* out) const;

   private:
    std::map<std::string, DispatchEntry, std::less<>> exact_;
    std::map<std::string, DispatchEntry, std::less<>> prefixes_;  // without the "*"
  };

  std::string name_;
  Level overrides_;
  Level table_;
};

}  // namespace rewardloop
