"""`rewardloop explain`, `check` and `diff`."""

import gzip
import json

import pytest

from cli_helpers import gsm8k_row

GSM8K = ("--scorer", "gsm8k")


# --- explain

def test_explain_one_item_says_what_was_found_where(run):
    got = run("explain", "--scorer", "gsm8k", "--response", "First 41.\n#### 42", "--ground-truth", "42", "--json")
    assert got.code == 0, got.err
    report = json.loads(got.out)
    assert (report["status"], report["score"], report["extracted"], report["scorer"]) == ("scored", 1.0, "42", "gsm8k")
    spans = [report["response"].encode()[s["begin"]:s["end"]].decode() for s in report["steps"] if s.get("begin", -1) >= 0]
    assert any("42" in span for span in spans)
    text = run("explain", "--scorer", "gsm8k", "--response", "#### 42", "--ground-truth", "42").out
    for word in ("scorer     gsm8k, version 1", "steps", "verdict    scored 1", "extracted  '42'"):
        assert word in text


def test_explain_a_row_by_line_and_by_id(run, write):
    write("rows.jsonl", [gsm8k_row(1), gsm8k_row(2, right=False), gsm8k_row(3)])
    by_line = json.loads(run("explain", "rows.jsonl", "--row", "2", *GSM8K, "--json").out)
    by_id = json.loads(run("explain", "rows.jsonl", "--id", "row-2", *GSM8K, "--json").out)
    assert by_line == by_id
    assert (by_line["item_id"], by_line["score"], by_line["place"]) == ("row-2", 0.0, "rows.jsonl:2")


def test_explain_rows_that_are_not_there(run, write):
    write("rows.jsonl", [gsm8k_row(1)])
    got = run("explain", "rows.jsonl", "--row", "9", *GSM8K)
    assert got.code == 2 and "line 9" in got.err
    got = run("explain", "rows.jsonl", "--id", "nobody", *GSM8K)
    assert got.code == 2 and "'nobody'" in got.err


def test_explain_a_scorer_and_a_manager(run):
    text = run("explain", "gsm8k").out
    assert "arguments:" in text and "method" in text
    assert "overlong_buffer" in run("explain", "dapo").out
    got = run("explain", "gsm9k")
    assert got.code == 2 and "did you mean 'gsm8k'?" in got.err


def test_explain_shows_why_a_row_has_no_score(run):
    report = json.loads(run("explain", "--scorer", "gsm8k", "--response", "#### 1", "--json").out)
    assert (report["status"], report["score"], report["error"]["class"]) == ("unscorable", None, "no_ground_truth")


@pytest.mark.parametrize("length,factor,expected", [(20, 1.0, -0.5), (20, 2.0, -1.0), (40, 1.0, -0.75)])
def test_explain_shows_the_effect_of_the_overlong_buffer(run, write, length, factor, expected):
    # 90 of 100 tokens: 90 - (100 - 20) = 10 of 20, and 90 - (100 - 40) = 30 of 40.
    write("rows.jsonl", [gsm8k_row(1, num_tokens=90)])
    args = json.dumps({"max_resp_len": 100, "overlong_buffer": {"enable": True, "len": length, "penalty_factor": factor}})
    report = json.loads(run("explain", "rows.jsonl", "--row", "1", *GSM8K, "--manager", "dapo", "--manager-args", args, "--json").out)
    assert report["components"] == {"score": 1.0, "overlong_reward": expected}
    assert report["score"] == 1.0 + expected


def test_explain_agrees_with_score_on_every_kind_of_row(run, write):
    rows = [gsm8k_row(1), gsm8k_row(2, right=False), {"item_id": "row-3", "response": "nothing", "ground_truth": "3"},
            {"item_id": "row-4", "response": "#### 4", "ground_truth": "four"}]
    write("rows.jsonl", rows)
    for number, row in enumerate(run("score", "rows.jsonl", *GSM8K).rows(), start=1):
        report = json.loads(run("explain", "rows.jsonl", "--row", number, *GSM8K, "--json").out)
        for key in ("status", "score", "extracted", "reason", "components", "extra", "error"):
            assert report[key] == row[key], key


# --- check

def test_check_of_good_rows(run, write):
    write("rows.jsonl", [gsm8k_row(i, group_id="g", group_size=2) for i in range(2)])
    got = run("check", "rows.jsonl", *GSM8K)
    assert got.code == 0 and got.out.startswith("ok: 2 rows")


def test_check_of_the_configuration_alone(run, write):
    write("good.yaml", "scorer: gsm8k\n")
    write("bad.yaml", "scorer: gsm8k\ntimeot: 3\n")
    assert run("check", "-c", "good.yaml").code == 0
    got = run("check", "-c", "bad.yaml")
    assert got.code == 2 and "bad.yaml:2:1" in got.err and "'timeout'" in got.err


