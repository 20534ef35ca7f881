# SPDX-License-Identifier: GPL-2.0-only
"""Puts a program in the place of FRR's zebra, for scripts that start it by FRR's path. In the lab.

FRR moved the addresses of interfaces from zebra to another daemon, mgmtd. Without mgmtd, zebra sets
none, and asks for it a hundred times a second. What stands in for Quagga's zebra
(lab/mininet/files) takes care of both, and then starts FRR's.
"""

from __future__ import annotations

from pathlib import Path

from topology.run import run

FRRS = Path("/usr/lib/frr/zebra")
QUAGGAS = Path("/usr/lib/quagga/zebra")  # of the image, but not of every machine
FOLDER = Path("/run/cellbed-frr")
# Quagga's gives FRR's a copy of the configuration, whose name mktemp makes.
COPY = "zebra." + 6 * "[0-9A-Za-z]"
# It is called twice: by the script, and by Quagga's for FRR's own, which keeps its name.
BEFORE = f"""#!/bin/sh
case " $CELLBED_ZEBRA $* " in
' begun '* | *' -f /run/quagga/'{COPY}' '*)
	unset CELLBED_ZEBRA
	exec {FOLDER}/zebra "$@"
	;;
esac
CELLBED_ZEBRA=begun exec {QUAGGAS} "$@"
"""


def install() -> None:
    """Where the image has what stands in for Quagga's zebra."""
    if not (FRRS.exists() and QUAGGAS.exists()):
        return
    own, before = FOLDER / "zebra", FOLDER / "before"
    FOLDER.mkdir()
    own.touch()
    before.write_text(BEFORE)
    before.chmod(0o755)
    for source, target in ((FRRS, own), (before, FRRS)):
        run(["mount", "-n", "--bind", str(source), str(target)])
