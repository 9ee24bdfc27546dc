"""What files say: paths of one machine, broken data, dead links, text that is not ours."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from .tree import Tree

TEXT = (".md", ".py", ".cc", ".h", ".c", ".sh", ".cmake", ".txt", ".toml", ".yaml", ".yml", ".json", ".jsonl", ".inc", "")
# Written so that this file does not find itself.
MACHINE = re.compile(r"(?<![\w.])/(?:wor[k]/|roo[t]/|opt/pyp[i]|tm[p]/helpers|home/de[v]/)")


def machine_paths(tree: Tree) -> Iterator[str]:
    for file in tree.files:
        if file.suffix not in TEXT:
            continue
        for number, line in enumerate(tree.text(file).split("\n"), 1):
            if match := MACHINE.search(line):
                yield f"{file}:{number}: a path of one machine: {match.group(0)}"


def json_files(tree: Tree) -> Iterator[str]:
    for file in tree.select(".json", ".jsonl"):
        if "invalid" in file.name or "broken" in file.name:
            continue
        text = tree.text(file)
        documents = enumerate(text.split("\n"), 1) if file.suffix == ".jsonl" else [(1, text)]
        for number, document in documents:
            if not document.strip():
                continue
            try:
                json.loads(document)
            except json.JSONDecodeError as error:
                yield f"{file}:{number}: not JSON: {error.msg}"


def _anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ +(.+?) *$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    slugs = (re.sub(r"[^\w\- ]", "", heading.lower().replace("`", "")).replace(" ", "-") for heading in headings)
    return set(slugs)


def markdown_links(tree: Tree) -> Iterator[str]:
    for file in tree.select(".md"):
        text = tree.text(file)
        prose = re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", prose):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            linked = (tree.root / file.parent / path).resolve() if path else tree.root / file
            if not linked.exists():
                yield f"{file}: dead link: {target}"
            elif anchor and linked.suffix == ".md" and anchor not in _anchors(linked.read_text(encoding="utf-8")):
                yield f"{file}: no such heading: {target}"


# Recordings of another program's answers may be kept here; everything else of the corpora may only be read in place.
MAY_BE_COPIED = re.compile(r"verl_parity/.*\.edge\.jsonl$|verl_advantages/")
SHORTEST = 60  # characters of a text that cannot be the same by chance


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from _strings(member)
    elif isinstance(value, list):
        for element in value:
            yield from _strings(element)


def _json_strings(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        try:
            yield from _strings(json.loads(line)) if line.strip() else ()
        except (json.JSONDecodeError, RecursionError):
            continue


def copied_corpora(tree: Tree) -> Iterator[str]:
    corpora = Path(os.environ.get("REWARDLOOP_CORPORA") or tree.root.parent / "shared/corpora")
    if not corpora.is_dir():
        print(f"tidy: no corpora at {corpora}: not checked for copies (set REWARDLOOP_CORPORA)")
        return
    theirs: set[str] = set()
    allowed: set[str] = set()
    for source in corpora.rglob("*.jsonl"):
        texts = {s for s in _json_strings(source.read_text(encoding="utf-8", errors="replace")) if len(s) >= SHORTEST}
        if MAY_BE_COPIED.search(str(source)):
            allowed |= texts
        else:
            theirs |= texts
    theirs -= allowed
    literal = re.compile(r'"((?:\\.|[^"\\\n])*)"')
    for file in tree.select(".jsonl", ".json", ".cc", ".py", ".md"):
        text = tree.text(file)
        if file.suffix == ".jsonl":
            ours = {s for s in _json_strings(text) if len(s) >= SHORTEST}
        else:
            ours = {m.group(1).replace("\\\\", "\\").replace('\\"', '"').replace("\\n", "\n") for m in literal.finditer(text)}
        for copied in sorted(ours & theirs):
            yield f"{file}: a text of the corpora: {copied[:60]!r}"
