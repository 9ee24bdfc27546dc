// choice: the label of a multiple-choice answer.
#include <algorithm>
#include <array>
#include <optional>

#include "scorers/answer/ascii.h"
#include "scorers/answer/gold.h"
#include "scorers/answer/normalize.h"
#include "scorers/answer/region.h"
#include "scorers/builtin.h"

namespace rewardloop {
namespace {

using answer::Range;

constexpr size_t kMaxLabels = 26;
constexpr size_t kDefaultLabels = 10;  // A to J
// A whole text that is taken for an answer without being declared as one.
constexpr size_t kMaxBareBytes = 200;
using LabelSet = uint32_t;  // bit i: label i

// The options of one item.
struct Options {
  std::array<char, kMaxLabels> labels{};
  size_t count = 0;
  std::array<std::string_view, kMaxLabels> texts{};  // empty where not known

  int Find(char label) const {
    for (size_t i = 0; i < count; ++i) {
      if (labels[i] == label) return static_cast<int>(i);
    }
    return -1;
  }
  bool Has(char label) const { return Find(label) >= 0; }
  void Add(char label, std::string_view text) {
    if (count == kMaxLabels) return;
    labels[count] = label;
    texts[count++] = text;
  }
};

bool IsLabel(const Json& value) {
  return value.is_string() && value.AsString().size() == 1 &&
         (answer::IsLetter(value.AsString()[0]) || answer::IsDigit(value.AsString()[0]));
}

char AsLabel(const std::string& text) {
  return answer::IsLower(text[0]) ? static_cast<char>(text[0] - 32) : text[0];
}

std::string_view TextOf(const Json& value) {
  return value.is_string() ? std::string_view(value.AsString()) : "";
}

// extra_info.choices or .options: labels, texts, {"A": text}, or {"label": [...], "text": [...]}.
Options OptionsOf(const Json& extra_info, size_t default_count) {
  Options options;
  const Json* given = extra_info.Find("choices");
  if (!given) given = extra_info.Find("options");
  const Json* texts = given && given->is_object() ? given->Find("text") : nullptr;
  const Json* labels = given && given->is_object() ? given->Find("label") : nullptr;
  if (texts && labels && texts->is_array() && labels->is_array() &&
      texts->size() == labels->size()) {
    for (size_t i = 0; i < labels->size(); ++i) {
      const Json& label = labels->AsArray()[i];
      if (IsLabel(label)) options.Add(AsLabel(label.AsString()), TextOf(texts->AsArray()[i]));
    }
  } else if (given && given->is_object()) {
    for (const auto& [key, text] : given->AsObject()) {
      if (key.size() == 1 && answer::IsLetter(key[0])) options.Add(AsLabel(key), TextOf(text));
    }
  } else if (given && given->is_array()) {
    const auto& list = given->AsArray();
    const bool only_labels = std::all_of(list.begin(), list.end(), IsLabel) && !list.empty() &&
                             answer::IsLetter(list[0].AsString()[0]);
    for (size_t i = 0; i < list.size() && i < kMaxLabels; ++i) {
      options.Add(only_labels ? AsLabel(list[i].AsString()) : static_cast<char>('A' + i),
                  only_labels ? "" : TextOf(list[i]));
    }
  }
  if (options.count == 0) {
    for (size_t i = 0; i < default_count; ++i) options.Add(static_cast<char>('A' + i), "");
  }
  return options;
}

// Skips what may stand around a label: "**(", "\text{", "Option ".
size_t SkipMarks(std::string_view text, size_t pos) {
  static constexpr std::string_view kMarks[] = {
      "\\boxed{",     "\\fbox{",      "\\text{",     "\\textbf{", "\\mathbf{",
      "\\mathrm{",    "\\(",          "option ",     "choice ",   "letter ",
      "the ",         "either ",      "both ",       "probably ", "\xE9\x80\x89\xE9\xA1\xB9",
      "\xE9\x80\x89", "\xEF\xBC\x88", "\xEF\xBC\x9A"};
  for (bool moved = true; moved && pos < text.size();) {
    moved = false;
    if (answer::IsSpace(text[pos]) ||
        std::string_view("*_`\"'$([{:").find(text[pos]) != std::string_view::npos) {
      ++pos;
      moved = true;
      continue;
    }
    for (std::string_view mark : kMarks) {
      if (answer::StartsWithNoCase(text, pos, mark)) {
        pos += mark.size();
        moved = true;
        break;
      }
    }
  }
  return pos;
}

struct Token {
  int label = -1;
  size_t begin = 0;
  size_t end = 0;
};

// A and I are words too: "A cat" and "I think" name no option.
bool IsWordUse(std::string_view text, const Token& token, const Options& options) {
  const char c = text[token.begin];
  if ((c != 'A' && c != 'I') || token.end >= text.size() || !answer::IsBlank(text[token.end]))
    return false;
  const size_t next = token.end + 1;
  if (next >= text.size() || !answer::IsLetter(text[next])) return false;
  for (std::string_view word :
       {"because", "since", "as", "is", "and", "or", "which", "but", "due", "not"}) {
    if (answer::WordAt(text, next, word)) return false;
  }
  const std::string_view option = options.texts[static_cast<size_t>(token.label)];
  return option.empty() || !answer::StartsWith(text, next, option);
}

// The label at text[pos], which must stand alone.
std::optional<Token> LabelAt(std::string_view text, size_t pos, const Options& options) {
  const size_t begin = SkipMarks(text, pos);
  Token token;
  token.begin = begin;
  char c = begin < text.size() ? text[begin] : '\0';
  token.end = begin + 1;
  if (c == '\xEF' && begin + 2 < text.size() && text[begin + 1] == '\xBC' &&
      text[begin + 2] >= '\xA1' && text[begin + 2] <= '\xBA') {
    c = static_cast<char>('A' + (text[begin + 2] - '\xA1'));  // full-width
    token.end = begin + 3;
  }
  const bool lower = answer::IsLower(c);
  token.label = options.Find(lower ? static_cast<char>(c - 32) : c);
  if (token.label < 0) return std::nullopt;
  const char next = token.end < text.size() ? text[token.end] : '\0';
  if (answer::IsLetter(next) || answer::IsDigit(next) || next == '\'' || next == '-' || next == '_')
    return std::nullopt;
  // A small letter in running text is a word; "(b)", "b." and "b" alone are labels.
  if (lower && next != '\0' && std::string_view(")].:}*,").find(next) == std::string_view::npos)
    return std::nullopt;
  if (IsWordUse(text, token, options)) return std::nullopt;
  return token;
}

size_t SkipClosing(std::string_view text, size_t pos) {
  while (pos < text.size() &&
         std::string_view(")]}*_`\"'$. \t\n").find(text[pos]) != std::string_view::npos)
    ++pos;
  return pos;
}

// Behind "," or "and" or "or" at text[pos]; npos when nothing joins here.
size_t AfterJoin(std::string_view text, size_t pos) {
  for (std::string_view mark :
       {",", "/", "&", ";", "\xE3\x80\x81", "\xEF\xBC\x8C", "\xE5\x92\x8C"}) {
    if (answer::StartsWith(text, pos, mark)) {
      pos += mark.size();
      const size_t word = SkipMarks(text, pos);
      for (std::string_view joining : {"and", "or", "maybe"}) {
        if (word < text.size() && answer::WordAt(text, word, joining)) return word + joining.size();
      }
      return pos;
    }
  }
  for (std::string_view word : {"and", "or", "maybe"}) {
    if (pos < text.size() && answer::WordAt(text, pos, word)) return pos + word.size();
  }
  return answer::kNotFound;
}

struct Said {
  LabelSet set = 0;
  Range where;
};

// "B", "(B) Paris", "A and C", "AC": the labels that `span` names, or none.
std::optional<Said> LabelsIn(std::string_view text, Range span, const Options& options) {
  const std::string_view view = text.substr(0, span.end);
  std::optional<Token> token = LabelAt(view, span.begin, options);
  Said said;
  if (!token) {
    // "AC" as the whole answer is a set of labels.
    const size_t begin = SkipMarks(view, span.begin);
    size_t end = begin;
    while (end < view.size() && answer::IsUpper(view[end]) && options.Has(view[end])) {
      said.set |= LabelSet{1} << options.Find(view[end++]);
    }
    if (end == begin || SkipClosing(view, end) != view.size()) return std::nullopt;
    said.where = {begin, end};
    return said;
  }
  said.set = LabelSet{1} << token->label;
  said.where = {token->begin, token->end};
  size_t pos = SkipClosing(view, token->end);
  for (size_t join; (join = AfterJoin(view, pos)) != answer::kNotFound;) {
    token = LabelAt(view, join, options);
    if (!token) break;
    said.set |= LabelSet{1} << token->label;
    said.where.end = token->end;
    pos = SkipClosing(view, token->end);
  }
  // "B) Paris or C) London"
  const size_t end = std::min(view.size(), pos + kMaxBareBytes);
  for (; pos < end; ++pos) {
    if (!answer::IsBlank(view[pos]) || !answer::WordAt(view, pos + 1, "or")) continue;
    const std::optional<Token> other = LabelAt(view, pos + 3, options);
    if (other && answer::IsUpper(view[other->begin])) said.set |= LabelSet{1} << other->label;
  }
  return said;
}

// The one option whose text is `said`.
std::optional<Said> OptionText(std::string_view text, Range span, const Options& options) {
  if (span.size() > answer::kMaxAnswerBytes) return std::nullopt;
  std::string wanted;
  std::optional<Said> found;
  for (size_t i = 0; i < options.count; ++i) {
    if (options.texts[i].empty()) continue;
    if (wanted.empty()) wanted = answer::NormalizeText(span.In(text));
    if (wanted != answer::NormalizeText(options.texts[i])) continue;
    if (found) return std::nullopt;
    found = Said{LabelSet{1} << i, span};
  }
  return found;
}

std::optional<Range> LastHashMark(std::string_view text, Range within) {
  const size_t mark = answer::LastMarker(text, "####", within.begin, within.end);
  if (mark == answer::kNotFound) return std::nullopt;
  return Range{mark + 4,
               answer::LineEnd(text, mark + 4, std::min(within.end, mark + answer::kMaxLineBytes))};
}

// Behind "选" ("choose").
std::optional<Range> LastChosen(std::string_view text, Range within) {
  constexpr std::string_view kChoose = "\xE9\x80\x89";
  const size_t mark = answer::LastMarker(text, kChoose, within.begin, within.end);
  if (mark == answer::kNotFound) return std::nullopt;
  const size_t begin = mark + kChoose.size();
  return Range{begin,
               answer::LineEnd(text, begin, std::min(within.end, begin + answer::kMaxLineBytes))};
}

class Choice : public Scorer {
 public:
  Choice(size_t labels, std::optional<int64_t> index_base)
      : labels_(labels), index_base_(index_base) {}

