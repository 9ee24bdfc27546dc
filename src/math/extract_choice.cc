#include "math/extract_choice.h"

#include <algorithm>

#include "math/announcements.h"

namespace rewardloop::math {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

// The letter of a multiple choice answer: in the announced answer, else the last letter that stands alone.
bool FindChoice(std::string_view text, size_t* position) {
  const auto alone = [&](size_t i) {
    if (text[i] < 'A' || text[i] > 'J') return false;
    const bool left = i == 0 || !(IsAlpha(text[i - 1]) || IsDigit(text[i - 1]) || text[i - 1] == '\'' || text[i - 1] == '-');
    const bool right = i + 1 == text.size() || !(IsAlpha(text[i + 1]) || IsDigit(text[i + 1]) || text[i + 1] == '\'');
    // "A Peter" is an article, "I" a pronoun
    if (text[i] == 'I' && i + 1 < text.size() && text[i + 1] == ' ') return false;
    if (text[i] == 'A' && i + 2 < text.size() && text[i + 1] == ' ' && text[i + 2] >= 'a' && text[i + 2] <= 'z') return false;
    return left && right;
  };
  const auto first_from = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end && i < text.size(); ++i) if (alone(i)) { *position = i; return true; }
    return false;
  };
  // "answer is C", "answer: C": the letter right after it
  for (size_t at = text.size(); at-- > 0;) {
    const char lower = Lower(text[at]);
    if (lower != 'a' && lower != 'r' && static_cast<uint8_t>(text[at]) < 0xC0) continue;
    for (std::string_view phrase : {"answer", "réponse", "respuesta", "antwort", "答案", "ответ", "الإجابة", "选", "resposta", "risposta", "therefore i think it's", "i think it's"}) {
      if (!Matches(text, at, phrase)) continue;
      const size_t begin = at + phrase.size();
      if (first_from(begin, std::min(text.size(), begin + 60))) return true;
    }
  }
  // A letter at the start of a line speaks for itself: "D. it can't be A".
  for (size_t i = text.size(); i-- > 0;) {
    const bool line = i == 0 || text[i - 1] == '\n' || (i >= 2 && text[i - 1] == '*' && text[i - 2] == '*' && (i == 2 || text[i - 3] == '\n')) || (i == 1 && text[0] == '(');
    if (line && alone(i)) { *position = i; return true; }
  }
  for (size_t i = text.size(); i-- > 0;) if (alone(i)) { *position = i; return true; }
  return false;
}

}  // namespace rewardloop::math
