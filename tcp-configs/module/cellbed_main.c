// SPDX-License-Identifier: GPL-2.0-only
/*
 * cellbed_tcp: the TCP senders of the 1990s on the kernel's own TCP.
 *
 * Four congestion controls, cellbed_vanilla, cellbed_reno, cellbed_newreno and
 * cellbed_sack, with the recoveries that ATM Forum 98-0876R1 (section 3)
 * compares. Segments, sequence numbers, timers and the retransmission queue
 * are the kernel's; the module steers its loss state machine from the hooks
 * of struct tcp_congestion_ops and keeps the window itself.
 *
 *   Vanilla  slow start and congestion avoidance; a loss is found by the
 *            retransmission timer only (Jacobson, SIGCOMM 88, sections 1-3)
 *   Reno     + fast retransmit and fast recovery, which end with the first
 *            ACK of new data (RFC 2001; RFC 2581 section 3.2)
 *   NewReno  fast recovery lasts until all data that was outstanding at its
 *            beginning is acknowledged; each partial ACK resends the next hole
 *            (Hoe, SIGCOMM 96; RFC 6582)
 *   SACK     the sender knows the holes from the SACK blocks, and resends them
 *            as the window allows (RFC 2018; Fall & Floyd, CCR July 1996)
 *
 *                    3 duplicate ACKs (not Vanilla)
 *     +----------------------+      +------------------------------------+
 *     | slow start, cwnd < S |----->| fast recovery                      |
 *     | +1 an ACK            |      | S = cwnd = flight / 2, resend hole |
 *     +----------------------+      | each duplicate ACK: room for one   |
 *     | avoidance, cwnd >= S |<-----|                                    |
 *     | +1 a window          |      +------------------------------------+
 *     +----------------------+   Reno: the first ACK of new data ends it
 *        ^               |       NewReno, SACK: the ACK of all that was out
 *        | all acked     | timeout (from anywhere)
 *     +----------------------+
 *     | loss: S = flight / 2 |   cwnd = 1, slow start, go back N, the RTO
 *     +----------------------+   doubled
 *
 * S is ssthresh, at least 2; flight is min(cwnd, segments outstanding).
 *
 * How it differs from the kernel's own recovery. No limited transmit (RFC
 * 3042), no proportional rate reduction (RFC 6937), no RACK and tail loss
 * probe (RFC 8985), no F-RTO, no undo of a reduction (Eifel). cwnd grows by
 * one an ACK, not by what the ACK covers. In fast recovery cwnd stays at
 * ssthresh and the kernel's count of packets in flight falls with each
 * duplicate ACK: that is the window inflation of RFC 2581 seen from the other
 * side, to the same segment. A timeout halves ssthresh once a segment
 * (RFC 5681), also within a recovery, where the kernel would not. The window
 * restarts after an idle period only with idle_restart. An ACK with ECE (RFC
 * 3168) halves the window at once, not over a round trip, and only once for a
 * window of data, whatever the cause of its last reduction.
 *
 * The steps of tcp_ack() at which the module acts (kernel 6.12.117;
 * cellbed_order.c checks their order): clean the retransmission queue,
 * pkts_acked() [the RTO], in_ack_event() [it prepares the input of the state
 * machine: no duplicate ACKs for Vanilla, the end of recovery for Reno],
 * tcp_fastretrans_alert(), set_state(), set the timer, cong_control() [the
 * window], retransmissions, new data.
 *
 * Use the module with the sysctls of tcp-configs/NAME.toml: no SACK for the
 * first three, no RACK, no TLP, no F-RTO, no timestamps.
 *
 * cellbed_params.h has the parameters and their meaning. Each network namespace
 * has its own values.
 */
#include <linux/module.h>
#include <linux/version.h>
#include <net/tcp.h>

#include "cellbed.h"

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#error "cellbed_tcp needs a 6.10 kernel: cong_control() took fewer arguments before"
#endif

#define CELLBED_MIN_SSTHRESH 2U

