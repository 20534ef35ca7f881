/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The declarations that the files of cellbed_tcp share: the state of a
 * connection, and the functions of each file. The parameters are in
 * cellbed_params.h, and the rules are in cellbed_main.c.
 */
#ifndef CELLBED_H
#define CELLBED_H

#include <linux/inet_diag.h>
#include <net/net_namespace.h>
#include <net/tcp.h>

#include "cellbed_params.h"

/* The cause of the last reduction, until all earlier data is acknowledged. */
enum cellbed_reduced {
	CELLBED_NOT_REDUCED,
	CELLBED_FOR_MARK,		/* an ACK with ECE (RFC 3168) */
	CELLBED_FOR_LOSS,		/* a fast retransmit */
	CELLBED_FOR_TIMEOUT,
};

/*
 * A connection's state, in the congestion module's private 104 bytes. A unit
 * of window is a segment, or a byte with byte_window. The connection copies
 * the parameters when it begins: a later write to a sysctl affects only later
 * connections.
 */
struct cellbed {
	u32 cwnd;		/* the congestion window, in units */
	u32 initial_cwnd;	/* its first value: the route's initcwnd */
	u32 inflation;		/* of cwnd in fast recovery, if counted here */
	u32 una;		/* snd_una at this ACK */
	u32 acked;		/* bytes that this ACK acknowledges */
	u32 turned_at;		/* snd_nxt when the flywheel last turned */
	u32 prior_sacked;	/* sacked_out after the previous ACK */
	u32 prior_wnd;		/* snd_wnd after the previous ACK */
	u32 prior_pure;		/* packets without data at the previous ACK */
	u32 sacked_units;	/* units SACKed when PIPE was last updated */
	u32 repair_end;		/* snd_nxt at the last timeout */
	u32 timed_seq;		/* an ACK beyond it gives the next RTT sample */
	u32 sent_units;		/* units sent when PIPE was last updated */
	s32 pipe;		/* PIPE of Fall & Floyd 1996, in units */
	u32 srtt8;		/* smoothed RTT, eighths of a tick; 0 = no sample */
	u32 rttvar4;		/* smoothed deviation, quarters of a tick */
	u32 first_rto;		/* jiffies until the first sample */
	u32 expiry;		/* before this ACK, in jiffies; 0 = off */
	u32 reduced_end;	/* snd_nxt when the window was last reduced */
	u32 count;		/* ACKs towards the next segment of window */
	u64 advance_ns;		/* when an ACK last acknowledged new data */
	u16 tick;		/* jiffies a tick; 0 = the kernel's own RTO */
	u16 allowed;		/* packets prepared for retransmission */
	u8 min_ticks;
	u8 backoff;		/* doublings of the RTO since it was cleared */
	u8 duplicates;		/* since the last ACK of new data or timeout */
	u8 dupacks;		/* in this recovery; the flywheel uses it */
	u8 sack_ok;		/* tp->rx_opt.sack_ok while SACK is set aside */
	bool bytes;		/* byte_window */
	bool exact;		/* cellbed_timer.c has the timers */
	u32 ready:1,		/* init() has run */
	    advanced:1,		/* this ACK acknowledges new data */
	    duplicate:1,	/* this ACK is a duplicate */
	    recovering:1,	/* the window is that of fast recovery */
	    resend:1,		/* one retransmission ignores the window */
	    idle_restart:1,
	    grow_app_limited:1,
	    any_ack_clears:1,
	    keep_scoreboard:1,
	    use_pipe:1,
	    pipe_segments:1,
	    resend_rule:2,
	    partial_reset:1,
	    half_window:1,
	    flywheel:1,
	    multiple:1,
	    recut:1,
	    common_clock:1,	/* one clock for the ticks of the RTO */
	    one_more:1,		/* the flywheel lets a new segment pass */
	    echo:1,		/* this ACK carries ECE */
	    cwr_queued:1,	/* CWR was to be sent before this ACK */
	    reduced:2;		/* enum cellbed_reduced */
};

/*
 * The report of the window. While the window holds data back, tcp_info's
 * tcpi_snd_cwnd (cwnd in ss) is a quota: with byte_window, the packets that may
 * be in flight, also small ones; before a recovery, less the duplicate ACKs; in
 * a recovery, the room that PIPE leaves, possibly 0. The kernel sends by the
 * quota, and calls no hook after sending, so the module cannot correct it. The
 * congestion window itself is always in the attribute
 * INET_DIAG_VEGASINFO (struct tcpvegas_info, four u32; ask for it with bit
 * 1 << (INET_DIAG_VEGASINFO - 1) of idiag_ext; also getsockopt TCP_CC_INFO),
 * whose fields have this meaning for these four congestion controls:
 *
 *	tcpv_enabled	0: it is not Vegas, and ss ignores it
 *	tcpv_rttcnt	cwnd in bytes, without the inflation of fast recovery
 *	tcpv_rtt	unit of the window [bytes]: 1 with byte_window, else MSS
 *	tcpv_minrtt	MSS in bytes: cwnd in segments is tcpv_rttcnt / tcpv_minrtt
 */
static inline struct cellbed *cellbed_ca(const struct sock *sk)
{
	return inet_csk_ca(sk);
}

