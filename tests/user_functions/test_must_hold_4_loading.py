"""Must hold 4: which interpreter runs a function, what a function that cannot be loaded says, and what an edit does.
Nothing is scored before the function is there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from uf_helpers import Outcome, read_rows, rows

import rewardloop as rl

WHERE = """
    import sys
    def where(item):
        return {"score": 1.0, "python": sys.executable, "prefix": sys.prefix, "cwd": os.getcwd(), "path": sys.path}
    """


def link_python(folder: Path) -> Path:
    """An interpreter of its own path, as a virtual environment has: bin/python beside pyvenv.cfg."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/python").symlink_to(sys.base_prefix + "/bin/python3")
    (folder / "pyvenv.cfg").write_text(f"home = {sys.base_prefix}/bin\n")
    return folder / "bin/python"


@pytest.fixture
def rows_file(write: Callable[..., Path]) -> Path:
    return write("rows.jsonl", rows(2))


def without_python(**more: str) -> dict[str, str]:
    return {"REWARDLOOP_PYTHON": "", "VIRTUAL_ENV": "", **more}


# --- interpreter


def test_interpreter_search_in_its_order(
    functions: Callable[..., str], rows_file: Path, cli: Callable[..., Outcome], tmp_path: Path
) -> None:
    pythons = {name: link_python(tmp_path / name) for name in ("flag", "variable", "venv", "path")}
    shutil.copy(pythons["path"], tmp_path / "path/bin/python3", follow_symlinks=False)
    command = ("score", rows_file, "--scorer", f"{functions(WHERE)}:where", "-o", "-")
    environment = {"REWARDLOOP_PYTHON": str(pythons["variable"]), "VIRTUAL_ENV": str(tmp_path / "venv"),
                   "PATH": f"{tmp_path}/path/bin:{os.environ['PATH']}"}
    seen = []
    for arguments, hidden in [(("--python", pythons["flag"]), ()), ((), ()), ((), ("REWARDLOOP_PYTHON",)),
                              ((), ("REWARDLOOP_PYTHON", "VIRTUAL_ENV"))]:
        done = cli(*command, *arguments, env={**environment, **dict.fromkeys(hidden, "")})
        assert done.code == 0, done.err
        seen.append(Path(done.rows()[0]["extra"]["prefix"]).name)
    assert seen == ["flag", "variable", "venv", "path"]


def test_the_interpreter_beside_the_command_comes_before_path(
    binary: str, functions: Callable[..., str], rows_file: Path, tmp_path: Path
) -> None:
    python = link_python(tmp_path / "installed")
    command = shutil.copy(binary, python.parent / "rewardloop")
    done = subprocess.run([command, "score", rows_file, "--scorer", f"{functions(WHERE)}:where", "-o", "-"],
                          env={**os.environ, **without_python()}, capture_output=True, check=True, timeout=60)
    assert json.loads(done.stdout.splitlines()[0])["extra"]["prefix"] == str(tmp_path / "installed")


@pytest.mark.parametrize("how", ["--python", "REWARDLOOP_PYTHON", "VIRTUAL_ENV", "PATH"])
def test_a_missing_interpreter_says_which_how_it_was_found_and_the_flag(
    functions: Callable[..., str], rows_file: Path, cli: Callable[..., Outcome], tmp_path: Path, how: str
) -> None:
    nowhere = str(tmp_path / "nowhere")
    flags = ("--python", nowhere) if how == "--python" else ()
    env = without_python(**({how: nowhere} if how.isupper() else {}))
    done = cli("score", rows_file, "--scorer", f"{functions(WHERE)}:where", "-o", "-", *flags, env=env)
    assert (done.code, done.out) == (2, "")
    assert how in done.err and "--python" in done.err
    if how != "PATH":
        assert nowhere in done.err


def test_an_interpreter_that_is_none_is_one_error(
    functions: Callable[..., str], rows_file: Path, cli: Callable[..., Outcome], tmp_path: Path
) -> None:
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\necho I am no Python >&2\nexit 3\n")
    fake.chmod(0o755)
    done = cli("score", rows_file, "--scorer", f"{functions(WHERE)}:where", "-o", "-", "--python", fake)
    assert (done.code, done.out) == (2, "")
    assert str(fake) in done.err and "--python" in done.err