/* More than the merged ACKs of the backlog can acknowledge at once, and small
 * enough for tcp_sndbuf_expand(), which multiplies it by a segment's size.
 */
#define CELLBED_NO_DUPTHRESH 16384

/* ssthresh in segments, as the kernel counts and as BSD rounded; acked: units
 * that were outstanding until this ACK.
 */
static u32 cellbed_half(const struct sock *sk, u32 acked)
{
	const struct cellbed *c = cellbed_ca(sk);
	u32 window = c->half_window ? cellbed_window(sk) :
		     min(c->cwnd + cellbed_inflation(sk),
			 cellbed_flight(sk) + acked);
	u32 half = window / 2;

	return max(half / cellbed_unit(sk), CELLBED_MIN_SSTHRESH);
}

/* The kernel asks before it tells the cause, so set_state() lowers ssthresh. */
static u32 cellbed_ssthresh(struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

static void cellbed_reduced(struct sock *sk, enum cellbed_reduced reason)
{
	struct cellbed *c = cellbed_ca(sk);

	c->reduced = reason;
	c->reduced_end = tcp_sk(sk)->snd_nxt;
	c->count = 0;
}

/* Reduces for a loss, but only once for all losses and marks of one window. */
static void cellbed_lower_ssthresh(struct sock *sk)
{
	const struct cellbed *c = cellbed_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (c->reduced != CELLBED_FOR_MARK ||
	    !before(tp->snd_una, c->reduced_end))
		tp->snd_ssthresh = cellbed_half(sk, 0);
}

/* Undo is off: undo_marker is cleared wherever the kernel sets it. */
static u32 cellbed_undo_cwnd(struct sock *sk)
{
	return tcp_snd_cwnd(tcp_sk(sk));
}

static void cellbed_newreno_ack(struct sock *sk, u32 flags);

static void cellbed_read_params(struct sock *sk, struct cellbed *c,
				const struct cellbed_params *params)
{
	c->bytes = READ_ONCE(params->byte_window);
	c->idle_restart = READ_ONCE(params->idle_restart);
	c->grow_app_limited = READ_ONCE(params->grow_app_limited);
	c->keep_scoreboard = READ_ONCE(params->after_timeout) ==
			     CELLBED_AFTER_TIMEOUT_KEEP_SCOREBOARD;
	c->use_pipe = tcp_is_sack(tcp_sk(sk)) &&
		      READ_ONCE(params->sack_retransmit) ==
		      CELLBED_SACK_RETRANSMIT_PIPE;
	c->resend_rule = READ_ONCE(params->sack_resend_on_partial);
	c->pipe_segments = READ_ONCE(params->sack_pipe) ==
			   CELLBED_SACK_PIPE_SEGMENTS;
	c->partial_reset = READ_ONCE(params->newreno_partial) ==
			   CELLBED_NEWRENO_PARTIAL_RESET;
	c->half_window = READ_ONCE(params->ssthresh_rule) ==
			 CELLBED_SSTHRESH_RULE_WINDOW;
	c->multiple = READ_ONCE(params->multiple_fast_retransmits);
	c->recut = c->bytes && READ_ONCE(params->resend_boundaries) ==
			       CELLBED_RESEND_BOUNDARIES_ANEW;
	c->flywheel = READ_ONCE(params->newreno_flywheel) &&
		      inet_csk(sk)->icsk_ca_ops->in_ack_event == cellbed_newreno_ack;
}

/* The kernel honours a route's ssthresh only from its metrics cache. */
static void cellbed_ssthresh_from_route(struct sock *sk)
{
	const struct dst_entry *dst = __sk_dst_get(sk);
	u32 ssthresh = dst ? dst_metric(dst, RTAX_SSTHRESH) : 0;

	if (ssthresh)
		tcp_sk(sk)->snd_ssthresh = max(ssthresh, CELLBED_MIN_SSTHRESH);
}

static void cellbed_init(struct sock *sk)
{
	const struct cellbed_params *params = cellbed_params(sock_net(sk));
	struct cellbed *c = cellbed_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	BUILD_BUG_ON(sizeof(struct cellbed) > ICSK_CA_PRIV_SIZE);

	memset(c, 0, sizeof(*c));
	cellbed_read_params(sk, c, params);
	c->cwnd = min_t(u64, (u64)tcp_snd_cwnd(tp) * cellbed_unit(sk),
			CELLBED_MAX_WINDOW);
	c->initial_cwnd = c->cwnd;
	c->una = tp->snd_una;
	c->repair_end = tp->snd_una;
	c->reduced_end = tp->snd_una;
	cellbed_rto_init(sk, params);
	if (c->tick) {
		cellbed_timer_init(sk);
		cellbed_timer_give(sk);
	}
	if (READ_ONCE(params->ssthresh_from_route))
		cellbed_ssthresh_from_route(sk);
	c->ready = 1;
}

/* A connection may change its congestion control at any time. The new one gets
 * the window, and not the last quota, which may be 0.
 */
static void cellbed_release(struct sock *sk)
{
	const struct net *net = sock_net(sk);
	struct cellbed *c = cellbed_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!c->ready)
		return;
	cellbed_timer_release(sk);
	cellbed_sack_leave_loss(sk);
	tcp_snd_cwnd_set(tp, max(c->cwnd / cellbed_unit(sk), 1U));
	tp->reordering = READ_ONCE(net->ipv4.sysctl_tcp_reordering);
}

