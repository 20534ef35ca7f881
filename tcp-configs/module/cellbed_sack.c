// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the SACK sender of the 1990s does otherwise than the kernel's: PIPE in
 * place of the kernel's count of packets in flight, holes with fewer than
 * three SACKs above them, a hole sent again, and a scoreboard that a timeout
 * wipes. All of it works on the kernel's own scoreboard, the retransmission
 * queue with its tags, between the tagging of an ACK's blocks and the state
 * machine.
 *
 * PIPE (98-0876R1 3.2; Fall & Floyd 1996): window less three on entry; less
 * one for each segment SACKed, less two for a partial ACK, plus one for each
 * segment sent. A segment may leave while PIPE is less than cwnd. The kernel's
 * count differs in that a segment held for lost no longer counts, which lets
 * a burst of losses be repaired sooner (RFC 6675).
 */
#include "cellbed.h"

#define CELLBED_DUPTHRESH 3

/* The kernel's own tcp_mark_skb_lost() is not exported. */
static void cellbed_mark_lost(struct tcp_sock *tp, struct sk_buff *skb)
{
	struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	struct sk_buff *hint = tp->retransmit_skb_hint;

	if (!(cb->sacked & TCPCB_LOST)) {
		cb->sacked |= TCPCB_LOST;
		tp->lost_out += tcp_skb_pcount(skb);
		tp->lost += tcp_skb_pcount(skb);
	}
	if (cb->sacked & TCPCB_SACKED_RETRANS) {
		cb->sacked &= ~TCPCB_SACKED_RETRANS;
		tp->retrans_out -= tcp_skb_pcount(skb);
	}
	if (hint && before(cb->seq, TCP_SKB_CB(hint)->seq))
		tp->retransmit_skb_hint = skb;
}

/*
 * Every hole below the highest SACKed segment may be sent, if it was
 * outstanding when the recovery began: for what was sent after that, a loss is
 * a new event (the kernel's own rule, three SACKs above, holds for it).
 */
static void cellbed_mark_holes(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb = tcp_rtx_queue_head(sk);
	u32 highest = tcp_highest_sack_seq(tp);

	if (before(tp->high_seq, highest))
		highest = tp->high_seq;

	skb_rbtree_walk_from(skb) {
		if (!before(TCP_SKB_CB(skb)->seq, highest))
			break;
		if (!(TCP_SKB_CB(skb)->sacked &
		      (TCPCB_SACKED_ACKED | TCPCB_LOST)))
			cellbed_mark_lost(tp, skb);
	}
}

/* A partial ACK has come: its first hole counts as never sent again. */
static void cellbed_free_first_hole(struct sock *sk)
{
	const struct cellbed *c = cellbed_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb = tcp_rtx_queue_head(sk);
	u32 age_us;

	if (!skb || !(TCP_SKB_CB(skb)->sacked & TCPCB_SACKED_RETRANS) ||
	    TCP_SKB_CB(skb)->sacked & TCPCB_SACKED_ACKED)
		return;
	age_us = tcp_stamp_us_delta(tp->tcp_mstamp, tcp_skb_timestamp_us(skb));
	if (c->resend_rule == CELLBED_RESEND_AFTER_RTT &&
	    age_us < tp->srtt_us >> 3)
		return;
	cellbed_mark_lost(tp, skb);
}

static void cellbed_update_pipe(struct cellbed *c, const struct tcp_sock *tp)
{
	c->pipe += (s32)(tp->data_segs_out - c->segs_out);
	c->segs_out = tp->data_segs_out;
	if (c->advanced)
		c->pipe -= 2;
	else if (tp->sacked_out > c->prior_sacked)
		c->pipe -= (s32)(tp->sacked_out - c->prior_sacked);
}

/* On the third duplicate ACK, while c->cwnd still is the full window. */
void cellbed_sack_enter_recovery(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct cellbed *c = cellbed_ca(sk);

	c->pipe = (s32)min(c->cwnd, tp->packets_out) - CELLBED_DUPTHRESH;
	c->segs_out = tp->data_segs_out;
}

/*
 * Go back N: the scoreboard is wiped, and blocks that come while the timeout
 * is being repaired are not looked at: for the kernel, the connection has no
 * SACK until then. (Its receiving half loses nothing: blocks it has begun to
 * report it still reports.)
 */
void cellbed_sack_enter_loss(struct sock *sk)
{
	struct cellbed *c = cellbed_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb = tcp_rtx_queue_head(sk);

	if (c->keep_scoreboard || !tcp_is_sack(tp))
		return;
	skb_rbtree_walk_from(skb) {
		TCP_SKB_CB(skb)->sacked &= ~TCPCB_SACKED_ACKED;
		cellbed_mark_lost(tp, skb);
	}
	tp->sacked_out = 0;
	tp->retransmit_skb_hint = NULL;
	tp->lost_skb_hint = NULL;
	c->sack_ok = tp->rx_opt.sack_ok;
	tp->rx_opt.sack_ok = 0;
}

void cellbed_sack_leave_loss(struct sock *sk)
{
	struct cellbed *c = cellbed_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!c->sack_ok)
		return;
	tp->rx_opt.sack_ok = c->sack_ok;
	tp->sacked_out = 0;
	c->sack_ok = 0;
}

/* Called for each ACK, before the kernel's state machine sees it. */
void cellbed_sack_ack(struct sock *sk)
{
	const struct cellbed *c = cellbed_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!c->recovering || !before(tp->snd_una, tp->high_seq))
		return;
	if (c->advanced && c->resend_rule != CELLBED_RESEND_NEVER)
		cellbed_free_first_hole(sk);
	if (c->use_pipe) {
		cellbed_update_pipe(cellbed_ca(sk), tp);
		cellbed_mark_holes(sk);
	}
}

/* Segments that may be in flight, in the kernel's way of counting. */
u32 cellbed_sack_budget(const struct sock *sk)
{
	const struct cellbed *c = cellbed_ca(sk);
	s32 room = (s32)c->cwnd - c->pipe;

	if (!c->use_pipe)
		return c->cwnd;
	return tcp_packets_in_flight(tcp_sk(sk)) + max(room, 0);
}
