"""Rules of docs/dev/style.md that hold for C++ files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .cpp_scan import without_comments_and_strings
from .tree import Tree

# A folder may include itself and folders before it. The command line and the bindings are side by side.
LAYERS = ("base", "math", "async", "io", "workers", "scorers", "managers", "pipeline", "config", "cli")
PUBLIC_LAYER = {
    "export": "base", "status": "base", "json": "base", "item": "base", "result": "base", "clock": "base",
    "version": "base", "math": "math", "executor": "async", "task": "async", "limiter": "async", "log": "async", "simulator": "async",
    "scorer": "scorers", "registry": "scorers", "scorer_selector": "scorers", "reward_manager": "managers",
    # Interfaces, which pipeline implements.
    "metrics": "async", "engine": "async", "log": "async",
    "pipeline": "pipeline", "config": "config", "rewardloop": "cli",
}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
HEAVY = ("boost/", "nlohmann/", "CLI/", "spdlog/", "fmt/", "simdjson", "re2/", "yaml-cpp/", "gmp", "flint", "arb", "acb", "mpfr", "zlib")

SLEEP = r"\b(sleep_for|sleep_until|usleep|nanosleep)\s*\("
ONE_CLOCK = "time comes from rewardloop::Clock"
NO_LOCALE = "depends on the locale or throws; use std::from_chars"
NOT_IN_TESTS = (ONE_CLOCK, NO_LOCALE)  # where they do no harm
REAL_CLOCK = ("src/base/clock.cc", "src/async/thread_executor.cc")
BANNED: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (SLEEP, "wait on the executor, never by sleeping", ()),
    (r"\bsystem_clock\b", "wall-clock time jumps; use rewardloop::Clock", ("src/cli/",)),
    (r"\b(steady_clock|high_resolution_clock)\b", ONE_CLOCK, (*REAL_CLOCK, "bench/")),
    (r"(?<![\w:.>])(s?rand|random)\s*\(", "randomness is seeded and passed in", ()),
    (r"\brandom_device\b", "randomness is seeded and passed in", ()),
    (r"std::(regex|basic_regex|smatch)\b|<regex>", "a backtracking engine must not see model text; write a scanner or use RE2", ()),
    (r"<format>|<expected>|std::format\b|std::expected\b", "not in g++ 12", ()),
    (r"(?<![\w:.>])(system|popen|execl|execv|execvp)\s*\(", "nothing starts a program from here", ()),
    (r"\bsetlocale\s*\(|std::locale\b", "scores do not depend on the locale", ()),
    (r"(?<![\w:])(strto[dfl]|ato[fil]|std::sto[dfil])\s*\(", NO_LOCALE, ()),
)


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _is_test(file: Path) -> bool:
    return file.stem.endswith(("_test", "_fuzz")) or str(file).startswith("tests/")


def _layer_of_include(target: str) -> str | None:
    if target.startswith("rewardloop/"):
        return PUBLIC_LAYER.get(target.removeprefix("rewardloop/").removesuffix(".h"), "unknown")
    folder = target.split("/")[0]
    return folder if folder in LAYERS else None


def include_direction(tree: Tree) -> Iterator[str]:
    for file in tree.select(".h", ".cc", ".c"):
        parts = file.parts
        if parts[0] == "src":
            own = parts[1]
        elif parts[0] == "include":
            own = PUBLIC_LAYER.get(file.stem, "unknown")
        else:
            continue
        if own not in LAYERS:
            yield f"{file}: tools/tidy/cpp.py does not know its layer"
            continue
        if _is_test(file):
            continue
        text = without_comments_and_strings(tree.text(file), keep_includes=True)
        for match in INCLUDE.finditer(text):
            layer = _layer_of_include(match.group(2))
            if layer is None:
                continue
            if layer == "unknown" or LAYERS.index(layer) > LAYERS.index(own):
                yield f'{file}:{_line(text, match.start(2))}: {own} must not include "{match.group(2)}" of {layer}'


def heavy_headers(tree: Tree) -> Iterator[str]:
    for file in tree.select(".h", under="include/"):
        text = without_comments_and_strings(tree.text(file), keep_includes=True)
        for match in INCLUDE.finditer(text):
            target = match.group(2)
            if target.startswith(HEAVY) or (match.group(1) == '"' and not target.startswith("rewardloop/")):
                yield f"{file}:{_line(text, match.start(2))}: a public header must not include {target}"


def pragma_once(tree: Tree) -> Iterator[str]:
    for file in tree.select(".h"):
        if "#pragma once" not in tree.text(file):
            yield f"{file}: no #pragma once"


def banned_calls(tree: Tree) -> Iterator[str]:
    for file in tree.select(".h", ".cc", ".c"):
        if str(file).startswith("examples/"):
            continue
        code = without_comments_and_strings(tree.text(file))
        for pattern, why, allowed in BANNED:
            if (allowed and str(file).startswith(allowed)) or (_is_test(file) and why in NOT_IN_TESTS):
                continue
            for match in re.finditer(pattern, code):
                yield f"{file}:{_line(code, match.start())}: {match.group(0).strip()}: {why}"
    for file in tree.select(".py", under="python/"):
        for match in re.finditer(r"(?<![\w.])(eval|exec)\s*\(|\btime\.sleep\s*\(|shell\s*=\s*True", tree.text(file)):
            if "/tests/" not in str(file) or "sleep" not in match.group(0):
                yield f"{file}:{_line(tree.text(file), match.start())}: {match.group(0)}: not in the package"


def public_comments(tree: Tree) -> Iterator[str]:
    """Each type and free function of a public header has a comment; a header says first what it is for.

    Inline constants and functions are left out: their whole definition stands there."""
    declaration = re.compile(r"^(?:class|struct|enum|template|REWARDLOOP_EXPORT|using|[\w:<>&*]+ [\w]+\()")
    for file in tree.select(".h", under="include/"):
        lines = tree.text(file).split("\n")
        if not lines[0].startswith("//"):
            yield f"{file}:1: the first line says what the header is for"
        documented = False  # by a comment in this run of lines without a blank one
        for number, line in enumerate(lines, 1):
            if not line.strip():
                documented = False
            elif line.lstrip().startswith("//") or "//" in line:
                documented = True
            elif declaration.match(line) and not documented and not re.match(r"^(class|struct) \w+;", line):
                # A plain struct or enum may instead have comments at its members.
                body = lines[number : number + next((i for i, l in enumerate(lines[number:]) if l.startswith("}")), 0)]
                if re.match(r"(struct|enum) ", line) and any("//" in member for member in body):
                    continue
                yield f"{file}:{number}: no comment: {line[:70]}"
                documented = True


def listed_plugins(tree: Tree) -> Iterator[str]:
    """A file that defines a scorer or manager has its line in the list, else nobody can find it by name."""
    for folder, kind, macro in (("src/scorers", "ScorerSpec", "RL_SCORER"), ("src/managers", "ManagerSpec", "RL_MANAGER")):
        listing = next((f for f in tree.files if f.parent == Path(folder) and f.name.endswith("_list.inc")), None)
        if listing is None:
            continue
        listed = set(re.findall(macro + r"\((\w+)\)", without_comments_and_strings(tree.text(listing))))
        for file in tree.select(".cc", under=folder + "/"):
            if _is_test(file):
                continue
            code = without_comments_and_strings(tree.text(file))
            for name in re.findall(r"^" + kind + r" (\w+)\(\) *\{", code, re.MULTILINE):
                if name not in listed:
                    yield f"{file}: {name} is not in {listing}"
