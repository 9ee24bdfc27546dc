"""The package and its generated stub pass mypy --strict, and mypy finds planted mistakes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rewardloop

HERE = Path(__file__).parent
PACKAGE = Path(rewardloop.__file__).parent

PLANTED = """
import rewardloop as rl
rl.score([], scorer=3)
rl.AsyncRewardPipeline(overflow="wait")
rl.AsyncRewardPipeline(scorr="x")
rl.verify("1", 2)
x: int = rl.verify("1", "1").status
rl.verify("1", "1").no_such_field
y: str = rl.score([]).scores
"""


def mypy(*arguments: str, cache: Path) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull, "--cache-dir", str(cache), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(PACKAGE.parent)})


def test_mypy_strict_accepts_the_package_and_an_example(tmp_path: Path) -> None:
    assert (PACKAGE / "_core.pyi").exists() and (PACKAGE / "py.typed").exists()
    done = mypy("-p", "rewardloop", cache=tmp_path)
    assert done.returncode == 0, done.stdout
    done = mypy(str(HERE / "typing_example.py"), cache=tmp_path)
    assert done.returncode == 0, done.stdout


def test_mypy_finds_planted_mistakes(tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text(PLANTED)
    done = mypy(str(planted), cache=tmp_path / "cache")
    lines = PLANTED.split("\n")
    for number, line in enumerate(lines, 1):
        if line and not line.startswith("import"):
            assert f"planted.py:{number}: error" in done.stdout, (line, done.stdout)
