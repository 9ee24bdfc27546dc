"""The end of the interpreter: nothing hangs it, and no thread that still runs brings the process down."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading

import pytest

from rewardloop import _inline


@pytest.mark.parametrize("call", [
    "rl.verify('1/2', r'\\boxed{0.5}')",
    "rl.verify_batch(['1/2'] * 100, [r'\\boxed{0.5}'] * 100, threads=2)",
    "rl.Scorer('gsm8k').score_batch([{'response': '#### 1', 'ground_truth': '1'}] * 100)",
    "rl.math.vote([r'\\boxed{1}'] * 4)",
    "pipeline.backlog_items, pipeline.collect(pipeline.submit([{'response': 'x', 'ground_truth': '1'}] * 3), 30)",
])
def test_daemon_threads_in_a_call_do_not_abort_the_exit(call: str) -> None:
    # Each of them wants the interpreter's lock at some time after the interpreter has ended.
    program = f"""
        import threading
        import rewardloop as rl
        pipeline = rl.AsyncRewardPipeline(scorer=lambda item: 1.0)
        begun = threading.Barrier(5)
        def work():
            begun.wait()
            try:
                while True:
                    {call}
            except rl.Error:  # the exit closed the pipeline
                pass
        for _ in range(4):
            threading.Thread(target=work, daemon=True).start()
        begun.wait()
        for _ in range(20):
            {call}
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_threads_of_inline_code_share_the_time_that_the_exit_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    class Hanging(threading.Thread):
        def join(self, timeout: float | None = None) -> None:
            nonlocal now
            assert timeout is not None
            now += timeout

    class Code:
        name, is_async = "f", False

    monkeypatch.setattr(_inline.time, "monotonic", lambda: now)
    runners = [_inline.Runner(Code(), 8) for _ in range(4)]  # type: ignore[arg-type]
    for runner in runners:
        runner.threads = [Hanging() for _ in range(8)]
    monkeypatch.setattr(_inline, "_runners", runners)
    _inline.join_all(0.2)
    assert now == pytest.approx(0.2)
