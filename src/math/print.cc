#include "math/print.h"

#include <algorithm>

namespace rewardloop::math {
namespace {

constexpr size_t kPrintBytesMax = 4096;

void Write(const Expr* e, std::string* out);

void WriteList(const Expr* e, std::string_view separator, std::string* out) {
  for (uint32_t i = 0; i < e->child_count; ++i) {
    if (i) *out += separator;
    if (out->size() > kPrintBytesMax) { *out += "..."; return; }
    Write((*e)[i], out);
  }
}

void Named(std::string_view name, const Expr* e, std::string* out) {
  *out += name;
  *out += '(';
  WriteList(e, ", ", out);
  *out += ')';
}

std::string_view RelationSign(char op) {
  switch (static_cast<RelOp>(op)) {
    case RelOp::kEq: return " = ";
    case RelOp::kNe: return " != ";
    case RelOp::kLt: return " < ";
    case RelOp::kLe: return " <= ";
    case RelOp::kGt: return " > ";
    case RelOp::kGe: return " >= ";
    case RelOp::kApprox: return " ~ ";
    case RelOp::kIn: return " in ";
    case RelOp::kNotIn: return " not in ";
    case RelOp::kSubset: return " subset ";
    case RelOp::kMaps: return " -> ";
    case RelOp::kEquiv: return " == ";
    case RelOp::kSimilar: return " similar ";
  }
  return " ? ";
}

void WriteNumber(const Expr* e, std::string* out) {
  const std::string_view digits = e->text.substr(0, std::min<size_t>(e->text.size(), 400));
  if (e->number == 0 || digits.size() < e->text.size() || e->number > 0 || e->number < -40) {
    *out += digits;
    if (digits.size() < e->text.size()) *out += "...";
    if (e->number != 0) *out += "e" + std::to_string(e->number);
    return;
  }
  const size_t places = static_cast<size_t>(-e->number);
  std::string text(digits);
  if (text.size() <= places) text.insert(0, places + 1 - text.size(), '0');
  text.insert(text.size() - places, ".");
  *out += text;
  if (e->has(kFlagTruncated)) *out += "...";
}

void Write(const Expr* e, std::string* out) {
  if (out->size() > kPrintBytesMax) return;
  switch (e->kind) {
    case Kind::kNumber: WriteNumber(e, out); break;
    case Kind::kConstant: case Kind::kNamedSet:
      *out += FunctionName(e->fn);
      if (e->kind == Kind::kNamedSet && e->aux) *out += e->aux > 0 ? "+" : "-";
      break;
    case Kind::kSymbol: *out += e->text; break;
    case Kind::kAdd: *out += '('; WriteList(e, " + ", out); *out += ')'; break;
    case Kind::kMul: *out += '('; WriteList(e, "*", out); *out += ')'; break;
    case Kind::kNeg: *out += '-'; Write((*e)[0], out); break;
    case Kind::kDiv: *out += '('; WriteList(e, "/", out); *out += ')'; break;
    case Kind::kPow: *out += '('; WriteList(e, "^", out); *out += ')'; break;
    case Kind::kSqrt: Named("sqrt", e, out); break;
    case Kind::kRoot: Named("root", e, out); break;
    case Kind::kFactorial: Write((*e)[0], out); *out += '!'; break;
    case Kind::kDoubleFactorial: Write((*e)[0], out); *out += "!!"; break;
    case Kind::kFunction: Named(FunctionName(e->fn), e, out); break;
    case Kind::kCall: Named(e->text, e, out); break;
    case Kind::kSum: Named("sum", e, out); break;
    case Kind::kProduct: Named("product", e, out); break;
    case Kind::kIntegral: Named("integral", e, out); break;
    case Kind::kLimit: Named("limit", e, out); break;
    case Kind::kDerivative: Named("derivative", e, out); break;
    case Kind::kPercent: Write((*e)[0], out); *out += '%'; break;
    case Kind::kDegree: Write((*e)[0], out); *out += " deg"; break;
    case Kind::kPlusMinus: Named(e->has(kFlagMinusPlus) ? "minusplus" : "plusminus", e, out); break;
    case Kind::kBaseNumber: *out += e->text; *out += '_'; *out += std::to_string(e->number); break;
    case Kind::kTuple:
      *out += e->aux == 1 ? '[' : e->aux == 2 ? '<' : '(';
      WriteList(e, ", ", out);
      *out += e->aux2 == 1 ? ']' : e->aux2 == 2 ? '>' : ')';
      break;
    case Kind::kList: Named(e->has(kFlagOr) ? "any" : "list", e, out); break;
    case Kind::kSet: *out += '{'; WriteList(e, ", ", out); *out += '}'; break;
    case Kind::kInterval:
      *out += e->has(kFlagLowerClosed) ? '[' : ']';
      WriteList(e, ", ", out);
      *out += e->has(kFlagUpperClosed) ? ']' : '[';
      break;
    case Kind::kUnion: Named("union", e, out); break;
    case Kind::kIntersection: Named("intersection", e, out); break;
    case Kind::kSetDifference: Named("difference", e, out); break;
    case Kind::kSetBuilder: Named("set of", e, out); break;
    case Kind::kMatrix: Named("matrix " + std::to_string(e->aux) + "x" + std::to_string(e->aux2), e, out); break;
    case Kind::kRelation:
      for (uint32_t i = 0; i < e->child_count; ++i) {
        if (i) *out += RelationSign(e->text[i - 1]);
        Write((*e)[i], out);
      }
      break;
    case Kind::kAnd: Named("and", e, out); break;
    case Kind::kOr: Named("or", e, out); break;
    case Kind::kLabeled: *out += e->text; *out += ": "; WriteList(e, ", ", out); break;
    case Kind::kCongruence: Named("congruent", e, out); break;
    case Kind::kRatio: WriteList(e, ":", out); break;
    case Kind::kTime: *out += "time "; WriteList(e, ":", out); break;
    case Kind::kCases: Named("cases", e, out); break;
    case Kind::kQuantity: Write((*e)[0], out); *out += ' '; *out += e->text == "~" ? "(label)" : e->text; break;
    case Kind::kCurrency: Write((*e)[0], out); *out += e->text.empty() ? " money" : " "; *out += e->text; break;
    case Kind::kText: *out += '"'; *out += e->text.substr(0, 1000); *out += '"'; break;
    case Kind::kEllipsis: *out += "..."; break;
  }
}

}  // namespace

std::string Print(const Expr* e) {
  std::string out;
  if (e) Write(e, &out);
  return out;
}

std::string_view FunctionName(Function fn) {
  static constexpr std::string_view kNames[] = {
      "none", "pi", "e", "i", "infinity", "R", "Z", "N", "Q", "C", "primes", "empty set", "sin", "cos", "tan", "cot", "sec", "csc",
      "arcsin", "arccos", "arctan", "arccot", "arcsec", "arccsc", "sinh", "cosh", "tanh", "coth", "sech", "csch", "arsinh", "arcosh",
      "artanh", "arcoth", "arsech", "arcsch", "exp", "ln", "log", "abs", "floor", "ceil", "sign", "gamma", "re", "im", "conj", "arg",
      "log_base", "binomial", "mod", "atan2", "gcd", "lcm", "max", "min", "det", "trace", "transpose", "norm"};
  const auto index = static_cast<size_t>(fn);
  return index < std::size(kNames) ? kNames[index] : "?";
}

std::string_view TypeName(const Expr* e) {
  if (!e) return "none";
  switch (e->kind) {
    case Kind::kNumber: return e->aux >= 0 ? "decimal" : "integer";
    case Kind::kNeg: return TypeName((*e)[0]);
    case Kind::kDiv: {
      const bool integers = TypeName((*e)[0]) == "integer" && TypeName((*e)[1]) == "integer";
      return integers ? "rational" : "expression";
    }
    case Kind::kConstant: return "constant";
    case Kind::kSymbol: return "symbol";
    case Kind::kPercent: return "percent";
    case Kind::kDegree: return "degrees";
    case Kind::kBaseNumber: return "base_number";
    case Kind::kTuple: return "tuple";
    case Kind::kList: return "list";
    case Kind::kSet: return "set";
    case Kind::kInterval: return "interval";
    case Kind::kUnion: case Kind::kIntersection: case Kind::kSetDifference: case Kind::kNamedSet: return "set";
    case Kind::kSetBuilder: return "set_builder";
    case Kind::kMatrix: return "matrix";
    case Kind::kRelation: return e->text == "=" ? "equation" : "inequality";
    case Kind::kAnd: case Kind::kOr: return "statement";
    case Kind::kLabeled: return "labeled";
    case Kind::kCongruence: return "congruence";
    case Kind::kRatio: return "ratio";
    case Kind::kTime: return "time";
    case Kind::kCases: return "piecewise";
    case Kind::kQuantity: return "quantity";
    case Kind::kCurrency: return "currency";
    case Kind::kText: return "text";
    case Kind::kEllipsis: return "ellipsis";
    case Kind::kPlusMinus: return "plus_minus";
    default: return "expression";
  }
}

}  // namespace rewardloop::math
