// Which Python runs user functions.
#pragma once

#include <string>

#include "rewardloop/status.h"

namespace rewardloop::workers {

struct Interpreter {
  std::string path;
  std::string found_by;  // for messages: "--python", "REWARDLOOP_PYTHON", "VIRTUAL_ENV", "beside rewardloop", "PATH"
};

// The first of: `named` (a path or a name on PATH), $REWARDLOOP_PYTHON, $VIRTUAL_ENV/bin/python, the python beside this
// program, python3 on PATH. A place that is named but does not hold an executable is an error that says how it was found.
Result<Interpreter> FindInterpreter(const std::string& named);

}  // namespace rewardloop::workers
