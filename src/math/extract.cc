#include "math/extract.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "math/announcements.h"
#include "math/answer.h"
#include "math/extract_choice.h"
#include "math/extract_last.h"

namespace rewardloop::math {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kBoxesMax = 64;
// How far back from the end an answer is looked for; boxes are cheaper to find than sentences.
constexpr size_t kBoxTailBytesMax = 1u << 20;
constexpr size_t kTailBytesMax = 64u << 10;
constexpr int kCandidatesMax = 32;  // places tried for one kind of anchor
constexpr size_t kWholeBytesMax = 2000;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Last position of `c` before `end`, kNone when there is none. memrchr is vectorised.
size_t LastByte(std::string_view text, char c, size_t end) {
  if (text.empty()) return kNone;  // the data of an empty view may be null
  const void* found = memrchr(text.data(), c, std::min(end, text.size()));
  return found ? static_cast<size_t>(static_cast<const char*>(found) - text.data()) : kNone;
}

// The '}' for the '{' at `open`; kNone when it never closes.
size_t MatchBrace(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') ++i;
    else if (c == '{') ++depth;
    else if (c == '}' && --depth == 0) return i;
  }
  return kNone;
}

struct Box {
  size_t command;  // the backslash
  size_t begin, end;  // content
};

// The last complete box that starts before `end`. `scan` bounds the work on boxes that never close.
bool LastBox(std::string_view text, size_t end, Box* box, int64_t* scan) {
  size_t at = end;
  while ((at = LastByte(text, '\\', at)) != kNone) {
    const std::string_view tail = text.substr(at + 1, 6);
    if (tail.empty() || (tail[0] != 'b' && tail[0] != 'f')) continue;
    size_t name = 0;
    if (tail.starts_with("boxed")) name = 5;
    else if (tail.starts_with("fbox")) name = 4;
    if (name == 0) continue;
    size_t open = at + 1 + name;
    while (open < text.size() && IsSpace(text[open])) ++open;
    if (open >= text.size()) continue;
    if (text[open] != '{') {
      if (!IsDigit(text[open])) continue;  // "\boxed 5" up to white space or $
      size_t stop = open;
      while (stop < text.size() && (IsDigit(text[stop]) || (text[stop] == '.' && stop + 1 < text.size() && IsDigit(text[stop + 1])))) ++stop;
      *box = {at, open, stop};
      return true;
    }
    if (*scan < 0) return false;
    const size_t close = MatchBrace(text, open);
    *scan -= static_cast<int64_t>((close == kNone ? text.size() : close) - open);
    if (close == kNone) continue;
    *box = {at, open + 1, close};
    return true;
  }
  return false;
}

// Do two boxes with `between` in the middle belong to one answer?
bool Neighbours(std::string_view between) {
  if (between.size() < 10) return true;
  if (between.size() >= 70) return false;
  if (between.find("\n\n") != kNone && between.find("and") == kNone) return false;
  for (size_t i = 0; i < between.size(); ++i) {
    if (between[i] == ',' || between[i] == ';') return true;
    for (std::string_view word : {"and", "or"}) {
      if (between.substr(i, word.size()) == word && (i == 0 || !IsAlpha(between[i - 1])) && (i + word.size() >= between.size() || !IsAlpha(between[i + word.size()]))) return true;
    }
  }
  return false;
}

// "%", "percent" right after a box belong to it.
bool PercentFollows(std::string_view text, size_t at) {
  while (at < text.size() && (IsSpace(text[at]) || text[at] == '$' || (text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == ')' || text[at + 1] == ']' || text[at + 1] == ',')))) at += text[at] == '\\' ? 2 : 1;
  const std::string_view tail = text.substr(std::min(at, text.size()), 11);
  if (tail.empty() || (tail[0] != '%' && tail[0] != '\\' && tail[0] != 'p')) return false;
  return tail.starts_with("%") || tail.starts_with("\\%") || tail.starts_with("percent") || tail.starts_with("pct");
}

