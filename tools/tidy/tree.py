"""The files under check, and the baseline of what may be too big for now."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path


class Tree:
    def __init__(self, root: Path, update: bool = False) -> None:
        self.root = root
        self.update = update
        # Tracked and new files, not the ignored ones.
        listing = subprocess.run(
            ["git", "-c", "safe.directory=*", "ls-files", "-z", "-co", "--exclude-standard"],
            cwd=root, check=True, capture_output=True,
        ).stdout.decode()
        self.files = sorted({Path(name) for name in listing.split("\0") if name and (root / name).is_file()})
        self.baseline_path = root / "tools/tidy/baseline.json"
        self.baseline: dict[str, int] = json.loads(self.baseline_path.read_text()) if self.baseline_path.exists() else {}
        self.seen: dict[str, int] = {}

    def select(self, *suffixes: str, under: str = "") -> list[Path]:
        return [f for f in self.files if f.suffix in suffixes and str(f).startswith(under)]

    @cache  # noqa: B019: one tree per run
    def text(self, file: Path) -> str:
        return (self.root / file).read_text(encoding="utf-8", errors="replace")

    def over_limit(self, key: str, size: int, limit: int) -> str | None:
        """Why `size` is too big, or None: within the limit, or not above what the baseline allows."""
        if size <= limit:
            return None
        self.seen[key] = size
        allowed = self.baseline.get(key, limit)
        return None if size <= allowed else f"{key}: {size}, limit {allowed}"

    def save_baseline(self) -> None:
        if not self.update:
            return
        lowered = {k: min(v, self.baseline[k]) for k, v in self.seen.items() if k in self.baseline}
        self.baseline_path.write_text(json.dumps(dict(sorted(lowered.items())), indent=2) + "\n")