def test_check_counts_unknown_data_sources_and_names_the_first_of_each(run, write):
    sources = ["openai/gsm8k"] * 2 + [""] * 2 + ["data/gsm8k"] * 3 + ["openai/gsm8k "] + ["openai/gsm8k"] * 2
    write("rows.jsonl", [gsm8k_row(i, data_source=source) for i, source in enumerate(sources)])
    got = run("check", "rows.jsonl", "--json")
    assert got.code == 2
    found = {f["place"]: f for f in json.loads(got.out)["findings"]}
    assert {place: f["rows"] for place, f in found.items()} == {"rows.jsonl:3:1": 2, "rows.jsonl:5:1": 3, "rows.jsonl:8:1": 1}
    assert "openai/gsm8k" in found["rows.jsonl:8:1"]["hint"] + found["rows.jsonl:8:1"]["message"]
    text = run("check", "rows.jsonl").err
    assert "data_source" in text or "--data-source" in text
    warned = run("score", "rows.jsonl", "--unknown-rewards", "warn")
    assert [r["status"] for r in warned.rows()].count("unscorable") == 6


def test_check_goes_on_behind_broken_lines(run, write):
    write("rows.jsonl", '{"a": \n' + json.dumps(gsm8k_row(1)) + "\n[1]\n" + json.dumps({**gsm8k_row(1), "group_size": -1}) + "\n")
    got = run("check", "rows.jsonl", *GSM8K, "--json")
    findings = json.loads(got.out)["findings"]
    assert got.code == 2
    assert [(f["kind"], f["place"] or f["message"].split(": ")[0]) for f in findings] == [
        ("syntax", "rows.jsonl:1:7"), ("syntax", "rows.jsonl:3:1"), ("duplicate_id", "rows.jsonl:4:1"), ("field", "rows.jsonl:4:1")]