std::string_view Join(std::string_view text, const Box* boxes, size_t count, bool percent, Arena* arena) {
  size_t size = 8;
  for (size_t i = 0; i < count; ++i) size += boxes[i].end - boxes[i].begin + 2;
  char* out = arena->NewArray<char>(size);
  if (!out) return {};
  size_t at = 0;
  for (size_t i = count; i-- > 0;) {  // boxes were found from the end
    const std::string_view piece = Trim(text.substr(boxes[i].begin, boxes[i].end - boxes[i].begin));
    // The same answer twice is one answer.
    if (i + 1 < count && piece == Trim(text.substr(boxes[i + 1].begin, boxes[i + 1].end - boxes[i + 1].begin))) continue;
    if (at) { out[at++] = ','; out[at++] = ' '; }
    at = static_cast<size_t>(std::copy(piece.begin(), piece.end(), out + at) - out);
  }
  if (percent) { out[at++] = '\\'; out[at++] = '%'; }
  return {out, at};
}

// Position behind the last box: where a later "final answer is" would stand. text.size() when nothing follows.
bool AnnouncedAfter(std::string_view text, size_t from) {
  for (size_t i = from; i + 15 < text.size(); ++i) {
    const void* next = std::memchr(text.data() + i, 'w', text.size() - i);  // "final answer is"
    if (!next) return false;
    i = static_cast<size_t>(static_cast<const char*>(next) - text.data());
    if (i >= 8 && text.substr(i - 8, 15) == "inal answer is ") return text.substr(i).find("\\boxed") == kNone;
  }
  return false;
}

bool FindBoxes(std::string_view text, size_t offset, bool join, Arena* arena, Found* found) {
  Box boxes[kBoxesMax];
  int64_t scan = static_cast<int64_t>(kBoxTailBytesMax) * 2;
  if (!LastBox(text, text.size(), &boxes[0], &scan)) return false;
  if (AnnouncedAfter(text, boxes[0].end)) return false;
  size_t count = 1;
  while (join && count < kBoxesMax) {
    Box earlier;
    if (!LastBox(text, boxes[count - 1].command, &earlier, &scan)) break;
    if (earlier.end >= boxes[count - 1].command) break;  // encloses it
    const size_t from = std::min(text.size(), earlier.end + 1);
    if (!Neighbours(text.substr(from, boxes[count - 1].command - from))) break;
    boxes[count++] = earlier;
  }
  const bool percent = PercentFollows(text, std::min(text.size(), boxes[0].end + 1));
  found->begin = offset + boxes[count - 1].begin;
  found->end = offset + boxes[0].end;
  if (count == 1 && !percent) {
    found->anchor = Anchor::kBoxed;
    found->text = text.substr(boxes[0].begin, boxes[0].end - boxes[0].begin);
    return true;
  }
  found->anchor = count == 1 ? Anchor::kBoxed : Anchor::kBoxes;
  found->text = Join(text, boxes, count, percent, arena);
  return true;
}

// Content of the last <answer>...</answer>.
bool FindTag(std::string_view text, size_t offset, Found* found) {
  static constexpr std::string_view kOpen = "<answer>", kClose = "</answer>";
  size_t at = text.size();
  while ((at = LastByte(text, '<', at)) != kNone) {
    if (at + 1 == text.size() || text[at + 1] != 'a' || text.substr(at, kOpen.size()) != kOpen) continue;
    const size_t begin = at + kOpen.size();
    const size_t close = text.find(kClose, begin);
    const size_t end = close == kNone ? text.size() : close;
    found->anchor = Anchor::kAnswerTag;
    found->begin = offset + begin;
    found->end = offset + end;
    found->text = text.substr(begin, end - begin);
    return true;
  }
  return false;
}

