// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's scoreboard: the tags of the segments in its retransmission queue
 * (SACKed, marked lost, sent again), and its counts of these tags.
 */
#include "cellbed.h"

/* Is a segment marked lost and not sent again? */
bool cellbed_is_hole(const struct sk_buff *skb)
{
	u8 tags = TCP_SKB_CB(skb)->sacked;

	return tags & TCPCB_LOST &&
	       !(tags & (TCPCB_SACKED_ACKED | TCPCB_SACKED_RETRANS));
}

/* Marks a segment lost. If it was sent again, that still counts. */
void cellbed_hold_lost(struct tcp_sock *tp, struct sk_buff *skb)
{
	struct tcp_skb_cb *cb = TCP_SKB_CB(skb);

	if (cb->sacked & TCPCB_LOST)
		return;
	cb->sacked |= TCPCB_LOST;
	tp->lost_out += tcp_skb_pcount(skb);
	tp->lost += tcp_skb_pcount(skb);
}

/* The kernel's own tcp_mark_skb_lost() is not exported. */
void cellbed_mark_lost(struct tcp_sock *tp, struct sk_buff *skb)
{
	struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	struct sk_buff *hint = tp->retransmit_skb_hint;

	cellbed_hold_lost(tp, skb);
	if (cb->sacked & TCPCB_SACKED_RETRANS) {
		cb->sacked &= ~TCPCB_SACKED_RETRANS;
		tp->retrans_out -= tcp_skb_pcount(skb);
	}
	if (hint && before(cb->seq, TCP_SKB_CB(hint)->seq))
		tp->retransmit_skb_hint = skb;
}

/* Bytes in the SACKed segments of the queue. */
u32 cellbed_sacked_bytes(const struct sock *sk)
{
	struct sk_buff *skb = tcp_rtx_queue_head(sk);
	u32 bytes = 0;

	skb_rbtree_walk_from(skb) {
		if (TCP_SKB_CB(skb)->sacked & TCPCB_SACKED_ACKED)
			bytes += skb->len;
	}
	return bytes;
}
