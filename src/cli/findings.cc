#include "cli/findings.h"

#include "cli/console.h"

namespace rewardloop::cli {
namespace {

// Of one kind, so that many findings of one do not hide another.
constexpr int64_t kMaxListed = 50;

}  // namespace

void Findings::Add(bool is_error, const std::string& kind, const std::string& key,
                   const std::string& place, const std::string& message, const std::string& hint) {
  (is_error ? errors_ : warnings_) += 1;
  const auto known = index_.find({kind, key});
  if (known != index_.end()) {
    ++findings_[known->second].count;
    return;
  }
  if (listed_[kind] >= kMaxListed) {
    ++unlisted_[kind];
    return;
  }
  ++listed_[kind];
  index_.emplace(std::pair(kind, key), findings_.size());
  findings_.push_back({is_error, kind, place, message, hint, 1});
}

void Findings::AddStatus(const std::string& kind, const std::string& key, const std::string& place,
                         const Status& status) {
  Add(true, kind, key, place, status.message(), status.hint());
}

std::string Findings::Text() const {
  std::string text;
  for (const Finding& finding : findings_) {
    text += finding.is_error ? "error: " : "warning: ";
    text += finding.place.empty() ? "" : finding.place + ": ";
    text += finding.message;
    if (finding.count > 1) text += " (" + Plural(finding.count, "row") + ", this is the first)";
    text += "\n";
    if (!finding.hint.empty()) text += "hint: " + finding.hint + "\n";
  }
  for (const auto& [kind, count] : unlisted_)
    text += "and " + Grouped(count) + " more of kind " + kind + "\n";
  return text;
}

Json Findings::ToJson() const {
  Json list = Json::MakeArray();
  for (const Finding& finding : findings_) {
    list.MutableArray().push_back(
        Json::MakeObject({{"severity", finding.is_error ? "error" : "warning"},
                          {"kind", finding.kind},
                          {"place", finding.place},
                          {"message", finding.message},
                          {"hint", finding.hint},
                          {"rows", finding.count}}));
  }
  return list;
}

}  // namespace rewardloop::cli
