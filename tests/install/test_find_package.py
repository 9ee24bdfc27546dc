"""The C++ library as another project sees it: installed, found by CMake, linked, run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("REWARDLOOP_BUILD", ROOT / "build/release"))


def sh(*command: str | Path, **options: object) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300, **options)  # type: ignore[call-overload]
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return str(done.stdout)


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (BUILD / "cmake_install.cmake").exists():
        pytest.skip(f"no build tree at {BUILD}")
    place = tmp_path_factory.mktemp("installed")
    sh("cmake", "--install", BUILD, "--prefix", place)
    return place


def test_example_builds_against_the_installed_library_and_runs(prefix: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"  # away from the checkout: nothing but the installation can be found
    shutil.copytree(ROOT / "examples/cpp", source)
    sh("cmake", "-S", source, "-B", tmp_path / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Debug")
    sh("cmake", "--build", tmp_path / "build")
    printed = sh(tmp_path / "build/score_groups")
    # 0.5 and 1/2 are the same number; \boxed{2} is right for the second prompt; "no idea" is a score of 0.
    assert sorted(printed.splitlines()) == ["group 1/2: 1 1 0 0", "group 2: 0 0 1 0"]


def test_the_example_has_forty_lines() -> None:
    assert len((ROOT / "examples/cpp/score_groups.cc").read_text().splitlines()) <= 40


def test_installed_headers_are_complete_and_light(prefix: Path) -> None:
    installed = {p.name for p in (prefix / "include/rewardloop").glob("*.h")}
    assert installed == {p.name for p in (ROOT / "include/rewardloop").glob("*.h")}
    umbrella = (prefix / "include/rewardloop/rewardloop.h").read_text()
    included = set(re.findall(r'#include "rewardloop/(\w+\.h)"', umbrella))
    assert included | {"rewardloop.h", "export.h"} == installed


def test_the_shared_library_shows_only_its_own_names(prefix: Path) -> None:
    library = next(prefix.glob("lib*/**/librewardloop.so"))
    symbols = sh("nm", "-DC", "--defined-only", library).splitlines()
    foreign = [s for s in symbols if re.search(r"\b[TDB] ", s) and "rewardloop" not in s]
    assert foreign == []


def test_the_installed_command_runs(prefix: Path) -> None:
    assert sh(prefix / "bin/rewardloop", "version").startswith("rewardloop ")
