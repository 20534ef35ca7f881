// SPDX-License-Identifier: GPL-2.0-only
/*
 * byte_window: the window counted in bytes and filled to the last one, a
 * sender without silly window avoidance (98-0876R1 6.2: "TCP Silly Window
 * Syndrome Avoidance is disabled"; RFC 813; what BSD's tcp_output() does when
 * the test "len == maxseg or ... " is left out). What the window has room for
 * is sent at once, also when that is a few bytes: congestion avoidance grows
 * the window by mss * mss / cwnd an ACK, so each ACK of a full segment sends
 * a full one and a runt, each runt's ACK another runt.
 *
 * The kernel counts its window in packets and cuts no packet to fit. Two
 * things are done about it, both where it asks for min_tso_segs(), which it
 * does at the beginning of tcp_write_xmit() and tcp_xmit_retransmit_queue():
 *
 *   - the queue of unsent data is cut where the window ends, and the piece
 *     marked as the end of a record, so that it is not filled up again;
 *   - snd_cwnd is set to what is in flight plus the packets up to there.
 *
 * The peer's window is not touched: duplicate ACKs are those the kernel sees.
 *
 * Segments that are sent again keep their boundaries, but for small ones that
 * are joined (tcp_retrans_collapse); BSD would cut anew, and fill the window so
 * too: resend_boundaries = 1. Both are done by cellbed_recut.c.
 */
#include "cellbed.h"

/* Bytes of a segment that are not acknowledged: of a merged one, sent again, a
 * part may be.
 */
static u32 cellbed_unacked(const struct sock *sk, const struct sk_buff *skb)
{
	u32 una = tcp_sk(sk)->snd_una;

	if (after(una, TCP_SKB_CB(skb)->seq))
		return TCP_SKB_CB(skb)->end_seq - una;
	return skb->len;
}

/* Bytes on their way as RFC 6675 counts: not SACKed, not lost or sent again. */
static u32 cellbed_bytes_in_flight(const struct sock *sk)
{
	struct sk_buff *skb = tcp_rtx_queue_head(sk);
	u32 bytes = 0;

	skb_rbtree_walk_from(skb) {
		u8 tags = TCP_SKB_CB(skb)->sacked;

		if (tags & TCPCB_SACKED_ACKED)
			continue;
		if (!(tags & TCPCB_LOST) || tags & TCPCB_SACKED_RETRANS)
			bytes += cellbed_unacked(sk, skb);
	}
	return bytes;
}

/*
 * What the window is compared with: after a timeout what has been sent since;
 * with SACK in recovery PIPE; else all that is not acknowledged.
 */
static s64 cellbed_bytes_outstanding(const struct sock *sk)
{
	const struct cellbed *c = cellbed_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Loss)
		return cellbed_bytes_in_flight(sk);
	if (!c->recovering || !tcp_is_sack(tp))
		return cellbed_recovery_next(sk) - tp->snd_una;
	if (c->use_pipe)
		return cellbed_sack_pipe(sk);
	return cellbed_bytes_in_flight(sk);
}

static s64 cellbed_bytes_room(const struct sock *sk)
{
	const struct cellbed *c = cellbed_ca(sk);

	return (s64)c->cwnd + c->inflation - cellbed_bytes_outstanding(sk);
}

/*
 * The length that a segment has when it is sent again, and in next the one
 * after it: small ones are joined up to a full segment.
 */
static u32 cellbed_joined_length(const struct sock *sk, struct sk_buff *skb,
				 struct sk_buff **next)
{
	const struct net *net = sock_net(sk);
	u32 length = cellbed_unacked(sk, skb);

	*next = skb_rb_next(skb);
	if (!READ_ONCE(net->ipv4.sysctl_tcp_retrans_collapse))
		return length;
	while (*next && !(TCP_SKB_CB(*next)->sacked & TCPCB_SACKED_ACKED) &&
	       length + (*next)->len <= tcp_sk(sk)->mss_cache) {
		length += (*next)->len;
		*next = skb_rb_next(*next);
	}
	return length;
}

