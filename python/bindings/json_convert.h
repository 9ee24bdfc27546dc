// Python values to Json and back.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "rewardloop/json.h"

namespace rewardloop::python {

// Text of a Python str as valid UTF-8; a lone surrogate becomes U+FFFD, as in the JSON parser. `text` must be a str.
std::string TextFrom(PyObject* text);

// `value` as Json: None, bool, int, float, str, list, tuple, dict, and what has tolist() (NumPy scalars and arrays).
// Raises ArgumentError that starts with `where` ("items[3].ground_truth") for anything else, NaN and infinities, nesting
// beyond 1,024 levels.
Json JsonFrom(PyObject* value, const char* where);

// New reference, or throws nb::python_error.
nanobind::object ToPython(const Json& value);
nanobind::object ToPython(const std::string& text);

}  // namespace rewardloop::python
