#!/usr/bin/env python3
"""Checks of the tree that no compiler makes: sizes, include direction, comments, banned calls, links, copied data.

    tools/tidy.py            all checks; exit status 1 and one line per finding
    tools/tidy.py --update   lower the figures of tools/tidy/baseline.json where the code got smaller

What was too big when a limit was set is listed in baseline.json with its size. The list may only shrink.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from tidy import content, cpp, sizes  # noqa: E402
from tidy.tree import Tree  # noqa: E402

CHECKS = (
    sizes.root_entries,
    sizes.file_and_function_sizes,
    cpp.include_direction,
    cpp.heavy_headers,
    cpp.pragma_once,
    cpp.banned_calls,
    cpp.public_comments,
    cpp.listed_plugins,
    content.machine_paths,
    content.json_files,
    content.markdown_links,
    content.copied_corpora,
)


def main() -> int:
    tree = Tree(ROOT, update="--update" in sys.argv[1:])
    findings = [finding for check in CHECKS for finding in check(tree)]
    tree.save_baseline()
    for finding in findings:
        print(finding)
    print(f"tidy: {len(CHECKS)} checks over {len(tree.files)} files, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
