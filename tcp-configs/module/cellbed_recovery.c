// SPDX-License-Identifier: GPL-2.0-only
/*
 * Duplicate ACKs: decides whether the third begins a fast recovery, and
 * inflates the window in the recovery (RFC 2001, 4.; RFC 2581 3.2).
 *
 * The kernel starts no fast retransmit while it repairs a timeout, nor on
 * duplicate ACKs of the last byte of a recovery: they may mean segments that
 * were sent twice (RFC 2582, 5; the send_high of RFC 2582 is the kernel's
 * high_seq). A sender without that precaution starts one for any third
 * duplicate ACK (multiple_fast_retransmits; RFC 2001, and ns-2.1b3's NewReno
 * according to 98-0876R1, 3.1). If this happens during the repair of a timeout,
 * repair and recovery continue side by side, as in BSD: snd_nxt stays at the
 * position of the repair. From there, the inflated window sends old data and
 * then new data.
 *
 * For the kernel, this is a recovery in which all old data is marked lost. Data
 * sent since the timeout, except for the first segment, is also marked as sent
 * again, so the kernel continues with the other data. If Reno's recovery ends
 * before all old data is repaired, the kernel returns to its repair.
 *
 * A sender that starts recoveries in this way, or counts its window in bytes,
 * must count the duplicate ACKs itself. The kernel counts at most as many as
 * there are outstanding segments not marked lost, and it misses the duplicate
 * ACK after the peer has sent data. SACK by the text (98-0876R1, 3.2) must
 * count, too: it begins a recovery with the third duplicate ACK, but the kernel
 * with the third SACKed segment, even with ACKs of new data between (RFC 6675).
 */
#include "cellbed.h"

/* Is a part left of the data that was outstanding at a timeout? */
bool cellbed_recovery_repairing(const struct sock *sk)
{
	const struct cellbed *c = cellbed_ca(sk);

	return c->multiple && before(tcp_sk(sk)->snd_una, c->repair_end);
}

/*
 * BSD's snd_nxt: during the repair of a timeout, the first byte that has not
 * been sent again. The first segment has been sent again, or is about to be.
 */
u32 cellbed_recovery_next(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb = tcp_rtx_queue_head(sk);

	if (!skb || !cellbed_recovery_repairing(sk))
		return tp->snd_nxt;
	while ((skb = skb_rb_next(skb))) {
		if (cellbed_is_hole(skb))
			return TCP_SKB_CB(skb)->seq;
	}
	return tp->snd_nxt;
}

/* Is this ACK one more duplicate? */
bool cellbed_recovery_duplicate(const struct sock *sk)
{
	const struct cellbed *c = cellbed_ca(sk);

	if (cellbed_counts(c))
		return c->duplicate;
	return !c->advanced && tcp_sk(sk)->sacked_out > c->prior_sacked;
}

/* RFC 2581: three segments on entry, one for each further duplicate ACK. */
void cellbed_recovery_begin(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct cellbed *c = cellbed_ca(sk);
	u32 segments = cellbed_counts(c) ? CELLBED_DUPTHRESH : tp->sacked_out;

	c->duplicate = 0;
	c->inflation = tcp_is_sack(tp) ? 0 : segments * cellbed_unit(sk);
}

/* RFC 6582 3.2, step 3: deflate by what was acked, put back one segment. */
static void cellbed_deflate(struct cellbed *c, u32 acked, u32 segment)
{
	u32 inflation = c->inflation;

	if (acked >= segment)
		inflation += segment;
	c->inflation = c->partial_reset ? 0 : inflation - min(inflation, acked);
}

/*
 * Called for each ACK in fast recovery. The kernel's count of duplicate ACKs
 * starts anew each time: it is at most the number of outstanding segments, and
 * merging lowers this number.
 */
void cellbed_recovery_ack(struct sock *sk)
{
	struct cellbed *c = cellbed_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 segment = cellbed_unit(sk);
	u32 acked = c->bytes ? c->acked : DIV_ROUND_UP(c->acked, tp->mss_cache);

	if (tcp_is_sack(tp))
		return;
	if (c->advanced)
		cellbed_deflate(c, acked, segment);
	else if (cellbed_counts(c))
		c->inflation += c->duplicate ? segment : 0;
	else if (tp->sacked_out > c->prior_sacked)
		c->inflation += (tp->sacked_out - c->prior_sacked) * segment;
	tp->sacked_out = 0;
}

/*
 * Handles the third duplicate ACK before the kernel sees it. If a segment is
 * marked lost, the kernel enters recovery, except from a repair. By SACK's
 * table, a segment that was sent again before is not sent a third time.
 */
void cellbed_recovery_look(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	const struct cellbed *c = cellbed_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *head = tcp_rtx_queue_head(sk);

	if (!cellbed_counts(c) || c->recovering || !head ||
	    c->duplicates != CELLBED_DUPTHRESH)
		return;
	if (icsk->icsk_ca_state >= TCP_CA_Recovery && !c->multiple)
		return;
	if (icsk->icsk_ca_state == TCP_CA_Loss) {
		icsk->icsk_ca_ops->set_state(sk, TCP_CA_Disorder);
		icsk->icsk_ca_state = TCP_CA_Disorder;
	} else if (tcp_is_sack(tp)) {
		if (cellbed_by_table(c))
			cellbed_hold_lost(tp, head);
		return;
	}
	cellbed_mark_lost(tp, head);
}

/*
 * For an ACK of new data. By RFC 2582, the kernel keeps its state until an ACK
 * covers more than was outstanding. This sender must not.
 */
void cellbed_recovery_reopen(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (cellbed_ca(sk)->multiple && tp->snd_una == tp->high_seq &&
	    inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery)
		tp->high_seq = tp->snd_una - 1;
}

/* Has this ACK covered a part of a segment that was cut anew? */
bool cellbed_recovery_torn(const struct sock *sk)
{
	const struct sk_buff *head = tcp_rtx_queue_head(sk);
	const struct cellbed *c = cellbed_ca(sk);

	return c->bytes && c->advanced && head &&
	       after(tcp_sk(sk)->snd_una, TCP_SKB_CB(head)->seq);
}

/*
 * A segment cut anew may reach beyond the end of a repair or a recovery. If the
 * ACK that ends it covers a part of that segment, the kernel still considers
 * the rest lost, and would begin a recovery at once (tcp_time_to_recover()).
 */
void cellbed_recovery_release(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *head = tcp_rtx_queue_head(sk);
	u8 tags;

	if (!cellbed_recovery_torn(sk) || before(tp->snd_una, tp->high_seq) ||
	    inet_csk(sk)->icsk_ca_state < TCP_CA_Recovery)
		return;
	tags = TCP_SKB_CB(head)->sacked;
	tp->lost_out -= tags & TCPCB_LOST ? tcp_skb_pcount(head) : 0;
	tp->retrans_out -= tags & TCPCB_SACKED_RETRANS ? tcp_skb_pcount(head) : 0;
	TCP_SKB_CB(head)->sacked &= ~(TCPCB_LOST | TCPCB_SACKED_RETRANS);
}
