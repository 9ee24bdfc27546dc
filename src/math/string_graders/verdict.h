// What the string graders say: a verdict with everything needed to explain it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rewardloop::string_graders {

// An answer found in a response.
struct Extraction {
  std::optional<std::string> answer;
  // Bytes of the response it was taken from, before anything was deleted from it; -1 where there is
  // no answer.
  int64_t begin = -1;
  int64_t end = -1;
};

struct StringVerdict {
  bool correct = false;
  Extraction extracted;
  // The two texts that were compared for equality; empty without an answer.
  std::string answer_form;
  std::string gold_form;
  // "equal_string", "not_equal", "no_answer" or "bad_box" (a box that the origin fails to open).
  std::string_view reason = "no_answer";
};

// Fills forms, `correct` and `reason` from the two texts.
inline void Compare(std::string answer_form, std::string gold_form, StringVerdict* verdict) {
  verdict->correct = answer_form == gold_form;
  verdict->reason = verdict->correct ? "equal_string" : "not_equal";
  verdict->answer_form = std::move(answer_form);
  verdict->gold_form = std::move(gold_form);
}

// The extraction of `part`, which lies inside `whole`.
inline Extraction ExtractionOf(std::string_view whole, std::string_view part, std::string answer) {
  const int64_t begin = part.data() - whole.data();
  return {std::move(answer), begin, begin + static_cast<int64_t>(part.size())};
}

// Upper end of the group that opens with the first '{' of `text` at or after `begin`, one past its
// '}', or npos when the braces never return to balance. Braces before the first '{' count as the
// origins count them.
inline size_t BalancedEnd(std::string_view text, size_t begin) {
  int64_t open = 0;
  for (size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '{') ++open;
    if (text[i] == '}' && --open == 0) return i + 1;
  }
  return std::string_view::npos;
}

}  // namespace rewardloop::string_graders
