#include "item_convert.h"

#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "base/suggest.h"
#include "interpreter.h"
#include "json_convert.h"

namespace rewardloop::python {
namespace {

enum Field : long {
  kItemId,
  kDataSource,
  kPrompt,
  kOutputs,
  kResponse,
  kSolutionStr,
  kGroundTruth,
  kExtraInfo,
  kGroupId,
  kGroupSize,
  kRolloutId,
  kSessionId,
  kIndex,
  kTopTokenIds,
  kTopNumTokens,
  kTopStopReason,
};
constexpr const char* kFieldNames[] = {"item_id",      "data_source", "prompt",   "outputs",    "response",
                                       "solution_str", "ground_truth", "extra_info", "group_id", "group_size",
                                       "rollout_id",   "session_id",  "index",    "token_ids",  "num_tokens", "stop_reason"};

enum OutputField : long { kText, kTokenIds, kNumTokens, kStopReason };
constexpr const char* kOutputFieldNames[] = {"text", "token_ids", "num_tokens", "stop_reason"};

[[noreturn]] void Fail(const std::string& what, std::string hint = "") {
  throw StatusError(InvalidArgument(what, std::move(hint)));
}

std::string TypeNameOf(PyObject* value) { return nb::inst_name(nb::handle(value)).c_str(); }

// Field names as a dict of interned strings: one lookup per key of an item, whatever its fields are.
class FieldTable {
 public:
  template <size_t n>
  explicit FieldTable(const char* const (&names)[n]) : names_(std::begin(names), std::end(names)), table_(PyDict_New()) {
    for (size_t i = 0; i < n; ++i) {
      PyObject* key = PyUnicode_InternFromString(names[i]);
      PyObject* value = PyLong_FromSize_t(i);
      PyDict_SetItem(table_, key, value);
      Py_DECREF(key);
      Py_DECREF(value);
    }
  }

  long Find(PyObject* key) const {
    PyObject* index = PyDict_GetItemWithError(table_, key);
    if (index) return PyLong_AsLong(index);
    if (PyErr_Occurred()) throw nb::python_error();
    if (!PyUnicode_Check(key)) Fail("keys must be strings, not " + TypeNameOf(key));
    const std::string name = TextFrom(key);
    Fail("unknown field '" + name + "'", SuggestionFor(name, names_) + "; other data goes into extra_info");
  }

