// SPDX-License-Identifier: GPL-2.0-only
/*
 * byte_window: makes packets anew. It cuts off the part of an unsent packet
 * that the window has no room for. It makes a new packet of the data to send
 * again:
 *
 * The kernel's tcp_retrans_try_collapse() joins no packet whose first copy is
 * still somewhere on this machine, such as on the path or in a receiver's
 * queue. If hosts share a kernel, a sender would thus know which packets have
 * arrived, and would send these separately, so that the ACK of a missing packet
 * covers them. So the module makes a new packet of references to the pages of
 * the old packets, and another one of the rest of the last. They replace the
 * old packets in the retransmission queue. A new packet has no first copy, so
 * the kernel also sends it while the old packet waits in a queue of this
 * machine.
 *
 * resend_boundaries = 1: a sender keeps a stream of bytes. A retransmission
 * begins at the first missing byte. It is as long as the segment size and the
 * window allow. It ignores the boundaries of the first sending, and may include
 * new data (4.4BSD, tcp_output(): it sets snd_nxt back and then sends as
 * always). With SACK, a packet ends at the end of the hole.
 *
 * resend_boundaries = 0: whole small packets are joined, as in the kernel.
 */
#include <linux/skbuff_ref.h>

#include "cellbed.h"

/* Splits an unsent segment at len. This is the kernel's tso_fragment(), which
 * is not exported.
 */
bool cellbed_cut(struct sock *sk, struct sk_buff *skb, u32 len)
{
	struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	u32 rest = skb->len - len;
	struct sk_buff *tail;

	tail = alloc_skb_fclone(MAX_TCP_HEADER, GFP_ATOMIC);
	if (!tail)
		return false;
	tail->truesize = SKB_TRUESIZE(skb_end_offset(tail));
	if (!sk_wmem_schedule(sk, tail->truesize)) {
		__kfree_skb(tail);
		return false;
	}
	skb_reserve(tail, MAX_TCP_HEADER);
	tail->ip_summed = CHECKSUM_PARTIAL;
	INIT_LIST_HEAD(&tail->tcp_tsorted_anchor);
	skb_copy_decrypted(tail, skb);

	sk_wmem_queued_add(sk, tail->truesize);
	sk_mem_charge(sk, tail->truesize);
	tail->truesize += rest;
	skb->truesize -= rest;

	TCP_SKB_CB(tail)->seq = cb->seq + len;
	TCP_SKB_CB(tail)->end_seq = cb->end_seq;
	cb->end_seq = TCP_SKB_CB(tail)->seq;
	TCP_SKB_CB(tail)->tcp_flags = cb->tcp_flags;
	cb->tcp_flags &= ~(TCPHDR_FIN | TCPHDR_PSH);
	TCP_SKB_CB(tail)->eor = cb->eor;
	skb_split(skb, tail, len);

	__skb_header_release(tail);
	__skb_queue_after(&sk->sk_write_queue, skb, tail);
	return true;
}

/* Adds references to len bytes of a packet from offset on to another. */
static bool cellbed_refer(struct sk_buff *to, const struct sk_buff *from,
			  u32 offset, u32 len)
{
	const struct skb_shared_info *source = skb_shinfo(from);
	int i;

	for (i = 0; i < source->nr_frags && len; i++) {
		skb_frag_t frag = source->frags[i];
		int n = skb_shinfo(to)->nr_frags;
		u32 skip = min(offset, skb_frag_size(&frag));

		offset -= skip;
		skb_frag_off_add(&frag, skip);
		skb_frag_size_set(&frag, min(skb_frag_size(&frag) - skip, len));
		if (!skb_frag_size(&frag))
			continue;
		if (skb_can_coalesce(to, n, skb_frag_page(&frag),
				     skb_frag_off(&frag))) {
			skb_frag_size_add(&skb_shinfo(to)->frags[n - 1],
					  skb_frag_size(&frag));
		} else if (n == MAX_SKB_FRAGS) {
			return false;
		} else {
			__skb_frag_ref(&frag);
			skb_shinfo(to)->frags[n] = frag;
			skb_shinfo(to)->nr_frags = n + 1;
		}
		len -= skb_frag_size(&frag);
		to->len += skb_frag_size(&frag);
		to->data_len += skb_frag_size(&frag);
	}
	return !len;
}

