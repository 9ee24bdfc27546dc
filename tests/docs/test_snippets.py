"""Runs what README and docs show. A block is run when its fence says so:

    ```sh run        by bash -e, in a folder that holds a link to examples/
    ```python run    by the Python that runs the tests
    ```text output   what the block before it prints; `...` stands for anything within a line, a line `...` for any lines

Blocks of one document share the folder, so that a later one can read what an earlier one wrote.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLI = Path(os.environ.get("REWARDLOOP_BIN", ROOT / "build/release/bin/rewardloop"))
FENCE = re.compile(r"^```(sh|python|text) (run|output)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DOCUMENTS = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])


@dataclass
class Snippet:
    language: str
    code: str
    line: int
    output: str | None = None


def snippets(text: str) -> list[Snippet]:
    found: list[Snippet] = []
    for match in FENCE.finditer(text):
        language, role, body = match.groups()
        if role == "run":
            found.append(Snippet(language, body, text.count("\n", 0, match.start()) + 1))
        else:
            assert found and found[-1].output is None, "an output block follows the block that prints it"
            found[-1].output = body
    return found


def pattern_of(output: str) -> str:
    lines = []
    for line in output.rstrip("\n").split("\n"):
        if line.strip() == "...":
            lines.append(r"(?:.*\n)*?")
        else:
            words = [re.escape(word) for word in re.split(r"\s+", line.strip())]
            lines.append(r"[ \t]*" + r"[ \t]+".join(words).replace(re.escape("..."), ".*?") + r"[ \t]*\n")
    return "".join(lines)


def run(snippet: Snippet, folder: Path) -> str:
    command = ["bash", "-euo", "pipefail", "-c"] if snippet.language == "sh" else [sys.executable, "-c"]
    path = f"{CLI.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run([*command, snippet.code], cwd=folder, capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL, env={**os.environ, "PATH": path, "NO_COLOR": "1"})
    assert done.returncode == 0, f"line {snippet.line} failed with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: str(d.relative_to(ROOT)))
def test_snippets_run_as_printed(document: Path, tmp_path: Path) -> None:
    found = snippets(document.read_text(encoding="utf-8"))
    if not found:
        return
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for snippet in found:
        printed = run(snippet, tmp_path)
        if snippet.output is not None:
            assert re.search("(?m)^" + pattern_of(snippet.output), printed + "\n"), (
                f"{document.name}:{snippet.line} prints\n{printed}\nand the document says\n{snippet.output}")


def test_the_readme_has_snippets() -> None:
    languages = {snippet.language for snippet in snippets((ROOT / "README.md").read_text(encoding="utf-8"))}
    assert languages >= {"sh", "python"}