/* Joins to a segment those that are sent again with it. */
static void cellbed_join(struct sock *sk, struct sk_buff *skb, u32 length)
{
	if (length != cellbed_unacked(sk, skb))
		cellbed_remake(sk, skb, length);
}

/* How many packets held for lost may be sent again, the first of them whatever
 * the window if so said; they are joined. One longer than a segment was merged
 * by the kernel while it was SACKed; it is sent in pieces.
 */
static u32 cellbed_bytes_holes(struct sock *sk, bool first)
{
	const struct cellbed *c = cellbed_ca(sk);
	bool pipe = tcp_is_sack(tcp_sk(sk)) && c->use_pipe && c->recovering;
	struct sk_buff *next, *skb = tcp_rtx_queue_head(sk);
	u32 mss = tcp_sk(sk)->mss_cache;
	s64 room = cellbed_bytes_room(sk);
	u32 packets = 0;

	if (c->one_more)
		room = max_t(s64, room, mss);
	for (; skb; skb = next) {
		u32 length = cellbed_joined_length(sk, skb, &next);

		if (!cellbed_is_hole(skb)) {
			next = skb_rb_next(skb);
			continue;
		}
		if (first) {
			first = false;
			packets++;
			cellbed_join(sk, skb, length);
			continue;
		}
		if (length > mss)
			return packets + (u32)max(room, 0) / mss;
		if (room < (pipe ? 1 : length))
			break;
		room -= pipe && c->pipe_segments ? mss : length;
		packets++;
		cellbed_join(sk, skb, length);
	}
	return packets;
}

/* Is the first hole sent again whatever the window, and has it its room? */
static bool cellbed_first_is_apart(const struct sock *sk)
{
	return cellbed_ca(sk)->recovering && !tcp_is_sack(tcp_sk(sk));
}

/*
 * The same with resend_boundaries = 1: the packets that the window has room for
 * are cut anew. PIPE is below cwnd or not: it cuts none short. By the table a
 * segment stays what it was.
 */
static u32 cellbed_bytes_anew(struct sock *sk, bool first)
{
	const struct cellbed *c = cellbed_ca(sk);
	bool apart = cellbed_first_is_apart(sk);
	bool pipe = tcp_is_sack(tcp_sk(sk)) && c->use_pipe && c->recovering;
	bool table = pipe && c->pipe_segments;
	struct sk_buff *skb = tcp_rtx_queue_head(sk);
	u32 mss = tcp_sk(sk)->mss_cache;
	u32 packets = 0;
	s64 room;

	if (apart && first) {
		skb = skb_rb_next(cellbed_recut(sk, skb, mss));
		packets = 1;
		first = false;
	}
	if (apart && !cellbed_recovery_repairing(sk))
		return packets;
	room = cellbed_bytes_room(sk);
	if (c->one_more)
		room = max_t(s64, room, mss);
	for (; skb; skb = skb_rb_next(skb)) {
		if (!cellbed_is_hole(skb))
			continue;
		if (!first && room <= 0)
			break;
		skb = cellbed_recut(sk, skb,
				    table ? cellbed_unacked(sk, skb) :
				    first || pipe ? mss : min_t(s64, mss, room));
		room -= table ? mss : skb->len;
		first = false;
		packets++;
	}
	return packets;
}

/* The same with resend_boundaries = 0: the first one leaves in any case. */
static u32 cellbed_bytes_kept(struct sock *sk, bool first)
{
	bool apart = cellbed_first_is_apart(sk);
	u32 packets = 0;

	if (!apart || cellbed_recovery_repairing(sk))
		packets = cellbed_bytes_holes(sk, apart && first);
	else if (first)
		cellbed_bytes_prepare_first(sk);
	return max_t(u32, packets, first);
}

/*
 * Before the kernel sends anything again: the kernel asks for min_tso_segs() with
 * the first packet in its hand, which must not be taken from it.
 */
