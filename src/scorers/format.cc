// format: is the completion laid out as asked? Looks at no ground truth.
#include <re2/re2.h>

#include <optional>

#include "base/utf8.h"
#include "scorers/answer/ascii.h"
#include "scorers/builtin.h"

namespace rewardloop {
namespace {

enum class After { kNothing, kAnything, kText };

struct FormatOptions {
  std::vector<std::string> tags;
  bool first_open_in_prompt = false;
  bool allow_empty = false;
  After after = After::kNothing;
  std::shared_ptr<const RE2> pattern;  // shared by copies of the options; immutable
  bool search = false;
};

// Reasons are codes; `at` is the offset that the complaint is about.
struct Complaint {
  std::string reason;
  std::string detail;
  size_t at = 0;
};

class Format : public Scorer {
 public:
  explicit Format(FormatOptions options) : options_(std::move(options)) {}

  Verdict Score(const RewardItem& item, ScoreContext& context) const override {
    const std::string* text = item.Response();
    if (!text) return Verdict::Scored(0, "no_answer");
    std::optional<Complaint> complaint;
    if (!options_.tags.empty()) complaint = CheckTags(*text);
    if (!complaint && options_.pattern) complaint = CheckPattern(*text);
    if (complaint) {
      const auto at = static_cast<int64_t>(complaint->at);
      context.Explain("format", complaint->detail, at, at);
      return Verdict::Scored(0, complaint->reason);
    }
    context.Explain("format", "laid out as asked");
    return Verdict::Scored(1, "format_ok");
  }

 private:
  std::optional<Complaint> CheckTags(std::string_view text) const {
    size_t pos = 0;
    for (size_t i = 0; i < options_.tags.size(); ++i) {
      const std::string open = "<" + options_.tags[i] + ">", close = "</" + options_.tags[i] + ">";
      if (auto complaint = CheckCounts(text, open, close, i == 0)) return complaint;
      while (pos < text.size() && answer::IsSpace(text[pos])) ++pos;
      const bool opened = answer::StartsWith(text, pos, open);
      if (!opened && !(i == 0 && options_.first_open_in_prompt)) {
        return Complaint{"misplaced_text", open + " must come here", pos};
      }
      if (opened) pos += open.size();
      const size_t end = text.find(close, pos);
      if (end == std::string_view::npos)
        return Complaint{"wrong_order", close + " comes too early", pos};
      if (!options_.allow_empty && answer::Trimmed(text.substr(pos, end - pos)).empty()) {
        return Complaint{"empty_tag", "nothing inside " + open, pos};
      }
      for (const std::string& other : options_.tags) {
        const size_t inner = text.substr(0, end).find("<" + other + ">", pos);
        if (inner != std::string_view::npos)
          return Complaint{"nested_tag", "<" + other + "> inside " + open, inner};
      }
      pos = end + close.size();
    }
    return CheckRest(text, pos);
  }

  std::optional<Complaint> CheckCounts(std::string_view text, const std::string& open,
                                       const std::string& close, bool first) const {
    const bool may_lack_open = first && options_.first_open_in_prompt;
    for (const std::string& tag : {open, close}) {
      const size_t at = text.find(tag);
      if (at == std::string_view::npos) {
        if (tag == open && may_lack_open) continue;
        return Complaint{"missing_tag", tag + " is missing", text.size()};
      }
      if (const size_t again = text.find(tag, at + tag.size()); again != std::string_view::npos) {
        return Complaint{"repeated_tag", tag + " comes a second time", again};
      }
    }
    return std::nullopt;
  }

  std::optional<Complaint> CheckRest(std::string_view text, size_t pos) const {
    const bool rest = !answer::Trimmed(text.substr(pos)).empty();
    if (options_.after == After::kNothing && rest) {
      return Complaint{"text_after", "text after the last tag", pos};
    }
    if (options_.after == After::kText && !rest) {
      return Complaint{"missing_text", "no text after the last tag", pos};
    }
    return std::nullopt;
  }

  std::optional<Complaint> CheckPattern(std::string_view text) const {
    const auto matches = [this](std::string_view subject) {
      const re2::StringPiece piece(subject.data(), subject.size());
      return options_.search ? RE2::PartialMatch(piece, *options_.pattern)
                             : RE2::FullMatch(piece, *options_.pattern);
    };
    // RE2 reads UTF-8 only: "." would stop at a broken byte.
    const bool matched = IsValidUtf8(text) ? matches(text) : matches(RepairUtf8(text));
    if (matched) return std::nullopt;
    return Complaint{"pattern_mismatch", "does not match " + options_.pattern->pattern(), 0};
  }

