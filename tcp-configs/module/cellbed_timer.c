// SPDX-License-Identifier: GPL-2.0-only
/*
 * A retransmission timer that is exact to the nanosecond.
 *
 * The kernel's timers expire with the tick: at HZ 100 all connections whose
 * timers end within the same 10 ms send at the same instant. A hundred
 * connections that begin together then lose and resend in step for ever, where
 * in the paper's simulator each keeps the offset at which it once sent. So:
 *
 *   - The kernel gets an icsk_rto that is short by a grain of the timer wheel
 *     (cellbed_timer_early()), so that the wheel expires before the deadline.
 *   - The wheel's expiry calls cellbed_wheel_expired(). It sets a
 *     high-resolution timer for the rest of the time: the connection's pacing
 *     timer, because connections of this module are not paced.
 *   - This timer calls the kernel's own timer function.
 *
 * The deadline is the RTO after the later of two moments: the last ACK of new
 * data, and the last sending of the first outstanding segment. At these
 * moments, the kernel sets its timer (RFC 6298, 5). By the common clock of
 * rto_clock, the RTO begins at the clock's last tick before that moment.
 *
 * A connection that is paced nevertheless (SO_MAX_PACING_RATE) gets its pacing
 * timer back at once. Its timeouts may then be early by the grain.
 */
#include "cellbed.h"

/* The time after which to look again at a socket that a process owns. */
#define CELLBED_RETRY_NS (100 * NSEC_PER_USEC)

/* The wheel, in jiffies: an expiry at least SPAN away is rounded up to a
 * multiple of GRAIN; below the first SPAN to the next jiffy.
 */
static const struct {
	u32 span, grain;
} cellbed_wheel[] = { { 32768, 4096 }, { 4096, 512 }, { 512, 64 }, { 64, 8 } };

/* tcp_write_timer() and tcp_pace_kick(): the same for all connections. */
static void (*cellbed_kernel_expired)(struct timer_list *timer);
static enum hrtimer_restart (*cellbed_kernel_pace)(struct hrtimer *timer);

/*
 * Returns the value for the kernel, whose timer must end before the RTO does.
 * With the common clock, the RTO may end sooner by up to a tick.
 */
static u32 cellbed_timer_early(const struct sock *sk)
{
	const struct cellbed *c = cellbed_ca(sk);
	u32 rto = cellbed_rto_jiffies(sk) - (c->common_clock ? c->tick : 0);
	u32 early = 2;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cellbed_wheel); i++) {
		if (rto >= cellbed_wheel[i].span) {
			early = cellbed_wheel[i].grain + 1;
			break;
		}
	}
	return rto > early ? rto - early : 1;
}

/*
 * The kernel writes icsk_rto just before it calls pkts_acked() and sets the
 * timer well after, so the value left here is the one the timer is set with.
 */
void cellbed_timer_give(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	const struct cellbed *c = cellbed_ca(sk);

	icsk->icsk_rto = c->exact ? cellbed_timer_early(sk) :
				    cellbed_rto_jiffies(sk);
	icsk->icsk_backoff = c->backoff;
}

/* After a timeout: the kernel doubles icsk_rto itself, after set_state(). */
void cellbed_timer_timeout(struct sock *sk)
{
	if (cellbed_ca(sk)->exact)
		inet_csk(sk)->icsk_rto = max(cellbed_timer_early(sk) / 2, 1U);
}

static bool cellbed_timer_paced(const struct sock *sk)
{
	return READ_ONCE(sk->sk_pacing_status) == SK_PACING_NEEDED;
}

static void cellbed_wheel_expired(struct timer_list *timer);

/* Is it a retransmission timer of this module? The connection may have changed
 * its congestion control while a function in this file waited for it.
 */
static bool cellbed_timer_ours(const struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);

	return icsk->icsk_pending == ICSK_TIME_RETRANS &&
	       icsk->icsk_retransmit_timer.function == cellbed_wheel_expired &&
	       !cellbed_timer_paced(sk) && tcp_rtx_queue_head(sk);
}

/* Nanoseconds to the deadline; none when there is no such timer. */
static s64 cellbed_timer_left(const struct sock *sk)
{
	const struct cellbed *c = cellbed_ca(sk);
	const struct sk_buff *head = tcp_rtx_queue_head(sk);
	u64 set = c->advance_ns;

	WARN_ON_ONCE(sock_owned_by_user(sk));
	if (!cellbed_timer_ours(sk))
		return 0;
	if ((s64)(head->skb_mstamp_ns - set) > 0)
		set = head->skb_mstamp_ns;
	return cellbed_rto_tick_before(sk, set) +
	       jiffies_to_nsecs(cellbed_rto_jiffies(sk)) - tcp_clock_ns();
}

/*
 * A queued timer has a reference on the socket. Only the two functions below
 * queue it, with the socket's spinlock held, so a timer that is not queued
 * stays so. A queued timer stays unchanged: it checks the deadline when it
 * expires, and the deadline only moves forward, except on an ACK of new data,
 * which cancels the timer.
 */
static void cellbed_timer_wait(struct sock *sk, s64 ns)
{
	struct hrtimer *exact = &tcp_sk(sk)->pacing_timer;

	if (hrtimer_is_queued(exact))
		return;
	sock_hold(sk);
	hrtimer_start(exact, ns_to_ktime(tcp_clock_ns() + ns),
		      HRTIMER_MODE_ABS_PINNED_SOFT);
}