void cellbed_bytes_prepare(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct cellbed *c = cellbed_ca(sk);
	bool first = c->resend;

	c->resend = 0;
	c->allowed = 0;
	if (tp->lost_out > tp->retrans_out)
		c->allowed = c->recut ? cellbed_bytes_anew(sk, first) :
					cellbed_bytes_kept(sk, first);
	if (c->allowed > first)
		c->one_more = 0;
}

/* The first segment alone, as long as it may be. */
void cellbed_bytes_prepare_first(struct sock *sk)
{
	struct sk_buff *next, *skb = tcp_rtx_queue_head(sk);

	if (cellbed_ca(sk)->recut)
		cellbed_recut(sk, skb, tcp_sk(sk)->mss_cache);
	else
		cellbed_join(sk, skb, cellbed_joined_length(sk, skb, &next));
}

/* The boundary of a segment that has been sent need not be kept: sent again,
 * it may be merged with the next (tcp_retrans_collapse), as BSD cuts anew.
 */
static void cellbed_forget_boundary(struct sock *sk)
{
	struct sk_buff *skb = tcp_rtx_queue_tail(sk);

	if (skb)
		TCP_SKB_CB(skb)->eor = 0;
}

/* Bytes of the peer's and of the own window that are left for new data; PIPE
 * below cwnd lets a whole segment pass.
 */
static s64 cellbed_bytes_new_room(const struct sock *sk)
{
	const struct cellbed *c = cellbed_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	s64 room = cellbed_bytes_room(sk);
	s32 mss = tp->mss_cache;

	if (c->one_more && tp->snd_nxt == c->turned_at)
		room = max_t(s64, room, mss);
	if (cellbed_by_table(c) && c->recovering)
		room = room > 0 ? roundup((s32)room, mss) : 0;
	return min_t(s64, room, (s32)(tcp_wnd_end(tp) - tp->snd_nxt));
}

/*
 * Packets of unsent data up to the end of the window, which is cut there; all
 * becomes false when there is more. A FIN of its own takes no room: BSD's
 * tcp_output() sends it when there is nothing else to be sent.
 */
static u32 cellbed_bytes_new(struct sock *sk, bool *all)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	s64 room = cellbed_bytes_new_room(sk);
	struct sk_buff *skb;
	u32 bytes = 0;
	u32 fins = 0;

	cellbed_forget_boundary(sk);

	skb_queue_walk(&sk->sk_write_queue, skb) {
		if (!skb->len) {
			fins += TCP_SKB_CB(skb)->tcp_flags & TCPHDR_FIN;
			continue;
		}
		*all = skb->len <= room;
		if (room <= 0 || (!*all && !cellbed_cut(sk, skb, room)))
			break;
		bytes += skb->len;
		room -= skb->len;
		if (!room && !tcp_skb_is_last(sk, skb))
			TCP_SKB_CB(skb)->eor = 1;
	}
	return DIV_ROUND_UP(bytes, tp->mss_cache) + fins;
}

/*
 * The kernel's window while nothing is held back: the true one, which ss shows
 * and by which tcp_is_cwnd_limited() can tell that the application is the limit.
 */
void cellbed_bytes_show(struct sock *sk, u32 least)
{
	struct tcp_sock *tp = tcp_sk(sk);

	cellbed_set_window(tp, max(least, cellbed_ca(sk)->cwnd / tp->mss_cache));
}

static u32 cellbed_bytes_take(struct sock *sk)
{
	struct cellbed *c = cellbed_ca(sk);
	u32 packets = c->allowed;

	c->allowed = 0;
	return packets;
}

/* Called at the beginning of each attempt to send. */
void cellbed_bytes_allow(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	bool resend = tp->lost_out > tp->retrans_out;
	u32 quota = tcp_packets_in_flight(tp);
	bool all = !resend;

	if (!resend)
		quota += cellbed_bytes_new(sk, &all);
	else
		quota += cellbed_bytes_take(sk);
	if (all)
		cellbed_bytes_show(sk, quota);
	else
		cellbed_set_window(tp, quota);
}
