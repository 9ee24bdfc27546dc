"""Files of functions and the command that runs them. The binary is REWARDLOOP_BIN, else build/release/bin/rewardloop."""

from __future__ import annotations

import json
import os
import subprocess
import textwrap
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from uf_helpers import COUNTING, MARK, SOURCE_DIR, TIMEOUT_SECONDS, Executions, Leftovers, Outcome, marked_processes

import rewardloop as rl


@pytest.fixture(scope="session")
def binary() -> str:
    path = Path(os.environ.get("REWARDLOOP_BIN", SOURCE_DIR / "build/release/bin/rewardloop"))
    if not path.exists():
        pytest.skip("no command to test: build it (make) or set REWARDLOOP_BIN")
    return str(path.resolve())


@pytest.fixture
def functions(tmp_path: Path) -> Callable[..., str]:
    """functions(text, name="rewards.py") writes a file of functions; returns its path."""

    def make(text: str, name: str = "rewards.py", counting: bool = True) -> str:
        path = tmp_path / name
        path.write_text((COUNTING if counting else "") + textwrap.dedent(text), encoding="utf-8")
        return str(path)

    return make


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def call(name: str, content: str | list[dict[str, Any]]) -> Path:
        path = tmp_path / name
        text = content if isinstance(content, str) else "".join(json.dumps(one) + "\n" for one in content)
        path.write_text(text, encoding="utf-8")
        return path

    return call


@pytest.fixture
def executions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Executions:
    """Where functions with COUNTING in their file say that they ran."""
    path = tmp_path / "executions"
    monkeypatch.setenv("EXECUTIONS", str(path))
    return Executions(path)


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    """Marks what this test starts (marked_processes)."""
    name = uuid.uuid4().hex
    monkeypatch.setenv(MARK, name)
    return name


@pytest.fixture
def cli(binary: str, tmp_path: Path, mark: str) -> Callable[..., Outcome]:
    """cli("score", "rows.jsonl", ...) in the test's folder. No process may be left when it has ended."""

    def call(*arguments: object, stdin: bytes = b"", env: dict[str, str] | None = None, **keywords: Any) -> Outcome:
        done = subprocess.run([binary, *map(str, arguments)], input=stdin, capture_output=True, cwd=tmp_path,
                              timeout=TIMEOUT_SECONDS, check=False, env={**os.environ, **(env or {})}, **keywords)
        left = {pid: line for pid, line in marked_processes(mark).items() if pid != os.getpid()}
        assert not left, f"processes are left: {left}"
        return Outcome(done)

    return call


@pytest.fixture
def leftovers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Leftovers]:
    """Checks after the test that no process, descriptor, shared memory or temporary file is left of it."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    with rl.AsyncRewardPipeline(scorer="gsm8k") as p:  # the shared engine has its threads and descriptors now
        p.collect(p.submit([{"item_id": "a", "response": "#### 1", "ground_truth": "1"}]))
    before = Leftovers(temporary)
    yield before
    before.assert_none()
