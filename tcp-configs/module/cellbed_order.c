// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks the order of calls in tcp_ack(). in_ack_event() relies on a
 * retransmission queue that this ACK has cleaned already. Kernels without "tcp:
 * reorganize tcp_in_ack_event()" call it before they clean the queue, and some
 * versions were released with both orders. So the module looks at the queue:
 * does it still begin with a segment that is completely acknowledged?
 *
 * From the first ACK of new data on, the answer is in
 * /sys/module/cellbed_tcp/parameters/callback_order: "unknown", "right" or
 * "wrong". A congestion control cannot refuse a connection. So a program must
 * read this file before it opens one.
 */
#include <linux/moduleparam.h>

#include "cellbed.h"

static const char * const cellbed_orders[] = { "unknown", "right", "wrong" };

enum { CELLBED_ORDER_UNKNOWN, CELLBED_ORDER_RIGHT, CELLBED_ORDER_WRONG };

static int cellbed_order;

static int cellbed_order_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%s\n",
			  cellbed_orders[READ_ONCE(cellbed_order)]);
}

static const struct kernel_param_ops cellbed_order_ops = {
	.get = cellbed_order_get,
};

module_param_cb(callback_order, &cellbed_order_ops, NULL, 0444);

/* Called from in_ack_event(), for an ACK of new data. */
void cellbed_order_note(const struct sock *sk)
{
	const struct sk_buff *head = tcp_rtx_queue_head(sk);
	u32 una = tcp_sk(sk)->snd_una;

	if (READ_ONCE(cellbed_order) == CELLBED_ORDER_WRONG)
		return;
	if (!head || after(TCP_SKB_CB(head)->end_seq, una)) {
		WRITE_ONCE(cellbed_order, CELLBED_ORDER_RIGHT);
		return;
	}
	WRITE_ONCE(cellbed_order, CELLBED_ORDER_WRONG);
	pr_err("cellbed_tcp: this kernel calls in_ack_event() before it cleans the retransmission queue; load this module into a kernel that cleans the queue first\n");
}
