#include "cli/summary.h"

#include <algorithm>
#include <cctype>

#include "base/hash128.h"
#include "cli/console.h"

namespace rewardloop::cli {
namespace {

// Names beyond these are counted together: a file may have a data source a row.
constexpr size_t kMaxSources = 200;
constexpr size_t kMaxComponents = 200;
constexpr size_t kMaxFailureKinds = 200;
constexpr size_t kShownFailures = 3;
// Of one kind of failure, so many rows are looked at for a telling one.
constexpr int64_t kLookedAt = 32;
constexpr char kOthers[] = "(others)";

// How much a person wants to see a failure; small is more. A right answer that was not found comes
// before wrong ones.
enum Rank : int {
  kBroken,
  kJudge,
  kLate,
  kCannotJudge,
  kShed,
  kNearMiss,
  kNoAnswer,
  kWrong,
  kEmpty
};

bool IsWordByte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || (static_cast<unsigned char>(c) & 0x80);
}

// `needle` as a word of its own.
bool ContainsWord(std::string_view text, std::string_view needle) {
  if (needle.empty()) return false;
  for (size_t at = text.find(needle); at != std::string_view::npos;
       at = text.find(needle, at + 1)) {
    const bool starts = at == 0 || !IsWordByte(text[at - 1]) || !IsWordByte(needle.front());
    const size_t end = at + needle.size();
    const bool ends = end == text.size() || !IsWordByte(text[end]) || !IsWordByte(needle.back());
    if (starts && ends) return true;
  }
  return false;
}

bool IsFailure(ItemStatus status, const std::optional<double>& score) {
  return status != ItemStatus::kScored || (score && *score <= 0);
}

Rank RankOf(const SummaryRow& row) {
  switch (row.status) {
    case ItemStatus::kError:
      return kBroken;
    case ItemStatus::kJudgeError:
      return kJudge;
    case ItemStatus::kTimeout:
      return kLate;
    case ItemStatus::kUnscorable:
      return kCannotJudge;
    case ItemStatus::kRejected:
    case ItemStatus::kCancelled:
      return kShed;
    case ItemStatus::kScored:
      break;
  }
  if (!row.response || row.response->find_first_not_of(" \t\r\n") == std::string::npos)
    return kEmpty;
  const bool found_it = row.extracted && *row.extracted == row.ground_truth;
  if (!found_it && ContainsWord(*row.response, row.ground_truth)) return kNearMiss;
  return row.extracted ? kWrong : kNoAnswer;
}

std::string FailureKey(ItemStatus status, std::string_view reason) {
  return std::string(ItemStatusName(status)) + "/" + std::string(reason);
}

std::string Padded(std::string text, size_t width, bool right) {
  // Width in characters, so that names in other scripts line up roughly.
  size_t length = 0;
  for (const char c : text) length += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  const std::string fill(length < width ? width - length : 0, ' ');
  return right ? fill + text : text + fill;
}

std::string MeanText(double sum, int64_t count) {
  if (count == 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", sum / static_cast<double>(count));
  return text;
}

Json MeanJson(double sum, int64_t count) {
  return count == 0 ? Json() : Json(sum / static_cast<double>(count));
}

}  // namespace

bool Summary::WantsText(ItemStatus status, const std::optional<double>& score,
                        std::string_view reason) const {
  if (!IsFailure(status, score)) return false;
  const auto known = failures_.find(FailureKey(status, reason));
  return known == failures_.end() || known->second.count < kLookedAt;
}

void Summary::Add(const SummaryRow& row) {
  ++rows_;
  if (!row.score) ++without_score_;
  policy_values_ += row.score && row.status != ItemStatus::kScored;
  auto source = sources_.find(row.data_source);
  if (source == sources_.end()) {
    const std::string name(sources_.size() < kMaxSources ? row.data_source
                                                         : std::string_view(kOthers));
    source = sources_.emplace(name, Source()).first;
  }
  ++source->second.rows;
  ++source->second.by_status[static_cast<size_t>(row.status)];
  if (row.score) source->second.score.Add(*row.score);

  if (row.components) {
    for (const Component& component : *row.components) {
      auto mean = components_.find(component.name);
      if (mean == components_.end()) {
        mean = components_
                   .emplace(components_.size() < kMaxComponents ? component.name : kOthers, Mean())
                   .first;
      }
      mean->second.Add(component.value);
    }
  }
  if (!row.group_id.empty()) {
    Hash128 hash;
    hash.Add(row.group_id);
    GroupSpread& group = groups_[hash.Finish()[0]];
    if (row.status == ItemStatus::kScored && row.score) {
      if (group.scored == 0)
        group.first = *row.score;
      else if (*row.score != group.first)
        group.differs = true;
      ++group.scored;
    }
  }
  if (IsFailure(row.status, row.score)) AddFailure(row);
}

void Summary::AddFailure(const SummaryRow& row) {
  const std::string key = FailureKey(row.status, row.reason);
  auto known = failures_.find(key);
  if (known == failures_.end()) {
    if (failures_.size() >= kMaxFailureKinds) return;
    known = failures_.emplace(key, Failure()).first;
  }
  Failure& failure = known->second;
  ++failure.count;
  if (failure.count > kLookedAt) return;
  const int rank = RankOf(row);
  const bool better = failure.count == 1 || rank < failure.rank ||
                      (rank == failure.rank && row.line_number < failure.line_number);
  if (!better) return;
  failure.rank = rank;
  failure.line_number = row.line_number;
  failure.item_id = row.item_id;
  failure.status = row.status;
  failure.score = row.score;
  failure.reason = row.reason;
  failure.detail = !row.error_message.empty() ? std::string(row.error_message)
                   : row.extracted            ? "found '" + Excerpt(*row.extracted, 60) + "'"
                                              : "found no answer";
  failure.response = row.response ? Excerpt(*row.response, 160) : "";
  failure.ground_truth = Excerpt(row.ground_truth, 60);
}

int64_t Summary::zero_spread_groups() const {
  int64_t count = 0;
  for (const auto& [key, group] : groups_) count += group.scored >= 2 && !group.differs;
  return count;
}

std::vector<const Summary::Failure*> Summary::TopFailures() const {
  std::vector<const Failure*> all;
  for (const auto& [key, failure] : failures_) all.push_back(&failure);
  std::sort(all.begin(), all.end(), [](const Failure* a, const Failure* b) {
    return std::tie(a->rank, a->line_number) < std::tie(b->rank, b->line_number);
  });
  // One of each sort first: three rows without a ground truth tell no more than one.
  std::vector<const Failure*> top, same_sort;
  for (const Failure* failure : all) {
    const bool new_sort = top.empty() || top.back()->rank != failure->rank;
    (new_sort ? top : same_sort).push_back(failure);
  }
  top.insert(top.end(), same_sort.begin(), same_sort.end());
  if (top.size() > kShownFailures) top.resize(kShownFailures);
  return top;
}

std::string Summary::TextOfFailure(const Failure& failure) const {
  std::string text = "  line " + std::to_string(failure.line_number) + "  " +
                     Excerpt(failure.item_id, 40) + "  " +
                     std::string(ItemStatusName(failure.status));
  if (failure.score) text += " " + ScoreText(*failure.score);
  text += "  " + failure.reason + ": " + Excerpt(failure.detail, 200);
  if (failure.count > 1) text += "  (" + Plural(failure.count, "row") + " with this reason)";
  text += "\n";
  if (failure.rank == kNearMiss)
    text += "      the right answer is in the text, but was not taken as the answer\n";
  if (!failure.ground_truth.empty()) text += "      truth:    " + failure.ground_truth + "\n";
  if (!failure.response.empty()) text += "      response: " + failure.response + "\n";
  return text;
}

std::string Summary::Text(double seconds, int64_t fresh_rows) const {
  std::vector<std::vector<std::string>> table = {{"data source", "rows", "mean reward"}};
  std::vector<size_t> statuses;
  for (size_t status = 0; status < kItemStatusCount; ++status) {
    int64_t count = 0;
    for (const auto& [name, source] : sources_) count += source.by_status[status];
    if (count == 0) continue;
    statuses.push_back(status);
    table[0].emplace_back(ItemStatusName(static_cast<ItemStatus>(status)));
  }
  Source all;
  const auto add_line = [&](const std::string& name, const Source& source) {
    std::vector<std::string> line = {name, Grouped(source.rows),
                                     MeanText(source.score.sum, source.score.count)};
    for (const size_t status : statuses) line.push_back(Grouped(source.by_status[status]));
    table.push_back(std::move(line));
  };
  for (const auto& [name, source] : sources_) {
    add_line(name.empty() ? "(none)" : Excerpt(name, 40), source);
    all.rows += source.rows;
    all.score.sum += source.score.sum;
    all.score.count += source.score.count;
    for (size_t status = 0; status < kItemStatusCount; ++status)
      all.by_status[status] += source.by_status[status];
  }
  if (sources_.size() > 1) add_line("all", all);

  std::string text;
  std::vector<size_t> widths(table[0].size(), 0);
  for (const auto& line : table) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (const auto& line : table) {
    std::string row;
    for (size_t i = 0; i < line.size(); ++i)
      row += (i == 0 ? "" : "  ") + Padded(line[i], widths[i], i > 0);
    text += row + "\n";
  }
  if (policy_values_ > 0) {
    text += Plural(policy_values_, "row") + " without a verdict " +
            (policy_values_ == 1 ? "counts" : "count") +
            " with the number that on_error puts in its place\n";
  }
  for (const auto& [name, mean] : components_) {
    text += "component " + Excerpt(name, 40) + ": mean " + MeanText(mean.sum, mean.count) + " of " +
            Plural(mean.count, "row") + "\n";
  }
  if (!groups_.empty()) {
    text += Plural(groups(), "group") + ", " + Grouped(zero_spread_groups()) +
            " with zero spread (all members of one score: no signal)\n";
  }
  char speed[96];
  std::snprintf(speed, sizeof speed, "%s scored in %.2f s", Plural(fresh_rows, "row").c_str(),
                seconds);
  text += speed;
  if (seconds > 0 && fresh_rows > 0) {
    text += ", " + Grouped(static_cast<int64_t>(static_cast<double>(fresh_rows) / seconds)) +
            " items/s";
  }
  text += "\n";
  const auto top = TopFailures();
  if (!top.empty()) text += "most interesting failures:\n";
  for (const Failure* failure : top) text += TextOfFailure(*failure);
  return text;
}

Json Summary::ToJson(double seconds, int64_t fresh_rows) const {
  Json sources = Json::MakeObject();
  for (const auto& [name, source] : sources_) {
    Json statuses = Json::MakeObject();
    for (size_t status = 0; status < kItemStatusCount; ++status) {
      statuses.Set(ItemStatusName(static_cast<ItemStatus>(status)), source.by_status[status]);
    }
    sources.Set(name, Json::MakeObject({{"rows", source.rows},
                                        {"mean", MeanJson(source.score.sum, source.score.count)},
                                        {"with_score", source.score.count},
                                        {"status", std::move(statuses)}}));
  }
  Json components = Json::MakeObject();
  for (const auto& [name, mean] : components_) {
    components.Set(name, Json::MakeObject({{"mean", MeanJson(mean.sum, mean.count)},
                                           {"count", mean.count},
                                           {"missing", rows_ - mean.count}}));
  }
  Json failures = Json::MakeArray();
  for (const Failure* failure : TopFailures()) {
    failures.MutableArray().push_back(
        Json::MakeObject({{"line", failure->line_number},
                          {"item_id", failure->item_id},
                          {"status", ItemStatusName(failure->status)},
                          {"reason", failure->reason},
                          {"detail", failure->detail},
                          {"rows_with_this_reason", failure->count}}));
  }
  return Json::MakeObject({{"rows", rows_},
                           {"without_score", without_score_},
                           {"policy_values", policy_values_},
                           {"data_sources", std::move(sources)},
                           {"components", std::move(components)},
                           {"groups", groups()},
                           {"zero_spread_groups", zero_spread_groups()},
                           {"rows_scored_now", fresh_rows},
                           {"seconds", seconds},
                           {"failures", std::move(failures)}});
}

}  // namespace rewardloop::cli
