# SPDX-License-Identifier: GPL-2.0-only
"""What a cell of web traffic costs, and whether the link carries what its trace offers.

    python -m tests.bench.web.run [EXCHANGES [LOAD_PERCENT [HTTP]]]

in the project's environment: one lab, four hosts a side, 10 Mbit/s each way by tbf with a queue
that loses nothing. Prints time and memory of the lab's process, and bytes on the link.
"""

from __future__ import annotations

import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

from harness.labs.base import LabSpec
from harness.labs.uml import UmlLab, wait_for_exit
from workload.packmime.traffic import Traffic
from workload.packmime.write import write

LIMIT_S = 3600
# tc counts Ethernet frames.
HEADER_BYTES = 54
MAIN = (
    "cd /cellbed; PYTHONPATH=. python3 -B tests/bench/web/in_lab.py > /run/cellbed/said 2>&1;"
    " exec python3 -B -m harness.agent.power_off"
)


def main(exchanges: int = 10_000, load_percent: float = 80.0, http: str = "1.0") -> None:
    folder = Path(tempfile.mkdtemp(prefix="cellbed-web."))
    params = Traffic(
        exchanges=exchanges, load_percent=load_percent, http=http, header_bytes=HEADER_BYTES
    )
    header = write(folder / "trace", params, seed=1)
    begin = time.monotonic()
    spec = LabSpec(pairs=4, main=MAIN, memory_mib=3072, hang_idle_s=LIMIT_S)
    with UmlLab(spec, folder) as lab:
        wait_for_exit(lab, LIMIT_S)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print((folder / "said").read_text(), end="")
    print(f"offered {header.offered_percent[0]:.3f} % and {header.offered_percent[1]:.3f} %")
    print(
        f"{header.exchanges} exchanges, {header.duration_ns / 1e9:.0f} virtual s:"
        f" {used.ru_utime + used.ru_stime:.1f} CPU s, {time.monotonic() - begin:.0f} s,"
        f" at most {used.ru_maxrss / 1024:.0f} MiB"
    )
    shutil.rmtree(folder)


if __name__ == "__main__":
    kinds = (int, float, str)
    main(*(kind(word) for kind, word in zip(kinds, sys.argv[1:], strict=False)))