/* An earlier recovery may have sent the first hole again already. */
static bool cellbed_first_hole_is_out(const struct sock *sk)
{
	const struct sk_buff *skb = tcp_rtx_queue_head(sk);

	return skb && TCP_SKB_CB(skb)->sacked & TCPCB_SACKED_RETRANS;
}

/*
 * The kernel keeps the end of a window that a mark reduced, also for a recovery
 * that begins in or right after that window. It tells the receiver of the first
 * reduction only.
 */
static void cellbed_enter_recovery(struct sock *sk)
{
	struct cellbed *c = cellbed_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	tp->high_seq = tp->snd_nxt;
	cellbed_sack_enter_recovery(sk);
	cellbed_lower_ssthresh(sk);
	cellbed_reduced(sk, CELLBED_FOR_LOSS);
	if (tp->ecn_flags & TCP_ECN_OK)
		tp->ecn_flags |= TCP_ECN_QUEUE_CWR;
	cellbed_recovery_begin(sk);
	c->prior_sacked = tp->sacked_out;
	c->cwnd = tp->snd_ssthresh * cellbed_unit(sk);
	c->recovering = 1;
	c->resend = !cellbed_first_hole_is_out(sk);
	c->dupacks = 0;
}

static void cellbed_enter_loss(struct sock *sk)
{
	struct cellbed *c = cellbed_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	/* RFC 5681 3.1: no second reduction for the same segment. */
	if (c->half_window || !inet_csk(sk)->icsk_retransmits)
		cellbed_lower_ssthresh(sk);
	cellbed_reduced(sk, CELLBED_FOR_TIMEOUT);
	cellbed_rto_timeout(sk);
	cellbed_timer_timeout(sk);
	cellbed_sack_enter_loss(sk);
	c->cwnd = cellbed_unit(sk);
	c->inflation = 0;
	c->recovering = 0;
	c->resend = 0;
	c->duplicates = 0;
	c->repair_end = tp->snd_nxt;
	/* The kernel holds the first packet when it probes a closed window. */
	if (c->bytes && tp->snd_wnd && tcp_rtx_queue_head(sk))
		cellbed_bytes_prepare_first(sk);
	cellbed_set_window(tp, 1);
}

/*
 * An ACK with ECE, outside of a recovery and a repair (RFC 3168, 6.1.2). It
 * reduces once for a window of data, whatever the cause of its last reduction.
 * The kernel keeps the state, and does not ask again until an ACK covers more.
 */
