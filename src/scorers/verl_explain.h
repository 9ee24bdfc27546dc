// Steps that the parity scorers add to an explanation.
#pragma once

#include <string_view>

#include "math/string_graders/verdict.h"
#include "rewardloop/scorer.h"

namespace rewardloop {

// "extract": what was found where. `looked_for` names the rule, e.g. "the number after the last
// '#### '".
void ExplainExtraction(const string_graders::Extraction& extraction, std::string_view looked_for,
                       ScoreContext* context);

// "compare": both forms and whether they are equal.
void ExplainComparison(std::string_view answer_form, std::string_view gold_form, bool equal,
                       ScoreContext* context);

// `text` in quotes, cut after 200 bytes.
std::string QuotedForPeople(std::string_view text);

}  // namespace rewardloop