def test_check_ends_where_the_input_does_and_keeps_what_it_found(run, write):
    endless = write("endless.jsonl", "{}\n" + json.dumps(gsm8k_row(1)) + "\n")
    with endless.open("r+b") as file:
        file.truncate((256 << 20) + (2 << 20))  # one line of NUL bytes, longer than a line may be
    torn = gzip.compress("".join(json.dumps(gsm8k_row(n)) + "\n" for n in range(20_000)).encode())
    write("torn.jsonl.gz", gzip.compress(b"{}\n") + torn[: len(torn) // 2])
    for name, message in (("endless.jsonl", "endless.jsonl:3:1: the line is longer than"), ("torn.jsonl.gz", "ends in the middle")):
        got = run("check", name, *GSM8K)
        assert got.code == 2 and message in got.err
        assert f"{name}:1:1: the response is missing" in got.err


def test_check_hides_no_kind_of_finding_behind_many_of_another(run, write):
    rows = [gsm8k_row(n // 2) for n in range(400)]  # 200 ids, each twice
    write("rows.jsonl", [*rows, {"item_id": "last", "response": "1", "ground_truth": "1", "group_id": 1.5}])
    got = run("check", "rows.jsonl", *GSM8K)
    assert got.err.count("already") < 200 and "more of kind duplicate_id" in got.err
    assert "rows.jsonl:401:1: `group_id` must be text or an integer" in got.err
    assert "201 errors" in got.out


def test_check_reports_missing_ground_truth_before_scoring(run, write):
    rows = [gsm8k_row(i) for i in range(10)]
    for number in (2, 5, 8):
        del rows[number]["ground_truth"]
    write("rows.jsonl", rows)
    got = run("check", "rows.jsonl", *GSM8K, "--json")
    finding = json.loads(got.out)["findings"][0]
    assert got.code == 2
    assert (finding["kind"], finding["place"], finding["rows"]) == ("ground_truth", "rows.jsonl:3:1", 3)


def test_check_holds_rows_to_the_rollout_contract(run, write):
    rows = [gsm8k_row(i, group_id="g", rollout_id=rollout, score=score) for i, (rollout, score) in enumerate(
        [("a", 1.0), ("a", 1.0), ("b", 1.0), ("b", 0.5), ("c", 0.0), ("b", None)])]
    write("rows.jsonl", rows)
    got = run("check", "rows.jsonl", *GSM8K, "--json")
    findings = json.loads(got.out)["findings"]
    assert got.code == 2 and len(findings) == 1
    message = findings[0]["message"]
    for text in ("rollout 'b'", "line 3 1.0", "line 4 0.5"):
        assert text in message
    assert "'a'" not in message


def test_check_counts_members_of_groups(run, write):
    write("rows.jsonl", [gsm8k_row(i, group_id="g", group_size=4) for i in range(3)])
    got = run("check", "rows.jsonl", *GSM8K)
    assert got.code == 2 and "group 'g' has 3 trajectories, its group_size is 4" in got.err
    # Rows of one session are one trajectory.
    write("rows.jsonl", [gsm8k_row(i, group_id="g", group_size=2, session_id=f"s{i // 2}", index=i % 2) for i in range(4)])
    assert run("check", "rows.jsonl", *GSM8K).code == 0


# --- diff

def scored(run, write, name, rows, *flags):
    write("input.jsonl", rows)
    assert run("score", "input.jsonl", *flags, "-o", name).code in (0, 1)


def test_diff_of_two_scored_files(run, write):
    rows = [gsm8k_row(i, group_id=f"g{i // 2}") for i in range(6)]
    scored(run, write, "a.jsonl", rows, *GSM8K)
    rows[1]["response"] = "#### 0"
    rows[4]["ground_truth"] = None
    scored(run, write, "b.jsonl", rows[:5] + [gsm8k_row(9)], *GSM8K)
    got = run("diff", "a.jsonl", "b.jsonl", "--json")
    assert got.code == 0, got.err
    report = json.loads(got.out)
    counts = {key: report[key] for key in ("rows", "only_in_a", "only_in_b", "changed", "up", "down", "status_changed")}
    assert counts == {"rows": 5, "only_in_a": 1, "only_in_b": 1, "changed": 2, "up": 0, "down": 1, "status_changed": 1}
    assert (report["mean_a"], report["mean_b"]) == (1.0, 0.75)
    assert [(c["line"], c["item_id"], c["a"]["score"], c["b"]["score"]) for c in report["changes"]] == [
        (2, "row-1", 1.0, 0.0), (5, "row-4", 1.0, None)]
    text = run("diff", "a.jsonl", "b.jsonl").out
    for words in ("2 rows changed", "row-1", "why:", "1 only in a (first 'row-5')"):
        assert words in text


def test_diff_thresholds_and_equal_files(run, write):
    rows = [gsm8k_row(i) for i in range(4)]
    scored(run, write, "a.jsonl", rows, *GSM8K)
    rows[0]["response"] = "#### 99"
    scored(run, write, "b.jsonl", rows, *GSM8K)
    assert run("diff", "a.jsonl", "b.jsonl", "--max-changed", "1").code == 0
    assert run("diff", "a.jsonl", "b.jsonl", "--max-changed", "0").code == 1
    got = run("diff", "a.jsonl", "a.jsonl", "--max-changed", "0")
    assert got.code == 0 and "0 rows changed" in got.out


def test_diff_of_two_recipes_on_one_file(run, write):
    write("rows.jsonl", [gsm8k_row(1), {"item_id": "x", "response": "It is 42.", "ground_truth": "42"}])
    write("flexible.yaml", "scorer: gsm8k\nscorer_args: {method: flexible}\n")
    for flags in (("--a", "gsm8k", "--b", "gsm8k", "--b-arg", "method=flexible"), ("--a", "gsm8k", "--b", "flexible.yaml")):
        report = json.loads(run("diff", "rows.jsonl", *flags, "--json").out)
        assert (report["rows"], report["changed"], report["up"]) == (2, 1, 1)
        assert report["changes"][0]["item_id"] == "x"


def test_diff_of_files_that_are_not_scored(run, write):
    write("rows.jsonl", [gsm8k_row(1)])
    got = run("diff", "rows.jsonl", "rows.jsonl")
    assert got.code == 2 and "rows.jsonl:1:1" in got.err and "not a scored row" in got.err
    assert run("diff", "rows.jsonl").code == 2

def test_diff_reads_the_columns_that_each_recipe_names(run, write):
    write("rows.jsonl", [{"before": f"#### {n}", "after": f"#### {n + n % 2}", "ground_truth": str(n)} for n in range(10)])
    for side in ("before", "after"):
        write(f"{side}.yaml", f"scorer: gsm8k\nfields: {{response: {side}}}\n")
    report = json.loads(run("diff", "rows.jsonl", "--a", "before.yaml", "--b", "after.yaml", "--json").out)
    assert (report["rows"], report["down"], report["mean_a"], report["mean_b"]) == (10, 5, 1.0, 0.5)


def test_diff_of_recipes_treats_rows_as_score_does(run, write):
    rows = [gsm8k_row(n) for n in range(1020)]
    rows += [{"item_id": f"s/{n}", "response": f"#### {n}", "ground_truth": "7", "session_id": "s", "index": n} for n in range(8)]
    rows.insert(500, {"item_id": "bad", "response": 5})
    write("rows.jsonl", rows)
    got = run("diff", "rows.jsonl", "--a", "gsm8k", "--b", "gsm8k", "--json")
    assert got.code == 0, got.err
    report = json.loads(got.out)
    assert (report["rows"], report["changed"], report["mean_a"]) == (1029, 0, 1.0)

    write("twice.jsonl", [gsm8k_row(n % 300) for n in range(301)])
    got = run("diff", "twice.jsonl", "--a", "gsm8k", "--b", "gsm8k")
    assert got.code == 2 and "twice.jsonl:301:1: item_id 'row-0'" in got.err
    write("unknown.jsonl", [gsm8k_row(1, data_source="gsm8k"), gsm8k_row(2, data_source="nobody")])
    got = run("diff", "unknown.jsonl", "--a", "gsm8k", "--b", "gsm8k")
    assert got.code == 0, got.err
    write("by_source.yaml", "dispatch: native\n")
    got = run("diff", "unknown.jsonl", "--a", "gsm8k", "--b", "by_source.yaml")
    assert got.code == 2 and "unknown.jsonl:2:1" in got.err and "'nobody'" in got.err
