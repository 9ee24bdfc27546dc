#include "scorers/verl_explain.h"

#include <string>

#include "base/utf8.h"

namespace rewardloop {
namespace {
constexpr size_t kMaxShownBytes = 200;
}  // namespace

std::string QuotedForPeople(std::string_view text) {
  if (text.size() <= kMaxShownBytes) return "'" + std::string(text) + "'";
  return "'" + RepairUtf8(text.substr(0, kMaxShownBytes)) + "...' (" + std::to_string(text.size()) +
         " bytes)";
}

void ExplainExtraction(const string_graders::Extraction& extraction, std::string_view looked_for,
                       ScoreContext* context) {
  if (!context->explanation) return;
  std::string detail = "looked for " + std::string(looked_for) + ": ";
  detail += extraction.answer ? "found " + QuotedForPeople(*extraction.answer) : "nothing found";
  context->Explain("extract", std::move(detail), extraction.begin, extraction.end);
}

void ExplainComparison(std::string_view answer_form, std::string_view gold_form, bool equal,
                       ScoreContext* context) {
  if (!context->explanation) return;
  context->Explain("compare", QuotedForPeople(answer_form) +
                                  (equal ? " is the text " : " is not the text ") +
                                  QuotedForPeople(gold_form));
}

}  // namespace rewardloop
