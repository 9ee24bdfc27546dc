#include "math/unicode_map.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace rewardloop::math {
namespace {

struct Mapping {
  uint32_t code;
  std::string_view ascii;
};

constexpr auto MakeMappings() {
  std::array mappings = {
      Mapping{0x00A0, " "}, Mapping{0x00A3, "\\$"}, Mapping{0x00A5, "\\$"}, Mapping{0x00B0, "^\\circ "},
      Mapping{0x00B1, "\\pm "}, Mapping{0x00B7, "\\cdot "}, Mapping{0x00BC, "\\frac{1}{4}"}, Mapping{0x00BD, "\\frac{1}{2}"},
      Mapping{0x00BE, "\\frac{3}{4}"}, Mapping{0x00D7, "\\times "}, Mapping{0x00F7, "\\div "}, Mapping{0x060C, ","},
      Mapping{0x066A, "\\%"}, Mapping{0x066B, "."}, Mapping{0x066C, ","}, Mapping{0x061B, ";"},
      Mapping{0x0391, "A"}, Mapping{0x0392, "B"}, Mapping{0x0393, "\\Gamma "}, Mapping{0x0394, "\\Delta "},
      Mapping{0x0398, "\\Theta "}, Mapping{0x039B, "\\Lambda "}, Mapping{0x03A0, "\\Pi "}, Mapping{0x03A3, "\\Sigma "},
      Mapping{0x03A6, "\\Phi "}, Mapping{0x03A8, "\\Psi "}, Mapping{0x03A9, "\\Omega "},
      Mapping{0x03B1, "\\alpha "}, Mapping{0x03B2, "\\beta "}, Mapping{0x03B3, "\\gamma "}, Mapping{0x03B4, "\\delta "},
      Mapping{0x03B5, "\\epsilon "}, Mapping{0x03B6, "\\zeta "}, Mapping{0x03B7, "\\eta "}, Mapping{0x03B8, "\\theta "},
      Mapping{0x03BA, "\\kappa "}, Mapping{0x03BB, "\\lambda "}, Mapping{0x03BC, "\\mu "}, Mapping{0x03BD, "\\nu "},
      Mapping{0x03BE, "\\xi "}, Mapping{0x03C0, "\\pi "}, Mapping{0x03C1, "\\rho "}, Mapping{0x03C3, "\\sigma "},
      Mapping{0x03C4, "\\tau "}, Mapping{0x03C6, "\\phi "}, Mapping{0x03D5, "\\phi "}, Mapping{0x03C7, "\\chi "},
      Mapping{0x03C8, "\\psi "}, Mapping{0x03C9, "\\omega "}, Mapping{0x00B5, "\\mu "},
      Mapping{0x2010, "-"}, Mapping{0x2011, "-"}, Mapping{0x2012, "-"}, Mapping{0x2013, "-"}, Mapping{0x2014, "-"},
      Mapping{0x2016, "\\|"}, Mapping{0x2018, "'"}, Mapping{0x2019, "'"}, Mapping{0x201C, " "}, Mapping{0x201D, " "},
      Mapping{0x2022, "\\cdot "}, Mapping{0x2026, "\\ldots "}, Mapping{0x2032, "'"}, Mapping{0x2033, "''"},
      Mapping{0x200B, ""}, Mapping{0x200C, ""}, Mapping{0x200D, ""}, Mapping{0x2060, ""}, Mapping{0xFEFF, ""},
      Mapping{0x20AC, "\\$"}, Mapping{0x20B9, "\\$"}, Mapping{0x2102, "\\mathbb{C}"}, Mapping{0x2115, "\\mathbb{N}"},
      Mapping{0x211A, "\\mathbb{Q}"}, Mapping{0x211D, "\\mathbb{R}"}, Mapping{0x2124, "\\mathbb{Z}"},
      Mapping{0x2150, "\\frac{1}{7}"}, Mapping{0x2151, "\\frac{1}{9}"}, Mapping{0x2153, "\\frac{1}{3}"},
      Mapping{0x2154, "\\frac{2}{3}"}, Mapping{0x2155, "\\frac{1}{5}"}, Mapping{0x2156, "\\frac{2}{5}"},
      Mapping{0x2157, "\\frac{3}{5}"}, Mapping{0x2158, "\\frac{4}{5}"}, Mapping{0x2159, "\\frac{1}{6}"},
      Mapping{0x215A, "\\frac{5}{6}"}, Mapping{0x215B, "\\frac{1}{8}"}, Mapping{0x215C, "\\frac{3}{8}"},
      Mapping{0x215D, "\\frac{5}{8}"}, Mapping{0x215E, "\\frac{7}{8}"}, Mapping{0x2044, "/"},
      Mapping{0x2192, "\\to "}, Mapping{0x2200, "\\forall "}, Mapping{0x2203, "\\exists "}, Mapping{0x2205, "\\emptyset "},
      Mapping{0x2202, "\\partial "}, Mapping{0x2208, "\\in "}, Mapping{0x2209, "\\notin "}, Mapping{0x220F, "\\prod "},
      Mapping{0x2211, "\\sum "}, Mapping{0x2212, "-"}, Mapping{0x2213, "\\mp "}, Mapping{0x2215, "/"}, Mapping{0x2216, "\\setminus "},
      Mapping{0x2217, "*"}, Mapping{0x221A, "\\sqrt "}, Mapping{0x221B, "\\sqrt[3] "}, Mapping{0x221C, "\\sqrt[4] "},
      Mapping{0x221E, "\\infty "}, Mapping{0x2220, "\\angle "}, Mapping{0x2223, "|"}, Mapping{0x2225, "\\parallel "},
      Mapping{0x2227, "\\land "}, Mapping{0x2228, "\\lor "}, Mapping{0x2229, "\\cap "}, Mapping{0x222A, "\\cup "},
      Mapping{0x222B, "\\int "}, Mapping{0x2236, ":"}, Mapping{0x223C, "\\sim "}, Mapping{0x2245, "\\cong "}, Mapping{0x2248, "\\approx "},
      Mapping{0x2260, "\\ne "}, Mapping{0x2261, "\\equiv "}, Mapping{0x2264, "\\le "}, Mapping{0x2265, "\\ge "},
      Mapping{0x2266, "\\le "}, Mapping{0x2267, "\\ge "}, Mapping{0x2282, "\\subset "}, Mapping{0x2286, "\\subseteq "},
      Mapping{0x22A5, "\\perp "}, Mapping{0x22C5, "\\cdot "}, Mapping{0x22EF, "\\cdots "}, Mapping{0x2308, "\\lceil "},
      Mapping{0x2309, "\\rceil "}, Mapping{0x230A, "\\lfloor "}, Mapping{0x230B, "\\rfloor "}, Mapping{0x25B3, "\\triangle "},
      Mapping{0x27E8, "\\langle "}, Mapping{0x27E9, "\\rangle "}, Mapping{0x2329, "\\langle "}, Mapping{0x232A, "\\rangle "},
      Mapping{0x2A7D, "\\le "}, Mapping{0x2A7E, "\\ge "}, Mapping{0x3001, ","}, Mapping{0x3002, "."}, Mapping{0x3000, " "},
      Mapping{0x3008, "\\langle "}, Mapping{0x3009, "\\rangle "}, Mapping{0x300A, " "}, Mapping{0x300B, " "},
      Mapping{0x3010, "["}, Mapping{0x3011, "]"}, Mapping{0x4E14, "\\land "}, Mapping{0x548C, "\\land "},
      Mapping{0x4E0E, "\\land "}, Mapping{0x6216, "\\lor "}, Mapping{0xFFE5, "\\$"}, Mapping{0x02C6, "^"},
      Mapping{0x2070, "0"}, Mapping{0x212F, "\\mathrm{e}"}, Mapping{0x2147, "\\mathrm{e}"}, Mapping{0x2148, "\\mathrm{i}"},
  };
  std::sort(mappings.begin(), mappings.end(), [](const Mapping& a, const Mapping& b) { return a.code < b.code; });
  return mappings;
}
constexpr auto kMappings = MakeMappings();

// First code of ten consecutive digits 0..9.
constexpr uint32_t kDigitBlocks[] = {0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6,
                                     0x0D66, 0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x17E0, 0x1810, 0x1D7CE, 0x1D7D8, 0x1D7E2,
                                     0x1D7EC, 0x1D7F6};

// Length of the well-formed UTF-8 sequence at text[i], code in *code; 1 and code 0xFFFD for a stray byte.
size_t Decode(std::string_view text, size_t i, uint32_t* code) {
  const auto byte = [&](size_t k) { return static_cast<uint8_t>(text[i + k]); };
  const auto trail = [&](size_t k) { return i + k < text.size() && (byte(k) & 0xC0) == 0x80; };
  const uint8_t lead = byte(0);
  if (lead < 0x80) { *code = lead; return 1; }
  if ((lead & 0xE0) == 0xC0 && trail(1)) { *code = (lead & 0x1Fu) << 6 | (byte(1) & 0x3Fu); return 2; }
  if ((lead & 0xF0) == 0xE0 && trail(1) && trail(2)) {
    *code = (lead & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
    return 3;
  }
  if ((lead & 0xF8) == 0xF0 && trail(1) && trail(2) && trail(3)) {
    *code = (lead & 0x07u) << 18 | (byte(1) & 0x3Fu) << 12 | (byte(2) & 0x3Fu) << 6 | (byte(3) & 0x3Fu);
    return 4;
  }
  *code = 0xFFFD;
  return 1;
}

// Character of a superscript (or subscript), 0 when it is none.
char Superscript(uint32_t code) {
  switch (code) {
    case 0x00B2: return '2';
    case 0x00B3: return '3';
    case 0x00B9: return '1';
    case 0x2070: return '0';
    case 0x2071: return 'i';
    case 0x207A: return '+';
    case 0x207B: return '-';
    case 0x207F: return 'n';
    default: return code >= 0x2074 && code <= 0x2079 ? static_cast<char>('4' + (code - 0x2074)) : 0;
  }
}
char Subscript(uint32_t code) {
  if (code >= 0x2080 && code <= 0x2089) return static_cast<char>('0' + (code - 0x2080));
  if (code == 0x208A) return '+';
  if (code == 0x208B) return '-';
  if (code == 0x2099) return 'n';
  if (code == 0x2096) return 'k';
  return 0;
}
int Circled(uint32_t code) {
  if (code >= 0x2460 && code <= 0x2473) return static_cast<int>(code - 0x2460) + 1;
  return 0;
}

class Writer {
 public:
  Writer(std::string_view text, Arena* arena) : text_(text), arena_(arena) {}

  std::string_view Run() {
    while (i_ < text_.size() && !failed_) Step();
    return failed_ ? std::string_view() : std::string_view(out_, size_);
  }

 private:
  void Step() {
    uint32_t code = 0;
    const size_t length = Decode(text_, i_, &code);
    if (code < 0x80) { Put(text_.substr(i_, 1)); i_ += 1; return; }
    if (Superscript(code)) return PutScript("^{", Superscript);
    if (Subscript(code)) return PutScript("_{", Subscript);
    if (int number = Circled(code)) return PutCircled(number, length);
    i_ += length;
    for (uint32_t block : kDigitBlocks) {
      if (code >= block && code < block + 10) {
        const char digit = static_cast<char>('0' + (code - block));
        return Put({&digit, 1});
      }
    }
    if (code >= 0xFF01 && code <= 0xFF5E) {
      const char c = static_cast<char>(code - 0xFEE0);
      return Put({&c, 1});
    }
    auto found = std::lower_bound(kMappings.begin(), kMappings.end(), code,
                                  [](const Mapping& a, uint32_t key) { return a.code < key; });
    if (found != kMappings.end() && found->code == code) return Put(found->ascii);
    if ((code >= 0x2000 && code <= 0x200A) || code == 0x202F || code == 0x205F) return Put(" ");
    Put(text_.substr(i_ - length, length));
  }

  void PutScript(std::string_view open, char (*map)(uint32_t)) {
    Put(open);
    while (i_ < text_.size()) {
      uint32_t code = 0;
      const size_t length = Decode(text_, i_, &code);
      const char c = map(code);
      if (!c) break;
      Put({&c, 1});
      i_ += length;
    }
    Put("}");
  }

  void PutCircled(int number, size_t length) {
    i_ += length;
    char digits[2] = {static_cast<char>('0' + number / 10), static_cast<char>('0' + number % 10)};
    Put(number >= 10 ? std::string_view(digits, 2) : std::string_view(digits + 1, 1));
    uint32_t next = 0;
    if (i_ < text_.size() && (Decode(text_, i_, &next), Circled(next))) Put(",");
  }

  void Put(std::string_view piece) {
    if (size_ + piece.size() > capacity_) {
      const size_t capacity = std::max(size_ + piece.size(), text_.size() * 2 + 64) * (capacity_ ? 2 : 1);
      char* bigger = arena_->NewArray<char>(capacity);
      if (!bigger) { failed_ = true; return; }
      std::copy(out_, out_ + size_, bigger);
      out_ = bigger;
      capacity_ = capacity;
    }
    std::copy(piece.begin(), piece.end(), out_ + size_);
    size_ += piece.size();
  }

  std::string_view text_;
  Arena* arena_;
  size_t i_ = 0;
  char* out_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  bool failed_ = false;
};

}  // namespace

bool IsAscii(std::string_view text) {
  uint8_t all = 0;
  for (char c : text) all |= static_cast<uint8_t>(c);
  return all < 0x80;
}

std::string_view MapUnicode(std::string_view text, Arena* arena) {
  if (IsAscii(text)) return text;
  return Writer(text, arena).Run();
}

std::string_view RepairControlCharacters(std::string_view text, Arena* arena) {
  const auto damaged = [&](size_t i) -> char {
    const auto next = [&](std::string_view word) { return text.substr(i + 1, word.size()) == word; };
    switch (text[i]) {
      case '\f': return next("rac") || next("box") || next("orall") ? 'f' : 0;
      case '\t': return next("ext") || next("imes") || next("heta") || next("frac") || next("an") || next("riangle") || next("o ") ? 't' : 0;
      case '\b': return next("oxed") || next("eta") || next("inom") || next("egin") || next("ar{") ? 'b' : 0;
      case '\r': return next("ight") || next("ho") || next("angle") || next("floor") || next("ceil") ? 'r' : 0;
      case '\a': return next("lpha") || next("pprox") || next("rc") || next("ngle") ? 'a' : 0;
      case '\v': return next("ec") || next("ert") || next("arphi") ? 'v' : 0;
      case '\n': return next("eq ") || next("eq\\") || next("otin") ? 'n' : 0;
      default: return 0;
    }
  };
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (static_cast<uint8_t>(text[i]) < 0x20 && damaged(i)) ++count;
  }
  if (count == 0) return text;
  char* out = arena->NewArray<char>(text.size() + count);
  if (!out) return {};
  size_t size = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char letter = static_cast<uint8_t>(text[i]) < 0x20 ? damaged(i) : 0;
    if (letter) {
      out[size++] = '\\';
      out[size++] = letter;
    } else {
      out[size++] = text[i];
    }
  }
  return {out, size};
}

