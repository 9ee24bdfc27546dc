// gsm8k: the number that a completion declares as its answer, compared exactly.
#include <algorithm>
#include <optional>

#include "scorers/answer/ascii.h"
#include "scorers/answer/gold.h"
#include "scorers/answer/read_number.h"
#include "scorers/answer/region.h"
#include "scorers/builtin.h"

namespace rewardloop {
namespace {

using answer::Range;
using answer::ReadNumber;
using answer::ReadStatus;

constexpr std::string_view kMark = "####";

size_t BoundedLineEnd(std::string_view text, size_t pos, size_t end) {
  return answer::LineEnd(text, pos, std::min(end, pos + answer::kMaxLineBytes));
}

// "#### 3. Add the parts" is a heading when the solution goes on behind its line.
bool IsHeading(std::string_view text, const ReadNumber& read, Range within) {
  const size_t after = read.where.end;
  if (after >= within.end || !answer::IsBlank(text[after]) || after + 1 >= within.end ||
      !answer::IsLetter(text[after + 1])) {
    return false;
  }
  const char mark = text[after - 1];
  if (mark != '.') return false;
  for (size_t i = answer::LineEnd(text, after, within.end); i < within.end; ++i) {
    if (answer::IsDigit(text[i])) return true;
  }
  return false;
}

// Behind the last "####" that a number follows; other ones are headings.
std::optional<Range> LastHashMark(std::string_view text, Range within) {
  size_t limit = within.end;
  for (;;) {
    limit = answer::LastMarker(text, kMark, within.begin, limit);
    if (limit == answer::kNotFound) return std::nullopt;
    size_t begin = limit + kMark.size();
    while (limit > within.begin && text[limit - 1] == '#') --limit;  // "#####" is one mark
    while (begin < within.end && answer::IsSpace(text[begin])) ++begin;
    const Range line{begin, BoundedLineEnd(text, begin, within.end)};
    Range said = line;
    ReadNumber read = answer::ReadDeclaredNumber(text, said);
    if (read.status == ReadStatus::kNone && answer::Trimmed(line.In(text)).ends_with(":")) {
      // "#### Answer:" with the number on the next line.
      size_t next = line.end;
      while (next < within.end && answer::IsSpace(text[next])) ++next;
      said = {next, BoundedLineEnd(text, next, within.end)};
      read = answer::ReadDeclaredNumber(text, said);
    }
    if (read.status != ReadStatus::kNone && !IsHeading(text, read, within)) return said;
  }
}

std::optional<Range> LastAnnouncedNumber(std::string_view text, Range within) {
  return answer::LastAccepted(text, within, answer::LastAnnounced, [&](Range range) {
    return answer::ReadDeclaredNumber(text, range).status != ReadStatus::kNone;
  });
}

// "<answer>She has 72 apples</answer>" states one number, wherever it stands.
ReadNumber OnlyNumber(std::string_view text, Range within) {
  ReadNumber last = answer::ReadLastNumber(text, within);
  if (last.status != ReadStatus::kNumber || last.where.begin <= within.begin) return last;
  const ReadNumber before = answer::ReadLastNumber(text, {within.begin, last.where.begin});
  if (before.status != ReadStatus::kNone) last.status = ReadStatus::kSeveral;
  return last;
}

struct Found {
  ReadNumber read;
  std::string_view how = "";
};

class Gsm8k : public Scorer {
 public:
  explicit Gsm8k(bool last_number) : last_number_(last_number) {}

  Verdict Score(const RewardItem& item, ScoreContext& context) const override {
    if (answer::IsMissing(item.ground_truth)) return answer::NoGroundTruth(item);
    const std::string* text = item.Response();
    const std::optional<Range> region = text ? answer::OutsideThinking(*text) : Range{};
    Found found;
    if (text && region) found = Find(*text, *region);
    bool equal = false;
    const int golds = CompareWithGolds(item.ground_truth, found.read, &equal, context);
    if (golds == 0) return answer::BadGroundTruth(item, "a number");
    if (!region) {
      context.Explain("extract", "<think> is never closed, so there is no answer yet");
      return answer::NoAnswer("thinking_not_closed");
    }
    return Judge(text ? std::string_view(*text) : std::string_view(), found, equal, context);
  }

 private:
  Found Find(std::string_view text, Range region) const {
    struct Way {
      std::optional<Range> (*find)(std::string_view, Range);
      std::string_view how;
      bool delimited;  // nothing but the answer is inside
    };
    static constexpr Way kWays[] = {{LastHashMark, "the mark '####'", false},
                                    {answer::LastAnswerTag, "<answer>", true},
                                    {answer::LastBox, "\\boxed", true},
                                    {LastAnnouncedNumber, "an announced answer", false}};
    for (const Way& way : kWays) {
      const std::optional<Range> range = answer::LastBeforeNewQuestion(text, region, way.find);
      if (!range) continue;
      Found found{answer::ReadDeclaredNumber(text, *range), way.how};
      if (found.read.status == ReadStatus::kNone && way.delimited) {
        found.read = OnlyNumber(text, *range);
      }
      if (found.read.status != ReadStatus::kNone) return found;
    }
    Found found{answer::ReadWholeNumber(region.In(text)), "the whole text"};
    if (found.read.status == ReadStatus::kNumber) {
      found.read.where.begin += region.begin;
      found.read.where.end += region.begin;
      return found;
    }
    if (!last_number_) return {};
    found = {answer::ReadLastNumber(text, CutAtNewQuestion(text, region)), "the last number"};
    return found.read.status == ReadStatus::kNone ? Found{} : found;
  }

