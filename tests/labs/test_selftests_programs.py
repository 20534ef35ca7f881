# SPDX-License-Identifier: GPL-2.0-only
"""The programs of a tree's tests are built: C by the build root, BPF by the lab image."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from harness.selftests.choice import TOP
from harness.selftests.products import PROGRAMS

pytestmark = pytest.mark.lab
MAKEFILE = "all: right\nright: right.c\n\tgcc -o $@ $<\n"
XDP = """
#include <linux/bpf.h>
#include <linux/if.h>
#include <bpf/bpf_helpers.h>

SEC("xdp")
int passes(struct xdp_md *packet)
{
	return XDP_PASS;
}
"""


def test_a_program_of_bpf_is_built_and_a_wrong_program_is_left_out(tmp_path: Path) -> None:
    net = tmp_path / "tests" / TOP / "net"
    (net / "folder").mkdir(parents=True)
    (tmp_path / "tests" / "Makefile").write_text("headers:\n\tmkdir -p usr/include\n")
    for folder in (net, net / "folder"):
        (folder / "Makefile").write_text(MAKEFILE)
        (folder / "right.c").write_text("int main(void) { return 0; }\n")
    (net / "xdp.bpf.c").write_text(XDP)
    (net / "wrong.bpf.c").write_text("this is no C\n")
    out = tmp_path / "out"
    done = subprocess.run(
        [PROGRAMS, tmp_path / "tests", out], capture_output=True, text=True, timeout=300, check=True
    )
    built = {str(x.relative_to(out / TOP / "net")) for x in (out / TOP).rglob("*") if x.is_file()}
    assert {"right", "folder/right", "xdp.bpf.o"} <= built and "wrong.bpf.o" not in built
    assert (out / TOP / "net" / "xdp.bpf.o").read_bytes().startswith(b"\x7fELF")
    assert "wrong.bpf.c: this program could not be built" in done.stdout
