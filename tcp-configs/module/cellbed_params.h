/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generated: to change it, change plan/flavor.py, and then
 *
 *	python3 -m harness.flavors.generated
 *
 * The parameters of a network namespace, /proc/sys/net/ipv4/cellbed/NAME, and
 * in brackets what it begins with. They are copied when a connection begins: a
 * later write changes the connections after it, never one that is running.
 *
 * byte_window: 0 or 1 [0]
 *	The window is counted in bytes and filled with segments cut short: no
 *	silly window avoidance (98-0876R1, 6.2; cellbed_bytes.c).
 *
 * ssthresh_from_route: 0 or 1 [0]
 *	The initial ssthresh is the route's, in segments, on the first
 *	connection too; else it is unlimited.
 *
 * ssthresh_rule: 0 or 1 [0]
 *	What ssthresh becomes on a loss.
 *	0 flight: half of min(cwnd, what is outstanding), and once only for the
 *	timeouts of a segment (RFC 2581; RFC 5681, 3.1)
 *	1 window: half of min(cwnd, the peer's window), at every timeout (RFC
 *	2001, 1; 4.4BSD, tcp_timers())
 *
 * idle_restart: 0 or 1 [0]
 *	After an idle RTO cwnd is the initial one again; else it stays.
 *
 * grow_app_limited: 0 or 1 [1]
 *	cwnd grows with each ACK though the application does not fill it, as
 *	BSD's did.
 *
 * rto_tick_ms: 0 to 1000 [0]
 *	0: the kernel's timer. Else 4.4BSD's integer estimator in ticks of so
 *	many ms, counted from when the timer is set (cellbed_rto.c).
 *
 * rto_min_ticks: 0 to 100 [2]
 *	The lower bound of the RTO, in those ticks.
 *
 * rto_first_ms: 0 to 60000 [0]
 *	The RTO until the first sample of the round trip; 0: the kernel's, a
 *	second.
 *
 * rto_first_sample: 0 or 1 [0]
 *	What the first sample is of.
 *	0 handshake: the handshake, unless it was sent again (4.4BSD; RFC 6298,
 *	2)
 *	1 data: data; the round trip of the handshake is forgotten
 *
 * backoff_clear: 0 or 1 [0]
 *	What ends the doubling of the RTO.
 *	0 valid_sample: a valid sample of the round trip (Karn)
 *	1 any_ack: any ACK of new data
 *
 * after_timeout: 0 or 1 [0]
 *	SACK: what is sent again after a timeout.
 *	0 go_back_n: all; what the blocks said is forgotten until all of it is
 *	acknowledged
 *	1 keep_scoreboard: what is not SACKed
 *
 * sack_retransmit: 0 or 1 [0]
 *	SACK: which hole may be sent again.
 *	0 three_above: one with three SACKed segments above it (RFC 6675)
 *	1 pipe: any, while PIPE is less than cwnd (Fall & Floyd 1996)
 *
 * sack_resend_on_partial: 0 to 2 [0]
 *	SACK: may the first hole be sent a third time on a partial ACK?
 *	0 never: no, a retransmission that is lost costs a timeout
 *	1 always: at once
 *	2 after_rtt: when a smoothed round trip has passed since its last
 *	sending
 *
 * sack_pipe: 0 or 1 [0]
 *	SACK: the steps of PIPE.
 *	0 bytes: what is outstanding at first, then what is SACKed and sent, in
 *	bytes with byte_window
 *	1 segments: those of the text, each a full segment: the window less 3 at
 *	first, 1 off for a duplicate ACK, 2 for a partial one, 1 on for a
 *	sending; and a recovery goes by the text's table: the third duplicate
 *	ACK begins it, any segment not SACKed below one that is is sent again as
 *	it was, new data in whole segments (98-0876R1, 3.2; cellbed_sack.c)
 *
 * multiple_fast_retransmits: 0 or 1 [0]
 *	The third duplicate ACK always starts a fast retransmit (RFC 2001;
 *	98-0876R1, 3.1; cellbed_recovery.c); else not while a timeout is
 *	repaired, nor for the last byte of a recovery (RFC 2582, 5). With it the
 *	module counts duplicate ACKs by RFC 5681, 2; the kernel misses the one
 *	after the peer has sent data.
 *
 * resend_boundaries: 0 or 1 [0]
 *	With byte_window: how what is sent again is cut.
 *	0 kept: as it was; small segments are joined, and what does not fit the
 *	window waits
 *	1 anew: from the first byte missing, as long as a segment may be and the
 *	window allows, new data behind it included, with SACK to the end of the
 *	hole (4.4BSD, tcp_output(); cellbed_recut.c); by the table of sack_pipe
 *	as it was
 *
 * newreno_partial: 0 or 1 [0]
 *	NewReno: what the window becomes on a partial ACK.
 *	0 deflate: less by what was acknowledged, and one segment more (RFC
 *	6582)
 *	1 reset: ssthresh (98-0876R1, 3.1; ns-2.1b3)
 *
 * newreno_flywheel: 0 or 1 [0]
 *	NewReno: every second duplicate ACK of a recovery sends a new segment,
 *	whatever the window (Hoe 1996).
 */