  const FormatOptions options_;
};

Result<std::shared_ptr<const RE2>> Compile(const std::string& pattern, bool dot_all) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_dot_nl(dot_all);
  auto compiled = std::make_shared<const RE2>(pattern, options);
  if (compiled->ok()) return compiled;
  const std::string hint =
      pattern.find("(?=") != std::string::npos || pattern.find("(?!") != std::string::npos ||
              pattern.find("(?<") != std::string::npos
          ? "RE2 has no look-around or back-references, so that every match takes linear time; "
            "`tags` checks that a tag comes once"
          : "the syntax is RE2's";
  return InvalidArgument("pattern cannot be compiled: " + compiled->error(), hint);
}

Result<std::vector<std::string>> TagNames(const Json& tags) {
  std::vector<std::string> names;
  for (const Json& tag : tags.AsArray()) {
    const bool plain = tag.is_string() && !tag.AsString().empty() &&
                       tag.AsString().find_first_of("<>/ \t\n") == std::string::npos;
    if (!plain)
      return InvalidArgument("tags must be names such as \"think\", got " + tag.Dump(),
                             "leave out the brackets");
    for (const std::string& name : names) {
      if (name == tag.AsString()) return InvalidArgument("tag '" + name + "' is listed twice");
    }
    names.push_back(tag.AsString());
  }
  return names;
}

Result<std::unique_ptr<Scorer>> MakeFormat(const Json& args) {
  FormatOptions options;
  RL_ASSIGN_OR_RETURN(options.tags, TagNames(*args.Find("tags")));
  options.first_open_in_prompt = args.Find("first_open_in_prompt")->AsBool();
  options.allow_empty = args.Find("allow_empty")->AsBool();
  const std::string& after = args.Find("after")->AsString();
  options.after = after == "nothing" ? After::kNothing
                  : after == "text"  ? After::kText
                                     : After::kAnything;
  options.search = args.Find("match")->AsString() == "search";
  if (args.Find("pattern")->is_string()) {
    RL_ASSIGN_OR_RETURN(options.pattern,
                        Compile(args.Find("pattern")->AsString(), args.Find("dot_all")->AsBool()));
  }
  if (options.tags.empty() && !options.pattern) {
    return InvalidArgument("tags is empty and there is no pattern: nothing would be checked");
  }
  return std::unique_ptr<Scorer>(new Format(std::move(options)));
}

}  // namespace

ScorerSpec FormatSpec() {
  ScorerSpec spec;
  spec.name = "format";
  spec.version = "1";
  spec.summary = "Layout: think and answer tags, or a pattern of your own";
  spec.doc =
      "Pays 1 when the completion is laid out as asked, else 0. Needs no ground truth.\n"
      "\n"
      "Each tag of `tags` must open and close exactly once, in this order, with nothing but white "
      "space before the first and "
      "between them, and something inside. `pattern` (RE2 syntax) must match the whole text, or be "
      "found in it with "
      "match: search. With both, both must hold; `tags: []` leaves the pattern alone.\n"
      "\n"
      "Example: {\"tags\": [\"think\"], \"after\": \"text\"} asks for a thought and then an answer "
      "without a tag.\n"
      "Reasons: format_ok, missing_tag, repeated_tag, misplaced_text, wrong_order, nested_tag, "
      "empty_tag, text_after, "
      "missing_text, pattern_mismatch, no_answer.";
  spec.args = {
      {"tags", "array", Json::MakeArray({"think", "answer"}), "Names of the tags, in order.", {}},
      {"after",
       "string",
       "nothing",
       "What may follow the last tag; text: something must.",
       {"nothing", "anything", "text"}},
      {"allow_empty", "boolean", false, "Accept tags with nothing inside.", {}},
      {"first_open_in_prompt",
       "boolean",
       false,
       "The first opening tag may be missing, because the chat template put it into the prompt.",
       {}},
      {"pattern", "string", nullptr, "RE2 pattern that the text must match.", {}},
      {"match",
       "string",
       "full",
       "full: the pattern must match the whole text; search: a part of it.",
       {"full", "search"}},
      {"dot_all", "boolean", true, "The pattern's dot matches a line end too.", {}},
  };
  spec.make = MakeFormat;
  return spec;
}

}  // namespace rewardloop
