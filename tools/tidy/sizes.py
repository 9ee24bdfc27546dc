"""Small files, short functions, a root folder one can read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from .cpp_scan import functions
from .tree import Tree

FUNCTION_LINES = 70
TEST_FUNCTION_LINES = 120
PLUGIN_FOLDERS = ("src/scorers/", "src/managers/", "src/advantages/")


def file_limit(file: Path) -> int | None:
    name = str(file)
    if file.suffix not in (".h", ".cc", ".c", ".py", ".sh", ".cmake"):
        return None
    if "_test." in name or name.startswith("tests/") or "/tests/" in name:
        return 700
    if name.startswith("include/"):
        return 300
    if name.startswith(PLUGIN_FOLDERS) or name.startswith("python/bindings/"):
        return 400
    return 500 if file.suffix == ".py" else 600


def python_functions(text: str) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def file_and_function_sizes(tree: Tree) -> Iterator[str]:
    for file in tree.files:
        limit = file_limit(file)
        if limit is None:
            continue
        text = tree.text(file)
        if finding := tree.over_limit(f"{file}", text.count("\n"), limit):
            yield f"{finding} lines in a file"
        is_test = limit == 700
        if file.suffix in (".h", ".cc", ".c"):
            sizes = [(f.name, f.lines) for f in functions(text)]
        elif file.suffix == ".py":
            sizes = list(python_functions(text))
        else:
            sizes = []
        for name, lines in sizes:
            if finding := tree.over_limit(f"{file}:{name}", lines, TEST_FUNCTION_LINES if is_test else FUNCTION_LINES):
                yield f"{finding} lines in a function"


def root_entries(tree: Tree) -> Iterator[str]:
    folders = {f.parts[0] for f in tree.files if len(f.parts) > 1 and not f.parts[0].startswith(".")}
    files = {f for f in tree.files if len(f.parts) == 1}
    if len(folders) > 12:
        yield f"root: {len(folders)} folders, limit 12"
    if len(files) > 14:
        yield f"root: {len(files)} files, limit 14"
