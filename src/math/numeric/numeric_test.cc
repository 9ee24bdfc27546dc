// The decision engine as a whole, on texts: what mathematics says, and which method is expected to
// say it.
#include "math/numeric/numeric.h"

#include <gtest/gtest.h>

#include <string>

#include "math/parser.h"

namespace rewardloop::math {
namespace {

class Texts {
 public:
  const Expr* operator()(std::string_view text) {
    const ParseResult result = Parse(text, {}, &arena_);
    EXPECT_NE(result.root, nullptr) << text;
    return result.root;
  }
  Arena& arena() { return arena_; }

 private:
  Arena arena_{1 << 22};
};

std::string Name(Equality e) {
  switch (e) {
    case Equality::kEqual:
      return "equal";
    case Equality::kDifferent:
      return "different";
    case Equality::kUnknown:
      return "unknown";
    case Equality::kLimit:
      return "limit";
  }
  return "?";
}

// Compares both ways round; the verdict has to be the same.
std::string Verdict(std::string_view a, std::string_view b, NumericOptions options = {}) {
  Texts parse;
  const Expr* x = parse(a);
  const Expr* y = parse(b);
  if (x == nullptr || y == nullptr) return "unparsed";
  Fuel forth, back;
  const NumericResult result = Compare(x, y, options, forth);
  EXPECT_EQ(Name(result.equality), Name(Compare(y, x, options, back).equality)) << a << " | " << b;
  return Name(result.equality);
}

struct Case {
  const char* a;
  const char* b;
};

TEST(Compare, NearMissesOfConstantsAreDifferent) {
  constexpr Case kCases[] = {
      {"\\sqrt2", "\\sqrt2+10^{-30}"},
      {"\\sqrt2", "\\sqrt2+10^{-300}"},
      {"\\frac{1}{2^{99}}", "\\frac{1}{2^{98}}"},
      {"\\pi+10^{-50}", "\\pi"},
      {"\\pi+10^{-2000}", "\\pi"},
      {"e", "e+10^{-1500}"},
      {"\\frac{1}{54!}", "\\frac{1}{56!}"},
      {"\\frac{1}{2004!}", "\\frac{1}{2006!}"},
      {"10^{-1000}", "10^{-1001}"},
      {"2\\cdot 10^{-400}", "10^{-400}"},
      {"\\frac{2^{2005}+1}{3\\cdot 2^{2006}}", "\\frac{1}{3\\cdot 2^{2006}}"},
      {"\\pi", "\\frac{355}{113}"},
      {"\\pi", "3.14159265358979"},
      {"\\sqrt{17}", "4.123105625617661"},
      {"2^{100}", "1267650600228229401496703205377"},
      {"e^{\\pi\\sqrt{163}}", "262537412640768744"},  // 7.5e-13 apart
      {"\\tanh(100)", "1"},                           // 2e-87 apart
      {"\\cos(10^{-60})", "1"},
      {"\\ln 2+10^{-70}", "\\ln 2"},
      {"1-\\frac1e", "1+\\frac1e"},
      {"\\sqrt{2+\\sqrt{2+\\sqrt{2+\\sqrt{2+\\sqrt{2+\\sqrt{2+\\sqrt{2+\\sqrt{2}}}}}}}}", "2"},
      {"\\sqrt{10}+\\sqrt{17}", "\\sqrt{5}+\\sqrt{25.9999}"},
  };
  for (const Case& c : kCases) EXPECT_EQ(Verdict(c.a, c.b), "different") << c.a << " | " << c.b;
}

TEST(Compare, EqualConstants) {
  constexpr Case kCases[] = {
      {"2\\sqrt3", "\\sqrt{12}"},
      {"\\sqrt2+\\sqrt3", "\\sqrt{5+2\\sqrt6}"},
      {"\\sqrt[3]{2+\\sqrt5}+\\sqrt[3]{2-\\sqrt5}", "1"},
      {"\\sqrt[3]{-8}", "-2"},
      {"(-8)^{1/3}", "-2"},
      {"\\frac{1}{\\sqrt2}", "\\frac{\\sqrt2}{2}"},
      {"\\frac{1}{\\sqrt2-1}", "1+\\sqrt2"},
      {"\\sqrt{3-2\\sqrt2}", "\\sqrt2-1"},
      {"\\sqrt{7+4\\sqrt3}", "2+\\sqrt3"},
      {"\\ln 6", "\\ln 2+\\ln 3"},
      {"\\log_2 8", "3"},
      {"\\log_4 8", "\\frac32"},
      {"\\frac{\\ln 8}{\\ln 2}", "3"},
      {"\\arctan 1", "\\frac{\\pi}{4}"},
      {"\\arctan 2+\\arctan 3", "\\frac{3\\pi}{4}"},
      {"\\sin 18^\\circ", "\\frac{\\sqrt5-1}{4}"},
      {"\\cos\\frac{2\\pi}{7}+\\cos\\frac{4\\pi}{7}+\\cos\\frac{6\\pi}{7}", "-\\frac12"},
      {"\\cos 20^\\circ\\cdot\\cos 40^\\circ\\cdot\\cos 80^\\circ", "\\frac18"},
      {"\\tan 15^\\circ", "2-\\sqrt3"},
      {"\\frac{5005!}{5004!}", "5005"},
      {"\\Gamma(5)", "24"},
      {"\\binom{10}{3}", "120"},
      {"\\gcd(84,36)", "12"},
      {"\\max(\\sqrt2,\\sqrt3)", "\\sqrt3"},
      {"\\lfloor\\sqrt{17}\\rfloor", "4"},
      {"\\lfloor\\sqrt2\\cdot\\sqrt2\\rfloor", "2"},
      {"\\lceil 2\\cos\\frac{\\pi}{3}\\rceil", "1"},
      {"\\sum_{k=1}^{100} k^2", "338350"},
      {"\\sinh(\\ln 2)", "\\frac34"},
      {"50\\%", "0.5"},
      {"90^\\circ", "\\frac{\\pi}{2}"},
  };
  for (const Case& c : kCases) EXPECT_EQ(Verdict(c.a, c.b), "equal") << c.a << " | " << c.b;
}

TEST(Compare, ComplexConstants) {
  constexpr Case kEqual[] = {
      {"(3-4i)(1+2i)", "11+2i"},
      {"\\frac{1+i}{1-i}", "i"},
      {"\\sqrt{-4}", "2i"},
      {"e^{i\\pi}", "-1"},
      {"e^{i\\pi/3}", "\\frac{1+\\sqrt3 i}{2}"},
      {"(1+i)^8", "16"},
      {"|3-4i|", "5"},
      {"i^i", "e^{-\\pi/2}"},
      {"(-8)^{1/3}", "1+\\sqrt3 i"},  // next to i the principal value is meant
  };
  for (const Case& c : kEqual) EXPECT_EQ(Verdict(c.a, c.b), "equal") << c.a << " | " << c.b;
  EXPECT_EQ(Verdict("3-4i", "3+4i"), "different");
  EXPECT_EQ(Verdict("i", "1"), "different");
  EXPECT_EQ(Verdict("14-i", "14-1.0000001i"), "different");
}

TEST(Compare, NumbersTooLargeToWriteDown) {
  EXPECT_EQ(Verdict("10^{10^{10}}", "10^{10000000000}"), "equal");
  EXPECT_EQ(Verdict("10^{10^{10}}", "10^{10^{10}}+1"), "different");
  EXPECT_EQ(Verdict("9^{9^{9^9}}", "9^{9^{9^9}}"), "equal");
  EXPECT_EQ(Verdict("9^{9^{9^9}}", "9^{9^{9^8}}"), "different");
  EXPECT_EQ(Verdict("2^{2^{100}}", "4^{2^{99}}"), "equal");
  EXPECT_EQ(Verdict("2^{2^{100}}", "4^{2^{98}}"), "different");
  // Same residues, as the exponents agree modulo everything the chain reduces by; told apart by
  // structure.
  EXPECT_EQ(Verdict("2^{3^{6600000}}", "2^{3^{13200000}}"), "different");
  EXPECT_EQ(Verdict("10^{-10^{10}}", "10^{-10^{10}}"), "equal");
  EXPECT_EQ(Verdict("10^{-10^{10}}", "0"), "different");
  EXPECT_EQ(Verdict("2003^{2002^{2001}}", "9"), "different");
  EXPECT_EQ(Verdict("\\frac{5^{5^{5^{5^5}}-4}-5}{16}", "3"), "different");
  EXPECT_EQ(Verdict("100000!", "100001!"), "different");
  EXPECT_EQ(Verdict("100001\\cdot 100000!", "100001!"), "equal");
  EXPECT_EQ(Verdict("7^{7^{7^7}} \\bmod 10", "3"), "equal");
  // 2^(2^(2^1024)): 2^1024 = 16 mod 20, 2^16 = 36 mod 100, 2^36 = 736 mod 1000.
  EXPECT_EQ(Verdict("2^{2^{2^{2^{10}}}} \\bmod 1000", "736"), "equal");
  EXPECT_EQ(Verdict("3^{10^{10^{10}}} \\bmod 7", "4"), "equal");  // 10^n = 4 mod 6, 3^4 = 4 mod 7
}

TEST(Compare, FunctionsOfVariables) {
  constexpr Case kEqual[] = {
      {"\\frac12\\ln(x^2+1)", "\\ln\\sqrt{x^2+1}"},
      {"\\arctan x", "\\arcsin\\frac{x}{\\sqrt{1+x^2}}"},
      {"(x^2)^{3/2}", "|x|^3"},
      {"\\frac{\\sin x}{1+\\cos x}", "\\tan\\frac{x}{2}"},
      {"n^{\\log_2 3}", "3^{\\log_2 n}"},
      {"\\frac{(2n)!}{2^n n!}", "(2n-1)!!"},
      {"\\prod_{k=1}^n k", "n!"},
      {"\\sum_{k=0}^n \\binom{n}{k}", "2^n"},
      {"\\lfloor\\frac{n}{2}\\rfloor", "\\frac{2n-1+(-1)^n}{4}"},
      {"\\frac{x+y+|x-y|}{2}", "\\max(x,y)"},
      {"e^{it}", "\\cos t+i\\sin t"},
      {"(a+bi)(a-bi)", "a^2+b^2"},
      {"\\gcd(n,n+1)", "1"},
      {"(x-1)(x+1)", "x^2-1"},
      {"\\frac{x^2-1}{x-1}", "x+1"},
      {"\\frac{x^{200}-1}{x-1}", "\\sum_{k=0}^{199} x^k"},
      {"\\sin^2 x+\\cos^2 x", "1"},
      {"\\sec^2(y)", "\\tan^2(y)+1"},
      {"\\sin 2x", "2\\sin x\\cos x"},
      {"\\sqrt{x^2}", "|x|"},
      {"\\sqrt{1/n}", "1/\\sqrt n"},
      {"x^{2/3}", "\\sqrt[3]{x}^2"},
      {"\\frac{\\sqrt{x}-1}{x-1}", "\\frac{1}{\\sqrt x+1}"},
      {"2^{n+1}", "2\\cdot 2^n"},
      {"e^{x+y}", "e^x e^y"},
      {"4^x", "2^{2x}"},
      {"n!", "\\Gamma(n+1)"},
      {"(-1)^n", "\\cos(n\\pi)"},
      {"\\binom{n}{2}", "\\frac{n(n-1)}{2}"},
      {"\\binom{n}{k}", "\\frac{n!}{k!(n-k)!}"},
      {"\\frac{(n+1)!}{n!}", "n+1"},
      {"\\sum_{k=1}^n k", "\\frac{n(n+1)}{2}"},
      {"\\sum_{k=1}^n f(k)", "\\sum_{j=1}^n f(j)"},
      {"f(x+1)", "f(1+x)"},
      {"x-x+1", "1"},
      {"\\pi x+2", "2+x\\pi"},
  };
  for (const Case& c : kEqual) EXPECT_EQ(Verdict(c.a, c.b), "equal") << c.a << " | " << c.b;
  constexpr Case kDifferent[] = {
      {"x^2", "x^3"},
      {"x", "y"},
      {"x+10^{-40}", "x"},
      {"\\sin x+10^{-20}", "\\sin x"},
      {"\\sqrt{x^2}", "x"},
      {"\\lfloor x\\rfloor", "x"},
      {"f(x)", "g(x)"},
      {"f(x)", "f(2x)"},
      {"2^n", "n^2"},
      {"\\sum_{k=1}^n k", "\\frac{n(n-1)}{2}"},
      {"\\binom{n}{k}", "\\binom{n}{k+1}"},
      {"\\ln|x|", "\\ln x"},
      {"x^{10^{15}}", "x^{10^{15}+1}"},
  };
  for (const Case& c : kDifferent) EXPECT_EQ(Verdict(c.a, c.b), "different") << c.a << " | " << c.b;
}

TEST(Compare, Calculus) {
  constexpr Case kEqual[] = {
      {"\\frac{d}{dx} x^3", "3x^2"},
      {"\\frac{d}{dx} \\sin(x^2)", "2x\\cos(x^2)"},
      {"\\frac{d}{dx}(\\frac{d}{dx} e^{2x})", "4e^{2x}"},
      {"\\frac{d}{dx} x^x", "x^x(\\ln x+1)"},
      {"\\frac{d}{dx} \\frac{\\ln x}{x}", "\\frac{1-\\ln x}{x^2}"},
      {"\\lim_{x\\to 2} (x^2+1)", "5"},
      {"\\lim_{x\\to 0}\\frac{\\sin x}{x}", "1"},
      {"\\lim_{x\\to 0}\\frac{1-\\cos x}{x^2}", "\\frac12"},
      {"\\int_{0}^{1} x^2 dx", "\\frac13"},
      {"\\int_{0}^{\\pi} \\sin x\\, dx", "2"},
      {"\\int_{1}^{e} \\frac{1}{x} dx", "1"},
      {"\\int_{0}^{1} \\frac{1}{1+x^2} dx", "\\frac{\\pi}{4}"},
  };
  for (const Case& c : kEqual) EXPECT_EQ(Verdict(c.a, c.b), "equal") << c.a << " | " << c.b;
  EXPECT_EQ(Verdict("\\frac{d}{dx} x^3", "3x^2+1"), "different");
  EXPECT_EQ(Verdict("\\int_{0}^{1} x^2 dx", "0.333333333333333"), "different");
  EXPECT_NE(Verdict("\\int_{-1}^{1} \\frac1x dx", "0"), "equal");
  EXPECT_NE(Verdict("\\lim_{x\\to 0}\\frac1x", "0"), "equal");
  EXPECT_NE(Verdict("\\lim_{x\\to 1}\\lfloor x\\rfloor", "1"), "equal");  // 0 from below
}

TEST(Compare, SumBoundsAtTheEndOfTheType) {
  EXPECT_NE(Verdict("\\sum_{k=9223372036854775807}^{9223372036854775807} k", "1"), "equal");
  EXPECT_EQ(Verdict("\\sum_{k=4611686018427387900}^{4611686018427387901} 1", "2"), "equal");
}

TEST(Compare, Series) {
  constexpr Case kEqual[] = {
      {"\\sum_{n=1}^{\\infty}\\frac{1}{2^n}", "1"},
      {"\\sum_{n=0}^{\\infty}\\frac{1}{n!}", "e"},
      {"\\sum_{n=0}^{\\infty} x^{n+1}", "\\sum_{n=1}^{\\infty} x^n"},
      {"\\sum_{n=0}^{\\infty}\\frac{x^n}{n!}", "\\sum_{k=0}^{\\infty}\\frac{x^k}{k!}"},
      {"\\sum_{n=0}^{\\infty}\\frac{n}{3^n}", "\\frac34"},
  };
  for (const Case& c : kEqual) EXPECT_EQ(Verdict(c.a, c.b), "equal") << c.a << " | " << c.b;
  constexpr Case kDifferent[] = {
      {"\\sum_{n=1}^{\\infty}\\frac{1}{2^n}", "1+10^{-20}"},
      {"\\sum_{n=0}^{\\infty}\\frac{(-1)^n}{n+1} x^{n+1}",
       "\\sum_{n=2}^{\\infty}\\frac{(-1)^n}{n+1} x^{n+1}"},
      {"\\sum_{m=0}^{\\infty} (m+1) x^{2m}", "\\sum_{m=0}^{\\infty} (m+1) x^{9m}"},
  };
  for (const Case& c : kDifferent) EXPECT_EQ(Verdict(c.a, c.b), "different") << c.a << " | " << c.b;
  EXPECT_EQ(Verdict("\\sum_{n=1}^{\\infty}\\frac{1}{n}", "20"), "unknown");
  EXPECT_EQ(Verdict("\\sum_{n=1}^{\\infty} 2^n", "-2"), "unknown");
}

TEST(Compare, UndefinedIsNeverEqual) {
  for (const Case& c :
       {Case{"\\frac10", "\\frac10"}, Case{"0^0", "1"}, Case{"\\ln 0", "\\ln 0"},
        Case{"\\frac10-\\frac10", "0"}, Case{"\\frac{x}{x-x}", "\\frac{x}{x-x}"},
        Case{"\\ln 0-\\ln 0", "0"}, Case{"(-3)!", "(-3)!"},
        Case{"\\tan\\frac{\\pi}{2}", "\\tan\\frac{\\pi}{2}"}, Case{"0\\cdot\\frac10", "0"}}) {
    EXPECT_NE(Verdict(c.a, c.b), "equal") << c.a << " | " << c.b;
  }
}

TEST(Compare, LogarithmBaseIsAnOption) {
  NumericOptions ten;
  ten.log_base10 = true;
  EXPECT_EQ(Verdict("\\log 100", "2", ten), "equal");
  EXPECT_EQ(Verdict("\\log 100", "2"), "different");
  EXPECT_EQ(Verdict("\\log 100", "2\\ln 10"), "equal");
  EXPECT_EQ(Verdict("\\log x", "\\frac{\\ln x}{\\ln 10}", ten), "equal");
  NumericOptions positive;
  positive.positive_variables = true;
  EXPECT_EQ(Verdict("\\sqrt{x^2}", "x", positive), "equal");
}

TEST(Compare, FuelBoundsEveryCall) {
  // Nothing here may take long; unknown and limit are fine, equal is not.
  for (const Case& c :
       {Case{"\\sum_{k=1}^{9999}\\sum_{j=1}^{9999}\\sin(jk)", "1"}, Case{"9!!!!!!", "3!"},
        Case{"\\sum_{k=1}^{9999}\\frac{1}{k^{k}}", "\\sqrt2"},
        Case{"\\Gamma(\\Gamma(\\Gamma(\\Gamma(\\pi))))", "1"},
        Case{"\\sum_{k=1}^{n}\\sum_{j=1}^{n} (jk)!", "n"}}) {
    Texts parse;
    const Expr* x = parse(c.a);
    const Expr* y = parse(c.b);
    ASSERT_TRUE(x != nullptr && y != nullptr);
    Fuel fuel(200'000);
    EXPECT_NE(Compare(x, y, {}, fuel).equality, Equality::kEqual) << c.a;
    EXPECT_LE(fuel.used(), 200'000);
  }
}

TEST(Order, OfRealConstants) {
  Texts parse;
  const auto order = [&](std::string_view a, std::string_view b) {
    Fuel fuel;
    return CompareOrder(parse(a), parse(b), {}, fuel);
  };
  EXPECT_EQ(order("1/3", "0.333"), Order::kGreater);
  EXPECT_EQ(order("\\sqrt2", "\\frac{99}{70}"), Order::kLess);
  EXPECT_EQ(order("\\pi", "\\frac{355}{113}"), Order::kLess);
  EXPECT_EQ(order("\\sqrt{12}", "2\\sqrt3"), Order::kEqual);
  EXPECT_EQ(order("-\\infty", "-10^{100}"), Order::kLess);
  EXPECT_EQ(order("\\infty", "\\infty"), Order::kEqual);
  EXPECT_EQ(order("e^{100}", "\\infty"), Order::kLess);
  EXPECT_EQ(order("i", "1"), Order::kUnknown);
  EXPECT_EQ(order("x", "1"), Order::kUnknown);
  EXPECT_EQ(order("\\frac10", "1"), Order::kUnknown);
  EXPECT_EQ(order("\\pi+10^{-100}", "\\pi"), Order::kGreater);
}

TEST(Ratio, OfEquations) {
  Texts parse;
  const auto ratio = [&](std::string_view a, std::string_view b) {
    Fuel fuel;
    return ConstantRatio(parse(a), parse(b), {}, fuel);
  };
  EXPECT_EQ(ratio("2x+4y-3", "y+x/2-3/4").equality, Equality::kEqual);
  EXPECT_EQ(ratio("2x+4y-3", "y+x/2-3/4").sign, 1);
  EXPECT_EQ(ratio("x-y", "y-x").sign, -1);
  EXPECT_EQ(ratio("x^2/4+y^2/3-1", "x^2/16+y^2/12-1").equality, Equality::kDifferent);
  EXPECT_EQ(ratio("x", "x^2").equality, Equality::kDifferent);
  EXPECT_EQ(ratio("\\pi x-\\pi", "x-1").equality, Equality::kEqual);
  EXPECT_EQ(ratio("\\sqrt2 x-2", "x-\\sqrt2").equality, Equality::kEqual);
  EXPECT_EQ(ratio("\\sin(x)-y", "2\\sin(x)-2y").equality, Equality::kEqual);
  EXPECT_EQ(ratio("\\sin(x)-y", "2\\sin(x)-3y").equality, Equality::kDifferent);
  EXPECT_NE(ratio("x-x", "x").equality, Equality::kEqual);
  EXPECT_NE(ratio("x-x", "y-y").equality, Equality::kEqual);
}

TEST(LinearIn, FindsSlopeAndIntercept) {
  Texts parse;
  Fuel fuel;
  const auto value = [&](const Expr* e) { return EvaluateRational(e, fuel)->ToString(); };
  const auto line = LinearIn(parse("3(x-2)+\\frac{x}{2}"), parse("x"), {}, parse.arena(), fuel);
  ASSERT_TRUE(line);
  EXPECT_EQ(value(line->k), "7/2");
  EXPECT_EQ(value(line->c), "-6");
  EXPECT_FALSE(LinearIn(parse("x^2"), parse("x"), {}, parse.arena(), fuel));
  EXPECT_FALSE(LinearIn(parse("|x|"), parse("x"), {}, parse.arena(), fuel));
  EXPECT_FALSE(LinearIn(parse("x-x"), parse("x"), {}, parse.arena(), fuel));
  EXPECT_FALSE(LinearIn(parse("\\frac1x"), parse("x"), {}, parse.arena(), fuel));
  EXPECT_FALSE(LinearIn(parse("y"), parse("x"), {}, parse.arena(), fuel));
  const auto slope = LinearIn(parse("ax+b"), parse("x"), {}, parse.arena(), fuel);
  ASSERT_TRUE(slope);
  EXPECT_EQ(Compare(slope->k, parse("a"), {}, fuel).equality, Equality::kEqual);
}

TEST(Decimals, RoundingAndTruncation) {
  Texts parse;
  Fuel fuel;
  const auto rounds = [&](std::string_view exact, Rational d, int digits) {
    return RoundsTo(parse(exact), d, digits, {}, fuel);
  };
  const auto cuts = [&](std::string_view exact, Rational d, int digits) {
    return TruncatesTo(parse(exact), d, digits, {}, fuel);
  };
  EXPECT_EQ(rounds("\\sqrt{17}", Rational::Of(41231, 10000), 4), Equality::kEqual);  // 4.12310
  EXPECT_EQ(rounds("\\sqrt{17}", Rational::Of(41232, 10000), 4), Equality::kDifferent);
  EXPECT_EQ(rounds("\\frac18", Rational::Of(13, 100), 2),
            Equality::kEqual);  // a half rounds either way
  EXPECT_EQ(rounds("\\frac18", Rational::Of(12, 100), 2), Equality::kEqual);
  EXPECT_EQ(rounds("\\frac18", Rational::Of(11, 100), 2), Equality::kDifferent);
  EXPECT_EQ(rounds("\\pi", Rational::Of(314, 100), 2), Equality::kEqual);
  EXPECT_EQ(rounds("-\\pi", Rational::Of(-314, 100), 2), Equality::kEqual);
  EXPECT_EQ(rounds("\\frac{600}{7}", Rational::Of(8571, 100), 2), Equality::kEqual);
  EXPECT_EQ(cuts("\\frac23", Rational::Of(66, 100), 2), Equality::kEqual);
  EXPECT_EQ(cuts("\\frac23", Rational::Of(67, 100), 2), Equality::kDifferent);
  EXPECT_EQ(cuts("-\\frac23", Rational::Of(-66, 100), 2), Equality::kEqual);
  EXPECT_EQ(cuts("\\pi", Rational::Of(3141, 1000), 3), Equality::kEqual);
  EXPECT_EQ(WithinTolerance(parse("\\pi"), parse("3.14"), Rational::Of(16, 10000), {}, fuel),
            Equality::kEqual);
  EXPECT_EQ(WithinTolerance(parse("\\pi"), parse("3.14"), Rational::Of(15, 10000), {}, fuel),
            Equality::kDifferent);
  EXPECT_EQ(WithinTolerance(parse("3+4i"), parse("3"), Rational(4), {}, fuel), Equality::kEqual);
  EXPECT_EQ(WithinTolerance(parse("3+5i"), parse("3"), Rational(4), {}, fuel),
            Equality::kDifferent);
  EXPECT_EQ(WithinRelative(parse("101"), parse("100"), Rational::Of(1, 100), {}, fuel),
            Equality::kEqual);
  EXPECT_EQ(WithinRelative(parse("102"), parse("100"), Rational::Of(1, 100), {}, fuel),
            Equality::kDifferent);
}

TEST(Symbols, FreeAndBound) {
  Texts parse;
  EXPECT_EQ(FreeSymbols(parse("\\sum_{k=1}^n k x")).size(), 2u);
  EXPECT_EQ(FreeSymbols(parse("x+y+x")).size(), 2u);
  EXPECT_TRUE(FreeSymbols(parse("\\pi+e+1")).empty());
  const Expr* sum = parse("\\sum_{k=1}^k k");
  const Expr* k = parse("k");
  const Expr* replaced = Substitute(sum, k->number, parse("4"), parse.arena());
  ASSERT_NE(replaced, nullptr);
  Fuel fuel;
  EXPECT_EQ(EvaluateRational(replaced, fuel)->ToString(), "10");  // only the bound is free
}

}  // namespace
}  // namespace rewardloop::math
