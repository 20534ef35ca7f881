# SPDX-License-Identifier: GPL-2.0-only
"""A program of BPF that the kernel refuses: the reason and the line, of a long log."""

from __future__ import annotations

from harness.agent.struct_ops import reason

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


def test_without_a_log_it_is_the_last_line() -> None:
    assert reason("Error: can't register struct_ops mine: Cannot allocate memory\n") == (
        "Error: can't register struct_ops mine: Cannot allocate memory"
    )
    assert reason("") == "bpftool said nothing"
