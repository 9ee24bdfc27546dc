// Which part of a completion may hold the answer, and where answers are declared in it. All offsets
// are bytes of the completion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rewardloop::answer {

struct Range {
  size_t begin = 0;
  size_t end = 0;

  size_t size() const { return end - begin; }
  std::string_view In(std::string_view text) const { return text.substr(begin, end - begin); }
};

// Answers longer than this are a limit, not an answer.
inline constexpr size_t kMaxAnswerBytes = 64 * 1024;
// An announced answer is sought in so many bytes of its line: enough for any number, and what keeps
// a text of one endless line with a mark at every word from taking quadratic time.
inline constexpr size_t kMaxLineBytes = 16 * 1024;

// What follows the last "</think>"; everything when nobody thinks. Nothing when a "<think>" never
// ends: then the model has not answered yet.
std::optional<Range> OutsideThinking(std::string_view text);

// Inside of the last <answer>...</answer>. A last tag that is never closed ends with `within`.
std::optional<Range> LastAnswerTag(std::string_view text, Range within);

// Inside of the last \boxed{...} or \fbox{...} with matching braces. Looks at no more than
// kMaxBoxes from the end.
inline constexpr int kMaxBoxes = 16;
std::optional<Range> LastBox(std::string_view text, Range within);

// Behind the last phrase that announces an answer ("the answer is", "Final answer:", "A:" at the
// start of a line, "答案是"), up to the end of its line, or of the next line that is not empty when
// the phrase ends its own.
std::optional<Range> LastAnnounced(std::string_view text, Range within);

// Start of the first line in text[begin, end) that opens a new question ("Question: ...", "Q:",
// "Problem 2:"), or npos: what follows it answers something that nobody asked.
size_t NewQuestion(std::string_view text, size_t begin, size_t end);

// The finders above look for the last declaration; these two ask one again for those before it. A
// finder is called with (text, within). They look at no more than kMaxDeclarations from the end.
inline constexpr int kMaxDeclarations = 256;

// The last declaration that `accept(range)` takes for one.
template <typename Find, typename Accept>
std::optional<Range> LastAccepted(std::string_view text, Range within, const Find& find,
                                  const Accept& accept) {
  for (int seen = 0; seen < kMaxDeclarations; ++seen) {
    const std::optional<Range> range = find(text, within);
    if (!range || accept(*range)) return range;
    if (range->begin <= within.begin) return std::nullopt;
    // One byte less cuts the mark of the later one, so that it is not found again.
    within.end = range->begin - 1;
  }
  return std::nullopt;
}

// The last declaration, or where the model went on to ask itself new questions, the last one before
// the first of these.
template <typename Find>
std::optional<Range> LastBeforeNewQuestion(std::string_view text, Range within, const Find& find) {
  std::optional<Range> chosen = find(text, within);
  if (!chosen || NewQuestion(text, within.begin, chosen->begin) == std::string_view::npos) return chosen;
  std::optional<Range> later = chosen;
  for (int seen = 0; later && later->begin > within.begin && seen < kMaxDeclarations; ++seen) {
    const std::optional<Range> earlier = find(text, Range{within.begin, later->begin - 1});
    if (!earlier || earlier->begin >= later->begin) break;
    if (NewQuestion(text, earlier->end, later->begin) != std::string_view::npos) chosen = earlier;
    later = earlier;
  }
  return chosen;
}

}  // namespace rewardloop::answer
