# SPDX-License-Identifier: GPL-2.0-only
"""Which zebra is started by FRR's path: FRR's own, or first what stands in for Quagga's. No lab."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from harness.scripts import frr


@pytest.mark.parametrize(
    ("options", "first"),
    [
        ("-d -f zebra.conf", "quagga"),
        ("-d -f /run/quagga/zebra.conf -i /tmp/zebra.pid", "quagga"),
        ("-d -f /run/quagga/r1/zebra.conf", "quagga"),
        ("-d -i /tmp/zebra.pid -f /run/quagga/zebra.aB3dE6", "frr"),
        ("-f /run/quagga/zebra.aB3dE6 -d", "frr"),
    ],
)
def test_only_the_copy_that_quaggas_made_goes_to_frrs_at_once(
    tmp_path: Path, options: str, first: str
) -> None:
    """A script may have a file of its own in /run/quagga."""
    text = frr.BEFORE
    for name, place in (("frr", f"{frr.FOLDER}/zebra"), ("quagga", str(frr.QUAGGAS))):
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\necho {name} "$CELLBED_ZEBRA" "$@"\n')
        program.chmod(0o755)
        assert place in text
        text = text.replace(place, str(program))
    before = tmp_path / "before"
    before.write_text(text)
    before.chmod(0o755)
    for begun, called in (("", first), ("begun", "frr")):
        argv, known = [str(before), *options.split()], {"CELLBED_ZEBRA": begun}
        done = subprocess.run(argv, env=known, capture_output=True, text=True, check=True)
        mark = "begun" if called == "quagga" else ""
        assert done.stdout == f"{called} {mark} {options}\n"
