# SPDX-License-Identifier: GPL-2.0-only
"""A program of BPF: what the kernel has before and after, and why it refuses a program."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.agent import struct_ops
from harness.agent.struct_ops import RefusedError, reason, register

LOG = """libbpf: prog 'mine_ssthresh': BPF program load failed: Permission denied
libbpf: prog 'mine_ssthresh': -- BEGIN PROG LOAD LOG --
0: R1=ctx() R10=fp0
; __u32 BPF_PROG(mine_ssthresh, struct sock *sk) @ mine.bpf.c:26
0: (b7) r1 = 4096                     ; R1_w=4096
; __u32 kept = *(__u32 *)0x1000; @ mine.bpf.c:29
1: (61) r1 = *(u32 *)(r1 +0)
R1 invalid mem access 'scalar'
processed 2 insns (limit 1000000) max_states_per_insn 0 total_states 0
-- END PROG LOAD LOG --
libbpf: prog 'mine_ssthresh': failed to load: -13
libbpf: failed to load object '/opt/cellbed/mine.struct_ops.o'
"""


def test_the_kernel_s_reason_stands_before_the_end_of_its_log() -> None:
    said = "R1 invalid mem access 'scalar'; __u32 kept = *(__u32 *)0x1000; @ mine.bpf.c:29"
    assert reason(LOG) == said


def test_what_libbpf_refuses_has_its_first_cause() -> None:
    """The kernel was not asked, so there is no log of it."""
    said = """libbpf: elf: skipping unrecognized data section(7) .rodata.str1.1
libbpf: extern (func ksym) 'tcp_mine_undo': not found in kernel or module BTFs
libbpf: failed to load object '/opt/cellbed/mine.struct_ops.o'
Error: failed to load object file
"""
    cause = "extern (func ksym) 'tcp_mine_undo': not found in kernel or module BTFs"
    assert reason(said) == cause
    assert reason("libbpf: failed to load object 'x'\nError: no room\n") == "Error: no room"


def test_without_a_log_it_is_the_last_line() -> None:
    assert reason("Error: can't register struct_ops mine: Cannot allocate memory\n") == (
        "Error: can't register struct_ops mine: Cannot allocate memory"
    )
    assert reason("") == "bpftool said nothing"


class Kernel:
    """A kernel whose bpftool registers `adds`, and ends with `status`."""

    def __init__(self, available: Path, adds: str, status: int = 0) -> None:
        self.available, self.adds, self.status, self.asked = available, adds, status, 0
        available.write_text("reno cubic\n")

    def run(self, argv: Sequence[str], **_: object) -> subprocess.CompletedProcess[str]:
        self.asked += 1
        self.available.write_text(f"reno cubic {self.adds}\n")
        return subprocess.CompletedProcess(argv, self.status, "", "Error: can't register other\n")


def kernel_that_adds(
    adds: str, tmp_path: Path, patching: pytest.MonkeyPatch, status: int = 0
) -> Kernel:
    found = Kernel(tmp_path / "available", adds, status)
    patching.setattr(struct_ops, "AVAILABLE", found.available)
    patching.setattr(struct_ops, "REGISTERED", set())
    patching.setattr(subprocess, "run", found.run)
    return found


def test_a_program_is_registered_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = kernel_that_adds("bpf_mine", tmp_path, monkeypatch)
    for _ in range(2):
        register("mine.struct_ops.o", "bpf_mine")
    assert kernel.asked == 1


def test_a_name_that_the_kernel_has_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the trial would run the kernel's own cubic, and be valid."""
    kernel = kernel_that_adds("bpf_mine", tmp_path, monkeypatch)
    with pytest.raises(RefusedError, match="has a congestion control cubic already; give yours"):
        register("cubic.struct_ops.o", "cubic")
    register("mine.struct_ops.o", "bpf_mine")
    with pytest.raises(RefusedError, match="has a congestion control bpf_mine already"):
        register("other.struct_ops.o", "bpf_mine")
    assert kernel.asked == 1


def test_a_program_that_registers_another_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel_that_adds("other", tmp_path, monkeypatch)
    with pytest.raises(RefusedError, match="no congestion control mine afterwards; give it the"):
        register("mine.struct_ops.o", "mine")


def test_another_of_the_file_may_be_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """bpf_dctcp of the kernel's tests brings a second that lacks most operations."""
    kernel_that_adds("bpf_dctcp", tmp_path, monkeypatch, status=255)
    register("bpf_dctcp.struct_ops.o", "bpf_dctcp")
    kernel_that_adds("", tmp_path, monkeypatch, status=255)
    with pytest.raises(RefusedError, match="refused bpf_dctcp.struct_ops.o: Error: can't register"):
        register("bpf_dctcp.struct_ops.o", "bpf_dctcp")


def test_the_kernel_s_options_are_where_libbpf_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, options = tmp_path / ".config", tmp_path / "boot" / "config-6.12"
    monkeypatch.setattr(struct_ops, "OURS", ours)
    monkeypatch.setattr(struct_ops, "OPTIONS", options)
    kernel_that_adds("one", tmp_path, monkeypatch)
    register("one.struct_ops.o", "one")
    assert not options.parent.exists()  # a program that asks for none runs in any lab
    ours.write_text("CONFIG_HZ=1000\n")
    for name in ("two", "three"):
        kernel_that_adds(name, tmp_path, monkeypatch)
        register(f"{name}.struct_ops.o", name)
    assert options.read_text() == "CONFIG_HZ=1000\n"
