// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps the window of a route on a stock kernel, as lab/kernel/patches/0020
 * does in the lab's own.
 *
 * A route's `window` limits what a receiver offers (ip-route(8)). Linux 6.12
 * computes this limit anew from the receive buffer when the size of the
 * segments that come changes, and forgets the route's
 * (tcp_measure_rcv_mss()). A receiver of 1,000,000 bytes then offered
 * 1,048,560 bytes, the most that its window scale allows. The stock kernel
 * cannot be patched, so a probe sets the limit again each time before the
 * kernel computes a window to offer.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <net/dst.h>
#include <net/tcp.h>

static int cellbed_window_before(struct kprobe *probe, struct pt_regs *regs)
{
	struct sock *sk = (struct sock *)regs_get_kernel_argument(regs, 0);
	struct tcp_sock *tp = tcp_sk(sk);
	const struct dst_entry *dst;
	u32 limit;

	/* The caller has the socket, which keeps its route. */
	dst = rcu_dereference_raw(sk->sk_dst_cache);
	limit = dst ? dst_metric(dst, RTAX_WINDOW) : 0;
	/* Where no more fits into the header's field, the field is the limit. */
	if (!limit || limit >= (u32)U16_MAX << tp->rx_opt.rcv_wscale)
		return 0;
	if (tp->window_clamp > limit)
		WRITE_ONCE(tp->window_clamp, limit);
	if (tp->rcv_ssthresh > limit)
		tp->rcv_ssthresh = limit;
	return 0;
}

static struct kprobe cellbed_window_probe = {
	.symbol_name = "__tcp_select_window",
	.pre_handler = cellbed_window_before,
};

static int __init cellbed_window_init(void)
{
	return register_kprobe(&cellbed_window_probe);
}

static void __exit cellbed_window_exit(void)
{
	unregister_kprobe(&cellbed_window_probe);
}

module_init(cellbed_window_init);
module_exit(cellbed_window_exit);

MODULE_AUTHOR("The cellbed authors");
MODULE_DESCRIPTION("The window of a route stays the limit of what a receiver offers");
MODULE_LICENSE("GPL");
