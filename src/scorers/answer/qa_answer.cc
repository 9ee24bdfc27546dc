#include "scorers/answer/qa_answer.h"

#include <algorithm>

#include "scorers/answer/ascii.h"
#include "scorers/answer/gold.h"

namespace rewardloop::answer {
namespace {

Range TrimmedRange(std::string_view text, Range range) {
  const std::string_view trimmed = Trimmed(range.In(text));
  const auto begin = static_cast<size_t>(trimmed.data() - text.data());
  return {begin, begin + trimmed.size()};
}

// \boxed{\text{Paris}} says Paris.
Range WithoutTextCommand(std::string_view text, Range range) {
  for (std::string_view command : {"\\text{", "\\textbf{", "\\mathrm{"}) {
    const std::string_view inside = range.In(text);
    if (inside.starts_with(command) && inside.ends_with("}") &&
        inside.find('}') == inside.size() - 1) {
      return TrimmedRange(text, {range.begin + command.size(), range.end - 1});
    }
  }
  return range;
}

// "Paris. It is" ends behind "Paris"; initials and abbreviations of up to two letters end no
// sentence.
size_t SentenceEnd(std::string_view text) {
  for (size_t i = 3; i + 2 < text.size(); ++i) {
    if (text[i] != '.' || !IsBlank(text[i + 1]) || !IsUpper(text[i + 2])) continue;
    bool word = true;
    for (size_t back = 1; back <= 3; ++back) {
      const char c = text[i - back];
      word = word && !IsSpace(c) && c != '.';
    }
    if (word) return i;
  }
  return text.size();
}

}  // namespace

std::optional<QaAnswer> FindQaAnswer(std::string_view text, Range region) {
  struct Way {
    std::optional<Range> (*find)(std::string_view, Range);
    std::string_view how;
  };
  static constexpr Way kWays[] = {
      {LastAnswerTag, "<answer>"}, {LastBox, "\\boxed"}, {LastAnnounced, "an announced answer"}};
  for (const Way& way : kWays) {
    const std::optional<Range> range = LastBeforeNewQuestion(text, region, way.find);
    if (!range) continue;
    const Range inside = WithoutTextCommand(text, TrimmedRange(text, *range));
    if (inside.size() == 0) return std::nullopt;
    return QaAnswer{inside, way.how};
  }
  const Range whole = TrimmedRange(text, region);
  if (whole.size() == 0) return std::nullopt;
  return QaAnswer{whole, "the whole text"};
}

std::vector<std::string_view> Readings(std::string_view text, const QaAnswer& found) {
  const std::string_view all = found.where.In(text);
  std::vector<std::string_view> readings = {all};
  if (found.how != "an announced answer") return readings;
  if (const size_t end = SentenceEnd(all); end < all.size()) readings.push_back(all.substr(0, end));
  return readings;
}

QaCase OpenQaCase(const RewardItem& item, ScoreContext& context) {
  QaCase opened;
  const Json& truth = item.ground_truth;
  if (IsMissing(truth)) {
    opened.verdict = NoGroundTruth(item);
    return opened;
  }
  if (!truth.is_bool() && VisitGolds(truth, [](std::string_view) {}) <= 0) {
    opened.verdict =
        BadGroundTruth(item, "a text, a number, a list of these, or {\"target\": ...}");
    return opened;
  }
  const std::string* text = item.Response();
  const std::optional<Range> region = text ? OutsideThinking(*text) : Range{};
  if (!region) {
    context.Explain("extract", "<think> is never closed, so there is no answer yet");
    opened.verdict = NoAnswer("thinking_not_closed");
    return opened;
  }
  const std::optional<QaAnswer> found = text ? FindQaAnswer(*text, *region) : std::nullopt;
  if (!found) {
    context.Explain("extract", "the answer is empty");
    opened.verdict = NoAnswer();
    return opened;
  }
  opened.where = found->where;
  if (context.explanation) {
    context.Explain(
        "extract", "'" + Shown(found->where.In(*text)) + "' by " + std::string(found->how),
        static_cast<int64_t>(found->where.begin), static_cast<int64_t>(found->where.end));
  }
  if (found->where.size() > kMaxAnswerBytes) {
    opened.verdict = NoAnswer("limit_answer_bytes");
    return opened;
  }
  opened.answers = Readings(*text, *found);
  return opened;
}

}  // namespace rewardloop::answer