static void cellbed_enter_cwr(struct sock *sk)
{
	struct cellbed *c = cellbed_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 acked = c->acked;

	if (c->reduced) {
		tp->high_seq = c->reduced_end;
		if (!c->cwr_queued)
			tp->ecn_flags &= ~TCP_ECN_QUEUE_CWR;
		return;
	}
	c->recovering = 0;
	if (!c->bytes)
		acked = DIV_ROUND_UP(acked, tp->mss_cache);
	tp->snd_ssthresh = cellbed_half(sk, acked);
	cellbed_reduced(sk, CELLBED_FOR_MARK);
	c->cwnd = min(c->cwnd, tp->snd_ssthresh * cellbed_unit(sk));
}

static void cellbed_set_state(struct sock *sk, u8 state)
{
	struct cellbed *c = cellbed_ca(sk);

	if (!c->ready)
		return;
	if (state != TCP_CA_Loss)
		cellbed_sack_leave_loss(sk);
	tcp_sk(sk)->undo_marker = 0;
	if (state == TCP_CA_Recovery)
		cellbed_enter_recovery(sk);
	else if (state == TCP_CA_Loss)
		cellbed_enter_loss(sk);
	else if (state == TCP_CA_CWR)
		cellbed_enter_cwr(sk);
}

/* RFC 5681 4.1; BSD's tcp_output() did the same with cwnd = 1 segment. */
static void cellbed_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct cellbed *c = cellbed_ca(sk);
	s32 idle = tcp_jiffies32 - tp->lsndtime;
	s32 rto = c->tick ? cellbed_rto_jiffies(sk) : inet_csk(sk)->icsk_rto;

	if (event != CA_EVENT_TX_START || !c->ready || !c->idle_restart ||
	    tp->packets_out || idle < rto)
		return;
	c->cwnd = min(c->cwnd, c->initial_cwnd);
	c->count = 0;
	if (!c->bytes)
		cellbed_set_window(tcp_sk(sk), c->cwnd);
}

/*
 * A duplicate ACK (RFC 5681, 2): data is outstanding, and this packet has no
 * data, acknowledges nothing new and does not change the window. With SACK, it
 * may change the window, because receivers do so while they report segments.
 * The hook does not get the packet. But the kernel counts packets without data,
 * and this count tells whether the packet had data.
 */
static bool cellbed_is_duplicate(struct sock *sk)
{
	struct cellbed *c = cellbed_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 pure = tp->segs_in - tp->data_segs_in;
	bool same = tp->snd_wnd == c->prior_wnd ||
		    tcp_is_sack(tp) || c->sack_ok;
	bool carries_data = pure == c->prior_pure;

	c->prior_pure = pure;
	c->prior_wnd = tp->snd_wnd;
	return !c->advanced && tp->packets_out && same && !carries_data;
}

/*
 * Undoes two habits of the kernel without SACK. First, if more duplicate ACKs
 * arrive than segments are outstanding, it lowers its threshold of duplicate
 * ACKs for good. Second, it counts duplicate ACKs during the repair of a
 * timeout, and takes them for a new loss after the repair. (RFC 2582's bug fix:
 * they mean segments that were sent twice.)
 */
static void cellbed_note_ack(struct sock *sk, u32 flags)
{
	const struct net *net = sock_net(sk);
	struct cellbed *c = cellbed_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	/* The kernel noted it when new data had been joined to old. */
	if (c->recut && inet_csk(sk)->icsk_ca_state == TCP_CA_Loss)
		tp->high_seq = c->repair_end;
	c->acked = tp->snd_una - c->una;
	c->advanced = c->acked != 0;
	if (c->advanced) {
		c->advance_ns = tcp_clock_ns();
		c->duplicates = 0;
		if (after(tp->snd_una, c->repair_end))
			c->repair_end = tp->snd_una;
		cellbed_timer_restart(sk);
		if (c->ready)
			cellbed_order_note(sk);
	}
	/* An ACK beyond the end tells that CWR has arrived, too. */
	if (after(tp->snd_una, c->reduced_end)) {
		c->reduced = CELLBED_NOT_REDUCED;
		c->reduced_end = tp->snd_una;
	}
	c->echo = !!(flags & CA_ACK_ECE);
	c->cwr_queued = !!(tp->ecn_flags & TCP_ECN_QUEUE_CWR);
	c->una = tp->snd_una;
	c->duplicate = cellbed_is_duplicate(sk);
	if (c->duplicate && c->duplicates < U8_MAX)
		c->duplicates++;
	tp->reordering = cellbed_by_table(c) ? CELLBED_NO_DUPTHRESH :
			 READ_ONCE(net->ipv4.sysctl_tcp_reordering);
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Loss && !tcp_is_sack(tp))
		tp->sacked_out = 0;
	cellbed_timer_note(sk);
}

