// SPDX-License-Identifier: GPL-2.0-only
/*
 * byte_window: the sender counts the window in bytes, fills it to the last
 * byte, and does not avoid silly windows (98-0876R1 6.2: "TCP Silly Window
 * Syndrome Avoidance is disabled"; RFC 813; BSD's tcp_output() does the same
 * without the test "len == maxseg or ... "). It sends at once all data that the
 * window has room for, even a few bytes. Congestion avoidance grows the window
 * by mss * mss / cwnd per ACK. So each ACK of a full segment sends a full
 * segment and a runt (a small segment), and each runt's ACK sends another runt.
 *
 * The kernel counts its window in packets and cuts no packet to fit. So the
 * module does two things when the kernel calls min_tso_segs(), at the beginning
 * of tcp_write_xmit() and tcp_xmit_retransmit_queue():
 *
 *   - It cuts the queue of unsent data at the end of the window, and marks the
 *     piece as the end of a record, so that the kernel does not fill it up.
 *   - It sets snd_cwnd to the packets in flight plus the packets up to there.
 *
 * The peer's window does not change: the kernel sees the usual duplicate ACKs.
 *
 * Retransmitted segments keep their boundaries, except for small ones, which
 * the module joins (tcp_retrans_collapse). BSD cuts anew, and so fills the
 * window (resend_boundaries = 1). cellbed_recut.c does both.
 */
#include "cellbed.h"

/* The bytes of a segment that are not acknowledged. Of a merged, retransmitted
 * segment, a part may be acknowledged.
 */
static u32 cellbed_unacked(const struct sock *sk, const struct sk_buff *skb)
{
	u32 una = tcp_sk(sk)->snd_una;

	if (after(una, TCP_SKB_CB(skb)->seq))
		return TCP_SKB_CB(skb)->end_seq - una;
	return skb->len;
}

/* Bytes on their way as in RFC 6675: not SACKed, and not lost or sent again. */
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
 * The data that counts against the window: after a timeout, the data sent
 * since; with SACK in recovery, PIPE; else all data that is not acknowledged.
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
 * The length of a segment when it is sent again, and in next the segment after
 * it: small segments are joined up to a full one.
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

/* Joins to a segment the segments that are sent again with it. */
static void cellbed_join(struct sock *sk, struct sk_buff *skb, u32 length)
{
	if (length != cellbed_unacked(sk, skb))
		cellbed_remake(sk, skb, length);
}

/* Joins lost packets, and returns how many may be sent again; if told so, the
 * first one ignores the window. The kernel may have merged SACKed packets into
 * one that is longer than a segment; it is sent in pieces.
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

/* May the first hole ignore the window, and has it room? */
static bool cellbed_first_is_apart(const struct sock *sk)
{
	return cellbed_ca(sk)->recovering && !tcp_is_sack(tcp_sk(sk));
}

/*
 * The same with resend_boundaries = 1: cuts anew the packets that the window
 * has room for. PIPE only decides whether a packet may leave, and cuts none
 * short. By the table, a segment keeps its boundaries.
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
 * Called before the kernel retransmits. It calls min_tso_segs() while it holds
 * the first packet, so that packet must stay.
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

/* Only the first segment, at its greatest allowed length. */
void cellbed_bytes_prepare_first(struct sock *sk)
{
	struct sk_buff *next, *skb = tcp_rtx_queue_head(sk);

	if (cellbed_ca(sk)->recut)
		cellbed_recut(sk, skb, tcp_sk(sk)->mss_cache);
	else
		cellbed_join(sk, skb, cellbed_joined_length(sk, skb, &next));
}

/* A sent segment need not keep its boundary: when it is sent again, it may be
 * merged with the next (tcp_retrans_collapse), as BSD cuts anew.
 */
static void cellbed_forget_boundary(struct sock *sk)
{
	struct sk_buff *skb = tcp_rtx_queue_tail(sk);

	if (skb)
		TCP_SKB_CB(skb)->eor = 0;
}

/* The bytes for new data that the peer's and the own window leave; PIPE below
 * cwnd lets a whole segment pass.
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
 * Cuts the unsent data at the end of the window; returns the packets up to
 * there. all becomes false if there is more. A FIN without data takes no room:
 * BSD's tcp_output() sends it when there is nothing else to send.
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
 * The kernel's window while it holds nothing back: the true window. ss shows
 * it, and tcp_is_cwnd_limited() sees by it that the application is the limit.
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
