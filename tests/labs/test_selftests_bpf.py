# SPDX-License-Identifier: GPL-2.0-only
"""bpf_cubic and bpf_dctcp of the kernel's selftests beside the kernel's own: builds kernels, slow.

The sources come from Debian's package of the kernel's source, so each run fetches it (150 MB).
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from harness.api.experiment import Experiment
from tests.small import PROJECT

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif("CELLBED_SLOW_TESTS" not in os.environ, reason="slow: CELLBED_SLOW_TESTS=1"),
]
PROGS = "tools/testing/selftests/bpf/progs"
TEXT = """
name = "selftests"
title = "programs of the selftests beside the kernel's own"
[factors]
flavor = ["cubic", "dctcp", "bpf_cubic", "bpf_dctcp"]
[base]
topology = { pairs = 1, rate_bit_per_s = 10_000_000, delay_us = 20_000, mss_bytes = 1460 }
tcp = { window_bytes = 524_280, ssthresh_bytes = 1_000_000_000 }
workload = { kind = "iperf", duration_s = 4 }
record = { cwnd_sample_ms = 10, cwnd_pairs = [1] }
[[rule]]
when = { flavor = ["cubic", "bpf_cubic"] }
set = { queue = { kind = "drop-tail", limit_packets = 30 } }
[[rule]]
when = { flavor = ["dctcp", "bpf_dctcp"] }
set = { queue = { kind = "fq-codel", ecn = true } }
[[rule]]
when = { flavor = "cubic" }
set = { tcp.flavor = "cubic-rack" }
[[rule]]
when = { flavor = "dctcp" }
set = { tcp.flavor = "dctcp" }
"""
OWN = """
[[rule]]
when = {{ flavor = "{name}" }}
set = {{ tcp.flavor = "module:{folder}/{name}.bpf.c" }}
"""


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with a link to each program, whose name says that it is one of BPF."""
    parts = tmp_path / "parts"
    names = ("bpf_cubic.c", "bpf_dctcp.c", "bpf_tracing_net.h")
    parts.write_text("".join(f"{PROGS}/{name}\n" for name in names))
    fetch = [PROJECT / "lab" / "kernel" / "fetch", "6.12", tmp_path / "linux", parts]
    subprocess.run(fetch, check=True, timeout=1200)
    for name in ("bpf_cubic", "bpf_dctcp"):
        (tmp_path / f"{name}.bpf.c").symlink_to(tmp_path / "linux" / PROGS / f"{name}.c")
    return tmp_path


def test_they_have_the_windows_of_the_kernel_s_own(programs: Path, tmp_path: Path) -> None:
    own = "".join(OWN.format(name=name, folder=programs) for name in ("bpf_cubic", "bpf_dctcp"))
    campaign = Experiment.from_text(TEXT + own).run(
        tmp_path / "out", jobs=1, progress=False, trust_kernels=True
    )
    found = {str(one.factors["flavor"]): one.folder for one in campaign.records.trials}
    for flavor in ("cubic", "dctcp"):
        for table in ("cwnd.csv", "flows.csv"):
            ours, theirs = (found[f"{which}{flavor}"] / table for which in ("bpf_", ""))
            assert ours.read_bytes() == theirs.read_bytes(), f"{flavor}: {table}"
    windows = {(found[one] / "cwnd.csv").read_bytes() for one in found}
    assert len(windows) == 2
