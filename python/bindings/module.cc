// The extension module: one Bind function per public header.
#include "interpreter.h"

NB_MODULE(_core, m) {
  using namespace rewardloop::python;
  // What a daemon thread or a traceback still holds when the interpreter ends is no leak.
  nanobind::set_leak_warnings(false);
  m.doc() = "C++ core of rewardloop. Use the package's names, not this module's.";
  BindInterpreter(m);
  BindResult(m);
  BindScorer(m);
  BindMath(m);
  BindEngine(m);
  BindInline(m);
  BindPipeline(m);
  BindRows(m);
}
