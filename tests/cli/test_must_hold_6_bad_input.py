"""Must hold 6: bad input is a clear error or a status of its row, never a crash and never a lost row."""

import base64
import gzip
import json
import os
import pathlib
import random
import subprocess

import pytest

from cli_helpers import SOURCE_DIR, gsm8k_row, read_rows

GSM8K = ("--scorer", "gsm8k")
CORPORA = pathlib.Path(os.environ.get("REWARDLOOP_CORPORA", SOURCE_DIR / "../shared/corpora"))


def test_empty_file_is_no_error_and_said(run, write):
    write("rows.jsonl", "")
    got = run("score", "rows.jsonl", *GSM8K)
    assert (got.code, got.out) == (0, "")
    assert "rows.jsonl: there are no rows" in got.err


def test_blank_lines_only_are_no_rows(run, write):
    write("rows.jsonl", "\n\r\n  \n")
    assert run("score", "rows.jsonl", *GSM8K).out == ""


def test_duplicate_ids_name_both_lines(run, write):
    write("rows.jsonl", [gsm8k_row(1), gsm8k_row(2), gsm8k_row(1)])
    got = run("score", "rows.jsonl", *GSM8K, "-o", "out.jsonl")
    assert got.code == 2
    assert "rows.jsonl:3:1: item_id 'row-1' stands in line 1 already" in got.err


def test_missing_ground_truth_is_unscorable(run, write):
    row = gsm8k_row(1)
    del row["ground_truth"]
    write("rows.jsonl", [row, gsm8k_row(2)])
    got = run("score", "rows.jsonl", *GSM8K)
    assert got.code == 1
    first, second = got.rows()
    assert (first["status"], first["score"], first["error"]["class"]) == ("unscorable", None, "no_ground_truth")
    assert second["score"] == 1.0


def test_missing_response_in_the_first_row_stops_with_the_way_out(run, write):
    write("rows.jsonl", [{"input": "1+1?", "output": "#### 2", "gts": "2"}])
    got = run("score", "rows.jsonl", *GSM8K)
    assert got.code == 2
    assert "rows.jsonl:1:1: the response is missing" in got.err
    assert "--preset verl" in got.err


def test_missing_response_later_is_a_status_of_its_row(run, write):
    row = gsm8k_row(2)
    del row["response"]
    write("rows.jsonl", [gsm8k_row(1), row, gsm8k_row(3)])
    got = run("score", "rows.jsonl", *GSM8K)
    assert got.code == 1
    assert [r["status"] for r in got.rows()] == ["scored", "error", "scored"]
    assert got.rows()[1]["error"]["class"] == "bad_row"


def test_null_response_is_legal(run, write):
    write("rows.jsonl", [{"item_id": "a", "response": None, "ground_truth": "1"}])
    got = run("score", "rows.jsonl", *GSM8K)
    assert got.code == 0
    assert (got.rows()[0]["status"], got.rows()[0]["score"]) == ("scored", 0.0)


def test_unknown_data_source_raises_by_default(run, write):
    write("rows.jsonl", [gsm8k_row(1, data_source="openai/gsm8k"), gsm8k_row(2, data_source="openai/gsm8kk")])
    got = run("score", "rows.jsonl")
    assert got.code == 2
    assert "rows.jsonl:2:1: " in got.err and "openai/gsm8kk" in got.err and "openai/gsm8k" in got.err


def test_unknown_data_source_under_warn_is_unscorable(run, write):
    write("rows.jsonl", [gsm8k_row(1, data_source="openai/gsm8k"), gsm8k_row(2, data_source="nobody")])
    got = run("score", "rows.jsonl", "--unknown-rewards", "warn")
    assert got.code == 1
    assert [r["status"] for r in got.rows()] == ["scored", "unscorable"]
    assert got.rows()[1]["error"]["class"] == "no_scorer"
    assert got.rows()[1]["score"] is None


def test_broken_json_names_line_and_column_and_keeps_the_rows_before(run, write):
    write("rows.jsonl", json.dumps(gsm8k_row(1)) + "\n\n" + '{"item_id": "x", "response": tru}\n' + json.dumps(gsm8k_row(2)))
    got = run("score", "rows.jsonl", *GSM8K, "-o", "out.jsonl")
    assert got.code == 2
    assert "rows.jsonl:3:30: " in got.err
    assert [r["item_id"] for r in read_rows(got_path(write, "out.jsonl"))] == ["row-1"]


def got_path(write, name):
    return write("unused", "").parent / name


def test_nan_comes_with_the_usual_cause(run, write):
    write("rows.jsonl", '{"response": "x", "score": NaN}\n')
    got = run("score", "rows.jsonl", *GSM8K)
    assert got.code == 2 and "rows.jsonl:1:28: " in got.err and "allow_nan" in got.err