def test_from_python_it_is_sys_executable_the_working_folder_and_sys_path(
    functions: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path / "more"))
    with rl.AsyncRewardPipeline(scorer=f"{functions(WHERE)}:where", num_workers=1) as p:
        (result,) = p.collect(p.submit(rows(1)), timeout=60)
    assert result.extra["python"] == sys.executable
    assert result.extra["cwd"] == str(tmp_path)
    assert str(tmp_path / "more") in result.extra["path"]


def test_the_worker_needs_no_rewardloop(functions: Callable[..., str], rows_file: Path, cli: Callable[..., Outcome],
                                        tmp_path: Path) -> None:
    path = functions("""
        import importlib.util
        def bare(item):
            return float(importlib.util.find_spec("rewardloop") is not None)
        """)
    done = cli("score", rows_file, "--scorer", f"{path}:bare", "-o", "-", "--python", link_python(tmp_path / "bare"),
               env={"PYTHONPATH": ""})
    assert [r["score"] for r in done.rows()] == [0.0, 0.0], done.err


# --- names and import errors (user report 078: the message does not say which file was loaded nor what it has)

BROKEN = {
    "syntax": ("def fine(item): return 1\ndef broken(:\n    pass\n", ["SyntaxError", "rewards.py", "line 2"]),
    "missing module": ("\nimport no_such_module_anywhere\ndef fine(item): return 1\n", ["no_such_module_anywhere", "line 2"]),
    "raises": ("\n\nraise RuntimeError('not today')\n", ["RuntimeError: not today", "line 3"]),
    "exits": ("import sys\nsys.exit('enough')\n", ["SystemExit", "enough"]),
    "dies": ("import os\nos._exit(7)\n", ["exit code 7"]),
    "no text": ("\x80", ["rewards.py"]),
}


@pytest.mark.parametrize("what", BROKEN)
def test_an_import_error_is_one_error_before_anything_is_scored(
    rows_file: Path, cli: Callable[..., Outcome], tmp_path: Path, what: str
) -> None:
    text, parts = BROKEN[what]
    (tmp_path / "rewards.py").write_bytes(text.encode("latin-1"))
    done = cli("score", rows_file, "--scorer", "rewards.py:fine", "-o", "out.jsonl")
    assert done.code == 2
    for part in ["rewards.py:fine", *parts]:
        assert part in done.err
    assert done.err.count("rewards.py:fine' cannot be used") == 1
    assert "python" in done.err  # which interpreter
    assert not (tmp_path / "out.jsonl").exists()


def test_an_import_error_from_python_is_one_exception(functions: Callable[..., str], leftovers: object) -> None:
    with pytest.raises(rl.ArgumentError, match="not today"):
        rl.AsyncRewardPipeline(scorer=functions("raise RuntimeError('not today')") + ":fn")


def test_a_misspelt_function_names_the_file_what_it_has_and_the_nearest(
    functions: Callable[..., str], rows_file: Path, cli: Callable[..., Outcome]
) -> None:
    path = functions("from json import dumps\ndef my_format(item): return 1.0\ndef helper(x): return x\n", counting=False)
    done = cli("score", rows_file, "--scorer", f"{path}:my_fromat", "-o", "-")
    assert (done.code, done.out) == (2, "")
    assert path in done.err and "my_format, helper" in done.err and "did you mean 'my_format'" in done.err
    assert "dumps" not in done.err


@pytest.mark.parametrize(("scorer", "text"), [
    ("nowhere.py:fn", "nowhere.py"), ("rewards.py:", "rewards.py"), ("no_such_package.rewards:fn", "no_such_package"),
    ("json:no_such", "no_such"), ("rewards.py:CONSTANT", "int")])
def test_other_names_that_lead_nowhere(
    functions: Callable[..., str], rows_file: Path, cli: Callable[..., Outcome], scorer: str, text: str
) -> None:
    functions("CONSTANT = 3\n")
    done = cli("score", rows_file, "--scorer", scorer, "-o", "-")
    assert (done.code, done.out) == (2, "")
    assert text in done.err