bool FindHash(std::string_view text, size_t offset, Found* found) {
  int candidates = 0;
  size_t at = text.size();
  while ((at = LastByte(text, '#', at)) != kNone) {
    if (at < 3 || text.substr(at - 3, 4) != "####") continue;
    if (++candidates > kCandidatesMax) return false;
    size_t begin = at + 1;
    if (begin < text.size() && text[begin] != ' ' && !IsDigit(text[begin]) && text[begin] != '-' && text[begin] != '$') continue;
    size_t end = text.find('\n', begin);
    if (end == kNone) end = text.size();
    if (Trim(text.substr(begin, end - begin)).empty()) continue;
    // A Markdown heading of four levels is no answer: it is followed by words.
    const std::string_view line = Trim(text.substr(begin, end - begin));
    const bool words = IsAlpha(line[0]) && line.size() > 3 && line.find(' ') != kNone;
    if (words) continue;
    found->anchor = Anchor::kHash;
    found->begin = offset + begin;
    found->end = offset + end;
    found->text = text.substr(begin, end - begin);
    return true;
  }
  return false;
}

// Where the sentence that starts at `begin` ends: a line break outside mathematics, or a full stop before a space.
size_t SentenceEnd(std::string_view text, size_t begin) {
  int braces = 0;
  bool dollars = false, display = false;
  for (size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      const char next = text[i + 1];
      if (next == '(' || next == '[') display = true;
      if (next == ')' || next == ']') display = false;
      ++i;
      continue;
    }
    if (c == '{') ++braces;
    if (c == '}' && braces > 0) --braces;
    if (c == '$') {
      dollars = !dollars;
      if (i + 1 < text.size() && text[i + 1] == '$') ++i;
    }
    if (c == '\n' && !display && braces == 0) {
      if (dollars && text.substr(i, 400).find('$') != kNone) continue;
      return i;
    }
    if (display || dollars || braces) continue;
    if (c == '.' && (i + 1 == text.size() || (IsSpace(text[i + 1]) && !(i > begin && text[i - 1] == '.')))) return i;
    if (static_cast<uint8_t>(c) == 0xE3 && text.substr(i, 3) == "。") return i;
  }
  return text.size();
}

// An odd number of $, the odd one not before a number: torn out of its sentence.
bool LoneDollar(std::string_view text) {
  size_t dollars = 0, money = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') { ++i; continue; }
    if (text[i] != '$') continue;
    ++dollars;
    if (i + 1 < text.size() && IsDigit(text[i + 1])) ++money;
  }
  return dollars % 2 == 1 && money == 0 && text.find(' ') != kNone;
}

void SetFound(std::string_view completion, std::string_view part, Anchor anchor, Found* found) {
  found->anchor = anchor;
  found->begin = static_cast<size_t>(part.data() - completion.data());
  found->end = found->begin + part.size();
  found->text = part;
}

// The answer inside a sentence that announces it.
std::string_view InSentence(std::string_view sentence) {
  std::string_view text = Bare(sentence);
  for (int i = 0; i < 4; ++i) {
    const size_t before = text.size();
    if (text.empty() || IsDigit(text[0]) || text[0] == '-' || text[0] == '$' || text[0] == '\\') break;  // no word begins so
    for (std::string_view word : {"the final answer is", "final answer is", "the answer is", "answer is", "is:", "is", "are", "=", "est", "es", "ist", "هي", "是", "为", "："}) {
      if (Matches(text, 0, word) && (text.size() == word.size() || !IsAlpha(text[word.size()]) || !IsAlpha(word.back()))) { text = Bare(text.substr(word.size())); break; }
    }
    if (text.size() == before) break;
  }
  if (text.empty()) return text;
  if (!IsProse(text)) {
    const size_t dollar = text.find('$');
    if (dollar == 0) {  // $...$ and what goes on after it in words
      size_t begin = 0, end = 0;
      if (LastFormula(text, &begin, &end)) {
        const std::string_view tail = Trim(text.substr(end));
        if (begin == 0 && tail.size() > 24) return text.substr(0, end);
      }
    }
    return text;
  }
  size_t begin = 0, end = 0, number_begin = 0, number_end = 0;
  const bool formula = LastFormula(text, &begin, &end);
  const bool number = LastNumber(text, &number_begin, &number_end);
  if (formula && (!number || number_begin < end)) return text.substr(begin, end - begin);
  if (number) return text.substr(number_begin, number_end - number_begin);
  const size_t is = text.rfind(" is ");
  if (is != kNone) return Bare(text.substr(is + 4));
  return text;
}

