# SPDX-License-Identifier: GPL-2.0-only
"""A congestion control of a person's own, as a module, for tests."""

from __future__ import annotations

from pathlib import Path

SOURCE = """
#include <linux/module.h>
#include <net/tcp.h>

static u32 gentle_ssthresh(struct sock *sk)
{
	return max(tcp_snd_cwnd(tcp_sk(sk)) * 3 / 4, 2U);
}

static struct tcp_congestion_ops gentle __read_mostly = {
	.ssthresh = gentle_ssthresh,
	.undo_cwnd = tcp_reno_undo_cwnd,
	.cong_avoid = tcp_reno_cong_avoid,
	.owner = THIS_MODULE,
	.name = "gentle",
};

static int __init gentle_init(void)
{
	return tcp_register_congestion_control(&gentle);
}

static void __exit gentle_exit(void)
{
	tcp_unregister_congestion_control(&gentle);
}

module_init(gentle_init);
module_exit(gentle_exit);
MODULE_DESCRIPTION("Reno that keeps three quarters of its window at a loss");
MODULE_LICENSE("GPL");
"""


def write(folder: Path, source: str = SOURCE, rules: str = "obj-m := tcp_mine.o\n") -> Path:
    """The folder of the module tcp_mine."""
    folder.mkdir(exist_ok=True)
    (folder / "tcp_mine.c").write_text(source)
    (folder / "Kbuild").write_text(rules)
    return folder