/* Makes a packet of len bytes from a sequence number within skb; or NULL. */
static struct sk_buff *cellbed_make(struct sock *sk, struct sk_buff *skb,
				    u32 seq, u32 len)
{
	struct sk_buff *made = alloc_skb_fclone(MAX_TCP_HEADER, GFP_ATOMIC);
	u32 offset = seq - TCP_SKB_CB(skb)->seq;

	if (!made)
		return NULL;
	skb_reserve(made, MAX_TCP_HEADER);
	made->ip_summed = CHECKSUM_PARTIAL;
	made->skb_mstamp_ns = skb->skb_mstamp_ns;
	skb_copy_decrypted(made, skb);
	*TCP_SKB_CB(made) = *TCP_SKB_CB(skb);
	TCP_SKB_CB(made)->seq = seq;
	while (skb && made->len < len) {
		u32 part = min(skb->len - offset, len - made->len);

		if (skb_headlen(skb) || skb_zcopy(skb) ||
		    !cellbed_refer(made, skb, offset, part))
			break;
		TCP_SKB_CB(made)->sacked |= TCP_SKB_CB(skb)->sacked &
					    TCPCB_EVER_RETRANS;
		TCP_SKB_CB(made)->tcp_flags |= TCP_SKB_CB(skb)->tcp_flags;
		TCP_SKB_CB(made)->end_seq = TCP_SKB_CB(skb)->end_seq;
		if (offset + part < skb->len) {
			TCP_SKB_CB(made)->tcp_flags &= ~(TCPHDR_FIN | TCPHDR_PSH);
			TCP_SKB_CB(made)->end_seq = seq + len;
		}
		offset = 0;
		skb = skb_rb_next(skb);
	}
	made->truesize = SKB_TRUESIZE(skb_end_offset(made)) + made->len;
	INIT_LIST_HEAD(&made->tcp_tsorted_anchor);
	if (made->len == len && sk_wmem_schedule(sk, made->truesize))
		return made;
	tcp_skb_tsorted_anchor_cleanup(made);
	__kfree_skb(made);
	return NULL;
}

static void cellbed_count(struct tcp_sock *tp, const struct sk_buff *skb, int sign)
{
	int packets = sign * tcp_skb_pcount(skb);
	u8 tags = TCP_SKB_CB(skb)->sacked;

	tp->packets_out += packets;
	tp->lost_out += tags & TCPCB_LOST ? packets : 0;
	tp->retrans_out += tags & TCPCB_SACKED_RETRANS ? packets : 0;
	tp->sacked_out += tags & TCPCB_SACKED_ACKED ? packets : 0;
}

/* Inserts a packet into the retransmission queue. */
static void cellbed_insert(struct sock *sk, struct sk_buff *skb)
{
	struct rb_node **link = &sk->tcp_rtx_queue.rb_node;
	struct rb_node *parent = NULL;

	while (*link) {
		parent = *link;
		if (before(TCP_SKB_CB(skb)->seq,
			   TCP_SKB_CB(rb_to_skb(parent))->seq))
			link = &parent->rb_left;
		else
			link = &parent->rb_right;
	}
	rb_link_node(&skb->rbnode, parent, link);
	rb_insert_color(&skb->rbnode, &sk->tcp_rtx_queue);
}

static void cellbed_put(struct sock *sk, struct sk_buff *skb)
{
	u32 mss = tcp_sk(sk)->mss_cache;

	tcp_skb_pcount_set(skb, max_t(u32, DIV_ROUND_UP(skb->len, mss), 1));
	TCP_SKB_CB(skb)->tcp_gso_size = skb->len > mss ? mss : 0;
	__skb_header_release(skb);
	sk_wmem_queued_add(sk, skb->truesize);
	sk_mem_charge(sk, skb->truesize);
	list_add_tail(&skb->tcp_tsorted_anchor, &tcp_sk(sk)->tsorted_sent_queue);
	cellbed_insert(sk, skb);
	cellbed_count(tcp_sk(sk), skb, 1);
}

/* Removes a packet; made replaces it in the kernel's hints. */
static void cellbed_remove(struct sock *sk, struct sk_buff *skb,
			   struct sk_buff *made)
{
	struct tcp_sock *tp = tcp_sk(sk);

	cellbed_count(tp, skb, -1);
	tcp_highest_sack_replace(sk, skb, made);
	if (tp->retransmit_skb_hint == skb)
		tp->retransmit_skb_hint = made;
	tcp_rtx_queue_unlink_and_free(skb, sk);
}

