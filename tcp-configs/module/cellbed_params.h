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
 *	The sender counts its window in bytes. It cuts a segment short to fill
 *	the window, and does not avoid the silly window syndrome (98-0876R1,
 *	6.2; cellbed_bytes.c). Otherwise it counts whole segments.
 *
 * ssthresh_from_route: 0 or 1 [0]
 *	The attribute ssthresh of the route sets the initial ssthresh, in
 *	segments, also for the first connection. Otherwise the initial ssthresh
 *	is unlimited.
 *
 * ssthresh_rule: 0 or 1 [0]
 *	The value that a loss gives to ssthresh.
 *	0 flight: Half of min(cwnd, outstanding data), and only once for all
 *	timeouts of a segment (RFC 2581; RFC 5681, 3.1).
 *	1 window: Half of min(cwnd, the peer's window), at each timeout (RFC
 *	2001, 1; 4.4BSD, tcp_timers()).
 *
 * idle_restart: 0 or 1 [0]
 *	If the sender was idle for an RTO, cwnd falls back to the initial
 *	window. Otherwise cwnd stays as it was.
 *
 * grow_app_limited: 0 or 1 [1]
 *	cwnd also grows with each ACK while the application sends less than the
 *	window allows, as in BSD.
 *
 * rto_tick_ms: 0 to 1000 [0]
 *	With 0, the sender uses the kernel's timer. Another value is the length
 *	of a tick in ms: the sender uses the integer estimator of 4.4BSD
 *	(cellbed_rto.c).
 *
 * rto_clock: 0 or 1 [0]
 *	The clock whose ticks of rto_tick_ms the sender counts.
 *	0 own: The sender counts the ticks from the moment at which it sets the
 *	timer or sends the timed segment.
 *	1 common: All hosts have one clock, as 4.4BSD has in a host. An RTO of n
 *	ticks ends with the n-th tick after the sender sets the timer.
 *
 * rto_min_ticks: 0 to 100 [2]
 *	The smallest RTO, in ticks of rto_tick_ms.
 *
 * rto_first_ms: 0 to 60000 [0]
 *	The RTO until the first sample of the round trip. With 0, it is the
 *	kernel's: one second.
 *
 * rto_first_sample: 0 or 1 [0]
 *	The origin of the first sample of the round trip.
 *	0 handshake: From the handshake, unless a segment of the handshake was
 *	sent twice (4.4BSD; RFC 6298, 2).
 *	1 data: From data. The sender forgets the round trip of the handshake.
 *
 * backoff_clear: 0 or 1 [0]
 *	The event that ends the doubling of the RTO.
 *	0 valid_sample: A valid sample of the round trip (Karn).
 *	1 any_ack: Any ACK of new data.
 *
 * after_timeout: 0 or 1 [0]
 *	SACK: the data that the sender sends again after a timeout.
 *	0 go_back_n: All outstanding data. The sender forgets the SACK blocks
 *	until all of this data is acknowledged.
 *	1 keep_scoreboard: Only data that is not SACKed.
 *
 * sack_retransmit: 0 or 1 [0]
 *	SACK: the holes that the sender may send again.
 *	0 three_above: A hole with three SACKed segments above it (RFC 6675).
 *	1 pipe: Any hole, while PIPE is less than cwnd (Fall & Floyd 1996).
 *
 * sack_resend_on_partial: 0 to 2 [0]
 *	SACK: may the sender send the first hole a third time on a partial ACK?
 *	0 never: No. A lost retransmission costs a timeout.
 *	1 always: Yes, at once.
 *	2 after_rtt: Yes, if a smoothed round trip has passed since the sender
 *	last sent the hole.
 *
 * sack_pipe: 0 or 1 [0]
 *	SACK: the rule by which PIPE changes.
 *	0 bytes: PIPE begins with at most the outstanding data. It changes by
 *	the data that is SACKed or sent. With byte_window, it counts bytes.
 *	1 segments: PIPE changes as the text says, and each step is a full
 *	segment. It begins with the window less 3. A duplicate ACK takes off 1,
 *	a partial ACK takes off 2, and a sent segment adds 1. The third
 *	duplicate ACK begins the recovery. In the recovery, the sender sends
 *	again each segment that is not SACKed and lies below a SACKed segment,
 *	cut as before, and it sends new data in whole segments (98-0876R1, 3.2;
 *	cellbed_sack.c).
 *
 * multiple_fast_retransmits: 0 or 1 [0]
 *	The third duplicate ACK always starts a fast retransmit (RFC 2001;
 *	98-0876R1, 3.1; cellbed_recovery.c), and the module counts duplicate
 *	ACKs by RFC 5681, 2. The kernel's own count misses the duplicate ACK
 *	after the peer has sent data. Otherwise no fast retransmit starts while
 *	the sender repairs a timeout, or for the last byte of a recovery (RFC
 *	2582, 5).
 *
 * resend_boundaries: 0 or 1 [0]
 *	With byte_window: how the sender cuts data that it sends again.
 *	0 kept: As before. The sender joins small segments, and a segment that
 *	does not fit the window waits.
 *	1 anew: From the first missing byte, as long as the segment size and the
 *	window allow. The segment may include new data after the missing data;
 *	with SACK it ends at the end of the hole (4.4BSD, tcp_output();
 *	cellbed_recut.c). With sack_pipe = "segments", the sender cuts the data
 *	as before.
 *
 * newreno_partial: 0 or 1 [0]
 *	NewReno: the effect of a partial ACK on the window.
 *	0 deflate: The window shrinks by the acknowledged data and grows by one
 *	segment (RFC 6582).
 *	1 reset: The window becomes ssthresh (98-0876R1, 3.1; ns-2.1b3).
 *
 * newreno_flywheel: 0 or 1 [0]
 *	NewReno: every second duplicate ACK of a recovery sends a new segment,
 *	whatever the window is (Hoe 1996).
 */
#ifndef CELLBED_PARAMS_H
#define CELLBED_PARAMS_H

enum cellbed_ssthresh_rule {
	CELLBED_SSTHRESH_RULE_FLIGHT,
	CELLBED_SSTHRESH_RULE_WINDOW,
};

enum cellbed_rto_clock {
	CELLBED_RTO_CLOCK_OWN,
	CELLBED_RTO_CLOCK_COMMON,
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
	int rto_clock;
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
	X(rto_clock, 0, 0, 1, proc_dointvec_minmax)			\
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
