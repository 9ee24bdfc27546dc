// verl/search_r1_em and verl/search_r1_subem: verl.utils.reward_score.search_r1_like_qa_em.
#include <algorithm>

#include "base/pystring.h"
#include "scorers/builtin.h"
#include "scorers/python_error.h"
#include "scorers/verl_explain.h"

namespace rewardloop {
namespace {

constexpr std::string_view kOpen = "<answer>";
constexpr std::string_view kClose = "</answer>";
// More tags of one kind than this is taken for guessing.
constexpr size_t kMaxTags = 10;
constexpr double kGuessingDivisor = 4;

bool IsPunctuation(char c) {
  const auto u = static_cast<unsigned char>(c);
  return u > 0x20 && u < 0x7F && !py::IsAlnum(u);
}

// Appends `word`, made of word characters alone, unless it is an article; articles leave a space.
void AppendWord(std::string_view word, std::string* out) {
  if (word == "a" || word == "an" || word == "the") word = " ";
  out->append(word);
}

// Lower case, no ASCII punctuation, no articles, single spaces.
std::string NormalizeAnswer(std::string_view answer) {
  std::string text = py::Lower(answer);
  text.erase(std::remove_if(text.begin(), text.end(), IsPunctuation), text.end());
  std::string without_articles;
  size_t word_begin = 0;
  for (size_t pos = 0; pos < text.size();) {
    const py::DecodedChar c = py::DecodeAt(text, pos);
    if (!py::IsWord(c.code_point)) {
      AppendWord(std::string_view(text).substr(word_begin, pos - word_begin), &without_articles);
      without_articles.append(text, pos, c.size);
      word_begin = pos + c.size;
    }
    pos += c.size;
  }
  AppendWord(std::string_view(text).substr(word_begin), &without_articles);
  std::string out;
  for (const std::string_view word : py::SplitSpace(without_articles)) {
    if (!out.empty()) out += ' ';
    out += word;
  }
  return out;
}

// What stands between the last "<answer>...</answer>", stripped. Pairs are taken from the left and
// do not overlap.
string_graders::Extraction ExtractAnswer(std::string_view response) {
  std::string_view found;
  bool any = false;
  for (size_t pos = 0;;) {
    const size_t open = response.find(kOpen, pos);
    if (open == std::string_view::npos) break;
    const size_t begin = open + kOpen.size();
    const size_t close = response.find(kClose, begin);
    if (close == std::string_view::npos) break;
    found = response.substr(begin, close - begin);
    any = true;
    pos = close + kClose.size();
  }
  if (!any) return {};
  const std::string_view answer = py::Strip(found);
  return string_graders::ExtractionOf(response, answer, std::string(answer));
}

// ground_truth["target"] as the list of values that the origin walks through, or what it raises.
struct Targets {
  std::vector<Json> values;
  std::optional<PythonError> error;
};

Targets TargetsOf(const Json& truth) {
  const auto raise = [](PythonError error) { return Targets{{}, std::move(error)}; };
  if (truth.is_string()) return raise(TypeError("string indices must be integers, not 'str'"));
  if (truth.is_array()) return raise(TypeError("list indices must be integers or slices, not str"));
  if (!truth.is_object()) {
    return raise(
        TypeError("'" + std::string(PythonTypeName(truth)) + "' object is not subscriptable"));
  }
  const Json* target = truth.Find("target");
  if (!target) return raise({"KeyError", "'target'"});
  Targets targets;
  if (target->is_string()) {
    targets.values = {*target};
  } else if (target->is_array()) {
    targets.values = target->AsArray();
  } else if (target->is_object()) {
    for (const auto& member : target->AsObject()) targets.values.emplace_back(member.first);
  } else {
    return raise(
        TypeError("'" + std::string(PythonTypeName(*target)) + "' object is not iterable"));
  }
  return targets;
}

class VerlSearchR1 : public Scorer {
 public:
  VerlSearchR1(bool substring, double format_score, double score)
      : substring_(substring), format_score_(format_score), score_(score) {}