bool FindPhrase(std::string_view completion, std::string_view text, Found* found) {
  int candidates = 0;
  // From the end, the first position where any phrase stands.
  for (size_t at = text.size(); at-- > 0;) {
    const char c = text[at];
    const PhraseRange range = kPhraseIndex[static_cast<uint8_t>(Lower(c))];
    for (size_t k = range.begin; k < range.end; ++k) {
      const Phrase& phrase = kPhrases[k];
      if (!Matches(text, at, phrase.text)) continue;
      if (at > 0 && IsAlpha(text[at - 1]) && IsAlpha(c)) continue;
      if (phrase.line_start && !(at == 0 || text[at - 1] == '\n')) continue;
      if (++candidates > kCandidatesMax) return false;
      const size_t begin = at + phrase.text.size();
      if (phrase.anchor == Anchor::kFinalAnswer) {
        // "**Final Answer**\n..." and "final answer is ..."
        size_t next = begin;
        while (next < text.size() && (text[next] == '*' || text[next] == ':' || IsSpace(text[next]))) ++next;
        if (next >= text.size()) continue;
        const size_t end = SentenceEnd(text, next);
        const std::string_view answer = InSentence(text.substr(next, end - next));
        if (answer.empty()) continue;
        SetFound(completion, answer, phrase.anchor, found);
        return true;
      }
      size_t next = begin;
      if (phrase.text.back() == '$' || phrase.text.back() == '\\') next = begin - 1;
      while (next < text.size() && (IsSpace(text[next]) || text[next] == '*' || text[next] == ':')) ++next;
      const size_t end = SentenceEnd(text, next);
      const std::string_view answer = InSentence(text.substr(next, end - next));
      if (answer.empty()) continue;
      SetFound(completion, answer, phrase.anchor, found);
      return true;
    }
  }
  return false;
}

std::string_view StripEndMarkers(std::string_view text) {
  static constexpr std::string_view kMarkers[] = {"<|im_end|>", "<|endoftext|>", "<|eot_id|>", "</s>", "<|im_start|>user", "<|end_of_text|>", "<|end|>", "<eos>", "<end_of_turn>", "<|im_start|>"};
  while (true) {
    const size_t before = text.size();
    while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
    if (text.empty() || (text.back() != '>' && text.back() != 'r')) return text;
    for (std::string_view marker : kMarkers) {
      if (text.ends_with(marker)) text.remove_suffix(marker.size());
    }
    if (text.size() == before) return text;
  }
}

}  // namespace

size_t WindowBegin(std::string_view completion, std::string_view think_end) {
  if (think_end.empty() || completion.size() < think_end.size()) return 0;
  // From the end within the tail that is read; a longer text is asked only whether thinking ended at all.
  const size_t tail = completion.size() > kBoxTailBytesMax ? completion.size() - kBoxTailBytesMax : 0;
  // By its second byte, which is rarer: calculations write << >>.
  const size_t second = think_end.size() > 1 ? 1 : 0;
  size_t at = completion.size();
  while ((at = LastByte(completion, think_end[second], at)) != kNone && at >= tail + second) {
    const size_t begin = at - second;
    if (completion[begin] == think_end[0] && completion.substr(begin, think_end.size()) == think_end) return begin + think_end.size();
  }
  if (tail && memmem(completion.data(), completion.size(), think_end.data(), think_end.size())) return 0;
  if (think_end == "</think>") {
    std::string_view head = completion.substr(0, 256);
    while (!head.empty() && IsSpace(head.front())) head.remove_prefix(1);
    if (head.starts_with("<think>")) return kNone;
  }
  return 0;
}

