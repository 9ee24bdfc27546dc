"""Rows and files that the tests of the command line share."""

import json
import pathlib

SOURCE_DIR = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT_SECONDS = 120


def read_rows(path) -> list[dict]:
    return [json.loads(line) for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]


def gsm8k_row(number: int, right: bool = True, **more) -> dict:
    """A row whose score under gsm8k is 1 or 0 by construction."""
    answer = number if right else number + 1
    return {"item_id": f"row-{number}", "response": f"It is {answer}.\n#### {answer}", "ground_truth": str(number), **more}
