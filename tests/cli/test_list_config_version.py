"""`rewardloop list`, `config` and `version`, help, and that every key is a flag."""

import json

import pytest

from cli_helpers import SOURCE_DIR


def test_list_as_text_and_json(run):
    report = json.loads(run("list", "--json").out)
    names = {scorer["name"] for scorer in report["scorers"]}
    assert {"gsm8k", "math", "choice", "qa_em", "qa_f1", "format", "verl/gsm8k", "verl/math_dapo"} <= names
    assert {"naive", "batch", "dapo", "gdpo", "rate_limited", "weighted"} <= {m["name"] for m in report["managers"]}
    assert {"native", "verl"} <= set(report["dispatch"])
    text = run("list", "scorers").out
    assert all(name in text for name in names)


def test_list_one_scorer_with_its_arguments(run):
    report = json.loads(run("list", "--scorer", "gsm8k", "--json").out)
    method = next(arg for arg in report["args"] if arg["name"] == "method")
    assert method["default"] == "strict" and set(method["choices"]) == {"strict", "flexible"} and method["doc"]
    assert "method" in run("list", "--scorer", "gsm8k").out
    assert run("list", "nonsense").code == 2


def test_config_show_names_the_origin_of_every_value(run, write):
    write("c.yaml", "scorer: gsm8k\ntimeout: 3\nscorer_args:\n  method: flexible\n")
    report = json.loads(run("config", "show", "-c", "c.yaml", "--threads", "2", "--json").out)
    assert report["values"]["timeout"] == 3.0 and report["values"]["threads"] == 2
    assert report["origin"]["timeout"] == "c.yaml:2:1"
    assert report["origin"]["threads"] == "--threads"
    assert report["origin"]["scorer_args.method"] == "c.yaml:4:3"
    assert report["origin"]["seed"] == "default"


def test_config_show_prints_a_file_that_says_the_same(run, write):
    flags = ("--scorer", "gsm8k", "--scorer-arg", "method=flexible", "--timeout", "null", "--field", "response=pred.text")
    shown = run("config", "show", *flags)
    assert shown.code == 0, shown.err
    write("c.yaml", shown.out)
    again = json.loads(run("config", "show", "-c", "c.yaml", "--json").out)
    assert again["values"] == json.loads(run("config", "show", *flags, "--json").out)["values"]


def test_every_key_is_a_flag_and_in_the_schema(run):
    values = json.loads(run("config", "show", "--json").out)["values"]
    schema = json.loads(run("config", "schema").out)
    help_text = run("score", "-h").out
    for key, value in values.items():
        assert key in schema["properties"], key
        assert "--" + key.replace("_", "-") in help_text, key
        text = value if isinstance(value, str) else json.dumps(value)
        if not text:
            continue  # a flag without a value takes the next argument
        for flag in ("--" + key.replace("_", "-"), "--" + key):
            got = run("config", "show", f"{flag}={text}", "--json")
            assert got.code == 0, (key, got.err)
            assert json.loads(got.out)["values"][key] == value


def test_effective_values_pass_the_schema(run, write):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    schema = json.loads(run("config", "schema").out)
    jsonschema.validate(json.loads(run("config", "show", "--json").out)["values"], schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"timeot": 3}, schema)


def test_flags_win_over_the_file_and_drop_arguments_of_another_scorer(run, write):
    write("c.yaml", "scorer: gsm8k\nscorer_args: {method: flexible}\n")
    report = json.loads(run("config", "show", "-c", "c.yaml", "--scorer", "verl/math_reward", "--json").out)
    assert report["values"]["scorer"] == "verl/math_reward" and report["values"]["scorer_args"] is None


def test_version(run):
    report = json.loads(run("version", "--json").out)
    assert report["schema"] == 1 and report["scorers"]["gsm8k"] and report["build"]["compiler"]
    assert report["version"] in run("version").out
    assert run("--version").out.strip() == report["version"]


def test_help_and_no_command(run):
    for command in ("score", "explain", "check", "diff", "list", "config", "version"):
        assert command in run("-h").out
        got = run(command, "-h")
        assert got.code == 0 and "rewardloop " + command in got.out
    assert run().code == 2
    got = run("scor", "x")
    assert got.code == 2 and "did you mean score?" in got.err


def test_docs_agree_with_the_table_of_keys(run):
    text = (SOURCE_DIR / "docs/config.md").read_text(encoding="utf-8").replace("`value:<number>`", "value:<number>")
    for key, entry in json.loads(run("config", "schema").out)["properties"].items():
        if key == "schema":
            continue
        line = next((line for line in text.splitlines() if line.startswith(f"| `{key}` |")), None)
        assert line, f"docs/config.md has no line for {key}"
        types = entry["type"] if isinstance(entry["type"], list) else [entry["type"]]
        assert f"| {' or '.join(types)} | `{json.dumps(entry['default'])}` | {entry['description']}" in line
        for choice in filter(None, entry.get("enum", [])):
            assert f"`{choice}`" in line