 private:
  std::vector<std::string> names_;
  PyObject* table_;  // lives as long as the process
};

std::string TextField(PyObject* value, const char* field) {
  if (PyUnicode_Check(value)) return TextFrom(value);
  Fail(std::string(field) + " must be a string, not " + TypeNameOf(value));
}

int64_t IntField(PyObject* value, const char* field) {
  if (!PyBool_Check(value) && PyIndex_Check(value)) {
    nb::object number = nb::steal(PyNumber_Index(value));
    if (number.is_valid()) {
      const long long result = PyLong_AsLongLong(number.ptr());
      if (result != -1 || !PyErr_Occurred()) return result;
      PyErr_Clear();
      Fail(std::string(field) + " does not fit into 64 bits");
    }
    PyErr_Clear();
  }
  Fail(std::string(field) + " must be an integer, not " + TypeNameOf(value));
}

// Identifiers are strings; integers are taken as their decimal text.
std::string IdField(PyObject* value, const char* field) {
  if (PyUnicode_Check(value)) return TextFrom(value);
  if (!PyBool_Check(value) && PyIndex_Check(value)) return std::to_string(IntField(value, field));
  Fail(std::string(field) + " must be a string or an integer, not " + TypeNameOf(value));
}

std::vector<int32_t> TokenIds(PyObject* value) {
  nb::object plain = nb::borrow(value);
  if (!PyList_Check(value) && !PyTuple_Check(value)) {
    if (!PyObject_HasAttrString(value, "tolist")) Fail("token_ids must be a list of integers, not " + TypeNameOf(value));
    plain = nb::steal(PyObject_CallMethod(value, "tolist", nullptr));
    if (!plain.is_valid()) throw nb::python_error();
  }
  if (!PyList_Check(plain.ptr()) && !PyTuple_Check(plain.ptr())) Fail("token_ids must be a list of integers");
  const Py_ssize_t size = PySequence_Size(plain.ptr());
  std::vector<int32_t> ids;
  ids.reserve(size);
  for (Py_ssize_t i = 0; i < size; ++i) {
    nb::object id = nb::steal(PySequence_GetItem(plain.ptr(), i));
    if (!id.is_valid()) throw nb::python_error();
    const int64_t number = IntField(id.ptr(), "token_ids");
    if (number < INT32_MIN || number > INT32_MAX) Fail("token_ids: " + std::to_string(number) + " is no token id");
    ids.push_back(static_cast<int32_t>(number));
  }
  return ids;
}

void SetText(PyObject* value, const char* field, Output* output) {
  if (value == Py_None) return;
  if (!PyUnicode_Check(value)) {
    Fail(std::string(field) + " must be a string or None, not " + TypeNameOf(value),
         PyList_Check(value) ? "several model outputs go into outputs, chat messages into prompt" : "");
  }
  output->text = TextFrom(value);
}

void SetOutputField(long field, PyObject* value, Output* output) {
  switch (field) {
    case kText:
      SetText(value, "text", output);
      break;
    case kTokenIds:
      output->token_ids = TokenIds(value);
      break;
    case kNumTokens:
      output->num_tokens = IntField(value, "num_tokens");
      if (*output->num_tokens < 0) Fail("num_tokens must not be negative");
      break;
    case kStopReason:
      output->stop_reason = TextField(value, "stop_reason");
      break;
  }
}

Output OutputFrom(PyObject* value) {
  static const FieldTable* const fields = new FieldTable(kOutputFieldNames);
  Output output;
  if (!PyDict_Check(value)) {
    SetText(value, "text", &output);
    return output;
  }
  PyObject *key, *member;
  Py_ssize_t position = 0;
  while (PyDict_Next(value, &position, &key, &member)) {
    const long field = fields->Find(key);
    if (member == Py_None) continue;
    nb::object hold = nb::borrow(member);
    SetOutputField(field, member, &output);
  }
  return output;
}

void SetOutputs(PyObject* value, RewardItem* item) {
  if (value == Py_None) return;
  if (!PyList_Check(value) && !PyTuple_Check(value)) {
    Fail("outputs must be a list of {text, token_ids, num_tokens, stop_reason}, not " + TypeNameOf(value),
         "one answer can be given as response");
  }
  nb::object outputs = nb::steal(PySequence_List(value));
  if (!outputs.is_valid()) throw nb::python_error();
  const Py_ssize_t size = PyList_Size(outputs.ptr());
  for (Py_ssize_t i = 0; i < size; ++i) {
    try {
      item->outputs.push_back(OutputFrom(PyList_GetItem(outputs.ptr(), i)));
    } catch (const StatusError& error) {
      Fail("outputs[" + std::to_string(i) + "]." + error.status().message(), error.status().hint());
    }
  }
}

void SetField(long field, PyObject* value, RewardItem* item) {
  switch (field) {
    case kItemId:
      item->item_id = IdField(value, "item_id");
      if (item->item_id.empty()) Fail("item_id must not be empty");
      break;
    case kDataSource:
      if (value != Py_None) item->data_source = TextField(value, "data_source");
      break;
    case kPrompt:
      item->prompt = JsonFrom(value, "prompt");
      break;
    case kOutputs:
      SetOutputs(value, item);
      break;
    case kResponse:
    case kSolutionStr:
      SetText(value, kFieldNames[field], &item->outputs.emplace_back());
      break;
    case kGroundTruth:
      item->ground_truth = JsonFrom(value, "ground_truth");
      break;
    case kExtraInfo:
      item->extra_info = JsonFrom(value, "extra_info");
      if (!item->extra_info.is_null() && !item->extra_info.is_object()) {
        Fail("extra_info must be a dict or None, not " + TypeNameOf(value));
      }
      break;
    case kGroupId:
      if (value != Py_None) item->group_id = IdField(value, "group_id");
      break;
    case kGroupSize:
      if (value == Py_None) break;
      item->group_size = IntField(value, "group_size");
      if (*item->group_size < 1) Fail("group_size must be at least 1");
      break;
    case kRolloutId:
      if (value != Py_None) item->rollout_id = IdField(value, "rollout_id");
      break;
    case kSessionId:
      if (value != Py_None) item->session_id = IdField(value, "session_id");
      break;
    case kIndex:
      if (value != Py_None) item->index = IntField(value, "index");
      break;
  }
}

// What was said of the answer beside it goes to the one output it is about.
void MoveLengths(long answer_field, Output lengths, RewardItem* item) {
  if (answer_field == kOutputs) {
    Fail("token_ids, num_tokens and stop_reason go into the entries of outputs when outputs is given");
  }
  if (item->outputs.empty()) item->outputs.emplace_back();
  Output& output = item->outputs.back();
  output.token_ids = std::move(lengths.token_ids);
  output.num_tokens = lengths.num_tokens;
  output.stop_reason = std::move(lengths.stop_reason);
}

void FillFromDict(PyObject* dict, RewardItem* item) {
  static const FieldTable* const fields = new FieldTable(kFieldNames);
  long answer_field = -1;
  std::optional<Output> lengths;  // token_ids, num_tokens and stop_reason beside the answer
  PyObject *key, *value;
  Py_ssize_t position = 0;
  while (PyDict_Next(dict, &position, &key, &value)) {
    const long field = fields->Find(key);
    if (field == kOutputs || field == kResponse || field == kSolutionStr) {
      if (answer_field >= 0) {
        Fail(std::string("both ") + kFieldNames[answer_field] + " and " + kFieldNames[field] + " are given",
             "one of response, solution_str and outputs holds the answer");
      }
      answer_field = field;
    }
    nb::object hold = nb::borrow(value);
    if (field < kTopTokenIds) {
      SetField(field, value, item);
    } else if (value != Py_None) {
      if (!lengths) lengths.emplace();
      SetOutputField(kTokenIds + (field - kTopTokenIds), value, &*lengths);
    }
  }
  if (lengths) MoveLengths(answer_field, std::move(*lengths), item);
}

void FillItem(PyObject* value, RewardItem* item) {
  if (PyDict_Check(value)) return FillFromDict(value, item);
  if (!PyType_Check(value) && PyMapping_Check(value) && PyObject_HasAttrString(value, "keys")) {
    nb::object dict = nb::steal(PyDict_New());
    if (PyDict_Update(dict.ptr(), value) != 0) throw nb::python_error();
    return FillFromDict(dict.ptr(), item);
  }
  Fail("an item must be a dict, not " + TypeNameOf(value));
}

// "items[3].ground_truth: ..." for a field, "items[3]: unknown field ..." for the rest.
[[noreturn]] void FailAt(Py_ssize_t position, const StatusError& error) {
  Fail("items[" + std::to_string(position) + "]: " + error.status().message(), error.status().hint());
}

}  // namespace

RewardItem ItemFrom(nb::handle item) {
  RewardItem result;
  FillItem(item.ptr(), &result);
  if (result.item_id.empty()) result.item_id = "item:0";
  return result;
}

std::vector<RewardItem> ItemsFrom(nb::handle items) {
  if (PyDict_Check(items.ptr()) || PyUnicode_Check(items.ptr())) {
    Fail("items must be a list of dicts, not " + TypeNameOf(items.ptr()), "one item goes into a list: [item]");
  }
  nb::object list = PyList_Check(items.ptr()) ? nb::borrow(items) : nb::steal(PySequence_List(items.ptr()));
  if (!list.is_valid()) throw nb::python_error();
  const Py_ssize_t size = PyList_Size(list.ptr());
  std::vector<RewardItem> result;
  result.reserve(size);
  constexpr Py_ssize_t kSignalItems = 8192;  // a few milliseconds
  for (Py_ssize_t i = 0; i < size; ++i) {
    if (i % kSignalItems == kSignalItems - 1 && PyErr_CheckSignals() != 0) throw nb::python_error();
    if (i >= PyList_Size(list.ptr())) Fail("items changed while they were read");
    nb::object item = nb::borrow(PyList_GetItem(list.ptr(), i));
    try {
      FillItem(item.ptr(), &result.emplace_back());
    } catch (const StatusError& error) {
      FailAt(i, error);
    }
    if (result[i].item_id.empty()) result[i].item_id = "item:" + std::to_string(i);
  }
  return result;
}

}  // namespace rewardloop::python
