#include "base/suggest.h"

#include <algorithm>

namespace rewardloop {
namespace {

// Nobody mistypes a name of this length; keeps the quadratic distance cheap whatever a file
// contains.
constexpr size_t kMaxNameBytes = 128;

std::string Folded(std::string_view name) {
  std::string folded(name);
  for (char& c : folded) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return folded;
}

// Edits (insert, delete, replace, swap of neighbours) between `a` and `b`.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

// The part after the last '/': people leave out the origin of a parity scorer.
std::string_view LastPart(std::string_view name) {
  size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

}  // namespace

std::string NearestName(std::string_view name, const std::vector<std::string>& candidates) {
  if (name.empty() || name.size() > kMaxNameBytes) return "";
  const std::string wanted = Folded(name);
  size_t best_distance = std::max<size_t>(1, wanted.size() / 3) + 1;
  const std::string* best = nullptr;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kMaxNameBytes) continue;
    size_t distance = EditDistance(wanted, Folded(candidate));
    if (distance < best_distance) {
      best_distance = distance;
      best = &candidate;
    }
  }
  if (best) return *best;
  for (const std::string& candidate : candidates) {
    const std::string folded = Folded(candidate);
    bool begins = wanted.size() >= 3 && folded.compare(0, wanted.size(), wanted) == 0;
    if (begins || LastPart(folded) == LastPart(wanted)) return candidate;
  }
  return "";
}

std::string SuggestionFor(std::string_view name, const std::vector<std::string>& candidates) {
  if (std::string nearest = NearestName(name, candidates); !nearest.empty()) {
    return "did you mean '" + nearest + "'?";
  }
  std::string known;
  for (const std::string& candidate : candidates) {
    known += (known.empty() ? "known: " : ", ") + candidate;
  }
  return known;
}

}  // namespace rewardloop
