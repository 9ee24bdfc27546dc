// src/io/row_mapping.h, line_reader.h, row_parser.h: rows with columns of any name to items.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "interpreter.h"
#include "io/line_reader.h"
#include "io/row_mapping.h"
#include "io/row_parser.h"
#include "item_convert.h"
#include "json_convert.h"

namespace rewardloop::python {
namespace {

constexpr size_t kLinesPerSignalCheck = 4096;

// A column that the mapping may read, with its name as a Python string.
struct Column {
  std::string name;
  nb::object key;
};

std::vector<Column> ColumnsOf(const FieldMap& map) {
  std::vector<Column> columns;
  for (const std::string& name : map.roots()) columns.push_back({name, ToPython(name)});
  return columns;
}

// The value of a column; not valid when the row has none. `keys` of a row that is no dict: asking a mapping for what it does
// not have may make it (a defaultdict).
nb::object ValueOf(PyObject* row, PyObject* key, PyObject* keys) {
  if (!keys) {
    PyObject* value = PyDict_GetItemWithError(row, key);
    if (!value && PyErr_Occurred()) throw nb::python_error();
    return nb::borrow(value);
  }
  const int found = PySequence_Contains(keys, key);
  if (found == 0) return {};
  nb::object value = found < 0 ? nb::object() : nb::steal(PyObject_GetItem(row, key));
  if (!value.is_valid()) throw nb::python_error();
  return value;
}

// Only the columns that the mapping reads are converted: other ones may hold anything.
Json RowFrom(PyObject* row, const std::vector<Column>& columns) {
  nb::object keys;
  if (!PyDict_Check(row)) {
    keys = nb::steal(PyMapping_Keys(row));
    if (!keys.is_valid()) throw nb::python_error();
  }
  Json::Object members;
  for (const Column& column : columns) {
    const nb::object value = ValueOf(row, column.key.ptr(), keys.ptr());
    if (value.is_valid()) members.emplace_back(column.name, JsonFrom(value.ptr(), column.name.c_str()));
  }
  return Json(std::move(members));
}

ItemVector ItemsFromRows(const nb::list& rows, const std::string& preset, const nb::object& fields) {
  const FieldMap map = ValueOrThrow(FieldMap::Make(preset, JsonFrom(fields.ptr(), "fields")));
  const std::vector<Column> columns = ColumnsOf(map);
  auto items = std::make_shared<std::vector<RewardItem>>(rows.size());
  for (size_t i = 0; i < items->size(); ++i) {
    nb::object row = rows[i];
    try {
      if (!PyDict_Check(row.ptr()) && !PyObject_HasAttrString(row.ptr(), "keys")) {
        throw StatusError(InvalidArgument(std::string("a row must be a dict, not ") + nb::inst_name(row).c_str()));
      }
      ThrowIfError(map.ToItem(RowFrom(row.ptr(), columns), "row:" + std::to_string(i), &(*items)[i]));
    } catch (const StatusError& error) {
      const std::string place = "rows[" + std::to_string(i) + "]: ";
      throw StatusError(Status(error.status().code(), place + error.status().message(), error.status().hint()));
    }
  }
  return {std::move(items)};
}

// Rows of a JSONL file, all of which is checked. Runs without the GIL; `interrupted` is asked now and then.
Result<std::vector<RewardItem>> ReadItems(const std::string& path, const FieldMap& map,
                                          const std::function<bool()>& interrupted) {
  RL_ASSIGN_OR_RETURN(const std::unique_ptr<LineReader> reader, LineReader::Open(path));
  RowParser parser(map.roots(), {});
  std::vector<RewardItem> items;
  std::string line;
  while (true) {
    RL_ASSIGN_OR_RETURN(const bool more, reader->Next(&line));
    if (!more) return items;
    Json row;
    bool watched;
    const std::string number = std::to_string(reader->line_number());
    if (Status status = parser.Parse(line, &row, &watched); !status.ok()) {
      return Status(status.code(), reader->name() + ":" + number + ":" + status.message(), status.hint());
    }
    if (Status status = map.ToItem(row, "line:" + number, &items.emplace_back()); !status.ok()) {
      return Status(status.code(), reader->name() + ":" + number + ": " + status.message(), status.hint());
    }
    if (items.size() % kLinesPerSignalCheck == 0 && interrupted()) return Cancelled("interrupted");
  }
}

ItemVector ItemsFromFile(const std::string& path, const std::string& preset, const nb::object& fields) {
  const FieldMap map = ValueOrThrow(FieldMap::Make(preset, JsonFrom(fields.ptr(), "fields")));
  Interruption interrupted;
  std::optional<Result<std::vector<RewardItem>>> items;
  {
    GilRelease release;
    items = ReadItems(path, map, std::ref(interrupted));
  }
  interrupted.Rethrow();
  return {std::make_shared<std::vector<RewardItem>>(ValueOrThrow(std::move(*items)))};
}

}  // namespace

void BindRows(nb::module_& m) {
  nb::class_<ItemVector>(m, "_Items", "Items that were converted once.")
      .def("__len__", [](const ItemVector& self) { return self.items->size(); });
  m.def("_items_from_rows", &ItemsFromRows, nb::arg("rows"), nb::arg("preset"), nb::arg("fields").none(),
        nb::sig("def _items_from_rows(rows: list[typing.Any], preset: str, fields: dict[str, str] | None) -> _Items"));
  m.def("_items_from_file", &ItemsFromFile, nb::arg("path"), nb::arg("preset"), nb::arg("fields").none(),
        nb::sig("def _items_from_file(path: str, preset: str, fields: dict[str, str] | None) -> _Items"));
  m.def("_preset_names", [] { return PresetNames(); });
}

}  // namespace rewardloop::python
