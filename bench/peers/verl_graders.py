"""verl's graders prime_math and math_reward on pairs of gold and completion.

Run by math_vs_math_verify.py with the Python of a venv that has verl (bench/peers/verl_reward_loop.py says how to make one).
Reads one JSON array [[gold, completion], ...] from stdin, prints {"prime_math": [paid, ...], "math_reward": [...]}: true, false,
or null where the grader gave up within the time limit. prime_math evaluates parts of the answers it grades: only for data that
is known.
"""

from __future__ import annotations

import json
import logging
import resource
import signal
import sys
import warnings
from collections.abc import Callable

SECONDS_PER_PAIR = 5
MEMORY_BYTES = 6 << 30


class TooLong(Exception):
    pass


def stop(*_: object) -> None:
    raise TooLong


def paid(grade: Callable[[], object]) -> bool | None:
    signal.alarm(SECONDS_PER_PAIR)
    try:
        result = grade()
    except TooLong:
        return None
    except Exception:
        return False
    finally:
        signal.alarm(0)
    return bool(result[0] if isinstance(result, tuple) else result)


def main() -> int:
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    from verl.utils.reward_score import math_reward, prime_math

    signal.signal(signal.SIGALRM, stop)
    pairs = json.load(sys.stdin)
    verdicts = {
        "prime_math": [paid(lambda g=g, p=p: prime_math.compute_score(p, g)) for g, p in pairs],
        "math_reward": [paid(lambda g=g, p=p: math_reward.compute_score(p, g)) for g, p in pairs],
    }
    print("\n" + json.dumps(verdicts))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
