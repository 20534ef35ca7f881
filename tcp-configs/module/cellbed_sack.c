// SPDX-License-Identifier: GPL-2.0-only
/*
 * The SACK sender of the 1990s differs from the kernel's: it uses PIPE instead
 * of the kernel's count of packets in flight, it sends holes with fewer than
 * three SACKs above them, it may send a hole a third time, and a timeout wipes
 * its scoreboard. The module works on the kernel's own scoreboard, the
 * retransmission queue with its tags. It does so after the kernel has tagged an
 * ACK's blocks and before the state machine runs.
 *
 * PIPE (98-0876R1 3.2; Fall & Floyd 1996): window less three on entry; less one
 * for each duplicate ACK, less two for a partial ACK, plus one for each segment
 * sent. A segment may leave while PIPE is less than cwnd. The kernel's count
 * differs: it excludes segments that are considered lost, and so it repairs a
 * burst of losses sooner (RFC 6675).
 *
 * sack_pipe = 1 follows this text exactly: the window is min(cwnd, the peer's),
 * even if less is outstanding, and each step is a full segment, whatever the
 * segment contains. The sender "keeps a table of all the segments sent". The
 * third duplicate ACK begins the recovery. While PIPE is less than cwnd, the
 * sender resends any segment that is not SACKed and lies below a SACKed one,
 * with its old boundaries, and it sends new data in whole segments.
 *
 * sack_pipe = 0 begins with at most the outstanding data, and subtracts newly
 * SACKed data. With byte_window, it counts the bytes of SACKed and sent data,
 * but two full segments for a partial ACK; so with small segments it is less
 * than the data on its way. In a recovery that began during the repair of a
 * timeout, it also counts duplicate ACKs: the blocks report again what the
 * wiped scoreboard has lost.
 */
#include "cellbed.h"

/*
 * Marks the holes that may be sent: holes with three SACKed segments above them
 * (RFC 6675, IsLost). With PIPE: any hole that was outstanding when the
 * recovery began (a loss of later data is a new event). By the table: any hole
 * below the highest block. The kernel also marks holes with three segments
 * above, but not on an ACK that changes the window, and from 7.0 on not at all.
 */
static void cellbed_mark_holes(struct sock *sk)
{
	const struct cellbed *c = cellbed_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb = tcp_rtx_queue_head(sk);
	u32 highest = tcp_highest_sack_seq(tp);
	u32 above = tp->sacked_out;

	skb_rbtree_walk_from(skb) {
		const struct tcp_skb_cb *cb = TCP_SKB_CB(skb);

		if (!before(cb->seq, highest))
			break;
		if (cb->sacked & TCPCB_SACKED_ACKED)
			above -= min_t(u32, above, tcp_skb_pcount(skb));
		else if (!(cb->sacked & (TCPCB_LOST | TCPCB_SACKED_RETRANS)) &&
			 (above >= CELLBED_DUPTHRESH ||
			  (c->use_pipe && before(cb->seq, tp->high_seq)) ||
			  cellbed_by_table(c)))
			cellbed_mark_lost(tp, skb);
	}
}

/* After a partial ACK, the first hole counts as never sent again. */
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
	if (c->resend_rule == CELLBED_SACK_RESEND_ON_PARTIAL_AFTER_RTT &&
	    age_us < tp->srtt_us >> 3)
		return;
	cellbed_mark_lost(tp, skb);
}

/* Does PIPE count the bytes of the segments? */
static bool cellbed_pipe_bytes(const struct cellbed *c)
{
	return c->bytes && !c->pipe_segments;
}

/* The unit of PIPE: a byte, a segment, or the bytes of a full segment. */
static u32 cellbed_pipe_unit(const struct sock *sk)
{
	return cellbed_pipe_bytes(cellbed_ca(sk)) ? 1 : cellbed_unit(sk);
}

/* Adds to PIPE the data that was sent since its last update. */
s32 cellbed_sack_pipe(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct cellbed *c = cellbed_ca(sk);
	u32 sent = cellbed_pipe_bytes(c) ? (u32)tp->bytes_sent :
					   tp->data_segs_out;

	c->pipe += (s32)((sent - c->sent_units) * cellbed_pipe_unit(sk));
	c->sent_units = sent;
	return c->pipe;
}

/* The SACKed data, in the unit of PIPE. */
static u32 cellbed_sacked_units(const struct sock *sk)
{
	return cellbed_pipe_bytes(cellbed_ca(sk)) ? cellbed_sacked_bytes(sk) :
						    tcp_sk(sk)->sacked_out;
}

