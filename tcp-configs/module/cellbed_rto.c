// SPDX-License-Identifier: GPL-2.0-only
/*
 * The retransmission timeout in coarse ticks: the integer estimator of 4.4BSD
 * (tcp_xmit_timer(); Wright & Stevens, TCP/IP Illustrated vol. 2, 25.10; the
 * formula is Jacobson's, SIGCOMM 88). The ticks of rto_tick_ms count from the
 * moment at which the segment left or the timer was set, as if the hosts'
 * clocks were not in step; or, by rto_clock, they are the ticks of one clock.
 *
 *	rtt     = 1 + whole ticks between a segment and its ACK
 *	first:    srtt = rtt, rttvar = rtt / 2
 *	later:    d = rtt - 1 - srtt;  srtt += d / 8;  rttvar += (|d| - rttvar) / 4
 *	RTO     = max(srtt + 4 rttvar, rto_min_ticks), doubled at every timeout
 *
 * One segment is timed at a time, which gives one sample per round trip. The
 * kernel has Karn's rule: an ACK that covers retransmitted data gives no
 * sample.
 *
 * cellbed_timer.c gives the RTO to the kernel, and makes the timer expire
 * exactly to the nanosecond.
 */
#include "cellbed.h"

#define CELLBED_RTT_SHIFT 3		/* srtt8 counts eighths */
#define CELLBED_VAR_SHIFT 2		/* rttvar4 counts quarters */
#define CELLBED_MAX_BACKOFF 12

static void cellbed_rto_estimate(struct cellbed *c, u32 rtt)
{
	s32 delta;

	if (!c->srtt8) {
		c->srtt8 = rtt << CELLBED_RTT_SHIFT;
		c->rttvar4 = rtt << (CELLBED_VAR_SHIFT - 1);
		return;
	}
	delta = (s32)rtt - 1 - (s32)(c->srtt8 >> CELLBED_RTT_SHIFT);
	c->srtt8 = max_t(s32, (s32)c->srtt8 + delta, 1);
	delta = abs(delta) - (s32)(c->rttvar4 >> CELLBED_VAR_SHIFT);
	c->rttvar4 = max_t(s32, (s32)c->rttvar4 + delta, 1);
}

/* The last tick of the common clock; without it, the moment itself. */
u64 cellbed_rto_tick_before(const struct sock *sk, u64 ns)
{
	const struct cellbed *c = cellbed_ca(sk);
	u64 past;

	if (!c->common_clock)
		return ns;
	div64_u64_rem(ns, jiffies_to_nsecs(c->tick), &past);
	return ns - past;
}

/* One plus the number of ticks in the round trip that was just measured. */
static u32 cellbed_rtt_ticks(const struct sock *sk, u32 rtt_us)
{
	u64 now = tcp_clock_ns(), tick = jiffies_to_nsecs(cellbed_ca(sk)->tick);
	u64 sent = now - (u64)rtt_us * NSEC_PER_USEC;

	return 1 + div64_u64(now - cellbed_rto_tick_before(sk, sent), tick);
}

static u32 cellbed_rto_base(const struct cellbed *c)
{
	u32 ticks;

	if (!c->srtt8)
		return c->first_rto;
	ticks = (c->srtt8 >> CELLBED_RTT_SHIFT) + c->rttvar4;
	return max_t(u32, ticks, c->min_ticks) * c->tick;
}

/* The present RTO, with its doublings. */
u32 cellbed_rto_jiffies(const struct sock *sk)
{
	const struct cellbed *c = cellbed_ca(sk);
	u64 rto = (u64)cellbed_rto_base(c) << c->backoff;

	return min_t(u64, rto, TCP_RTO_MAX);
}

/* The kernel's estimator forgets the handshake's round trip. */
static void cellbed_rto_forget_handshake(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	tp->srtt_us = 0;
	tp->mdev_us = 0;
	tp->rttvar_us = 0;
	inet_csk(sk)->icsk_rto = cellbed_ca(sk)->first_rto;
}

void cellbed_rto_init(struct sock *sk, const struct cellbed_params *params)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct cellbed *c = cellbed_ca(sk);
	int first_ms = READ_ONCE(params->rto_first_ms);
	bool of_data = READ_ONCE(params->rto_first_sample) ==
		       CELLBED_RTO_FIRST_SAMPLE_DATA;

	c->tick = msecs_to_jiffies(READ_ONCE(params->rto_tick_ms));
	c->min_ticks = READ_ONCE(params->rto_min_ticks);
	c->common_clock = c->tick && READ_ONCE(params->rto_clock) ==
				     CELLBED_RTO_CLOCK_COMMON;
	c->any_ack_clears = READ_ONCE(params->backoff_clear) ==
			    CELLBED_BACKOFF_CLEAR_ANY_ACK;
	c->timed_seq = tp->snd_una;
	c->first_rto = first_ms ? msecs_to_jiffies(first_ms) : TCP_TIMEOUT_INIT;
	if (c->common_clock)
		c->first_rto = roundup(c->first_rto, c->tick);
	if (!c->tick) {
		if (of_data || (first_ms && !tp->srtt_us))
			cellbed_rto_forget_handshake(sk);
		return;
	}
	if (!of_data && tp->srtt_us)
		cellbed_rto_estimate(c, cellbed_rtt_ticks(sk, tp->srtt_us >> 3));
}

void cellbed_rto_timeout(struct sock *sk)
{
	struct cellbed *c = cellbed_ca(sk);

	if (c->backoff < CELLBED_MAX_BACKOFF)
		c->backoff++;
}

/* For the kernel's own timer, the only parameter is the end of its backoff. */
static void cellbed_rto_clear_kernel_backoff(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!icsk->icsk_backoff)
		return;
	icsk->icsk_backoff = 0;
	icsk->icsk_rto = tp->srtt_us ? __tcp_set_rto(tp) :
				       cellbed_ca(sk)->first_rto;
	tcp_bound_rto(sk);
}

/*
 * The kernel has Karn's rule. But its sample may be of a SACKed segment, and in
 * a recovery that began during the repair of a timeout, the blocks report
 * segments that arrived long before.
 */
static bool cellbed_rto_sampled(const struct sock *sk,
				const struct ack_sample *sample)
{
	const struct cellbed *c = cellbed_ca(sk);

	if (!sample->pkts_acked || sample->rtt_us < 0)
		return false;
	return !c->multiple || !c->recovering ||
	       !tcp_is_sack(tcp_sk(sk)) || !before(c->una, c->repair_end);
}

/* Uses an ACK to update the round trip and the doublings. */
void cellbed_rto_sample(struct sock *sk, const struct ack_sample *sample)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct cellbed *c = cellbed_ca(sk);
	bool sampled = cellbed_rto_sampled(sk, sample);

	if (sampled || (sample->pkts_acked && c->any_ack_clears))
		c->backoff = 0;
	if (!c->tick) {
		if (sample->pkts_acked && c->any_ack_clears)
			cellbed_rto_clear_kernel_backoff(sk);
		return;
	}
	if (sampled && after(tp->snd_una, c->timed_seq)) {
		cellbed_rto_estimate(c, cellbed_rtt_ticks(sk, sample->rtt_us));
		c->timed_seq = tp->snd_nxt;
	}
}