  Verdict Score(const RewardItem& item, ScoreContext& context) const override {
    if (answer::IsMissing(item.ground_truth)) return answer::NoGroundTruth(item);
    const Options options = OptionsOf(item.extra_info, labels_);
    const LabelSet gold = GoldSet(item.ground_truth, options);
    if (gold == 0) {
      return answer::BadGroundTruth(
          item, "a label or the text of one of the " + std::to_string(options.count) + " options");
    }
    const std::string* text = item.Response();
    if (!text) return answer::NoAnswer();
    const std::optional<Range> region = answer::OutsideThinking(*text);
    if (!region) {
      context.Explain("extract", "<think> is never closed, so there is no answer yet");
      return answer::NoAnswer("thinking_not_closed");
    }
    const std::optional<Said> said = Find(*text, *region, options);
    if (!said) {
      context.Explain("extract",
                      "no option is named by <answer>, \\boxed, '####' or 'the answer is'");
      return answer::NoAnswer();
    }
    return Judge(*text, *said, gold, options, context);
  }

 private:
  static Verdict Judge(std::string_view text, const Said& said, LabelSet gold,
                       const Options& options, ScoreContext& context) {
    const bool equal = said.set == gold;
    Verdict verdict = Verdict::Scored(equal ? 1 : 0, equal               ? "equal"
                                                     : Several(said.set) ? "several_answers"
                                                                         : "not_equal");
    verdict.extracted = Spelled(said.set, options);
    if (context.explanation) {
      const auto begin = static_cast<int64_t>(said.where.begin),
                 end = static_cast<int64_t>(said.where.end);
      context.Explain("extract",
                      "'" + answer::Shown(said.where.In(text)) + "' names " + *verdict.extracted,
                      begin, end);
      context.Explain("compare", "the ground truth is " + Spelled(gold, options), begin, end);
    }
    return verdict;
  }