static void cellbed_update_pipe(struct sock *sk)
{
	struct cellbed *c = cellbed_ca(sk);
	u32 sacked = cellbed_sacked_units(sk);

	cellbed_sack_pipe(sk);
	if (c->advanced)
		c->pipe -= 2 * cellbed_unit(sk);
	else if (c->pipe_segments || cellbed_recovery_repairing(sk))
		c->pipe -= c->duplicate ? cellbed_unit(sk) : 0;
	else if (sacked > c->sacked_units)
		c->pipe -= (s32)((sacked - c->sacked_units) *
				 cellbed_pipe_unit(sk));
	c->sacked_units = sacked;
}

/*
 * The kernel enters recovery for three SACKed segments. But if the third came
 * with a changed window, it does not resend the first hole: for the kernel,
 * such an ACK is no duplicate.
 */
static void cellbed_mark_first_hole(struct sock *sk)
{
	struct sk_buff *skb = tcp_rtx_queue_head(sk);

	if (skb && !(TCP_SKB_CB(skb)->sacked &
		     (TCPCB_SACKED_ACKED | TCPCB_LOST)))
		cellbed_mark_lost(tcp_sk(sk), skb);
}

/*
 * By the table, segments that an earlier recovery sent again are marked lost
 * anew. The kernel resends nothing until more segments are marked lost than
 * sent again. A SACKed segment is not lost, and no longer counts as sent again.
 * The kernel leaves that tag on a segment that is SACKed while it is not marked
 * lost.
 */
static void cellbed_hold_resent(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb = tcp_rtx_queue_head(sk);

	if (!cellbed_by_table(cellbed_ca(sk)))
		return;
	skb_rbtree_walk_from(skb) {
		struct tcp_skb_cb *cb = TCP_SKB_CB(skb);

		if (!(cb->sacked & TCPCB_SACKED_RETRANS))
			continue;
		if (!(cb->sacked & TCPCB_SACKED_ACKED)) {
			cellbed_hold_lost(tp, skb);
			continue;
		}
		cb->sacked &= ~TCPCB_SACKED_RETRANS;
		tp->retrans_out -= tcp_skb_pcount(skb);
	}
}

/* Called on the third duplicate ACK, while c->cwnd is still the full window. */
void cellbed_sack_enter_recovery(struct sock *sk)
{
	struct cellbed *c = cellbed_ca(sk);
	u32 window;

	if (!tcp_is_sack(tcp_sk(sk)))
		return;
	cellbed_hold_resent(sk);
	cellbed_mark_first_hole(sk);
	cellbed_mark_holes(sk);
	cellbed_sack_pipe(sk);
	window = c->pipe_segments ? cellbed_window(sk) : cellbed_flight(sk);
	/* More is outstanding than the window that a mark has just halved. */
	if (c->reduced != CELLBED_FOR_MARK)
		window = min(c->cwnd, window);
	c->pipe = (s32)window - (s32)(CELLBED_DUPTHRESH * cellbed_unit(sk));
	c->sacked_units = cellbed_sacked_units(sk);
}

/*
 * Go back N: wipes the scoreboard, and ignores blocks that arrive during the
 * repair of the timeout: for the kernel, the connection has no SACK until the
 * end of the repair. (Its receiving half loses nothing: it still reports blocks
 * that it has begun to report.)
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

/*
 * By the table, a hole at the end of a recovery is no longer marked lost: with
 * it, the kernel would begin another recovery.
 */
static void cellbed_end_holes(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb = tcp_rtx_queue_head(sk);

	skb_rbtree_walk_from(skb) {
		if (!(TCP_SKB_CB(skb)->sacked & TCPCB_LOST))
			continue;
		TCP_SKB_CB(skb)->sacked &= ~TCPCB_LOST;
		tp->lost_out -= tcp_skb_pcount(skb);
	}
	tp->retransmit_skb_hint = NULL;
}

/* Called for each ACK, before the kernel's state machine sees it. */
void cellbed_sack_ack(struct sock *sk)
{
	const struct cellbed *c = cellbed_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!c->recovering)
		return;
	if (!before(tp->snd_una, tp->high_seq)) {
		if (cellbed_by_table(c))
			cellbed_end_holes(sk);
		return;
	}
	if (c->advanced &&
	    c->resend_rule != CELLBED_SACK_RESEND_ON_PARTIAL_NEVER)
		cellbed_free_first_hole(sk);
	if (c->use_pipe)
		cellbed_update_pipe(sk);
	cellbed_mark_holes(sk);
}

/* The number of segments that may be in flight, as the kernel counts. */
u32 cellbed_sack_budget(const struct sock *sk)
{
	const struct cellbed *c = cellbed_ca(sk);
	s32 room = (s32)c->cwnd - cellbed_sack_pipe(sk);

	if (!c->use_pipe)
		return c->cwnd;
	return tcp_packets_in_flight(tcp_sk(sk)) + max(room, 0);
}
