# SPDX-License-Identifier: GPL-2.0-only
"""Patches that add one comment each to a file of TCP: they must change no packet."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path

from harness.kernels.trees import Tree

FILES = [
    f"net/ipv4/{name}.c"
    for name in (
        "tcp", "tcp_input", "tcp_output", "tcp_timer", "tcp_ipv4", "tcp_minisocks", "tcp_cong",
        "tcp_cubic", "tcp_bbr", "tcp_recovery", "tcp_rate", "tcp_metrics", "tcp_fastopen",
        "tcp_offload", "inet_connection_sock", "inet_hashtables", "inet_timewait_sock",
        "ip_input", "ip_output", "route",
    )
]  # fmt: skip
COMMENT = "/* This comment moves all lines below it. */\n"


def write(source: Tree, out: Path) -> Iterator[Path]:
    """A patch for each of FILES, in a folder."""
    out.mkdir(parents=True, exist_ok=True)
    for file, content in source.read(FILES):
        before = content.decode().splitlines(keepends=True)
        at = 1 + max(n for n, line in enumerate(before) if line.startswith("#include"))
        after = [*before[:at], COMMENT, *before[at:]]
        place = out / f"comment-{Path(file).stem}.patch"
        place.write_text("".join(difflib.unified_diff(before, after, f"a/{file}", f"b/{file}")))
        yield place
