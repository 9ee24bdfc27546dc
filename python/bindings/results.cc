#include "results.h"

#include <limits>
#include <utility>

namespace nb = nanobind;

namespace rewardloop::python {

Batch::Batch(std::vector<RewardResult> delivered)
    : results(std::move(delivered)) {
  for (const RewardResult& result : results) missing += result.status != ItemStatus::kScored;
}

std::vector<double>& Batch::scores() {
  if (scores_.size() != results.size()) {
    scores_.reserve(results.size());
    for (const RewardResult& result : results) {
      scores_.push_back(result.score.value_or(std::numeric_limits<double>::quiet_NaN()));
    }
  }
  return scores_;
}

bool* Batch::valid() {
  if (!valid_) {
    valid_.reset(new bool[results.size()]);
    for (size_t i = 0; i < results.size(); ++i) valid_[i] = results[i].valid;
  }
  return valid_.get();
}

namespace {

// The package's class and the name of its slot; set once by the package, never freed.
PyObject* results_type = nullptr;
PyObject* batch_attribute = nullptr;

}  // namespace

void SetResultsType(nb::object type) {
  Py_XDECREF(results_type);
  results_type = type.release().ptr();
  if (!batch_attribute) batch_attribute = PyUnicode_InternFromString("_batch");
}

void FillList(const std::shared_ptr<Batch>& batch, PyObject* list) {
  for (size_t i = 0; i < batch->results.size(); ++i) {
    const nb::object result = nb::cast(PyResult{batch, i, {}, {}});
    if (PyList_Append(list, result.ptr()) != 0) throw nb::python_error();
  }
}

nb::object ResultsOf(std::shared_ptr<Batch> batch) {
  static PyObject* const no_arguments = PyTuple_New(0);
  // Not by a call, which would run Python code for each submit of one item.
  const auto make = reinterpret_cast<newfunc>(PyType_GetSlot(&PyList_Type, Py_tp_new));
  nb::object results = nb::steal(make(reinterpret_cast<PyTypeObject*>(results_type), no_arguments, nullptr));
  if (!results.is_valid()) throw nb::python_error();
  FillList(batch, results.ptr());
  const nb::object held = nb::cast(PyBatch{std::move(batch)});
  if (PyObject_SetAttr(results.ptr(), batch_attribute, held.ptr()) != 0) throw nb::python_error();
  return results;
}

nb::object SingleResult(RewardResult result) {
  std::vector<RewardResult> results;
  results.push_back(std::move(result));
  return nb::cast(PyResult{std::make_shared<const Batch>(std::move(results)), 0, {}, {}});
}

}  // namespace rewardloop::python