  static Range CutAtNewQuestion(std::string_view text, Range region) {
    const size_t digit = text.find_first_of("0123456789", region.begin);
    if (digit == answer::kNotFound) return region;
    const size_t question = answer::NewQuestion(text, digit, region.end);
    if (question != answer::kNotFound) region.end = question;
    return region;
  }

  // Number of golds that could be read; `equal` when one of them is the answer.
  static int CompareWithGolds(const Json& truth, const ReadNumber& read, bool* equal,
                              ScoreContext& context) {
    int usable = 0;
    answer::VisitGolds(truth, [&](std::string_view gold) {
      // A gold may be a whole solution that ends in "#### 72".
      if (const size_t mark = answer::LastMarker(gold, kMark, 0, gold.size());
          mark != answer::kNotFound) {
        gold.remove_prefix(mark + kMark.size());
      }
      const ReadNumber wanted = answer::ReadWholeNumber(gold);
      if (wanted.status != ReadStatus::kNumber) return;
      ++usable;
      if (context.explanation)
        context.Explain("gold", "the ground truth is " + answer::Shown(gold));
      *equal = *equal || (read.status == ReadStatus::kNumber &&
                          answer::SameAnswer(wanted.number, read.number));
    });
    return usable;
  }

  static Verdict Judge(std::string_view text, const Found& found, bool equal,
                       ScoreContext& context) {
    const ReadNumber& read = found.read;
    if (read.status == ReadStatus::kNone) {
      context.Explain("extract",
                      "no answer is declared by '####', <answer>, \\boxed or 'the answer is'");
      return answer::NoAnswer();
    }
    const auto begin = static_cast<int64_t>(read.where.begin),
               end = static_cast<int64_t>(read.where.end);
    const std::string_view extracted = read.where.In(text);
    if (context.explanation) {
      context.Explain("extract", "'" + answer::Shown(extracted) + "' by " + std::string(found.how),
                      begin, end);
    }
    Verdict verdict = Verdict::Scored(0, Reason(read.status, equal));
    if (read.status == ReadStatus::kLimit) return verdict;
    verdict.score = equal ? 1 : 0;
    verdict.extracted = std::string(Bare(extracted));
    if (context.explanation) {
      context.Explain("compare",
                      equal ? "same value" : "not the value of the ground truth: " + verdict.reason,
                      begin, end);
    }
    return verdict;
  }

  // Without the full stop that ends the sentence.
  static std::string_view Bare(std::string_view number) {
    while (!number.empty() && (number.back() == '.' || answer::IsSpace(number.back())))
      number.remove_suffix(1);
    return number;
  }

  static std::string Reason(ReadStatus status, bool equal) {
    switch (status) {
      case ReadStatus::kLimit:
        return "limit_digits";
      case ReadStatus::kSeveral:
        return "several_answers";
      case ReadStatus::kExpression:
        return "not_a_number";
      default:
        return equal ? "equal" : "not_equal";
    }
  }

  const bool last_number_;
};

}  // namespace

ScorerSpec Gsm8kSpec() {
  ScorerSpec spec;
  spec.name = "gsm8k";
  spec.version = "1";
  spec.summary = "Numeric answers of word problems, compared exactly";
  spec.doc =
      "Pays 1 when the number that the completion declares as its answer has the value of the "
      "ground truth, else 0.\n"
      "\n"
      "The answer is the last `#### x`; without one the last <answer>x</answer>, then the last "
      "\\boxed{x}, then the last "
      "\"the answer is x\", \"Answer: x\" or \"A: x\", then a text that is nothing but a number. "
      "`method: flexible` also "
      "takes the last number of the text. Thinking (all up to the last </think>) is not read, nor "
      "what follows a new "
      "\"Question:\" that the model asked itself.\n"
      "\n"
      "Numbers are compared by exact value, without any tolerance: 1,000 = 1000.00, $72 = 72, 3/4 "
      "= 0.75, "
      "1.5e3 = 1500, 5 million = 5000000, 50% = 50 (and 0.5, where the ground truth is below 1). "
      "Two numbers (\"5 or 6\") "
      "and unfinished arithmetic (\"3*4\") equal nothing.\n"
      "\n"
      "Ground truth: a number, its text, a GSM8K solution that ends in `#### x`, or a list of "
      "accepted numbers.\n"
      "Reasons: equal, not_equal, no_answer, thinking_not_closed, several_answers, not_a_number, "
      "limit_digits.";
  spec.args = {{"method",
                "string",
                "strict",
                "strict: only a declared answer counts; flexible: without one, the last number of "
                "the text does.",
                {"strict", "flexible"}}};
  spec.make = [](const Json& args) -> Result<std::unique_ptr<Scorer>> {
    return std::unique_ptr<Scorer>(new Gsm8k(args.Find("method")->AsString() == "flexible"));
  };
  return spec;
}

}  // namespace rewardloop