Found FindAnswer(std::string_view completion, const ExtractOptions& options, Arena* arena) {
  Found found;
  const size_t begin = WindowBegin(completion, options.think_end);
  if (begin == kNone) return found;
  std::string_view text = StripEndMarkers(completion.substr(begin));
  const auto keep_tail = [&](size_t most) {
    if (text.size() > most) text.remove_prefix(text.size() - most);
  };
  keep_tail(kBoxTailBytesMax);
  if (FindBoxes(text, static_cast<size_t>(text.data() - completion.data()), options.join_boxes, arena, &found)) return found;
  keep_tail(kTailBytesMax);
  const size_t offset = static_cast<size_t>(text.data() - completion.data());
  if (FindTag(text, offset, &found)) return found;
  const std::string_view whole = Trim(text);
  if (whole.empty()) return found;
  if (options.choice) {
    if (whole.size() <= 12 && ReadAnswer(whole, false, arena).choice) { SetFound(completion, whole, Anchor::kWhole, &found); return found; }
    size_t letter = 0;
    if (FindChoice(text, &letter)) SetFound(completion, text.substr(letter, 1), Anchor::kChoice, &found);
    return found;
  }
  if (FindHash(text, offset, &found)) return found;
  if (FindPhrase(completion, text, &found)) return found;
  // A bare answer: short, and no sentence.
  if (whole.size() <= kWholeBytesMax && !IsProse(whole)) {
    const bool one_line = whole.find('\n') == kNone || whole.starts_with("$") || whole.starts_with("\\[") || whole.starts_with("\\(") || whole.starts_with("\\begin");
    if (one_line) {
      const Answer answer = ReadAnswer(whole, false, arena);
      const bool foreign = answer.is_text() && std::any_of(whole.begin(), whole.end(), [](char c) { return static_cast<uint8_t>(c) >= 0x80; }) && std::any_of(whole.begin(), whole.end(), IsDigit);
      if (!foreign && !LoneDollar(whole) && ((answer.readings && !answer.is_text()) || (answer.is_text() && whole.size() <= 80 && (options.text || std::none_of(whole.begin(), whole.end(), IsDigit))) || (!options.last_expression && whole.size() <= 80))) {
        SetFound(completion, whole, Anchor::kWhole, &found);
        return found;
      }
    }
  }
  if (!options.last_expression) return found;
  if (IsGrid(whole) || IsCall(whole)) {
    SetFound(completion, whole, Anchor::kWhole, &found);
    return found;
  }
  // The last formula or number.
  size_t from = 0, to = 0, number_from = 0, number_to = 0;
  const bool formula = LastFormula(text, &from, &to);
  const bool number = LastNumber(text, &number_from, &number_to);
  if (formula && (!number || number_from < to)) {
    // "28$ percent": what follows may belong to it.
    if (PercentFollows(text, to)) {
      size_t stop = to;
      while (stop < text.size() && text[stop] != '\n' && text[stop] != '.' && stop < to + 12) ++stop;
      to = stop;
    }
    SetFound(completion, text.substr(from, to - from), Anchor::kFormula, &found);
  } else if (std::string_view tail; AfterVerb(text, &tail, arena)) {
    SetFound(completion, tail, Anchor::kLastExpression, &found);
  } else if (number) {
    SetFound(completion, text.substr(number_from, number_to - number_from), Anchor::kLastExpression, &found);
  } else if (whole.size() <= 80 && whole.find('\n') == kNone) {
    SetFound(completion, whole, Anchor::kWhole, &found);
  }
  return found;
}

Found FindGold(std::string_view gold, Arena* arena) {
  Found found;
  if (gold.size() > kBoxTailBytesMax) return found;
  if (FindBoxes(gold, 0, true, arena, &found)) return found;
  const std::string_view whole = Trim(gold);
  if (whole.empty() || whole.size() > kTailBytesMax) return found;
  if (FindTag(gold, 0, &found)) return found;
  if (whole.size() > 40 && FindHash(gold, 0, &found)) return found;
  if (whole.size() > 40 && IsProse(whole) && FindPhrase(gold, gold, &found)) return found;
  SetFound(gold, whole, Anchor::kWhole, &found);
  return found;
}

}  // namespace rewardloop::math
