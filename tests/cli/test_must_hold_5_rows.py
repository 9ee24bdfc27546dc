"""Must hold 5, the JSONL part: each row has the keys that its scorer gave, whatever the other rows are. And what an output
row is made of."""

import json

from cli_helpers import gsm8k_row

OUTPUT_COLUMNS = ["item_id", "status", "score", "extracted", "reason", "components", "extra", "error"]


def test_extra_of_a_row_does_not_depend_on_other_rows(run, write):
    parity = {"item_id": "p", "data_source": "math_dapo", "response": "Answer: 5", "ground_truth": "5"}
    native = gsm8k_row(1, data_source="openai/gsm8k")
    write("mixed.jsonl", [parity, native])
    write("parity.jsonl", [parity])
    write("native.jsonl", [native])
    flags = ("--dispatch", "verl")
    mixed = run("score", "mixed.jsonl", *flags).out.splitlines()
    assert mixed[0] == run("score", "parity.jsonl", *flags).out.strip()
    assert mixed[1] == run("score", "native.jsonl", *flags).out.strip()
    first, second = map(json.loads, mixed)
    assert set(first["extra"]) - set(second["extra"])  # math_dapo gives acc and pred, gsm8k does not


def test_columns_come_after_the_input_in_a_stable_order(run, write):
    write("rows.jsonl", '{"ground_truth": "1", "b": 1, "response": "#### 1", "a": [1, 2]}\n')
    row = run("score", "rows.jsonl", "--scorer", "gsm8k").rows()[0]
    assert list(row) == ["ground_truth", "b", "response", "a", *OUTPUT_COLUMNS]
    assert (row["item_id"], row["status"], row["score"], row["extracted"], row["error"]) == ("line:1", "scored", 1.0, "1", None)


def test_rows_without_an_id_are_named_after_their_line(run, write):
    write("rows.jsonl", '\n{"response": "#### 1", "ground_truth": "1"}\n\n{"response": "#### 1", "ground_truth": "1"}\n')
    assert [r["item_id"] for r in run("score", "rows.jsonl", "--scorer", "gsm8k").rows()] == ["line:2", "line:4"]


def test_input_columns_of_output_names_move_under_input(run, write):
    old = {"status": "old", "score": 0.25, "extracted": "x", "reason": "y", "components": {"a": 1}, "extra": [], "error": "none"}
    write("rows.jsonl", [{**gsm8k_row(1), **old, "other": 1}])
    row = run("score", "rows.jsonl", "--scorer", "gsm8k").rows()[0]
    assert row["input"] == old
    assert (row["status"], row["score"], row["other"], row["item_id"]) == ("scored", 1.0, 1, "row-1")


def test_ids_that_are_numbers_become_text_and_keep_the_number(run, write):
    write("rows.jsonl", [{**gsm8k_row(1), "item_id": 17}])
    row = run("score", "rows.jsonl", "--scorer", "gsm8k").rows()[0]
    assert (row["item_id"], row["input"]) == ("17", {"item_id": 17})


def test_scored_rows_can_be_scored_again(run, write):
    write("rows.jsonl", [gsm8k_row(1), gsm8k_row(2, right=False)])
    first = run("score", "rows.jsonl", "--scorer", "gsm8k")
    write("again.jsonl", first.out)
    second = run("score", "again.jsonl", "--scorer", "gsm8k")
    assert [r["score"] for r in second.rows()] == [1.0, 0.0]
    assert second.rows()[0]["input"]["status"] == "scored"


def test_verl_dump_with_a_prompt_called_input(run, write):
    write("rows.jsonl", [{"input": "1+1?", "output": "#### 2", "gts": "2", "score": 0.0, "step": 5}])
    row = run("score", "rows.jsonl", "--preset", "verl", "--scorer", "gsm8k").rows()[0]
    assert row["input"] == {"input": "1+1?", "score": 0.0}
    assert (row["score"], row["output"], row["step"]) == (1.0, "#### 2", 5)