static void cellbed_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	const struct cellbed *c = cellbed_ca(sk);

	if (!c->ready)
		return;
	cellbed_rto_sample(sk, sample);
	if (c->tick)
		cellbed_timer_give(sk);
}

static bool cellbed_partial_ack(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery &&
	       cellbed_ca(sk)->advanced && before(tp->snd_una, tp->high_seq);
}

/* Duplicate ACKs tell Vanilla nothing. */
static void cellbed_vanilla_ack(struct sock *sk, u32 flags)
{
	struct tcp_sock *tp = tcp_sk(sk);

	cellbed_note_ack(sk, flags);
	if (!tcp_is_sack(tp))
		tp->sacked_out = 0;
	tp->reordering = CELLBED_NO_DUPTHRESH;
	cellbed_recovery_release(sk);
}

/*
 * Any ACK of new data ends Reno's recovery. high_seq is one less than snd_una:
 * if they were equal, the kernel would wait for the next ACK (RFC 2582, bug
 * fix). If the recovery began in a repair, the repair continues.
 */
static void cellbed_reno_ack(struct sock *sk, u32 flags)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	cellbed_note_ack(sk, flags);
	cellbed_recovery_look(sk);
	if (!cellbed_ca(sk)->advanced)
		return;
	cellbed_recovery_reopen(sk);
	if (icsk->icsk_ca_state == TCP_CA_Recovery) {
		if (cellbed_recovery_repairing(sk)) {
			icsk->icsk_ca_state = TCP_CA_Loss;
			tp->high_seq = cellbed_ca(sk)->repair_end;
		} else {
			tp->high_seq = tp->snd_una - 1;
		}
	}
	cellbed_recovery_release(sk);
}

/* The kernel's recovery without SACK is NewReno's. */
static void cellbed_newreno_ack(struct sock *sk, u32 flags)
{
	struct cellbed *c = cellbed_ca(sk);

	cellbed_note_ack(sk, flags);
	cellbed_recovery_look(sk);
	if (c->advanced)
		cellbed_recovery_reopen(sk);
	cellbed_recovery_release(sk);
	if (!cellbed_partial_ack(sk))
		return;
	c->resend = 1;
	/* Resend from the first missing byte, wherever it is. */
	if (cellbed_recovery_repairing(sk) || cellbed_recovery_torn(sk))
		cellbed_mark_lost(tcp_sk(sk), tcp_rtx_queue_head(sk));
	if (c->partial_reset && !tcp_is_sack(tcp_sk(sk)))
		tcp_sk(sk)->sacked_out = 0;
}

static void cellbed_sack_in_ack(struct sock *sk, u32 flags)
{
	cellbed_note_ack(sk, flags);
	cellbed_recovery_look(sk);
	if (cellbed_ca(sk)->advanced)
		cellbed_recovery_reopen(sk);
	cellbed_recovery_release(sk);
	cellbed_sack_ack(sk);
}

/* One segment per window: by a count, or in bytes by a fraction per ACK. */
static void cellbed_avoid_congestion(struct sock *sk)
{
	struct cellbed *c = cellbed_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (c->bytes) {
		c->cwnd += max(tp->mss_cache * tp->mss_cache / c->cwnd, 1U);
	} else if (++c->count >= c->cwnd) {
		c->count = 0;
		c->cwnd++;
	}
}