/*
 * Is the time over? If not, a timer waits for the rest. If a process owns the
 * socket, it may be changing anything, also on another CPU. Then the function
 * looks again a little later. (The kernel's way, TCP_WRITE_TIMER_DEFERRED,
 * would cause a timeout at once if the wheel expired early.)
 */
static bool cellbed_timer_due(struct sock *sk)
{
	s64 left = CELLBED_RETRY_NS;

	if (!sock_owned_by_user(sk))
		left = cellbed_timer_left(sk);
	if (left > 0)
		cellbed_timer_wait(sk, left);
	return left <= 0;
}

/* Each of the two has a reference, which the kernel's function drops. */
static void cellbed_wheel_expired(struct timer_list *timer)
{
	struct inet_connection_sock *icsk =
		from_timer(icsk, timer, icsk_retransmit_timer);
	struct sock *sk = &icsk->icsk_inet.sk;
	bool due;

	bh_lock_sock(sk);
	due = cellbed_timer_due(sk);
	bh_unlock_sock(sk);
	if (due)
		cellbed_kernel_expired(timer);
	else
		sock_put(sk);
}

/* The kernel's function checks icsk_timeout. Write it only if no process owns
 * the socket. Otherwise, an owner who has just set it would find it expired.
 */
static enum hrtimer_restart cellbed_exact_expired(struct hrtimer *timer)
{
	struct tcp_sock *tp = container_of(timer, struct tcp_sock, pacing_timer);
	struct sock *sk = (struct sock *)tp;
	struct inet_connection_sock *icsk = inet_csk(sk);
	bool due;

	if (cellbed_timer_paced(sk)) {
		/* This timer may have been set for the wheel. */
		sock_hold(sk);
		cellbed_kernel_expired(&icsk->icsk_retransmit_timer);
		return cellbed_kernel_pace(timer);
	}
	bh_lock_sock(sk);
	due = cellbed_timer_due(sk);
	if (due && cellbed_timer_ours(sk))
		icsk->icsk_timeout = jiffies;
	bh_unlock_sock(sk);
	if (due)
		cellbed_kernel_expired(&icsk->icsk_retransmit_timer);
	else
		sock_put(sk);
	return HRTIMER_NORESTART;
}

/* Returns to the wheel, which had expired: the timer waits for the rest. */
static void cellbed_timer_cancel(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);

	if (hrtimer_try_to_cancel(&tcp_sk(sk)->pacing_timer) == 1)
		__sock_put(sk);
	if (icsk->icsk_pending)
		sk_reset_timer(sk, &icsk->icsk_retransmit_timer,
			       icsk->icsk_timeout);
}

/* An ACK of new data. The kernel is about to set the wheel anew itself, but for
 * an ACK of a part of a merged segment.
 */
void cellbed_timer_restart(struct sock *sk)
{
	if (cellbed_ca(sk)->exact && !cellbed_timer_paced(sk) &&
	    hrtimer_is_queued(&tcp_sk(sk)->pacing_timer))
		cellbed_timer_cancel(sk);
}

static u32 cellbed_timer_expiry(const struct inet_connection_sock *icsk)
{
	return icsk->icsk_pending == ICSK_TIME_RETRANS ? icsk->icsk_timeout : 0;
}

/* Called before the kernel has set the timer for this ACK. */
void cellbed_timer_note(struct sock *sk)
{
	cellbed_ca(sk)->expiry = cellbed_timer_expiry(inet_csk(sk));
}

/*
 * Called after the kernel has set the timer for this ACK. With SACK it restarts
 * the timer also on a duplicate ACK, when a segment that left before the first
 * hole's last sending has arrived; RFC 6298 (5.3) restarts it on an ACK of new
 * data. The restart by a retransmission of the first hole comes later.
 */
void cellbed_timer_keep(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	const struct cellbed *c = cellbed_ca(sk);
	u32 expiry = cellbed_timer_expiry(icsk);

	if (!expiry || c->advanced || !c->expiry || expiry == c->expiry)
		return;
	icsk->icsk_timeout -= expiry - c->expiry;
	sk_reset_timer(sk, &icsk->icsk_retransmit_timer, icsk->icsk_timeout);
}

void cellbed_timer_init(struct sock *sk)
{
	struct timer_list *wheel = &inet_csk(sk)->icsk_retransmit_timer;
	struct tcp_sock *tp = tcp_sk(sk);

	if (cellbed_timer_paced(sk))
		return;
	WRITE_ONCE(cellbed_kernel_expired, wheel->function);
	WRITE_ONCE(cellbed_kernel_pace, tp->pacing_timer.function);
	WRITE_ONCE(wheel->function, cellbed_wheel_expired);
	WRITE_ONCE(tp->pacing_timer.function, cellbed_exact_expired);
	cellbed_ca(sk)->exact = 1;
}

/*
 * If a function of this file runs on another CPU meanwhile, it ends before the
 * module is removed: tcp_unregister_congestion_control() waits for all
 * softirqs. If the wheel had expired and a timer waited for the rest, the wheel
 * starts again.
 */
void cellbed_timer_release(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);

	if (!cellbed_ca(sk)->exact)
		return;
	cellbed_ca(sk)->exact = 0;
	WRITE_ONCE(tcp_sk(sk)->pacing_timer.function, cellbed_kernel_pace);
	WRITE_ONCE(icsk->icsk_retransmit_timer.function, cellbed_kernel_expired);
	cellbed_timer_cancel(sk);
}
