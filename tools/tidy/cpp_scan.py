"""Just enough C++ reading for the checks: text without comments and strings, and the functions of a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

TOKEN = re.compile(
    r"""(?P<raw>R"(?P<tag>[^()\\ ]{0,16})\(.*?\)(?P=tag)")"""
    r"""|(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)"""
    r"""|(?P<string>"(?:\\.|[^"\\\n])*")|(?P<char>(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+')""",
    re.DOTALL,
)


def without_comments_and_strings(text: str, keep_includes: bool = False) -> str:
    """The same text with the same line numbers; comments and the inside of strings are blank."""

    def blank(match: re.Match[str]) -> str:
        found = match.group(0)
        if match.group("string") and keep_includes:
            return found
        inner = re.sub(r"[^\n]", " ", found)
        return '"' + inner[1:-1] + '"' if match.group("string") or match.group("raw") else inner

    return TOKEN.sub(blank, text)


@dataclass(frozen=True)
class Function:
    name: str
    first_line: int
    lines: int


CONTAINER = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")
NAME = re.compile(r"([~\w:]+|operator\s*\S+)\s*\(")


def functions(text: str) -> Iterator[Function]:
    """Function bodies outside other function bodies, by their braces. Tables (`= {`) and types are no functions."""
    code = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: re.sub(r"[^\n]", " ", m.group(0)),
                  without_comments_and_strings(text), flags=re.MULTILINE)
    stack: list[str] = []
    name, first = "", 0
    start = 0  # of the declaration that a brace belongs to
    depth_of_function = -1
    for match in re.finditer(r"[{};]", code):
        char, at = match.group(0), match.start()
        if char == "{":
            head = code[start:at]
            kind = "data"
            if depth_of_function < 0:
                if CONTAINER.search(head) and not re.search(r"\)\s*(const|noexcept|override|final|->.*)*\s*$", head, re.DOTALL):
                    kind = "container"
                elif "(" in head and not re.search(r"=\s*$", head):
                    kind = "function"
                    found = NAME.search(head)
                    name = found.group(1) if found else "?"
                    first = code.count("\n", 0, start + len(head) - len(head.lstrip())) + 1
                    depth_of_function = len(stack)
            stack.append(kind)
        elif char == "}" and stack:
            stack.pop()
            if len(stack) == depth_of_function:
                depth_of_function = -1
                yield Function(name, first, code.count("\n", 0, at) + 2 - first)
        start = match.end()
