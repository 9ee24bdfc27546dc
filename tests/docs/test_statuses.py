"""docs/statuses.md names every error class that the code can give, and every status."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/statuses.md").read_text(encoding="utf-8")
MAKER = re.compile(r'(?:Verdict::(?:Unscorable|Error)\(|Verdict::Of\(ItemStatus::\w+,)\s*(?:\w+ \? )?"(\w+)"(?: : "(\w+)")?')


def test_every_error_class_is_documented() -> None:
    classes: set[str] = set()
    for source in (ROOT / "src").rglob("*.cc"):
        if not source.stem.endswith("_test"):
            classes |= {name for found in MAKER.findall(source.read_text(encoding="utf-8")) for name in found if name}
    assert {"exception", "timeout", "total_timeout", "no_scorer"} <= classes  # the pattern still finds them
    assert sorted(name for name in classes if f"`{name}`" not in PAGE) == []


def test_every_status_is_documented() -> None:
    names = re.findall(r'return "(\w+)";', (ROOT / "src/base/result.cc").read_text(encoding="utf-8"))
    statuses = names[: names.index("cancelled") + 1]
    assert len(statuses) == 7
    assert [name for name in statuses if f"| `{name}` |" not in PAGE] == []