def test_a_json_list_is_told_apart(run, write):
    write("rows.jsonl", json.dumps([gsm8k_row(1)]))
    got = run("score", "rows.jsonl", *GSM8K)
    assert got.code == 2 and "rows.jsonl:1:1: a row must be a JSON object, not array" in got.err


def test_ten_megabyte_response(run, write):
    row = gsm8k_row(7)
    row["response"] = "x" * 10_000_000 + "\n#### 7"
    write("rows.jsonl", [gsm8k_row(1), row, gsm8k_row(2)])
    got = run("score", "rows.jsonl", *GSM8K)
    assert got.code == 0
    assert [r["score"] for r in got.rows()] == [1.0, 1.0, 1.0]
    assert got.rows()[1]["response"] == row["response"]


def test_invalid_utf8_names_its_place(run, write):
    write("rows.jsonl", b'{"response": "\xff", "ground_truth": "1"}\n')
    got = run("score", "rows.jsonl", *GSM8K)
    assert got.code == 2 and "rows.jsonl:1:15: invalid UTF-8" in got.err


def test_nul_bytes_are_data(run, write):
    row = gsm8k_row(5)
    row["response"] = "\0 a\0b \0\n#### 5"
    write("rows.jsonl", [row])
    got = run("score", "rows.jsonl", *GSM8K)
    assert got.code == 0
    assert got.rows()[0]["response"] == row["response"] and got.rows()[0]["score"] == 1.0


def test_lone_surrogates_are_kept_as_written(run, write):
    write("rows.jsonl", '{"item_id": "a", "response": "\\ud800 #### 5", "ground_truth": "5"}\n')
    got = run("score", "rows.jsonl", *GSM8K)
    assert got.code == 0
    assert '"response": "\\ud800 #### 5"' in got.out and got.rows()[0]["score"] == 1.0


def test_depth_of_a_hundred_thousand_is_an_error(run, write):
    write("rows.jsonl", '{"response": "x", "extra_info": ' + "[" * 100_000 + "]" * 100_000 + "}\n")
    got = run("score", "rows.jsonl", *GSM8K)
    assert got.code == 2 and "rows.jsonl:1:" in got.err and "nested deeper" in got.err


def test_byte_order_mark_crlf_and_no_last_newline(run, write):
    rows = [gsm8k_row(1), gsm8k_row(2, right=False), gsm8k_row(3)]
    write("rows.jsonl", b"\xef\xbb\xbf" + "\r\n".join(map(json.dumps, rows)).encode())
    got = run("score", "rows.jsonl", *GSM8K)
    assert got.code == 0
    assert [r["score"] for r in got.rows()] == [1.0, 0.0, 1.0]
    assert "\r" not in got.out


def test_unknown_config_key_comes_with_a_suggestion(run, write):
    write("rows.jsonl", [gsm8k_row(1)])
    write("c.yaml", "scorer: gsm8k\nmax_concurent: 4\n")
    got = run("score", "rows.jsonl", "-c", "c.yaml")
    assert got.code == 2
    assert "c.yaml:2:1: unknown configuration key 'max_concurent'" in got.err
    assert "did you mean 'max_concurrent'?" in got.err


def test_unknown_flag_comes_with_a_suggestion(run, write):
    got = run("score", "rows.jsonl", "--max-concurent", "4")
    assert got.code == 2 and "did you mean --max-concurrent?" in got.err


