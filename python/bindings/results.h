// Results as Python sees them: light objects that share one C++ vector.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>
#include <vector>

#include "rewardloop/result.h"

namespace rewardloop::python {

// What one collect, submit or verify delivered. Immutable after construction except for the two arrays, which belong to
// the NumPy views of them.
struct Batch {
  explicit Batch(std::vector<RewardResult> delivered);

  std::vector<RewardResult> results;
  size_t missing = 0;  // results that no verdict was reached for

  // Made when they are first asked for, with the GIL held.
  std::vector<double>& scores();  // NaN where there is none
  bool* valid();                  // has a score that no policy masked

 private:
  std::vector<double> scores_;
  std::unique_ptr<bool[]> valid_;
};

// How Python holds a batch: C++ shares it without counting Python references.
struct PyBatch {
  std::shared_ptr<Batch> batch;
};

// One result: holds its batch alive; Python values are made when they are asked for.
struct PyResult {
  std::shared_ptr<const Batch> batch;
  size_t index = 0;
  // Made once, so that what a caller adds to them stays.
  nanobind::object extra;
  nanobind::object components;

  const RewardResult& get() const { return batch->results[index]; }
};

// Appends the results to a list of Python's.
void FillList(const std::shared_ptr<Batch>& batch, PyObject* list);

// The package's `Results`, a list with a slot for the batch. Called once.
void SetResultsType(nanobind::object type);
// A `Results` of the package, of all results of `batch`. Needs the GIL.
nanobind::object ResultsOf(std::shared_ptr<Batch> batch);

// The only result of a new batch.
nanobind::object SingleResult(RewardResult result);

}  // namespace rewardloop::python