/* No window can be larger (RFC 7323: 65,535 shifted by 14). In segments it is
 * out of reach.
 */
#define CELLBED_MAX_WINDOW (65535U << TCP_MAX_WSCALE)

/* Duplicate ACKs, or SACKed segments above a hole, that signal a loss. */
#define CELLBED_DUPTHRESH 3

/* A segment, in units of window. */
static inline u32 cellbed_unit(const struct sock *sk)
{
	return cellbed_ca(sk)->bytes ? tcp_sk(sk)->mss_cache : 1;
}

/*
 * Sets the kernel's window. tcp_snd_cwnd_set() warns of a window of 0. But PIPE
 * may forbid sending when the kernel considers all data lost or arrived.
 */
static inline void cellbed_set_window(struct tcp_sock *tp, u32 packets)
{
	tp->snd_cwnd = packets;
}

/* The data that is not acknowledged, in units. */
static inline u32 cellbed_flight(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return cellbed_ca(sk)->bytes ? tp->snd_nxt - tp->snd_una :
				       tp->packets_out;
}

/* Does SACK use the steps and the table of 98-0876R1, 3.2? */
static inline bool cellbed_by_table(const struct cellbed *c)
{
	return c->use_pipe && c->pipe_segments;
}

/* Does the module count duplicate ACKs instead of the kernel's sacked_out? */
static inline bool cellbed_counts(const struct cellbed *c)
{
	return c->multiple || c->bytes || cellbed_by_table(c);
}

/*
 * A timeout may come in fast recovery. Duplicate ACKs then have inflated the
 * window of RFC 2581; with SACK they have not.
 */
static inline u32 cellbed_inflation(const struct sock *sk)
{
	const struct cellbed *c = cellbed_ca(sk);

	if (!c->recovering || tcp_is_sack(tcp_sk(sk)))
		return 0;
	return c->bytes || cellbed_counts(c) ? c->inflation : c->prior_sacked;
}

/* The sender's window at a loss, in units: at most the peer's window. */
static inline u32 cellbed_window(const struct sock *sk)
{
	const struct cellbed *c = cellbed_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 peer = c->bytes ? tp->snd_wnd : tp->snd_wnd / tp->mss_cache;

	return min(c->cwnd + cellbed_inflation(sk), peer);
}

/*
 * The functions of each file. A file calls only files above it in this list;
 * cellbed_main.c calls them all.
 */

/* cellbed_params.c */
const struct cellbed_params *cellbed_params(const struct net *net);
int cellbed_params_register(void);
void cellbed_params_unregister(void);

/* cellbed_order.c */
void cellbed_order_note(const struct sock *sk);

/* cellbed_rto.c */
void cellbed_rto_init(struct sock *sk, const struct cellbed_params *params);
void cellbed_rto_timeout(struct sock *sk);
void cellbed_rto_sample(struct sock *sk, const struct ack_sample *sample);
u32 cellbed_rto_jiffies(const struct sock *sk);
u64 cellbed_rto_tick_before(const struct sock *sk, u64 ns);

/* cellbed_timer.c */
void cellbed_timer_init(struct sock *sk);
void cellbed_timer_release(struct sock *sk);
void cellbed_timer_give(struct sock *sk);
void cellbed_timer_timeout(struct sock *sk);
void cellbed_timer_restart(struct sock *sk);
void cellbed_timer_note(struct sock *sk);
void cellbed_timer_keep(struct sock *sk);

/* cellbed_scoreboard.c */
bool cellbed_is_hole(const struct sk_buff *skb);
void cellbed_hold_lost(struct tcp_sock *tp, struct sk_buff *skb);
void cellbed_mark_lost(struct tcp_sock *tp, struct sk_buff *skb);
u32 cellbed_sacked_bytes(const struct sock *sk);

/* cellbed_recovery.c */
void cellbed_recovery_begin(struct sock *sk);
void cellbed_recovery_ack(struct sock *sk);
bool cellbed_recovery_duplicate(const struct sock *sk);
void cellbed_recovery_look(struct sock *sk);
void cellbed_recovery_reopen(struct sock *sk);
void cellbed_recovery_release(struct sock *sk);
bool cellbed_recovery_torn(const struct sock *sk);
bool cellbed_recovery_repairing(const struct sock *sk);
u32 cellbed_recovery_next(const struct sock *sk);

/* cellbed_sack.c */
void cellbed_sack_enter_recovery(struct sock *sk);
void cellbed_sack_enter_loss(struct sock *sk);
void cellbed_sack_leave_loss(struct sock *sk);
void cellbed_sack_ack(struct sock *sk);
u32 cellbed_sack_budget(const struct sock *sk);
s32 cellbed_sack_pipe(const struct sock *sk);

/* cellbed_recut.c */
bool cellbed_cut(struct sock *sk, struct sk_buff *skb, u32 len);
struct sk_buff *cellbed_remake(struct sock *sk, struct sk_buff *skb, u32 length);
struct sk_buff *cellbed_recut(struct sock *sk, struct sk_buff *skb, u32 limit);

/* cellbed_bytes.c */
void cellbed_bytes_allow(struct sock *sk);
void cellbed_bytes_prepare(struct sock *sk);
void cellbed_bytes_prepare_first(struct sock *sk);
void cellbed_bytes_show(struct sock *sk, u32 least);

#endif