def test_unwritable_output(run, write):
    write("rows.jsonl", [gsm8k_row(1)])
    got = run("score", "rows.jsonl", *GSM8K, "-o", "no/such/folder/out.jsonl")
    assert got.code == 2 and "no/such/folder/out.jsonl" in got.err and "cannot be written" in got.err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_full_disk(run, write):
    write("rows.jsonl", [gsm8k_row(i) for i in range(5000)])
    got = run("score", "rows.jsonl", *GSM8K, "-o", "/dev/full")
    assert got.code == 2 and "No space left" in got.err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_full_disk_behind_stdout(binary):
    with open("/dev/full", "wb") as full:
        finished = subprocess.run([binary, "version"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert finished.returncode == 2 and b"No space left" in finished.stderr


def test_output_onto_the_input_is_refused(run, write):
    path = write("rows.jsonl", [gsm8k_row(1)])
    before = path.read_bytes()
    got = run("score", "rows.jsonl", *GSM8K, "-o", "./rows.jsonl")
    assert got.code == 2 and "is the input itself" in got.err
    assert path.read_bytes() == before


def test_missing_input_and_folder(run, tmp_path):
    got = run("score", "nothing.jsonl", *GSM8K)
    assert got.code == 2 and "nothing.jsonl: cannot be opened" in got.err
    got = run("score", str(tmp_path), *GSM8K)
    assert got.code == 2 and "is a directory" in got.err


def test_gzip_and_truncated_gzip(run, write):
    rows = [gsm8k_row(i, right=i % 3 != 0) for i in range(3000)]
    packed = gzip.compress("".join(json.dumps(r) + "\n" for r in rows).encode())
    write("rows.jsonl.gz", packed)
    got = run("score", "rows.jsonl.gz", *GSM8K)
    assert got.code == 0
    assert [r["score"] for r in got.rows()] == [float(i % 3 != 0) for i in range(3000)]
    write("cut.jsonl.gz", packed[: len(packed) // 2])
    got = run("score", "cut.jsonl.gz", *GSM8K)
    assert got.code == 2 and "cut.jsonl.gz: the compressed file ends in the middle" in got.err


def test_stdin_and_stdout(run):
    got = run("score", "-", *GSM8K, stdin=json.dumps(gsm8k_row(1)).encode())
    assert got.code == 0 and got.rows()[0]["score"] == 1.0
    got = run("score", "-", *GSM8K, stdin=b"{")
    assert got.code == 2 and "<stdin>:1:2: " in got.err


def test_big_integers_and_number_spellings_pass_through(run, write):
    line = '{"item_id": "a", "response": "#### 5", "ground_truth": "5", "seed": 123456789012345678901234567890, "t": 1.50e+0}'
    write("rows.jsonl", line + "\n")
    got = run("score", "rows.jsonl", *GSM8K)
    assert got.code == 0
    assert got.out.startswith(line[:-1] + ",")


@pytest.mark.parametrize("bad", [
    {"response": 5}, {"extra_info": "text"}, {"group_size": 0}, {"group_size": "x"}, {"item_id": {}}, {"data_source": 1},
    {"num_tokens": -1}, {"token_ids": ["a"]}, {"index": "x"},
])
def test_fields_of_the_wrong_type_are_a_status_of_their_row(run, write, bad):
    write("rows.jsonl", [gsm8k_row(1), {**gsm8k_row(2), **bad}, gsm8k_row(3)])
    got = run("score", "rows.jsonl", *GSM8K)
    assert got.code == 1
    middle = got.rows()[1]
    assert (middle["status"], middle["score"], middle["error"]["class"]) == ("error", None, "bad_row")
    assert next(iter(bad)) in middle["error"]["message"]


def test_json_test_suite_through_the_command(run, write):
    path = CORPORA / "json_test_suite/cases.jsonl"
    if not path.exists():
        pytest.skip(f"no corpora at {CORPORA}: set REWARDLOOP_CORPORA")
    wrong = []
    counts = {"accept": 0, "reject": 0, "free": 0}
    for line in path.read_text().splitlines():
        case = json.loads(line)
        value = base64.b64decode(case["base64"]).replace(b"\n", b" ") if case["expect"] == "accept" else base64.b64decode(case["base64"])
        write("rows.jsonl", b'{"item_id": "a", "response": "#### 5", "ground_truth": "5", "x": ' + value + b"}\n")
        got = run("score", "rows.jsonl", *GSM8K, "-q")
        counts[case["expect"]] += 1
        assert got.code in (0, 2), case["name"]
        if case["expect"] == "accept" and not (got.code == 0 and got.rows()[0]["score"] == 1.0):
            wrong.append(case["name"])
        if case["expect"] == "reject" and not (got.code == 2 and "rows.jsonl:" in got.err):
            wrong.append(case["name"])
    assert wrong == []
    assert counts == {"accept": 95, "reject": 188, "free": 35}


def test_twenty_thousand_mutated_lines_are_never_a_crash(run, write):
    generator = random.Random(20)
    base = json.dumps({**gsm8k_row(1), "extra_info": {"a": [1, -2.5e3, None, True]}, "prompt": "\u00e9\u2028 \U0001f600"},
                      ensure_ascii=False).encode()
    lines = []
    for number in range(20_000):
        line = bytearray(base.replace(b"row-1", b"row-%d" % number))
        for _ in range(generator.randrange(4)):
            at = generator.randrange(len(line))
            kind = generator.randrange(3)
            if kind == 0:
                line[at] = generator.randrange(256)
            elif kind == 1:
                del line[at:at + generator.randrange(1, 5)]
            else:
                line[at:at] = generator.choice([b"{", b"}", b"[", b'"', b"\\", b",", b":", b"\\ud800", b"\xff", b"1e999", b"\0"])
        lines.append(bytes(line).replace(b"\n", b" ").replace(b"\r", b" ") or b"{}")
    write("rows.jsonl", b"\n".join(lines))
    got = run("check", "rows.jsonl", *GSM8K, "--json")
    assert got.code == 2
    assert json.loads(got.out)["rows"] == 20_000
