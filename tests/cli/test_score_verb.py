"""`rewardloop score`: exit statuses, policies, presets, summary, reports."""

import json
import subprocess

import pytest

from cli_helpers import gsm8k_row, read_rows

GSM8K = ("--scorer", "gsm8k")


def with_missing(count, missing):
    rows = [gsm8k_row(i) for i in range(count)]
    for number in range(missing):
        del rows[number]["ground_truth"]
    return rows


@pytest.mark.parametrize("allowed,code", [("0", 1), ("1", 1), ("2", 0), ("19%", 1), ("20%", 0), ("100%", 0)])
def test_exit_status_1_when_more_rows_than_allowed_have_no_score(run, write, allowed, code):
    write("rows.jsonl", with_missing(10, 2))
    got = run("score", "rows.jsonl", *GSM8K, "--max-unscored", allowed)
    assert got.code == code
    assert len(got.rows()) == 10


def test_exit_status_2_for_a_wrong_allowance(run, write):
    write("rows.jsonl", with_missing(1, 0))
    assert run("score", "rows.jsonl", *GSM8K, "--max-unscored", "few").code == 2


def test_on_error_zero_gives_zeros_and_keeps_the_status(run, write):
    write("rows.jsonl", with_missing(3, 1))
    got = run("score", "rows.jsonl", *GSM8K, "--on-error", "zero")
    assert got.code == 0
    row = got.rows()[0]
    assert (row["status"], row["score"], row["error"]["class"]) == ("unscorable", 0.0, "no_ground_truth")


@pytest.mark.parametrize("policy", ["raise", "null"])
def test_other_policies_leave_the_score_out(run, write, policy):
    write("rows.jsonl", with_missing(3, 1))
    got = run("score", "rows.jsonl", *GSM8K, "--on-error", policy)
    assert got.code == 1
    assert [r["score"] for r in got.rows()] == [None, 1.0, 1.0]


def test_no_scorer_is_a_usage_error_without_numbers(run, write):
    write("rows.jsonl", [gsm8k_row(1)])
    got = run("score", "rows.jsonl")
    assert (got.code, got.out) == (2, "")
    assert "mean" not in got.err or "rows.jsonl:1:1" in got.err


def test_every_option_of_a_scorer_is_reachable_by_flag_file_and_prefix_free_json(run, write):
    write("rows.jsonl", [{"response": "It is 42.", "ground_truth": "42"}])
    write("c.yaml", "scorer: gsm8k\nscorer_args:\n  method: flexible\n")

    def score(*flags):
        return run("score", "rows.jsonl", *flags).rows()[0]["score"]

    assert score(*GSM8K) == 0.0
    assert score(*GSM8K, "--scorer-arg", "method=flexible") == 1.0
    assert score(*GSM8K, "--scorer-args", '{"method": "flexible"}') == 1.0
    assert score("-c", "c.yaml") == 1.0
    assert score("-c", "c.yaml", "--scorer-arg", "method=strict") == 0.0
    got = run("score", "rows.jsonl", *GSM8K, "--scorer-arg", "method=flexibel")
    assert got.code == 2 and "flexible" in got.err


@pytest.mark.parametrize("preset,row", [
    ("verl", {"input": "q", "output": "#### 5", "gts": "5", "score": 0, "step": 1}),
    ("trl", {"prompt": "q", "completion": [{"role": "assistant", "content": "#### 5"}], "solution": "5"}),
    ("openrlhf", {"input": "q", "output": "#### 5", "label": "5"}),
    ("slime", {"group_index": 0, "index": 0, "prompt": "q", "response": "#### 5", "label": "5", "response_length": 4,
               "metadata": {}, "status": "completed"}),
    ("chat", {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "#### 5"}], "answer": "5"}),
])
def test_presets(run, write, preset, row):
    write("rows.jsonl", [row])
    got = run("score", "rows.jsonl", *GSM8K, "--preset", preset)
    assert got.code == 0, got.err
    assert got.rows()[0]["score"] == 1.0


def test_field_flags_with_dotted_paths(run, write):
    write("rows.jsonl", [{"out": {"text": "#### 5"}, "gold": 5}])
    got = run("score", "rows.jsonl", *GSM8K, "--field", "response=out.text", "--field", "ground_truth=gold")
    assert got.rows()[0]["score"] == 1.0


def test_summary_tells_what_a_person_wants(run, write, tmp_path):
    rows = [gsm8k_row(i, right=i % 2 == 0, data_source="openai/gsm8k", group_id=f"g{i // 4}") for i in range(8)]
    rows += [gsm8k_row(i, data_source="gsm8k", group_id="same") for i in range(100, 104)]
    rows[1]["response"] = "Some say 1, some say 3, who knows"
    del rows[2]["ground_truth"]
    write("rows.jsonl", rows)
    got = run("score", "rows.jsonl", "--summary-json", "s.json", "--max-unscored", "1", "-o", "out.jsonl")
    assert got.code == 0
    summary = json.loads((tmp_path / "s.json").read_text())
    assert summary["rows"] == 12 and summary["without_score"] == 1
    source = summary["data_sources"]["openai/gsm8k"]
    assert (source["rows"], source["with_score"], source["status"]["unscorable"]) == (8, 7, 1)
    assert source["mean"] == pytest.approx(3 / 7)
    assert (summary["groups"], summary["zero_spread_groups"]) == (3, 1)
    assert len(summary["failures"]) <= 3
    assert {"no_ground_truth"} <= {f["reason"] for f in summary["failures"]}
    for text in ("openai/gsm8k", "mean reward", "items/s", "1 with zero spread", "most interesting failures"):
        assert text in got.err
    assert run("score", "rows.jsonl", "-q", "--max-unscored", "1").err == ""