def test_loading_that_takes_too_long(functions: Callable[..., str], rows_file: Path, cli: Callable[..., Outcome]) -> None:
    path = functions("time.sleep(1000)\ndef fn(item): return 1\n")
    done = cli("score", rows_file, "--scorer", f"{path}:fn", "-o", "-", "--import-timeout", "1")
    assert (done.code, done.out) == (2, "")
    assert "1 s" in done.err and "import_timeout" in done.err


def test_a_module_of_a_package_with_relative_imports(
    rows_file: Path, cli: Callable[..., Outcome], tmp_path: Path
) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text("")
    (tmp_path / "pkg/parts.py").write_text("HALF = 0.5\n")
    (tmp_path / "pkg/rewards.py").write_text("from .parts import HALF\nclass Judge:\n    @staticmethod\n    def fn(item): return HALF\n")
    done = cli("score", rows_file, "--scorer", "pkg.rewards:Judge.fn", "-o", "-")
    assert [r["score"] for r in done.rows()] == [0.5, 0.5], done.err


def test_a_file_sees_its_neighbours(rows_file: Path, cli: Callable[..., Outcome], tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code/neighbour.py").write_text("HALF = 0.5\n")
    (tmp_path / "code/rewards.py").write_text("def fn(item):\n    from neighbour import HALF\n    return HALF\n")
    done = cli("score", rows_file, "--scorer", "code/rewards.py:fn", "-o", "-")
    assert [r["score"] for r in done.rows()] == [0.5, 0.5], done.err


# --- edited files


def test_a_new_pipeline_sees_the_edit_and_an_open_one_does_not(functions: Callable[..., str]) -> None:
    text = "def fn(item):\n    if item['item_id'] == 'dies': os._exit(1)\n    return {}\n"
    path = functions(text.format("0.25"))
    with rl.AsyncRewardPipeline(scorer=f"{path}:fn", num_workers=1, on_error="null") as old:
        functions(text.format("0.75"))
        with rl.AsyncRewardPipeline(scorer=f"{path}:fn", num_workers=1) as new:
            (after,) = new.collect(new.submit(rows(1)), timeout=60)
        old.collect(old.submit([{"item_id": "dies", "response": ""}]), timeout=60)  # so that its workers are new ones
        (before,) = old.collect(old.submit(rows(1)), timeout=60)
    assert (before.score, after.score) == (0.25, 0.75)
    assert before.scorer == after.scorer == f"{path}:fn"
    assert before.scorer_version != after.scorer_version


def test_resume_refuses_an_edited_function(
    functions: Callable[..., str], rows_file: Path, cli: Callable[..., Outcome], tmp_path: Path
) -> None:
    path = functions("def fn(item): return 0.25 if item['item_id'] == 'h0' else None\n")
    command = ("score", rows_file, "--scorer", f"{path}:fn", "-o", "out.jsonl")
    assert cli(*command).code == 1
    assert cli(*command, "--resume").code == 1  # nothing changed
    before = (tmp_path / "out.jsonl").read_bytes()
    functions("def fn(item): return 0.75\n")
    refused = cli(*command, "--resume")
    assert refused.code == 2 and (tmp_path / "out.jsonl").read_bytes() == before
    assert "rewards.py:fn" in refused.err and "cannot be resumed" in refused.err
    assert cli(*command).code == 0
    assert [r["score"] for r in read_rows(tmp_path / "out.jsonl")] == [0.75, 0.75]


def test_a_registered_name_is_found_and_offered(functions: Callable[..., str], rows_file: Path, cli: Callable[..., Outcome]) -> None:
    path = functions("import rewardloop as rl\n@rl.scorer('fmt')\ndef my_format(item): return 0.5\n", counting=False)
    arguments = ("score", rows_file, "-o", "-", "--python", sys.executable, "--scorer")
    found = cli(*arguments, f"{path}:fmt")
    assert [r["score"] for r in found.rows()] == [0.5, 0.5], found.err
    near = cli(*arguments, f"{path}:fmd")
    assert (near.code, near.out) == (2, "")
    assert "my_format, fmt" in near.err and "did you mean 'fmt'" in near.err
