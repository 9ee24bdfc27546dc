#include "math/string_graders/math_dapo.h"

#include "base/pystring.h"
#include "math/string_graders/minerva.h"

namespace rewardloop::string_graders {
namespace {

constexpr size_t kClipChars = 300;
constexpr size_t kBoxWindowChars = 100;
constexpr std::string_view kBoxed = "\\boxed{";

StringVerdict GradeBox(std::string_view clipped, std::optional<std::string_view> gold,
                       const MathDapoOptions& options) {
  const std::string_view window = options.box_window_start
                                      ? py::SliceFrom(clipped, *options.box_window_start)
                                      : py::LastChars(clipped, kBoxWindowChars);
  StringVerdict verdict;
  verdict.extracted = ExtractDapoBox(window);
  if (!verdict.extracted.answer) {
    verdict.correct = !gold;
    return verdict;
  }
  const int64_t offset = window.data() - clipped.data();
  verdict.extracted.begin += offset;
  verdict.extracted.end += offset;
  verdict.reason = "not_equal";
  verdict.answer_form = *verdict.extracted.answer;
  if (gold) Compare(verdict.answer_form, std::string(*gold), &verdict);
  return verdict;
}

}  // namespace

Extraction ExtractDapoBox(std::string_view text) {
  const size_t begin = text.rfind(kBoxed);
  if (begin == std::string_view::npos) return {};
  const size_t end = BalancedEnd(text, begin);
  if (end == std::string_view::npos) return {};
  const size_t inner = begin + kBoxed.size();
  const std::string_view answer = text.substr(inner, end - 1 - inner);
  return ExtractionOf(text, answer, std::string(answer));
}

std::string_view ClipMathDapo(std::string_view response) {
  return py::LastChars(response, kClipChars);
}

MathDapoVerdict GradeMathDapo(std::string_view response, std::optional<std::string_view> gold,
                              const MathDapoOptions& options) {
  const std::string_view clipped = ClipMathDapo(response);
  MathDapoVerdict result;
  if (!options.strict_box_verify) {
    result.verdict = GradeMinerva(clipped, gold.value_or(""));
    result.pred = result.verdict.answer_form;
  }
  if (options.strict_box_verify || *result.pred == kInvalidAnswer) {
    StringVerdict box = GradeBox(clipped, gold, options);
    if (options.strict_box_verify || box.extracted.answer) {
      result.pred = box.extracted.answer;
      result.verdict = std::move(box);
      result.used_box = true;
    }
  }
  if (result.verdict.extracted.answer) {
    const int64_t offset = clipped.data() - response.data();
    result.verdict.extracted.begin += offset;
    result.verdict.extracted.end += offset;
  }
  return result;
}

}  // namespace rewardloop::string_graders
