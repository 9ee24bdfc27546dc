#include "cli/comparison.h"

#include <algorithm>
#include <cmath>

#include "cli/console.h"

namespace rewardloop::cli {
namespace {

// Ways to change beyond these are counted together.
constexpr size_t kMaxReasons = 1000;
constexpr size_t kShownReasons = 12;

std::string VerdictText(const Judged& judged) {
  if (judged.status == "scored" && judged.score) return ScoreText(*judged.score);
  return judged.status + (judged.score ? " " + ScoreText(*judged.score) : "");
}

std::string Extracted(const Judged& judged) {
  return judged.extracted ? "'" + Excerpt(*judged.extracted, 40) + "'" : "nothing";
}

std::string MeanText(double sum, int64_t count) {
  if (count == 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", sum / static_cast<double>(count));
  return text;
}

Json JudgedJson(const Judged& judged) {
  return Json::MakeObject({{"status", judged.status},
                           {"score", judged.score ? Json(*judged.score) : Json()},
                           {"reason", judged.reason},
                           {"extracted", judged.extracted ? Json(*judged.extracted) : Json()}});
}

}  // namespace

void Comparison::AddToGroup(const std::string& group_id, int side,
                            const std::optional<double>& score) {
  if (group_id.empty() || !score) return;
  Spread& spread = groups_[group_id];
  if (!spread.first[side]) spread.first[side] = score;
  spread.differs[side] = spread.differs[side] || *spread.first[side] != *score;
  ++spread.scored[side];
}

void Comparison::Add(int64_t line_number, const std::string& item_id, const Judged& a,
                     const Judged& b) {
  ++rows_;
  AddToGroup(a.group_id, 0, a.score);
  AddToGroup(a.group_id.empty() ? b.group_id : a.group_id, 1, b.score);
  if (a.score && b.score) {
    ++scored_in_both_;
    sum_a_ += *a.score;
    sum_b_ += *b.score;
  }
  const bool same_status = a.status == b.status;
  const bool same_score = a.score.has_value() == b.score.has_value() &&
                          (!a.score || std::fabs(*a.score - *b.score) <= tolerance_);
  if (same_status && same_score) {
    if (a.reason != b.reason || a.extracted != b.extracted) ++reason_only_;
    return;
  }
  ++changed_;
  if (!same_status || a.score.has_value() != b.score.has_value())
    ++status_changed_;
  else if (*b.score > *a.score)
    ++up_;
  else
    ++down_;
  std::string why =
      VerdictText(a) + " (" + a.reason + ") -> " + VerdictText(b) + " (" + b.reason + ")";
  if (why_.size() >= kMaxReasons && !why_.count(why)) why = "other";
  ++why_[why];
  if (static_cast<int64_t>(changes_.size()) < limit_)
    changes_.push_back({line_number, item_id, a, b});
}

void Comparison::AddOnlyInA(const std::string& item_id) {
  if (only_a_++ == 0) first_only_a_ = item_id;
}
void Comparison::AddOnlyInB(const std::string& item_id) {
  if (only_b_++ == 0) first_only_b_ = item_id;
}

int64_t Comparison::ZeroSpread(int side) const {
  int64_t count = 0;
  for (const auto& [id, spread] : groups_)
    count += spread.scored[side] >= 2 && !spread.differs[side];
  return count;
}

std::string Comparison::Text(const std::string& name_a, const std::string& name_b) const {
  std::string text = "a: " + name_a + "\nb: " + name_b + "\n";
  text += Plural(rows_, "row") + " in both";
  if (only_a_ > 0) text += ", " + Grouped(only_a_) + " only in a (first '" + first_only_a_ + "')";
  if (only_b_ > 0) text += ", " + Grouped(only_b_) + " only in b (first '" + first_only_b_ + "')";
  text += "\nmean reward " + MeanText(sum_a_, scored_in_both_) + " -> " +
          MeanText(sum_b_, scored_in_both_) + " over " + Plural(scored_in_both_, "row") +
          " with a score in both\n";
  if (!groups_.empty()) {
    text += "groups with zero spread: " + Grouped(ZeroSpread(0)) + " -> " + Grouped(ZeroSpread(1)) +
            " of " + Grouped(static_cast<int64_t>(groups_.size())) + "\n";
  }
  text += Plural(changed_, "row") + " changed: " + Grouped(up_) + " up, " + Grouped(down_) +
          " down, " + Grouped(status_changed_) + " with another status";
  if (reason_only_ > 0)
    text += "; " + Grouped(reason_only_) + " more with the same score for another reason";
  text += "\n";
  if (changed_ == 0) return text;
  std::vector<std::pair<std::string, int64_t>> reasons(why_.begin(), why_.end());
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const auto& x, const auto& y) { return x.second > y.second; });
  text += "why:\n";
  for (size_t i = 0; i < reasons.size() && i < kShownReasons; ++i) {
    std::string count = Grouped(reasons[i].second);
    count.insert(0, count.size() < 8 ? 8 - count.size() : 0, ' ');
    text += count + "  " + reasons[i].first + "\n";
  }
  text += "rows:\n";
  for (const Change& change : changes_) {
    text += "  line " + std::to_string(change.line_number) + "  " + Excerpt(change.item_id, 40) +
            "  " + VerdictText(change.a) + " -> " + VerdictText(change.b) + "  " + change.a.reason +
            " -> " + change.b.reason + "  extracted " + Extracted(change.a) + " -> " +
            Extracted(change.b) + "\n";
  }
  const int64_t hidden = changed_ - static_cast<int64_t>(changes_.size());
  if (hidden > 0) text += "  and " + Grouped(hidden) + " more (--limit shows more)\n";
  return text;
}

Json Comparison::ToJson(const std::string& name_a, const std::string& name_b) const {
  Json changes = Json::MakeArray();
  for (const Change& change : changes_) {
    changes.MutableArray().push_back(Json::MakeObject({{"line", change.line_number},
                                                       {"item_id", change.item_id},
                                                       {"a", JudgedJson(change.a)},
                                                       {"b", JudgedJson(change.b)}}));
  }
  Json why = Json::MakeObject();
  for (const auto& [text, count] : why_) why.Set(text, count);
  const auto mean = [&](double sum) {
    return scored_in_both_ ? Json(sum / static_cast<double>(scored_in_both_)) : Json();
  };
  return Json::MakeObject({{"a", name_a},
                           {"b", name_b},
                           {"rows", rows_},
                           {"only_in_a", only_a_},
                           {"only_in_b", only_b_},
                           {"changed", changed_},
                           {"up", up_},
                           {"down", down_},
                           {"status_changed", status_changed_},
                           {"same_score_other_reason", reason_only_},
                           {"mean_a", mean(sum_a_)},
                           {"mean_b", mean(sum_b_)},
                           {"groups", static_cast<int64_t>(groups_.size())},
                           {"zero_spread_a", ZeroSpread(0)},
                           {"zero_spread_b", ZeroSpread(1)},
                           {"why", std::move(why)},
                           {"changes", std::move(changes)}});
}

}  // namespace rewardloop::cli
