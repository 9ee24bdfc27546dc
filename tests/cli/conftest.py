"""The command under test and files for it.

The binary is REWARDLOOP_BIN, else build/release/bin/rewardloop.
"""

import json
import os
import pathlib
import subprocess

import pytest

from cli_helpers import SOURCE_DIR, TIMEOUT_SECONDS


def binary_path() -> str | None:
    given = os.environ.get("REWARDLOOP_BIN")
    path = pathlib.Path(given) if given else SOURCE_DIR / "build/release/bin/rewardloop"
    return str(path.resolve()) if path.exists() else None


@pytest.fixture(scope="session")
def binary() -> str:
    path = binary_path()
    if path is None:
        pytest.skip("no command to test: build it (make) or set REWARDLOOP_BIN")
    return path


class Outcome:
    def __init__(self, finished: subprocess.CompletedProcess):
        self.code = finished.returncode
        self.out = finished.stdout.decode("utf-8", "surrogateescape")
        self.err = finished.stderr.decode("utf-8", "surrogateescape")
        self.raw_out = finished.stdout

    def rows(self) -> list[dict]:
        return [json.loads(line) for line in self.out.split("\n") if line]


@pytest.fixture
def run(binary, tmp_path):
    """run("score", "rows.jsonl", ...) in a folder of its own; returns an Outcome."""

    def call(*arguments, stdin: bytes = b"", **keywords) -> Outcome:
        finished = subprocess.run(
            [binary, *map(str, arguments)], input=stdin, capture_output=True, cwd=tmp_path,
            timeout=TIMEOUT_SECONDS, check=False, **keywords)
        return Outcome(finished)

    return call


@pytest.fixture
def write(tmp_path):
    """write("rows.jsonl", rows or text or bytes) in the folder where `run` works; returns the path."""

    def call(name: str, content) -> pathlib.Path:
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, str):
            path.write_text(content, encoding="utf-8", newline="")
        else:
            path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in content), encoding="utf-8")
        return path

    return call
