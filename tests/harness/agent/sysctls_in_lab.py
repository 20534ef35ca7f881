# SPDX-License-Identifier: GPL-2.0-only
"""Runs inside a lab, for test_sysctls.py: the module that sets many sysctls at once.

Usage: sysctls_in_lab.py RESULT.json
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, "/cellbed")

from harness.agent import sysctls  # noqa: E402
from harness.agent.power_off import power_off  # noqa: E402

WANTED = {"tcp_sack": "0", "tcp_rmem": "4096 70000 80000", "tcp_congestion_control": "reno"}


def said(name: str) -> str:
    """What a sysctl of the present namespace says, by a way of its own."""
    return " ".join((sysctls.ROOT / name).read_text().split())


def failure(wanted: dict[str, str]) -> list[str]:
    """The kind and the words of what put() raises."""
    try:
        sysctls.put(wanted)
    except (OSError, RuntimeError) as error:
        return [type(error).__name__, str(error)]
    return []


def run() -> dict[str, Any]:
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    before = {name: said(name) for name in WANTED}
    sysctls.prepare()
    os.unshare(os.CLONE_NEWNET)
    result = {
        "at once": Path("/proc/cellbed_sysctls").exists(),
        "answer": sysctls.put(WANTED),
        "said": {name: said(name) for name in WANTED},
        "in part": sysctls.put({"tcp_rmem": "5000"}),
        "each": sysctls.put_each({"tcp_rmem": "5000"}),
        "missing": failure({"tcp_sack": "1", "tcp_no_such": "1"}),
        "after missing": said("tcp_sack"),
        "refused": failure({"tcp_dsack": "0", "tcp_sack": "many", "tcp_no_such": "1"}),
        "refused later": failure({"tcp_dsack": "0", "tcp_sack": "many"}),
        "after refused": said("tcp_dsack"),
        "outside": failure({"../../kernel/hostname": "other"}),
    }
    os.setns(home, os.CLONE_NEWNET)
    return result | {"unchanged": before == {name: said(name) for name in WANTED}}


if __name__ == "__main__":
    try:
        Path(sys.argv[1]).write_text(json.dumps(run()))
    finally:
        power_off()