def test_summary_json_has_no_nan_for_components_that_are_missing(run, write, tmp_path):
    rows = [gsm8k_row(i) for i in range(6)]
    for i, row in enumerate(rows):
        row["num_tokens"] = 90
        if i in (1, 2):
            del row["num_tokens"]
    write("rows.jsonl", rows)
    args = '{"max_resp_len": 100, "overlong_buffer": {"enable": true, "len": 20, "penalty_factor": 1.0}}'
    run("score", "rows.jsonl", *GSM8K, "--manager", "dapo", "--manager-args", args, "--summary-json", "s.json", "-o", "o.jsonl")
    text = (tmp_path / "s.json").read_text()
    assert "NaN" not in text
    component = json.loads(text)["components"]["overlong_reward"]
    # 90 of 100 tokens with a buffer of 20: half of the penalty.
    assert (component["mean"], component["count"], component["missing"]) == (-0.5, 4, 2)


def test_metrics_and_trace_are_written(run, write, tmp_path):
    write("rows.jsonl", [gsm8k_row(i) for i in range(20)])
    got = run("score", "rows.jsonl", *GSM8K, "-o", "o.jsonl", "--metrics", "m.json", "--trace", "t.json")
    assert got.code == 0, got.err
    assert json.loads((tmp_path / "m.json").read_text())["items_finished"] == 20
    trace = json.loads((tmp_path / "t.json").read_text())
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    assert sum(1 for event in events if event.get("ph") == "X") >= 20


def test_a_closed_pipe_is_no_crash(binary, write, tmp_path):
    write("rows.jsonl", [gsm8k_row(i, padding="x" * 2000) for i in range(5000)])
    process = subprocess.Popen([binary, "score", "rows.jsonl", *GSM8K], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    assert process.wait(timeout=60) == 2
    assert b"its reader has gone" in err


def test_a_closed_pipe_ends_the_wait_for_standard_input(binary, tmp_path):
    process = subprocess.Popen([binary, "score", "-", *GSM8K], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    process.stdout.close()
    process.stdin.write(json.dumps(gsm8k_row(1)).encode() + b"\n")
    process.stdin.flush()  # and no more comes, but the pipe stays open
    assert process.wait(timeout=60) == 2
    process.communicate()


def test_bytes_of_the_backlog_are_bounded_without_losing_rows(run, write):
    rows = [gsm8k_row(i, padding="x" * 100_000) for i in range(60)]
    write("rows.jsonl", rows)
    got = run("score", "rows.jsonl", *GSM8K, "--backlog-bytes", "300000", "--backlog-items", "5")
    assert got.code == 0
    assert [r["item_id"] for r in got.rows()] == [r["item_id"] for r in rows]


def test_a_missing_python_file_is_named(run, write):
    write("rows.jsonl", [gsm8k_row(1)])
    got = run("score", "rows.jsonl", "--scorer", "my.py:fn")
    assert (got.code, got.out) == (2, "")
    assert "there is no Python file 'my.py'" in got.err


def test_progress_only_on_a_terminal_or_when_asked_for(run, write):
    write("rows.jsonl", [gsm8k_row(1)])
    assert "scoring" not in run("score", "rows.jsonl", *GSM8K).err
    assert "scoring" in run("score", "rows.jsonl", *GSM8K, "--progress", "always").err


def test_overwriting_an_older_output_leaves_no_old_row(run, write, tmp_path):
    write("rows.jsonl", [gsm8k_row(i) for i in range(50)])
    run("score", "rows.jsonl", *GSM8K, "-o", "out.jsonl")
    write("rows.jsonl", [gsm8k_row(1)])
    run("score", "rows.jsonl", *GSM8K, "-o", "out.jsonl")
    assert [r["item_id"] for r in read_rows(tmp_path / "out.jsonl")] == ["row-1"]


def test_a_report_to_a_device_leaves_the_device_alone(run, write, tmp_path):
    write("rows.jsonl", with_missing(2, 0))
    # Through links in the test's own folder: what would be replaced is then only the link.
    (tmp_path / "pipe").symlink_to("/proc/self/fd/1")
    got = run("score", "rows.jsonl", *GSM8K, "-o", "out.jsonl", "--summary-json", "pipe", "-q")
    assert got.code == 0, got.err
    assert json.loads(got.out)["rows"] == 2
    assert (tmp_path / "pipe").is_symlink()
