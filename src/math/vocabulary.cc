#include <algorithm>
#include <array>

#include "math/token.h"

namespace rewardloop::math {
namespace {

constexpr char Op(RelOp op) { return static_cast<char>(op); }
using F = Function;

// Sorted at start-up of the table itself (constexpr), so entries may stand in any order.
constexpr auto MakeCommands() {
  std::array commands = {
      Command{"frac", Tok::kFrac}, Command{"dfrac", Tok::kFrac}, Command{"tfrac", Tok::kFrac}, Command{"cfrac", Tok::kFrac},
      Command{"sfrac", Tok::kFrac}, Command{"nicefrac", Tok::kFrac}, Command{"binom", Tok::kBinom},
      Command{"dbinom", Tok::kBinom}, Command{"tbinom", Tok::kBinom}, Command{"sqrt", Tok::kSqrt},
      Command{"over", Tok::kOver}, Command{"choose", Tok::kChoose}, Command{"overline", Tok::kOverline},
      Command{"bar", Tok::kOverline}, Command{"dot", Tok::kOverline},
      Command{"vec", Tok::kAccent}, Command{"hat", Tok::kAccent}, Command{"overrightarrow", Tok::kAccent},
      Command{"widehat", Tok::kAccent}, Command{"tilde", Tok::kAccent}, Command{"widetilde", Tok::kAccent},
      Command{"underline", Tok::kAccent}, Command{"mathring", Tok::kAccent}, Command{"overarc", Tok::kAccent},
      Command{"sum", Tok::kSum}, Command{"prod", Tok::kProduct}, Command{"int", Tok::kIntegral}, Command{"lim", Tok::kLimit},
      Command{"to", Tok::kArrow}, Command{"rightarrow", Tok::kArrow}, Command{"longrightarrow", Tok::kArrow},
      Command{"bmod", Tok::kMod}, Command{"mod", Tok::kMod}, Command{"pmod", Tok::kPmod},
      Command{"land", Tok::kAnd}, Command{"wedge", Tok::kAnd}, Command{"lor", Tok::kOr}, Command{"vee", Tok::kOr},
      Command{"ldots", Tok::kDots}, Command{"dots", Tok::kDots}, Command{"cdots", Tok::kDots}, Command{"dotsc", Tok::kDots},
      Command{"dotsb", Tok::kDots}, Command{"dotsm", Tok::kDots}, Command{"vdots", Tok::kDots}, Command{"ddots", Tok::kDots},
      Command{"quad", Tok::kQuad}, Command{"qquad", Tok::kQuad},
      Command{"forall", Tok::kForall}, Command{"exists", Tok::kExists}, Command{"neg", Tok::kNot}, Command{"lnot", Tok::kNot},
      Command{"operatorname", Tok::kOperatorName},
      Command{"times", Tok::kTimes}, Command{"cdot", Tok::kTimes}, Command{"ast", Tok::kTimes}, Command{"cdotp", Tok::kTimes},
      Command{"bullet", Tok::kTimes}, Command{"div", Tok::kDivide}, Command{"pm", Tok::kPlusMinus},
      Command{"mp", Tok::kMinusPlus}, Command{"circ", Tok::kDegree}, Command{"degree", Tok::kDegree},
      Command{"degrees", Tok::kDegree}, Command{"textdegree", Tok::kDegree}, Command{"prime", Tok::kPrime},
      Command{"lbrace", Tok::kLSet}, Command{"rbrace", Tok::kRSet}, Command{"langle", Tok::kLAngle},
      Command{"rangle", Tok::kRAngle}, Command{"lbrack", Tok::kLBracket}, Command{"rbrack", Tok::kRBracket},
      Command{"lfloor", Tok::kLFloor}, Command{"rfloor", Tok::kRFloor}, Command{"lceil", Tok::kLCeil},
      Command{"rceil", Tok::kRCeil}, Command{"lvert", Tok::kLAbs}, Command{"rvert", Tok::kRAbs}, Command{"vert", Tok::kBar},
      Command{"mid", Tok::kBar}, Command{"lVert", Tok::kDoubleBar}, Command{"rVert", Tok::kDoubleBar},
      Command{"Vert", Tok::kDoubleBar}, Command{"colon", Tok::kColon},
      Command{"le", Tok::kRelation, F::kNone, Op(RelOp::kLe)}, Command{"leq", Tok::kRelation, F::kNone, Op(RelOp::kLe)},
      Command{"leqslant", Tok::kRelation, F::kNone, Op(RelOp::kLe)}, Command{"leqq", Tok::kRelation, F::kNone, Op(RelOp::kLe)},
      Command{"ge", Tok::kRelation, F::kNone, Op(RelOp::kGe)}, Command{"geq", Tok::kRelation, F::kNone, Op(RelOp::kGe)},
      Command{"geqslant", Tok::kRelation, F::kNone, Op(RelOp::kGe)}, Command{"geqq", Tok::kRelation, F::kNone, Op(RelOp::kGe)},
      Command{"lt", Tok::kRelation, F::kNone, Op(RelOp::kLt)}, Command{"gt", Tok::kRelation, F::kNone, Op(RelOp::kGt)},
      Command{"ne", Tok::kRelation, F::kNone, Op(RelOp::kNe)}, Command{"neq", Tok::kRelation, F::kNone, Op(RelOp::kNe)},
      Command{"approx", Tok::kRelation, F::kNone, Op(RelOp::kApprox)},
      Command{"simeq", Tok::kRelation, F::kNone, Op(RelOp::kApprox)},
      Command{"thickapprox", Tok::kRelation, F::kNone, Op(RelOp::kApprox)},
      Command{"equiv", Tok::kRelation, F::kNone, Op(RelOp::kEquiv)}, Command{"in", Tok::kRelation, F::kNone, Op(RelOp::kIn)},
      Command{"notin", Tok::kRelation, F::kNone, Op(RelOp::kNotIn)},
      Command{"subset", Tok::kRelation, F::kNone, Op(RelOp::kSubset)},
      Command{"subseteq", Tok::kRelation, F::kNone, Op(RelOp::kSubset)},
      Command{"sim", Tok::kRelation, F::kNone, Op(RelOp::kSimilar)}, Command{"cong", Tok::kRelation, F::kNone, Op(RelOp::kSimilar)},
      Command{"propto", Tok::kRelation, F::kNone, Op(RelOp::kSimilar)},
      Command{"mapsto", Tok::kRelation, F::kNone, Op(RelOp::kMaps)},
      Command{"parallel", Tok::kRelation, F::kNone, Op(RelOp::kSimilar)},
      Command{"cup", Tok::kUnion}, Command{"cupdot", Tok::kUnion}, Command{"bigcup", Tok::kUnion}, Command{"sqcup", Tok::kUnion},
      Command{"cap", Tok::kIntersection}, Command{"setminus", Tok::kSetMinus}, Command{"backslash", Tok::kSetMinus},
      Command{"smallsetminus", Tok::kSetMinus},
      Command{"pi", Tok::kConstant, F::kPi}, Command{"infty", Tok::kConstant, F::kInfinity},
      Command{"infinity", Tok::kConstant, F::kInfinity}, Command{"emptyset", Tok::kNamedSet, F::kEmptySet},
      Command{"varnothing", Tok::kNamedSet, F::kEmptySet}, Command{"O", Tok::kNamedSet, F::kEmptySet},
      Command{"sin", Tok::kFunction, F::kSin}, Command{"cos", Tok::kFunction, F::kCos}, Command{"tan", Tok::kFunction, F::kTan},
      Command{"tg", Tok::kFunction, F::kTan}, Command{"ctg", Tok::kFunction, F::kCot},
      Command{"cot", Tok::kFunction, F::kCot}, Command{"sec", Tok::kFunction, F::kSec}, Command{"csc", Tok::kFunction, F::kCsc},
      Command{"cosec", Tok::kFunction, F::kCsc},
      Command{"arcsin", Tok::kFunction, F::kArcsin}, Command{"arccos", Tok::kFunction, F::kArccos},
      Command{"arctan", Tok::kFunction, F::kArctan}, Command{"arctg", Tok::kFunction, F::kArctan},
      Command{"arccot", Tok::kFunction, F::kArccot}, Command{"arcctg", Tok::kFunction, F::kArccot},
      Command{"arcsec", Tok::kFunction, F::kArcsec}, Command{"arccsc", Tok::kFunction, F::kArccsc},
      Command{"sinh", Tok::kFunction, F::kSinh}, Command{"cosh", Tok::kFunction, F::kCosh},
      Command{"tanh", Tok::kFunction, F::kTanh}, Command{"coth", Tok::kFunction, F::kCoth},
      Command{"sech", Tok::kFunction, F::kSech}, Command{"csch", Tok::kFunction, F::kCsch},
      Command{"arsinh", Tok::kFunction, F::kArsinh}, Command{"arcosh", Tok::kFunction, F::kArcosh},
      Command{"artanh", Tok::kFunction, F::kArtanh}, Command{"arcsinh", Tok::kFunction, F::kArsinh},
      Command{"arccosh", Tok::kFunction, F::kArcosh}, Command{"arctanh", Tok::kFunction, F::kArtanh},
      Command{"arcoth", Tok::kFunction, F::kArcoth}, Command{"arccoth", Tok::kFunction, F::kArcoth},
      Command{"arsech", Tok::kFunction, F::kArsech}, Command{"arcsch", Tok::kFunction, F::kArcsch},
      Command{"exp", Tok::kFunction, F::kExp}, Command{"ln", Tok::kFunction, F::kLn}, Command{"log", Tok::kFunction, F::kLog},
      Command{"lg", Tok::kFunction, F::kLog}, Command{"gcd", Tok::kFunction, F::kGcd}, Command{"lcm", Tok::kFunction, F::kLcm},
      Command{"max", Tok::kFunction, F::kMax}, Command{"min", Tok::kFunction, F::kMin}, Command{"det", Tok::kFunction, F::kDet},
      Command{"cis", Tok::kFunction}, Command{"Re", Tok::kFunction, F::kRe}, Command{"Im", Tok::kFunction, F::kIm}, Command{"arg", Tok::kFunction, F::kArg},
      Command{"sgn", Tok::kFunction, F::kSign}, Command{"abs", Tok::kFunction, F::kAbs}, Command{"Gamma", Tok::kFunction, F::kGamma},
      Command{"floor", Tok::kFunction, F::kFloor}, Command{"ceil", Tok::kFunction, F::kCeil},
      Command{"alpha", Tok::kSymbol}, Command{"beta", Tok::kSymbol}, Command{"gamma", Tok::kSymbol}, Command{"delta", Tok::kSymbol},
      Command{"epsilon", Tok::kSymbol}, Command{"varepsilon", Tok::kSymbol}, Command{"zeta", Tok::kSymbol}, Command{"eta", Tok::kSymbol},
      Command{"theta", Tok::kSymbol}, Command{"vartheta", Tok::kSymbol}, Command{"iota", Tok::kSymbol}, Command{"kappa", Tok::kSymbol},
      Command{"lambda", Tok::kSymbol}, Command{"mu", Tok::kSymbol}, Command{"nu", Tok::kSymbol}, Command{"xi", Tok::kSymbol},
      Command{"rho", Tok::kSymbol}, Command{"varrho", Tok::kSymbol}, Command{"sigma", Tok::kSymbol}, Command{"tau", Tok::kSymbol},
      Command{"upsilon", Tok::kSymbol}, Command{"phi", Tok::kSymbol}, Command{"varphi", Tok::kSymbol}, Command{"chi", Tok::kSymbol},
      Command{"psi", Tok::kSymbol}, Command{"omega", Tok::kSymbol}, Command{"Delta", Tok::kSymbol}, Command{"Theta", Tok::kSymbol},
      Command{"Lambda", Tok::kSymbol}, Command{"Xi", Tok::kSymbol}, Command{"Pi", Tok::kSymbol}, Command{"Sigma", Tok::kSymbol},
      Command{"Phi", Tok::kSymbol}, Command{"Psi", Tok::kSymbol}, Command{"Omega", Tok::kSymbol}, Command{"ell", Tok::kSymbol},
      Command{"hbar", Tok::kSymbol}, Command{"triangle", Tok::kSymbol}, Command{"angle", Tok::kSymbol}, Command{"nabla", Tok::kSymbol},
      Command{"partial", Tok::kSymbol}, Command{"square", Tok::kSymbol}, Command{"imath", Tok::kSymbol}, Command{"jmath", Tok::kSymbol},
      Command{"measuredangle", Tok::kSymbol}, Command{"perp", Tok::kSymbol}, Command{"aleph", Tok::kSymbol}, Command{"star", Tok::kSymbol},
      Command{"zzz", Tok::kSymbol}, Command{"exponentialE", Tok::kConstant, F::kE}, Command{"imaginaryI", Tok::kConstant, F::kI},
      Command{"tr", Tok::kFunction, F::kTrace},
  };
  std::sort(commands.begin(), commands.end(), [](const Command& a, const Command& b) { return a.name < b.name; });
  return commands;
}
constexpr auto kCommands = MakeCommands();

constexpr auto MakeWords() {
  std::array words = {
      Command{"sqrt", Tok::kSqrt}, Command{"cbrt", Tok::kCbrt}, Command{"pi", Tok::kConstant, F::kPi}, Command{"Pi", Tok::kConstant, F::kPi},
      Command{"PI", Tok::kConstant, F::kPi},
      Command{"inf", Tok::kConstant, F::kInfinity}, Command{"infty", Tok::kConstant, F::kInfinity},
      Command{"infinity", Tok::kConstant, F::kInfinity}, Command{"Infinity", Tok::kConstant, F::kInfinity},
      Command{"oo", Tok::kConstant, F::kInfinity},
      Command{"frac", Tok::kFrac}, Command{"dfrac", Tok::kFrac},
      Command{"sin", Tok::kFunction, F::kSin}, Command{"cos", Tok::kFunction, F::kCos}, Command{"tan", Tok::kFunction, F::kTan},
      Command{"tg", Tok::kFunction, F::kTan}, Command{"ctg", Tok::kFunction, F::kCot},
      Command{"cot", Tok::kFunction, F::kCot}, Command{"sec", Tok::kFunction, F::kSec}, Command{"csc", Tok::kFunction, F::kCsc},
      Command{"arcsin", Tok::kFunction, F::kArcsin}, Command{"arccos", Tok::kFunction, F::kArccos},
      Command{"arctan", Tok::kFunction, F::kArctan}, Command{"arccot", Tok::kFunction, F::kArccot},
      Command{"asin", Tok::kFunction, F::kArcsin}, Command{"acos", Tok::kFunction, F::kArccos},
      Command{"atan", Tok::kFunction, F::kArctan}, Command{"acot", Tok::kFunction, F::kArccot},
      Command{"atan2", Tok::kFunction, F::kAtan2},
      Command{"sinh", Tok::kFunction, F::kSinh}, Command{"cosh", Tok::kFunction, F::kCosh},
      Command{"tanh", Tok::kFunction, F::kTanh}, Command{"coth", Tok::kFunction, F::kCoth},
      Command{"asinh", Tok::kFunction, F::kArsinh}, Command{"acosh", Tok::kFunction, F::kArcosh},
      Command{"atanh", Tok::kFunction, F::kArtanh}, Command{"arcsinh", Tok::kFunction, F::kArsinh},
      Command{"arccosh", Tok::kFunction, F::kArcosh}, Command{"arctanh", Tok::kFunction, F::kArtanh},
      Command{"arsinh", Tok::kFunction, F::kArsinh}, Command{"arcosh", Tok::kFunction, F::kArcosh},
      Command{"artanh", Tok::kFunction, F::kArtanh},
      Command{"exp", Tok::kFunction, F::kExp}, Command{"ln", Tok::kFunction, F::kLn}, Command{"log", Tok::kFunction, F::kLog},
      Command{"lg", Tok::kFunction, F::kLog}, Command{"gcd", Tok::kFunction, F::kGcd}, Command{"lcm", Tok::kFunction, F::kLcm},
      Command{"max", Tok::kFunction, F::kMax}, Command{"min", Tok::kFunction, F::kMin}, Command{"abs", Tok::kFunction, F::kAbs},
      Command{"Abs", Tok::kFunction, F::kAbs}, Command{"floor", Tok::kFunction, F::kFloor},
      Command{"ceil", Tok::kFunction, F::kCeil}, Command{"ceiling", Tok::kFunction, F::kCeil},
      Command{"factorial", Tok::kFunction, F::kGamma}, Command{"binomial", Tok::kFunction, F::kBinomial},
      Command{"binom", Tok::kFunction, F::kBinomial}, Command{"comb", Tok::kFunction, F::kBinomial},
      Command{"gamma", Tok::kFunction, F::kGamma}, Command{"Gamma", Tok::kFunction, F::kGamma},
      Command{"igcd", Tok::kFunction, F::kGcd}, Command{"ilcm", Tok::kFunction, F::kLcm}, Command{"Max", Tok::kFunction, F::kMax},
      Command{"Min", Tok::kFunction, F::kMin}, Command{"Mod", Tok::kFunction, F::kMod}, Command{"nCr", Tok::kFunction, F::kBinomial},
      Command{"conjugate", Tok::kFunction, F::kConj}, Command{"sech", Tok::kFunction, F::kSech}, Command{"csch", Tok::kFunction, F::kCsch},
      Command{"varepsilon", Tok::kSymbol}, Command{"varphi", Tok::kSymbol}, Command{"psi", Tok::kSymbol}, Command{"eta", Tok::kSymbol},
      Command{"det", Tok::kFunction, F::kDet}, Command{"sign", Tok::kFunction, F::kSign}, Command{"sgn", Tok::kFunction, F::kSign},
      Command{"cis", Tok::kFunction}, Command{"Re", Tok::kFunction, F::kRe}, Command{"Im", Tok::kFunction, F::kIm},
      Command{"mod", Tok::kMod}, Command{"and", Tok::kAnd}, Command{"or", Tok::kOr}, Command{"in", Tok::kRelation, F::kNone, Op(RelOp::kIn)},
      Command{"sum", Tok::kSum}, Command{"prod", Tok::kProduct}, Command{"int", Tok::kIntegral}, Command{"lim", Tok::kLimit},
      Command{"percent", Tok::kPercent}, Command{"pct", Tok::kPercent}, Command{"percentage", Tok::kPercent},
      Command{"degrees", Tok::kDegree}, Command{"degree", Tok::kDegree}, Command{"deg", Tok::kDegree},
      Command{"alpha", Tok::kSymbol}, Command{"beta", Tok::kSymbol}, Command{"delta", Tok::kSymbol}, Command{"epsilon", Tok::kSymbol},
      Command{"theta", Tok::kSymbol}, Command{"lambda", Tok::kSymbol}, Command{"mu", Tok::kSymbol}, Command{"sigma", Tok::kSymbol},
      Command{"phi", Tok::kSymbol}, Command{"omega", Tok::kSymbol}, Command{"rho", Tok::kSymbol}, Command{"tau", Tok::kSymbol},
      Command{"U", Tok::kWord}, Command{"union", Tok::kUnion},
  };
  std::sort(words.begin(), words.end(), [](const Command& a, const Command& b) { return a.name < b.name; });
  return words;
}
constexpr auto kWords = MakeWords();

template <typename Table>
const Command* Find(const Table& table, std::string_view name) {
  auto found = std::lower_bound(table.begin(), table.end(), name,
                                [](const Command& a, std::string_view key) { return a.name < key; });
  return found != table.end() && found->name == name ? &*found : nullptr;
}

}  // namespace

const Command* FindCommand(std::string_view name) { return Find(kCommands, name); }
const Command* FindWord(std::string_view name) { return Find(kWords, name); }

const Command* FindCommandPrefix(std::string_view name) {
  for (size_t length = name.size(); length-- > 2;) {
    if (const Command* command = FindCommand(name.substr(0, length))) return command;
  }
  return nullptr;
}

}  // namespace rewardloop::math