  static bool Several(LabelSet set) { return (set & (set - 1)) != 0; }

  static std::string Spelled(LabelSet set, const Options& options) {
    std::string text;
    for (size_t i = 0; i < options.count; ++i) {
      if (!(set >> i & 1)) continue;
      if (!text.empty()) text += ",";
      text += options.labels[i];
    }
    return text;
  }

  // 0: cannot be read.
  LabelSet GoldSet(const Json& truth, const Options& options) const {
    if (truth.is_int() && !options.Has('1')) {
      if (!index_base_) return 0;
      const int64_t index = truth.AsInt() - *index_base_;
      return index >= 0 && index < static_cast<int64_t>(options.count) ? LabelSet{1} << index : 0;
    }
    LabelSet set = 0;
    bool readable = true;
    const int count = answer::VisitGolds(truth, [&](std::string_view gold) {
      const Range whole{0, gold.size()};
      std::optional<Said> said = OptionText(gold, whole, options);
      if (!said) said = LabelsIn(gold, whole, options);
      if (said) set |= said->set;
      readable = readable && said;
    });
    return count > 0 && readable ? set : 0;
  }

  // Of all declarations the last one that names options.
  static std::optional<Said> Find(std::string_view text, Range region, const Options& options) {
    std::optional<Said> last;
    auto names = [&](Range range) {
      return LabelsIn(text, range, options) || OptionText(text, range, options);
    };
    auto take = [&](auto find) {
      const auto accepted = [&](std::string_view all, Range within) {
        return answer::LastAccepted(all, within, find, names);
      };
      const std::optional<Range> range = answer::LastBeforeNewQuestion(text, region, accepted);
      if (!range || (last && range->begin < last->where.begin)) return;
      std::optional<Said> said = LabelsIn(text, *range, options);
      if (!said) said = OptionText(text, *range, options);
      if (said && (!last || said->where.begin >= last->where.begin)) last = said;
    };
    take(answer::LastAnswerTag);
    take(answer::LastBox);
    take(answer::LastAnnounced);
    take(LastHashMark);
    take(LastChosen);
    if (last) return last;
    const std::string_view bare = answer::Trimmed(region.In(text));
    if (bare.empty() || bare.size() > kMaxBareBytes || bare.find('\n') != std::string_view::npos)
      return last;
    const auto begin = static_cast<size_t>(bare.data() - text.data());
    const Range whole{begin, begin + bare.size()};
    last = OptionText(text, whole, options);
    return last ? last : LabelsIn(text, whole, options);
  }

