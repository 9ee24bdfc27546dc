#include "json_convert.h"

#include <cmath>

#include "interpreter.h"

namespace rewardloop::python {
namespace {

constexpr int kMaxDepth = 1024;

// A place inside a value, as a chain on the stack: only an error pays for the text.
struct Path {
  const Path* parent;
  PyObject* key;     // of an object, else null
  Py_ssize_t index;  // in an array
  int depth;
  const char* root;

  std::string ToString() const {
    if (!parent) return root;
    if (key) return parent->ToString() + "[" + nb::repr(nb::handle(key)).c_str() + "]";
    return parent->ToString() + "[" + std::to_string(index) + "]";
  }
};

[[noreturn]] void Fail(const Path& path, const std::string& what, std::string hint = "") {
  throw StatusError(InvalidArgument(path.ToString() + ": " + what, std::move(hint)));
}

Json Convert(PyObject* value, const Path& path);

Json ConvertInt(PyObject* value, const Path& path) {
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow == 0) {
    if (small == -1 && PyErr_Occurred()) throw nb::python_error();
    return Json(static_cast<int64_t>(small));
  }
  // Through int itself: a subclass may print otherwise.
  nb::object exact = nb::steal(PyNumber_Long(value));
  nb::object digits = exact.is_valid() ? nb::steal(PyNumber_ToBase(exact.ptr(), 10)) : nb::object();
  if (!digits.is_valid()) {
    PyErr_Clear();
    Fail(path, "the integer has too many digits to be read", "see sys.set_int_max_str_digits");
  }
  return Json::BigInt(TextFrom(digits.ptr()));
}

std::string KeyFrom(PyObject* key, const Path& path) {
  if (PyUnicode_Check(key)) return TextFrom(key);
  if (PyLong_Check(key) && !PyBool_Check(key)) {
    Json number = ConvertInt(key, path);
    return number.Dump();
  }
  Fail(path, std::string("keys must be strings, not ") + nb::inst_name(nb::handle(key)).c_str());
}

Json ConvertDict(PyObject* value, const Path& path) {
  Json::Object members;
  members.reserve(PyDict_Size(value));
  PyObject *key, *member;
  Py_ssize_t position = 0;
  while (PyDict_Next(value, &position, &key, &member)) {
    // The caller's containers may change while a tolist() runs, so hold on to what is being read.
    nb::object key_ref = nb::borrow(key), member_ref = nb::borrow(member);
    Path here{&path, key, 0, path.depth + 1, nullptr};
    std::string name = KeyFrom(key, path);
    members.emplace_back(std::move(name), Convert(member, here));
  }
  return Json(std::move(members));
}

Json ConvertSequence(PyObject* value, const Path& path) {
  const bool is_list = PyList_Check(value);
  Json::Array elements;
  elements.reserve(is_list ? PyList_Size(value) : PyTuple_Size(value));
  for (Py_ssize_t i = 0; i < (is_list ? PyList_Size(value) : PyTuple_Size(value)); ++i) {
    nb::object element = nb::borrow(is_list ? PyList_GetItem(value, i) : PyTuple_GetItem(value, i));
    elements.push_back(Convert(element.ptr(), Path{&path, nullptr, i, path.depth + 1, nullptr}));
  }
  return Json(std::move(elements));
}

Json ConvertOther(PyObject* value, const Path& path) {
  if (PyObject_HasAttrString(value, "tolist")) {
    nb::object plain = nb::steal(PyObject_CallMethod(value, "tolist", nullptr));
    if (!plain.is_valid()) throw nb::python_error();
    // A long double and a mock give themselves or their like, for ever.
    if (Py_TYPE(plain.ptr()) != Py_TYPE(value)) return Convert(plain.ptr(), Path{path.parent, path.key, path.index, path.depth + 1, path.root});
  }
  if (PyBytes_Check(value)) Fail(path, "bytes are not JSON", "decode them to str");
  if (!PyType_Check(value) && PyMapping_Check(value) && PyObject_HasAttrString(value, "keys")) {
    nb::object dict = nb::steal(PyDict_New());
    if (PyDict_Update(dict.ptr(), value) != 0) throw nb::python_error();
    return ConvertDict(dict.ptr(), path);
  }
  Fail(path, std::string("a ") + nb::inst_name(nb::handle(value)).c_str() + " is not JSON",
       "None, bool, int, float, str, list, tuple and dict are");
}

Json Convert(PyObject* value, const Path& path) {
  if (value == Py_None) return Json();
  if (PyUnicode_Check(value)) return Json(TextFrom(value));
  if (PyBool_Check(value)) return Json(value == Py_True);
  if (PyLong_Check(value)) return ConvertInt(value, path);
  if (PyFloat_Check(value)) {
    const double number = PyFloat_AsDouble(value);
    if (!std::isfinite(number)) {
      Fail(path, std::isnan(number) ? "NaN is not JSON" : "infinity is not JSON", "use None for a missing value");
    }
    return Json(number);
  }
  if (path.depth >= kMaxDepth) throw StatusError(InvalidArgument("a value is nested deeper than 1024 levels"));
  if (PyDict_Check(value)) return ConvertDict(value, path);
  if (PyList_Check(value) || PyTuple_Check(value)) return ConvertSequence(value, path);
  return ConvertOther(value, path);
}

// As the "surrogatepass" encoder gives it, with the three bytes of each surrogate replaced by those of U+FFFD.
std::string ReplaceSurrogates(PyObject* text) {
  nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass"));
  if (!bytes.is_valid()) throw nb::python_error();
  char* data;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(bytes.ptr(), &data, &size) != 0) throw nb::python_error();
  std::string result(data, size);
  for (size_t i = 0; i + 2 < result.size(); ++i) {
    if (result[i] == '\xED' && static_cast<unsigned char>(result[i + 1]) >= 0xA0) {
      result.replace(i, 3, "\xEF\xBF\xBD");
    }
  }
  return result;
}

}  // namespace

std::string TextFrom(PyObject* text) {
  Py_ssize_t size;
  const char* data = PyUnicode_AsUTF8AndSize(text, &size);
  if (data) return std::string(data, size);
  PyErr_Clear();
  return ReplaceSurrogates(text);
}

Json JsonFrom(PyObject* value, const char* where) {
  return Convert(value, Path{nullptr, nullptr, 0, 0, where});
}

nb::object ToPython(const std::string& text) {
  nb::object result = nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
  if (!result.is_valid()) throw nb::python_error();
  return result;
}

nb::object ToPython(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::kNull:
      return nb::none();
    case Json::Kind::kBool:
      return nb::bool_(value.AsBool());
    case Json::Kind::kInt:
      return nb::int_(value.AsInt());
    case Json::Kind::kDouble:
      return nb::float_(value.AsDouble());
    case Json::Kind::kBigInt: {
      nb::object number = nb::steal(PyLong_FromString(value.BigIntText().c_str(), nullptr, 10));
      if (number.is_valid()) return number;
      PyErr_Clear();  // more digits than the interpreter converts: the text says the same
      return ToPython(value.BigIntText());
    }
    case Json::Kind::kString:
      return ToPython(value.AsString());
    case Json::Kind::kArray: {
      nb::list result;
      for (const Json& element : value.AsArray()) result.append(ToPython(element));
      return result;
    }
    case Json::Kind::kObject: {
      nb::dict result;
      for (const auto& [key, member] : value.AsObject()) result[ToPython(key)] = ToPython(member);
      return result;
    }
  }
  return nb::none();
}

}  // namespace rewardloop::python
