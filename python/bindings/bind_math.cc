// include/rewardloop/math.h
#include "rewardloop/math.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "interpreter.h"
#include "json_convert.h"
#include "rewardloop/registry.h"

namespace rewardloop::python {
namespace {

struct Flag {
  const char* name;
  bool math::Policy::* member;
};
constexpr Flag kFlags[] = {
    {"gold_precision", &math::Policy::gold_precision},
    {"rounded_ok", &math::Policy::rounded_ok},
    {"percent_as_number", &math::Policy::percent_as_number},
    {"unit_required", &math::Policy::unit_required},
    {"ordered_lists", &math::Policy::ordered_lists},
    {"relation_for_set", &math::Policy::relation_for_set},
    {"base_value", &math::Policy::base_value},
    {"allow_unevaluated", &math::Policy::allow_unevaluated},
    {"unreduced_quotients", &math::Policy::unreduced_quotients},
    {"last_expression", &math::Policy::last_expression},
    {"symmetric", &math::Policy::symmetric},
    {"repair_gold", &math::Policy::repair_gold},
    {"strict_names", &math::Policy::strict_names},
    {"consistent_steps", &math::Policy::consistent_steps},
};

// Options from keyword arguments: the profile's, changed where `args` says so.
math::Options OptionsFrom(const std::string& profile, const nb::dict& args) {
  const math::Options base = math::Options::ForProfile(ValueOrThrow(math::ParseProfile(profile)));
  std::vector<ArgSpec> specs;
  for (const Flag& flag : kFlags) specs.push_back({flag.name, "boolean", Json(base.policy.*flag.member), "", {}});
  specs.push_back({"absolute_digits", "integer", Json(base.policy.absolute_digits), "", {}});
  specs.push_back({"think_end", "string", Json(base.think_end), "", {}});
  specs.push_back({"fuel", "integer", Json(base.fuel), "", {}});
  specs.push_back({"seed", "integer", Json(base.seed), "", {}});
  const Json values = ValueOrThrow(ValidateArgs("the math verifier", specs, JsonFrom(args.ptr(), "args")));
  math::Options options = base;
  for (const Flag& flag : kFlags) options.policy.*flag.member = values.Find(flag.name)->AsBool();
  options.policy.absolute_digits = static_cast<int>(values.Find("absolute_digits")->AsInt());
  options.think_end = values.Find("think_end")->AsString();
  options.fuel = values.Find("fuel")->AsInt();
  if (options.fuel < 1) throw StatusError(InvalidArgument("fuel must be at least 1"));
  options.seed = static_cast<uint64_t>(values.Find("seed")->AsInt());
  return options;
}

std::string Text(nb::handle value, const char* name) {
  if (PyUnicode_Check(value.ptr())) return TextFrom(value.ptr());
  throw StatusError(InvalidArgument(std::string(name) + " must be a string, not " + nb::inst_name(value).c_str()));
}

// A gold or a list of accepted golds.
std::vector<std::string> GoldsFrom(nb::handle gold) {
  if (!PyList_Check(gold.ptr()) && !PyTuple_Check(gold.ptr())) {
    const Json value = JsonFrom(gold.ptr(), "gold");
    if (value.is_string()) return {value.AsString()};
    if (value.is_number()) return {value.Dump()};
    throw StatusError(InvalidArgument(std::string("gold must be a string, a number or a list of them, not ") +
                                      nb::inst_name(gold).c_str()));
  }
  std::vector<std::string> golds;
  for (nb::handle element : gold) {
    if (PyList_Check(element.ptr()) || PyTuple_Check(element.ptr())) {
      throw StatusError(InvalidArgument("a list of accepted golds must not contain lists"));
    }
    golds.push_back(GoldsFrom(element)[0]);
  }
  return golds;
}

// Byte offset in UTF-8 text to an index of the Python str. Every byte that begins a code point counts one.
int64_t CharIndex(std::string_view text, int64_t byte_offset) {
  if (byte_offset < 0) return -1;
  int64_t index = 0;
  for (int64_t i = 0; i < byte_offset && i < static_cast<int64_t>(text.size()); ++i) {
    index += (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
  }
  return index;
}

nb::object SpanOf(std::string_view text, const math::Span& span) {
  if (span.begin < 0) return nb::none();
  return nb::make_tuple(CharIndex(text, span.begin), CharIndex(text, span.end));
}

nb::dict VerdictDict(const math::MathVerdict& verdict, std::string_view text) {
  nb::dict result;
  result["outcome"] = ToPython(std::string(math::OutcomeName(verdict.outcome)));
  result["score"] = verdict.scored() ? nb::object(nb::float_(verdict.score)) : nb::none();
  result["reason"] = ToPython(std::string(verdict.reason));
  result["rule"] = ToPython(std::string(verdict.rule));
  result["anchor"] = ToPython(std::string(math::AnchorName(verdict.anchor)));
  result["span"] = SpanOf(text, verdict.span);
  result["fuel_used"] = verdict.fuel_used;
  return result;
}

nb::dict Explain(nb::handle gold, nb::handle prediction, const std::string& profile, const nb::dict& args) {
  const math::Options options = OptionsFrom(profile, args);
  const std::vector<std::string> golds = GoldsFrom(gold);
  const std::string text = Text(prediction, "prediction");
  math::Explanation explanation;
  {
    GilRelease release;
    explanation = math::Explain(math::CompiledGold(golds, options), text);
  }
  nb::dict result = VerdictDict(explanation.verdict, text);
  result["extracted"] = ToPython(explanation.extracted);
  result["gold_form"] = ToPython(explanation.gold_form);
  result["prediction_form"] = ToPython(explanation.prediction_form);
  result["gold_type"] = ToPython(explanation.gold_type);
  result["prediction_type"] = ToPython(explanation.prediction_type);
  return result;
}

nb::dict Compare(nb::handle gold, nb::handle answer, const std::string& profile, const nb::dict& args) {
  const math::Options options = OptionsFrom(profile, args);
  const std::vector<std::string> golds = GoldsFrom(gold);
  const std::string text = Text(answer, "answer");
  math::MathVerdict verdict;
  {
    GilRelease release;
    verdict = math::Compare(math::CompiledGold(golds, options), text);
  }
  return VerdictDict(verdict, text);
}

nb::tuple Extract(nb::handle completion, const std::string& profile, const nb::dict& args) {
  const math::Options options = OptionsFrom(profile, args);
  const std::string text = Text(completion, "completion");
  math::Extraction extraction;
  {
    GilRelease release;
    extraction = math::Extract(text, options);
  }
  const bool found = extraction.anchor != math::Anchor::kNone;
  return nb::make_tuple(found ? ToPython(extraction.text) : nb::none(),
                        ToPython(std::string(math::AnchorName(extraction.anchor))), SpanOf(text, extraction.span));
}

nb::tuple Vote(const nb::list& completions, const std::string& profile, const nb::dict& args) {
  const math::Options options = OptionsFrom(profile, args);
  std::vector<std::string> texts;
  // A missing answer takes part as a text without one.
  for (nb::handle completion : completions) {
    texts.push_back(completion.is_none() ? std::string() : Text(completion, "a completion"));
  }
  math::VoteResult vote;
  {
    GilRelease release;
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    vote = math::Vote(views, options);
  }
  return nb::make_tuple(vote.class_of, vote.class_size, vote.winner, vote.representative);
}

nb::list Profiles() {
  nb::list names;
  for (int i = 0; i <= static_cast<int>(math::Profile::kMinerva); ++i) {
    names.append(ToPython(std::string(math::ProfileName(static_cast<math::Profile>(i)))));
  }
  return names;
}

}  // namespace

void BindMath(nb::module_& m) {
  m.def("_math_explain", &Explain, nb::arg("gold"), nb::arg("prediction"), nb::arg("profile"), nb::arg("args"),
        nb::sig("def _math_explain(gold: typing.Any, prediction: str, profile: str, args: dict[str, typing.Any]) -> "
                "dict[str, typing.Any]"));
  m.def("_math_compare", &Compare, nb::arg("gold"), nb::arg("answer"), nb::arg("profile"), nb::arg("args"),
        nb::sig("def _math_compare(gold: typing.Any, answer: str, profile: str, args: dict[str, typing.Any]) -> "
                "dict[str, typing.Any]"));
  m.def("_math_extract", &Extract, nb::arg("completion"), nb::arg("profile"), nb::arg("args"),
        nb::sig("def _math_extract(completion: str, profile: str, args: dict[str, typing.Any]) -> "
                "tuple[str | None, str, tuple[int, int] | None]"));
  m.def("_math_vote", &Vote, nb::arg("completions"), nb::arg("profile"), nb::arg("args"),
        nb::sig("def _math_vote(completions: list[str | None], profile: str, args: dict[str, typing.Any]) -> "
                "tuple[list[int], list[int], int, int]"));
  m.def("_math_profiles", &Profiles, nb::sig("def _math_profiles() -> list[str]"));
}

}  // namespace rewardloop::python