/*
 * For an ACK of new data, unless it carries ECE (RFC 3168, 6.1.2). But during
 * the repair of a timeout, CWR cannot be sent, because it goes with new data;
 * the window of one segment has answered the mark.
 */
static void cellbed_grow(struct sock *sk)
{
	u64 clamp = (u64)tcp_sk(sk)->snd_cwnd_clamp * cellbed_unit(sk);
	u64 ssthresh = (u64)tcp_sk(sk)->snd_ssthresh * cellbed_unit(sk);
	struct cellbed *c = cellbed_ca(sk);

	if (c->echo && c->reduced != CELLBED_FOR_TIMEOUT)
		return;
	if (!c->grow_app_limited && !tcp_is_cwnd_limited(sk))
		return;
	if (c->cwnd < ssthresh)
		c->cwnd += cellbed_unit(sk);
	else
		cellbed_avoid_congestion(sk);
	c->cwnd = min3((u64)c->cwnd, clamp, (u64)CELLBED_MAX_WINDOW);
}

/* Hoe's flywheel: is this the second of two duplicate ACKs? */
static bool cellbed_flywheel_turns(const struct sock *sk)
{
	struct cellbed *c = cellbed_ca(sk);

	if (!c->flywheel || !cellbed_recovery_duplicate(sk))
		return false;
	return !(++c->dupacks & 1);
}

/* The kernel's count of packets that may be in flight during fast recovery. */
static u32 cellbed_recovery_window(struct sock *sk)
{
	struct cellbed *c = cellbed_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 window = cellbed_sack_budget(sk);

	if (cellbed_counts(c))
		window += c->inflation;
	if (c->resend || c->one_more)
		window = max(window, tcp_packets_in_flight(tp) + 1);
	c->resend = 0;
	c->one_more = 0;
	return window;
}

/*
 * The window outside fast recovery. Duplicate ACKs lower the kernel's count in
 * flight, so they also lower the window: they send nothing. Segments that were
 * SACKed before a timeout do not lower it: they have left the network.
 */
static u32 cellbed_plain_window(const struct sock *sk)
{
	const struct cellbed *c = cellbed_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Loss && tcp_is_sack(tp))
		return c->cwnd;
	return c->cwnd - min(c->cwnd - 1, tp->sacked_out);
}

static void cellbed_on_recovery_ack(struct sock *sk)
{
	struct cellbed *c = cellbed_ca(sk);

	c->one_more = cellbed_flywheel_turns(sk);
	c->turned_at = tcp_sk(sk)->snd_nxt;
	if (c->bytes || cellbed_counts(c))
		cellbed_recovery_ack(sk);
	if (!c->bytes)
		cellbed_set_window(tcp_sk(sk), cellbed_recovery_window(sk));
}

static void cellbed_on_plain_ack(struct sock *sk)
{
	struct cellbed *c = cellbed_ca(sk);

	if (c->advanced && !c->recovering)
		cellbed_grow(sk);
	c->recovering = 0;
	c->one_more = 0;
	c->inflation = 0;
	if (!c->bytes)
		cellbed_set_window(tcp_sk(sk), cellbed_plain_window(sk));
}

static void cellbed_cong_control(struct sock *sk, u32 ack, int flag,
				 const struct rate_sample *rs)
{
	struct cellbed *c = cellbed_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!c->ready)
		return;
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Recovery &&
	    before(tp->snd_una, tp->high_seq))
		cellbed_on_recovery_ack(sk);
	else
		cellbed_on_plain_ack(sk);
	if (c->bytes) {
		cellbed_bytes_prepare(sk);
		if (!tcp_send_head(sk))
			cellbed_bytes_show(sk, tcp_packets_in_flight(tp));
	}
	c->prior_sacked = tp->sacked_out;
	cellbed_timer_keep(sk);
}

/* The kernel calls this whenever it begins to send, which is the last moment to
 * set the window. The return value is the kernel's own.
 */