#ifndef CELLBED_PARAMS_H
#define CELLBED_PARAMS_H

enum cellbed_ssthresh_rule {
	CELLBED_SSTHRESH_RULE_FLIGHT,
	CELLBED_SSTHRESH_RULE_WINDOW,
};

enum cellbed_rto_first_sample {
	CELLBED_RTO_FIRST_SAMPLE_HANDSHAKE,
	CELLBED_RTO_FIRST_SAMPLE_DATA,
};

enum cellbed_backoff_clear {
	CELLBED_BACKOFF_CLEAR_VALID_SAMPLE,
	CELLBED_BACKOFF_CLEAR_ANY_ACK,
};

enum cellbed_after_timeout {
	CELLBED_AFTER_TIMEOUT_GO_BACK_N,
	CELLBED_AFTER_TIMEOUT_KEEP_SCOREBOARD,
};

enum cellbed_sack_retransmit {
	CELLBED_SACK_RETRANSMIT_THREE_ABOVE,
	CELLBED_SACK_RETRANSMIT_PIPE,
};

enum cellbed_sack_resend_on_partial {
	CELLBED_SACK_RESEND_ON_PARTIAL_NEVER,
	CELLBED_SACK_RESEND_ON_PARTIAL_ALWAYS,
	CELLBED_SACK_RESEND_ON_PARTIAL_AFTER_RTT,
};

enum cellbed_sack_pipe {
	CELLBED_SACK_PIPE_BYTES,
	CELLBED_SACK_PIPE_SEGMENTS,
};

enum cellbed_resend_boundaries {
	CELLBED_RESEND_BOUNDARIES_KEPT,
	CELLBED_RESEND_BOUNDARIES_ANEW,
};

enum cellbed_newreno_partial {
	CELLBED_NEWRENO_PARTIAL_DEFLATE,
	CELLBED_NEWRENO_PARTIAL_RESET,
};

struct cellbed_params {
	int byte_window;
	int ssthresh_from_route;
	int ssthresh_rule;
	int idle_restart;
	int grow_app_limited;
	int rto_tick_ms;
	int rto_min_ticks;
	int rto_first_ms;
	int rto_first_sample;
	int backoff_clear;
	int after_timeout;
	int sack_retransmit;
	int sack_resend_on_partial;
	int sack_pipe;
	int multiple_fast_retransmits;
	int resend_boundaries;
	int newreno_partial;
	int newreno_flywheel;
};

/*
 * All of them as X(name, least, default, greatest, handler). The handler of a
 * time refuses what the kernel's timers cannot keep.
 */
#define CELLBED_PARAMS(X)						\
	X(byte_window, 0, 0, 1, proc_dointvec_minmax)			\
	X(ssthresh_from_route, 0, 0, 1, proc_dointvec_minmax)		\
	X(ssthresh_rule, 0, 0, 1, proc_dointvec_minmax)			\
	X(idle_restart, 0, 0, 1, proc_dointvec_minmax)			\
	X(grow_app_limited, 0, 1, 1, proc_dointvec_minmax)		\
	X(rto_tick_ms, 0, 0, 1000, cellbed_ms)				\
	X(rto_min_ticks, 0, 2, 100, proc_dointvec_minmax)		\
	X(rto_first_ms, 0, 0, 60000, cellbed_ms)			\
	X(rto_first_sample, 0, 0, 1, proc_dointvec_minmax)		\
	X(backoff_clear, 0, 0, 1, proc_dointvec_minmax)			\
	X(after_timeout, 0, 0, 1, proc_dointvec_minmax)			\
	X(sack_retransmit, 0, 0, 1, proc_dointvec_minmax)		\
	X(sack_resend_on_partial, 0, 0, 2, proc_dointvec_minmax)	\
	X(sack_pipe, 0, 0, 1, proc_dointvec_minmax)			\
	X(multiple_fast_retransmits, 0, 0, 1, proc_dointvec_minmax)	\
	X(resend_boundaries, 0, 0, 1, proc_dointvec_minmax)		\
	X(newreno_partial, 0, 0, 1, proc_dointvec_minmax)		\
	X(newreno_flywheel, 0, 0, 1, proc_dointvec_minmax)

#endif