/*
 * Turns at most so many of the first unsent bytes into sent ones, so that they
 * may be joined to old bytes. Returns their number.
 */
static u32 cellbed_draw(struct sock *sk, u32 len)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb = tcp_send_head(sk);

	len = min_t(s64, len, max((s32)(tcp_wnd_end(tp) - tp->snd_nxt), 0));
	if (!skb || !skb->len || !len ||
	    (skb->len > len && !cellbed_cut(sk, skb, len)))
		return 0;
	__skb_unlink(skb, &sk->sk_write_queue);
	tp->snd_nxt = TCP_SKB_CB(skb)->end_seq;
	if (!tp->highest_sack)
		tp->highest_sack = skb;
	skb->skb_mstamp_ns = tcp_clock_ns();
	tcp_skb_pcount_set(skb, 1);
	list_add_tail(&skb->tcp_tsorted_anchor, &tp->tsorted_sent_queue);
	cellbed_insert(sk, skb);
	cellbed_count(tp, skb, 1);
	return skb->len;
}

/* May this packet be joined to the retransmitted packet before it? */
static bool cellbed_joins(const struct sock *sk, const struct sk_buff *skb)
{
	return skb->len && (!tcp_is_sack(tcp_sk(sk)) || cellbed_is_hole(skb));
}

/* The first byte of a packet that is not acknowledged. */
static u32 cellbed_first_missing(const struct sock *sk, const struct sk_buff *skb)
{
	u32 una = tcp_sk(sk)->snd_una;
	u32 seq = TCP_SKB_CB(skb)->seq;

	return after(una, seq) ? una : seq;
}

/*
 * Returns how many bytes, from the first missing byte of skb on, can be one
 * packet, at most so many. It also uses unsent bytes, but not with SACK in
 * recovery.
 */
static u32 cellbed_recut_length(struct sock *sk, struct sk_buff *skb, u32 limit)
{
	bool draw = !cellbed_ca(sk)->recovering || !tcp_is_sack(tcp_sk(sk));
	u32 length = TCP_SKB_CB(skb)->seq + skb->len -
		     cellbed_first_missing(sk, skb);
	struct sk_buff *next = skb;
	u32 drawn = 1;

	while (length < limit && (next = skb_rb_next(next)) &&
	       cellbed_joins(sk, next))
		length += next->len;
	while (length < limit && !next && draw && drawn) {
		drawn = cellbed_draw(sk, limit - length);
		length += drawn;
	}
	return min(length, limit);
}

/*
 * Makes a packet of length bytes from the first missing byte of skb on, and
 * returns it; returns skb itself if this fails.
 */
struct sk_buff *cellbed_remake(struct sock *sk, struct sk_buff *skb, u32 length)
{
	u32 seq = cellbed_first_missing(sk, skb);
	struct sk_buff *last = skb, *rest = NULL, *made;
	u32 end = seq + length;

	if (!length)
		return skb;
	made = cellbed_make(sk, skb, seq, length);
	if (!made)
		return skb;
	while (before(TCP_SKB_CB(last)->seq + last->len, end))
		last = skb_rb_next(last);
	if (after(TCP_SKB_CB(last)->seq + last->len, end)) {
		rest = cellbed_make(sk, last, end,
				    TCP_SKB_CB(last)->seq + last->len - end);
		if (!rest) {
			tcp_skb_tsorted_anchor_cleanup(made);
			__kfree_skb(made);
			return skb;
		}
	}
	TCP_SKB_CB(made)->eor = 1;
	while (skb) {
		struct sk_buff *next = skb == last ? NULL : skb_rb_next(skb);

		cellbed_remove(sk, skb, skb == last && rest ? rest : made);
		skb = next;
	}
	cellbed_put(sk, made);
	if (rest)
		cellbed_put(sk, rest);
	tcp_sk(sk)->retransmit_skb_hint = NULL;
	tcp_sk(sk)->lost_skb_hint = NULL;
	return made;
}

/* The same with at most limit bytes. */
struct sk_buff *cellbed_recut(struct sock *sk, struct sk_buff *skb, u32 limit)
{
	u32 length = skb->len ? cellbed_recut_length(sk, skb, limit) : 0;

	return cellbed_remake(sk, skb, length);
}