  const size_t labels_;
  const std::optional<int64_t> index_base_;
};

}  // namespace

ScorerSpec ChoiceSpec() {
  ScorerSpec spec;
  spec.name = "choice";
  spec.version = "1";
  spec.summary = "Multiple-choice answers, by label or by the option's text";
  spec.doc =
      "Pays 1 when the completion chooses the option of the ground truth, else 0.\n"
      "\n"
      "The choice is the last one that is declared: <answer>B</answer>, \\boxed{B}, \"the answer "
      "is (B)\", \"Answer: B\", "
      "\"#### B\", \"选B\"; without a declaration, a text of one line that begins with a label "
      "(\"B. Paris\") or is an "
      "option's text. Letters in running text are never taken, thinking is not read. Several "
      "labels (\"A or B\") equal only "
      "a ground truth that is the same set.\n"
      "\n"
      "extra_info.choices (or .options) may list the options: texts, labels, {\"A\": text} or "
      "{\"label\": [...], \"text\": "
      "[...]}. Ground truth: a label (\"B\"), an option's text, several labels (\"A,C\" or a "
      "list), or an index with "
      "`index_base`.\n"
      "Reasons: equal, not_equal, several_answers, no_answer, thinking_not_closed.";
  spec.args = {{"labels",
                "integer",
                static_cast<int64_t>(kDefaultLabels),
                "Number of labels, from A, where the item does not list its options.",
                {}},
               {"index_base",
                "integer",
                nullptr,
                "Number of the first option where ground truths are indices (0 or 1); null: an "
                "index is a bad ground truth.",
                {}}};
  spec.make = [](const Json& args) -> Result<std::unique_ptr<Scorer>> {
    const int64_t labels = args.Find("labels")->AsInt();
    if (labels < 2 || labels > static_cast<int64_t>(kMaxLabels)) {
      return InvalidArgument("labels must be 2 to 26, got " + std::to_string(labels));
    }
    std::optional<int64_t> index_base;
    if (args.Find("index_base")->is_int()) index_base = args.Find("index_base")->AsInt();
    return std::unique_ptr<Scorer>(new Choice(static_cast<size_t>(labels), index_base));
  };
  return spec;
}

}  // namespace rewardloop