  Verdict Score(const RewardItem& item, ScoreContext& context) const override {
    const std::string* response = item.Response();
    if (!response)
      return RaisedVerdict(TypeError("expected string or bytes-like object, got 'NoneType'"));
    string_graders::Extraction found = ExtractAnswer(*response);
    ExplainExtraction(found, "the last <answer>...</answer>", &context);
    if (!found.answer) return Verdict::Scored(0, "no_answer");
    Targets targets = TargetsOf(item.ground_truth);
    if (targets.error) return RaisedVerdict(*targets.error);
    const std::string answer = NormalizeAnswer(*found.answer);
    bool matched = false;
    for (const Json& target : targets.values) {
      if (!target.is_string()) return RaisedVerdict(NoAttribute(target, "lower"));
      const std::string wanted = NormalizeAnswer(target.AsString());
      matched = substring_ ? py::Contains(answer, wanted) : answer == wanted;
      Explain(answer, wanted, matched, &context);
      if (matched) break;
    }
    Verdict verdict = !matched ? Verdict::Scored(format_score_, "not_equal")
                      : Guesses(*response)
                          ? Verdict::Scored(score_ / kGuessingDivisor, "too_many_tags")
                          : Verdict::Scored(score_, substring_ ? "contains" : "equal_string");
    verdict.extracted = std::move(found.answer);
    return verdict;
  }

 private:
  bool Guesses(std::string_view response) const {
    return !substring_ &&
           (py::Count(response, kOpen) > kMaxTags || py::Count(response, kClose) > kMaxTags);
  }

  void Explain(std::string_view answer, std::string_view wanted, bool matched,
               ScoreContext* context) const {
    if (!context->explanation) return;
    if (!substring_) return ExplainComparison(answer, wanted, matched, context);
    context->Explain("compare", QuotedForPeople(answer) +
                                    (matched ? " contains " : " does not contain ") +
                                    QuotedForPeople(wanted));
  }

  const bool substring_;
  const double format_score_;
  const double score_;
};

ScorerSpec SpecOf(bool substring) {
  ScorerSpec spec;
  spec.version = "1";
  spec.args = {
      {"method", "string", "strict", "Accepted and unused, as in the origin.", {}},
      {"format_score", "number", 0.0, "Score of a wrong answer in the right form.", {}},
      {"score", "number", 1.0, "Score of a right answer.", {}},
  };
  spec.make = [substring](const Json& args) -> Result<std::unique_ptr<Scorer>> {
    return std::unique_ptr<Scorer>(new VerlSearchR1(
        substring, args.Find("format_score")->AsDouble(), args.Find("score")->AsDouble()));
  };
  return spec;
}

}  // namespace

ScorerSpec VerlSearchR1EmSpec() {
  ScorerSpec spec = SpecOf(false);
  spec.name = "verl/search_r1_em";
  spec.summary = "verl's Search-R1 exact match, bit for bit";
  spec.doc =
      "Compares the last <answer>...</answer> with each text of ground_truth['target'] after "
      "lower-casing and deleting ASCII "
      "punctuation (minus signs and decimal points too) and articles. More than 10 opening or "
      "closing tags: a quarter of the "
      "score.\nExample: response '<answer>The Paris.</answer>' with ground truth {\"target\": "
      "[\"Paris\"]} scores 1.";
  return spec;
}

ScorerSpec VerlSearchR1SubemSpec() {
  ScorerSpec spec = SpecOf(true);
  spec.name = "verl/search_r1_subem";
  spec.summary = "verl's Search-R1 substring match, bit for bit";
  spec.doc =
      "As verl/search_r1_em, but the normalised target need only be a part of the normalised "
      "answer, inside words too, and the "
      "number of tags does not count.\nExample: response '<answer>in Paris</answer>' with ground "
      "truth "
      "{\"target\": \"Paris\"} scores 1.";
  return spec;
}

}  // namespace rewardloop
