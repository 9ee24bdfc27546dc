"""tools/tidy.py finds what it is there for: one planted offence for each rule, in a small tree of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from tidy import content, cpp, sizes  # noqa: E402
from tidy.cpp_scan import functions  # noqa: E402
from tidy.tree import Tree  # noqa: E402


def tree_of(folder: Path, files: dict[str, str]) -> Tree:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return Tree(folder)


LONG = "void Long() {\n" + "  Step();\n" * 80 + "}\n"


@pytest.mark.parametrize(
    ("check", "name", "text", "finding"),
    [
        (cpp.include_direction, "src/base/x.cc", '#include "pipeline/batch.h"\n', "base must not include"),
        (cpp.include_direction, "src/async/x.cc", '#include "rewardloop/pipeline.h"\n', "async must not include"),
        (cpp.heavy_headers, "include/rewardloop/item.h", "#include <nlohmann/json.hpp>\n", "nlohmann/json.hpp"),
        (cpp.pragma_once, "src/base/x.h", "int x;\n", "#pragma once"),
        (cpp.banned_calls, "src/base/x.cc", "std::this_thread::sleep_for(d);\n", "sleep_for"),
        (cpp.banned_calls, "src/base/x_test.cc", "std::this_thread::sleep_for(d);\n", "sleep_for"),
        (cpp.banned_calls, "src/base/x.cc", "auto now = std::chrono::system_clock::now();\n", "system_clock"),
        (cpp.banned_calls, "src/base/x.cc", "#include <regex>\n", "<regex>"),
        (cpp.banned_calls, "src/base/x.cc", "int x = rand();\n", "rand"),
        (cpp.public_comments, "include/rewardloop/item.h", "// Items.\n\nint Count(int x);\n", "no comment"),
        (cpp.listed_plugins, "src/scorers/x.cc", "ScorerSpec XSpec() {\n}\n", "XSpec is not in"),
        (sizes.file_and_function_sizes, "src/base/x.cc", "// line\n" * 601, "limit 600 lines in a file"),
        (sizes.file_and_function_sizes, "src/base/x.cc", LONG, "limit 70 lines in a function"),
        (content.machine_paths, "docs/x.md", "see /roo" + "t/notes\n", "a path of one machine"),
        (content.json_files, "docs/x.json", "{,}\n", "not JSON"),
        (content.markdown_links, "docs/x.md", "[gone](gone.md)\n", "dead link"),
        (content.markdown_links, "docs/x.md", "# A\n\n[b](#b)\n", "no such heading"),
    ],
)
def test_a_planted_offence_is_found(check, name, text, finding, tmp_path):  # type: ignore[no-untyped-def]
    found = list(check(tree_of(tmp_path, {name: text, "src/scorers/scorer_list.inc": ""})))
    assert len(found) == 1 and finding in found[0], found


def test_copied_corpora_rows_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = '{"answer": "%s"}\n' % ("a text of somebody else's " * 4)
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora/rows.jsonl").write_text(row)
    monkeypatch.setenv("REWARDLOOP_CORPORA", str(tmp_path / "corpora"))
    found = list(content.copied_corpora(tree_of(tmp_path / "tree", {"tests/rows.jsonl": row, "tests/own.jsonl": '{"a": "b"}\n'})))
    assert len(found) == 1 and found[0].startswith("tests/rows.jsonl")


def test_comments_and_strings_are_not_code(tmp_path: Path) -> None:
    text = '// sleep_for(x)\nauto s = "rand()"; /* std::regex */ auto r = R"(system("x"))";\n'
    assert list(cpp.banned_calls(tree_of(tmp_path, {"src/base/x.cc": text}))) == []


def test_functions_are_measured_and_tables_and_types_are_not() -> None:
    text = "namespace a {\nconst int kTable[] = {\n1,\n2,\n};\nstruct S {\n  int f() const {\n    return 1;\n  }\n};\n}\n"
    assert [(f.name, f.first_line, f.lines) for f in functions(text)] == [("f", 7, 3)]


def test_the_baseline_allows_what_it_lists_and_no_more(tmp_path: Path) -> None:
    files = {"src/base/x.cc": LONG, "tools/tidy/baseline.json": '{"src/base/x.cc:Long": 82}'}
    assert list(sizes.file_and_function_sizes(tree_of(tmp_path, files))) == []
    files["src/base/x.cc"] = LONG.replace("{\n", "{\n  More();\n", 1)
    assert len(list(sizes.file_and_function_sizes(tree_of(tmp_path, files)))) == 1