static u32 cellbed_min_tso_segs(struct sock *sk)
{
	const struct cellbed *c = cellbed_ca(sk);
	const struct net *net = sock_net(sk);

	if (c->ready && c->bytes)
		cellbed_bytes_allow(sk);
	return READ_ONCE(net->ipv4.sysctl_tcp_min_tso_segs);
}

/* The kernel calls each get_info() without the socket's lock. */
static size_t cellbed_get_info(struct sock *sk, u32 ext, int *attr,
			       union tcp_cc_info *info)
{
	const struct cellbed *c = cellbed_ca(sk);
	u32 mss = READ_ONCE(tcp_sk(sk)->mss_cache);
	u32 unit = c->bytes ? 1 : mss;

	if (!c->ready || !(ext & (1 << (INET_DIAG_VEGASINFO - 1))))
		return 0;
	info->vegas.tcpv_enabled = 0;
	info->vegas.tcpv_rttcnt = READ_ONCE(c->cwnd) * unit;
	info->vegas.tcpv_rtt = unit;
	info->vegas.tcpv_minrtt = mss;
	*attr = INET_DIAG_VEGASINFO;
	return sizeof(struct tcpvegas_info);
}

/* The state machine has just counted the duplicate ACK: take it back. */
static void cellbed_vanilla_control(struct sock *sk, u32 ack, int flag,
				    const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_sack(tp))
		tp->sacked_out = 0;
	cellbed_cong_control(sk, ack, flag, rs);
}

#define CELLBED_OPS(flavor, on_ack, control) {				\
	.flags = TCP_CONG_NON_RESTRICTED,				\
	.name = "cellbed_" #flavor,					\
	.owner = THIS_MODULE,						\
	.init = cellbed_init,						\
	.release = cellbed_release,					\
	.ssthresh = cellbed_ssthresh,					\
	.undo_cwnd = cellbed_undo_cwnd,					\
	.set_state = cellbed_set_state,					\
	.cwnd_event = cellbed_cwnd_event,				\
	.pkts_acked = cellbed_pkts_acked,				\
	.in_ack_event = on_ack,						\
	.min_tso_segs = cellbed_min_tso_segs,				\
	.cong_control = control,					\
	.get_info = cellbed_get_info,					\
}

static struct tcp_congestion_ops cellbed_ops[] __read_mostly = {
	CELLBED_OPS(vanilla, cellbed_vanilla_ack, cellbed_vanilla_control),
	CELLBED_OPS(reno, cellbed_reno_ack, cellbed_cong_control),
	CELLBED_OPS(newreno, cellbed_newreno_ack, cellbed_cong_control),
	CELLBED_OPS(sack, cellbed_sack_in_ack, cellbed_cong_control),
};

static void cellbed_unregister(size_t count)
{
	while (count--)
		tcp_unregister_congestion_control(&cellbed_ops[count]);
}

static int __init cellbed_tcp_init(void)
{
	size_t i;
	int ret = cellbed_params_register();

	if (ret)
		return ret;
	for (i = 0; i < ARRAY_SIZE(cellbed_ops); i++) {
		ret = tcp_register_congestion_control(&cellbed_ops[i]);
		if (ret) {
			cellbed_unregister(i);
			cellbed_params_unregister();
			return ret;
		}
	}
	return 0;
}

static void __exit cellbed_tcp_exit(void)
{
	cellbed_unregister(ARRAY_SIZE(cellbed_ops));
	cellbed_params_unregister();
}

module_init(cellbed_tcp_init);
module_exit(cellbed_tcp_exit);

MODULE_AUTHOR("The cellbed authors");
MODULE_DESCRIPTION("Vanilla, Reno, NewReno and SACK as of 1998");
MODULE_LICENSE("GPL");
MODULE_VERSION("1.0");
MODULE_ALIAS("tcp_cellbed_vanilla");
MODULE_ALIAS("tcp_cellbed_reno");
MODULE_ALIAS("tcp_cellbed_newreno");
MODULE_ALIAS("tcp_cellbed_sack");