std::string_view MapHtml(std::string_view text, Arena* arena) {
  struct Tag { std::string_view from, to; };
  static constexpr Tag kTags[] = {{"<sup>", "^{"}, {"</sup>", "}"}, {"<sub>", "_{"}, {"</sub>", "}"}, {"<br>", " "},
                                  {"&lt;", "<"},  {"&gt;", ">"},   {"&le;", "<="}, {"&ge;", ">="},  {"&nbsp;", " "},
                                  {"&pi;", "\\pi "}, {"&amp;", "&"}};
  if (text.find("<s") == text.npos && text.find("&") == text.npos && text.find("<br>") == text.npos) return text;
  char* out = arena->NewArray<char>(text.size() + 1);
  if (!out) return {};
  size_t size = 0;
  for (size_t i = 0; i < text.size();) {
    bool replaced = false;
    if (text[i] == '<' || text[i] == '&') {
      for (const Tag& tag : kTags) {
        if (text.substr(i, tag.from.size()) != tag.from) continue;
        std::copy(tag.to.begin(), tag.to.end(), out + size);
        size += tag.to.size();
        i += tag.from.size();
        replaced = true;
        break;
      }
    }
    if (!replaced) out[size++] = text[i++];
  }
  return {out, size};
}

}  // namespace rewardloop::math
