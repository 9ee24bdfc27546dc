// Phrases that announce an answer, in the languages of the benchmarks.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "rewardloop/math.h"

namespace rewardloop::math {

constexpr char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

struct Phrase {
  std::string_view text;  // lower case where it is ASCII
  char key;               // a byte to scan for: the first of the text
  Anchor anchor;
  bool line_start;        // only at the start of a line
  bool needs_is;          // "is" or ':' must follow
};
// Sorted by key.
inline constexpr Phrase kPhrases[] = {
    {"answer is", 'a', Anchor::kAnswerIs, false, false},
    {"answer:", 'a', Anchor::kAnswerIs, false, false},
    {"answer**:", 'a', Anchor::kAnswerIs, false, false},
    {"answer:**", 'a', Anchor::kAnswerIs, false, false},
    {"answer =", 'a', Anchor::kAnswerIs, false, false},
    {"answer $", 'a', Anchor::kAnswerIs, false, false},
    {"answer \\", 'a', Anchor::kAnswerIs, false, false},
    {"a:", 'a', Anchor::kAnswerIs, true, false},
    {"antwort ist", 'a', Anchor::kAnswerIs, false, false},
    {"antwort:", 'a', Anchor::kAnswerIs, false, false},
    {"final answer", 'f', Anchor::kFinalAnswer, false, true},
    {"jibu:", 'j', Anchor::kAnswerIs, false, false},
    {"réponse est", 'r', Anchor::kAnswerIs, false, false},
    {"réponse :", 'r', Anchor::kAnswerIs, false, false},
    {"réponse:", 'r', Anchor::kAnswerIs, false, false},
    {"respuesta es", 'r', Anchor::kAnswerIs, false, false},
    {"respuesta:", 'r', Anchor::kAnswerIs, false, false},
    {"resposta é", 'r', Anchor::kAnswerIs, false, false},
    {"resposta:", 'r', Anchor::kAnswerIs, false, false},
    {"risposta:", 'r', Anchor::kAnswerIs, false, false},
    {"ответ:", '\xD0', Anchor::kAnswerIs, false, false},
    {"Ответ:", '\xD0', Anchor::kAnswerIs, false, false},
    {"الإجابة:", '\xD8', Anchor::kAnswerIs, false, false},
    {"الإجابة هي", '\xD8', Anchor::kAnswerIs, false, false},
    {"उत्तर:", '\xE0', Anchor::kAnswerIs, false, false},
    {"คำตอบ:", '\xE0', Anchor::kAnswerIs, false, false},
    {"উত্তর:", '\xE0', Anchor::kAnswerIs, false, false},
    {"సమాధానం:", '\xE0', Anchor::kAnswerIs, false, false},
    {"答案是", '\xE7', Anchor::kAnswerIs, false, false},
    {"答案为", '\xE7', Anchor::kAnswerIs, false, false},
    {"答案：", '\xE7', Anchor::kAnswerIs, false, false},
    {"答案:", '\xE7', Anchor::kAnswerIs, false, false},
    {"答：", '\xE7', Anchor::kAnswerIs, false, false},
    {"答え", '\xE7', Anchor::kAnswerIs, false, false},
    {"답:", '\xEB', Anchor::kAnswerIs, false, false},
    {"정답은", '\xEC', Anchor::kAnswerIs, false, false},
};

// Range of kPhrases for each first byte.
struct PhraseRange { uint8_t begin = 0, end = 0; };
constexpr auto MakePhraseIndex() {
  std::array<PhraseRange, 256> index{};
  for (uint8_t i = 0; i < std::size(kPhrases); ++i) {
    PhraseRange& range = index[static_cast<uint8_t>(kPhrases[i].key)];
    if (range.end == 0) range.begin = i;
    range.end = static_cast<uint8_t>(i + 1);
  }
  return index;
}
inline constexpr auto kPhraseIndex = MakePhraseIndex();

// Does `phrase` (lower case) stand at text[at], whatever the case of its ASCII letters?
inline bool Matches(std::string_view text, size_t at, std::string_view phrase) {
  if (at + phrase.size() > text.size()) return false;
  for (size_t i = 0; i < phrase.size(); ++i) if (Lower(text[at + i]) != phrase[i] && text[at + i] != phrase[i]) return false;
  return true;
}

}  // namespace rewardloop::math
