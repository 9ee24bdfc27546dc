"""What `import rewardloop` may cost and bring along."""

from __future__ import annotations

import logging
import subprocess
import sys

import rewardloop as rl


def modules_after(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_import_pulls_in_neither_torch_nor_ray_nor_a_trainer() -> None:
    loaded = modules_after("import rewardloop")
    assert not loaded & {"torch", "ray", "verl", "trl", "transformers"}


def test_import_leaves_numpy_and_asyncio_to_those_who_use_them() -> None:
    assert not modules_after("import rewardloop") & {"numpy", "asyncio"}


def test_aio_is_imported_on_first_use() -> None:
    assert "asyncio" in modules_after("import rewardloop as rl; rl.aio.AsyncRewardPipeline")


def test_every_public_name_exists_and_is_documented() -> None:
    for name in rl.__all__:
        value = getattr(rl, name)
        if callable(value):
            assert value.__doc__, name
    assert set(rl.__all__) <= set(dir(rl))


def test_unknown_attribute() -> None:
    try:
        rl.no_such_name  # type: ignore[attr-defined]
    except AttributeError as error:
        assert "no_such_name" in str(error)
    else:
        raise AssertionError


def test_the_logger_is_silent_until_configured() -> None:
    handlers = logging.getLogger("rewardloop").handlers
    assert any(isinstance(handler, logging.NullHandler) for handler in handlers)


def test_no_signal_handler_is_installed() -> None:
    code = (
        "import signal\n"
        "before = [signal.getsignal(s) for s in signal.valid_signals()]\n"
        "import rewardloop as rl\n"
        "p = rl.AsyncRewardPipeline(scorer='gsm8k')\n"
        "p.collect(p.submit([{'response': '#### 1', 'ground_truth': '1'}]))\n"
        "assert before == [signal.getsignal(s) for s in signal.valid_signals()]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
