"""The messages people meet most, word for word: changing one is a decision."""

import json

import pytest

from cli_helpers import gsm8k_row

ROW = json.dumps(gsm8k_row(1))


@pytest.mark.parametrize("content,flags,message", [
    ('{"a": 1,}', ("--scorer", "gsm8k"), "error: rows.jsonl:1:9: expected a key in double quotes\n"),
    (ROW + "\n{'a': 1}", ("--scorer", "gsm8k"),
     "error: rows.jsonl:2:2: expected a key in double quotes\n"
     "hint: JSON text is in double quotes; is this a printed Python dict?\n"),
    ('{"response": "x", "ground_truth": "1', ("--scorer", "gsm8k"), "error: rows.jsonl:1:37: the text ends inside a string\n"),
    ('{"pred": "x", "ground_truth": "1"}', ("--scorer", "gsm8k"),
     "error: rows.jsonl:1:1: the response is missing: there is no column `response`, `outputs`, `solution_str`\n"
     "hint: name the column with --field response=COLUMN\n"),
    ('{"output": "x", "gts": "1"}', ("--scorer", "gsm8k"),
     "error: rows.jsonl:1:1: the response is missing: there is no column `response`, `outputs`, `solution_str`\n"
     "hint: rows of verl have `output`: use --preset verl, or --field response=COLUMN\n"),
    (ROW, ("--scorer", "gsm8k", "--preset", "trl"),
     "error: rows.jsonl:1:1: the response is missing: there is no column `completion`\n"
     "hint: the row has `response`: name it with --field response=response\n"),
    (ROW + "\n" + ROW, ("--scorer", "gsm8k"),
     "error: rows.jsonl:2:1: item_id 'row-1' stands in line 1 already\n"
     "hint: ids must be unique; without the column every row is named after its line\n"),
    (ROW, ("--timeout", "soon"), "error: --timeout 'soon': expected a number or null\n"),
    (ROW, ("--timeout", "-1"), "error: --timeout: 'timeout' must be at least 0, not -1\n"),
    (ROW, ("--overflow", "bloc"),
     "error: --overflow: 'overflow' must be one of 'block', 'drop_oldest', 'reject', not \"bloc\"\n"
     "hint: did you mean 'block'?\n"),
    (ROW, ("--scorr", "gsm8k", "more"), "error: not expected here: --scorr gsm8k more\nhint: did you mean --scorer?\n"),
    (ROW, ("--scorer-arg", "method"), "error: --scorer-arg 'method': expected NAME=VALUE\n"),
    (ROW, ("--scorer", "my.py:fn"),
     "error: there is no Python file 'my.py'\nhint: paths are relative to the working folder\n"),
    (ROW, ("--preset", "vrel"),
     "error: --preset: 'preset' must be one of '', 'verl', 'trl', 'openrlhf', 'slime', 'chat', not \"vrel\"\n"
     "hint: did you mean 'verl'?\n"),
    (ROW, ("--scorer", "gsm8k", "-o", "rows.jsonl"),
     "error: --output rows.jsonl is the input itself\nhint: write to another file\n"),
    (ROW, ("--scorer", "gsm8k", "-o", "out.jsonl", "--summary-json", "./rows.jsonl"),
     "error: --summary-json ./rows.jsonl is the input itself\nhint: write to another file\n"),
    (ROW, ("--scorer", "gsm8k", "-o", "out.jsonl", "--trace", "rows.jsonl"),
     "error: --trace rows.jsonl is the input itself\nhint: write to another file\n"),
    (ROW, ("--scorer", "gsm8k", "-o", "out.jsonl", "--metrics", "./out.jsonl"),
     "error: --metrics ./out.jsonl is the file of --output\nhint: write to another file\n"),
    (ROW, ("--scorer", "gsm8k", "-o", "out.jsonl", "--metrics", "-"),
     "error: --metrics - : a report needs a file\nhint: /dev/stdout is one\n"),
    (ROW, ("--scorer", "gsm8k", "-o", "out.jsonl", "--summary-json", "no/s.json"),
     "error: --summary-json no/s.json: cannot be written: No such file or directory\n"),
    (ROW, ("--scorer", "gsm8k", "-o", "/dev/full"), "error: /dev/full: cannot be written: No space left on device\n"),
    (ROW, ("--scorer", "gsm8k", "-o", "out.jsonl.gz"),
     "error: --output out.jsonl.gz: rows are written as plain JSONL\n"
     "hint: name it without .gz, or write to - and pipe through gzip\n"),
])
def test_messages(run, write, content, flags, message):
    write("rows.jsonl", content)
    got = run("score", "rows.jsonl", *flags, "-q")
    assert got.code == 2
    assert got.err == message


@pytest.mark.parametrize("field,value,message", [
    ("num_tokens", -1, "`num_tokens` must be at least 0, not -1"),
    ("num_tokens", 1.5, "`num_tokens` must be an integer, not number"),
    ("token_ids", [1, 2**31], "`token_ids` must be an array of 32-bit integers, not 2147483648"),
    ("token_ids", [1, 2**70], f"`token_ids` must be an array of 32-bit integers, not {2**70}"),
    ("token_ids", ["a"], "`token_ids` must be an array of integers, not string"),
    ("group_size", 0, "`group_size` must be at least 1, not 0"),
])
def test_messages_of_bad_rows(run, write, field, value, message):
    write("rows.jsonl", [gsm8k_row(1, **{field: value})])
    assert run("score", "rows.jsonl", "--scorer", "gsm8k", "-q").rows()[0]["error"]["message"] == message
