/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * path.h - a moving path: how much it can carry until a time, and when it has carried an amount
 *
 * Shared by the cell queue (cellq.bpf.c), by the queueing discipline of packets (topology/moving)
 * and by the tests. topology/moving/table.py makes the table from a plan.
 *
 * Work is an amount that the link can carry, in millionths of a bit: bit/s times whole
 * microseconds, so the table is exact. W(t) is the work that the link could have done until t. It
 * grows with the rate of the row at t, is constant in an outage, and jumps if a row brings bits at
 * once (a delivery opportunity). A packet of work s that begins at work w has left at the first
 * time t with W(t) >= w + s. So a packet in transmission at a change sends its remaining bits at
 * the new rate. Times are ticks of 1 ps since the table's epoch.
 *
 * Row 0 is the still path before time 0 of the plan's path. The rows after it are the rows of the
 * path. With a period, these rows repeat.
 */
#ifndef CELLBED_PATH_H
#define CELLBED_PATH_H

#include <linux/types.h>

/* Powers of two: an index is masked. A map of 2^18 rows has 10 MB, and User-Mode Linux maps each of
 * its pages with a system call. Each power of two is also one more step of each search, which the
 * verifier follows many times. So there are further programs for short tables and for few rows. */
#define PATH_LONG_ROWS	(1 << 18)
#define PATH_SHORT_ROWS	(1 << 13)
#define PATH_FEW_ROWS	(1 << 6)
#ifndef PATH_MAX_ROWS
#define PATH_MAX_ROWS	PATH_LONG_ROWS
#endif
#define PATH_ROW_MASK	(PATH_MAX_ROWS - 1)
#define PATH_PS_PER_US	1000000ULL
#define PATH_UBIT	1000000ULL	/* work of one bit */
#define PATH_NEVER	(1ULL << 62)
#define PATH_AFTER_ALL	((1ULL << 63) - 1)

struct path_row {
	__u64 time_ps;		/* holds from here on */
	__u64 work;		/* W at this time, with the bits that come at once */
	__u64 rate;		/* bit/s; 0 in an outage */
	__u64 delay_ns;		/* delay of packets that leave the link at this time */
	__u64 loss;		/* lost packets among 2^32 */
};

struct path_head {
	__u64 epoch_ns;		/* CLOCK_MONOTONIC of tick 0 */
	__u64 loop_ps;		/* time 0 of the plan's path */
	__u64 loop_work;	/* W just before it */
	__u64 period_ps;	/* PATH_NEVER: the last row holds to the end */
	__u64 period_work;	/* PATH_NEVER too, if period_ps is */
	__u32 rows;
	__u32 steady;		/* no bits at once; never faster than an access link */
};

struct path_table {
	struct path_head head;
	struct path_row rows[PATH_MAX_ROWS];
};

/*
 * No function below has a jump. With jumps in each table lookup, the cell queue would have more
 * execution paths than the verifier checks. A truth value is 1 or 0, and its negative is a mask.
 */

/* Hides a number's range from the compiler. If the compiler knows the range, it makes jumps again
 * and omits the mask of an index, which the verifier requires. */
#define PATH_HIDE(number) asm volatile("" : "+r"(number))

/* a < b; both are below 2^63. */
static inline __attribute__((always_inline)) __u64 path_below(__u64 a, __u64 b)
{
	__u64 difference = a - b;

	PATH_HIDE(difference);
	return difference >> 63;
}

/* a - b, or 0 where that is negative. */
static inline __attribute__((always_inline)) __u64 path_above(__u64 a, __u64 b)
{
	return (a - b) & (path_below(a, b) - 1);
}

/* One step of a search: go on to a row if it exists and is before the wanted row. The table of the
 * cell queue is filled up with rows that are before nothing, so its verifier follows less. */
#ifdef __bpf__
#define PATH_EXISTS(at, count) ((void)(count), 1)
#else
#define PATH_EXISTS(at, count) path_below(at, count)
#endif
#define PATH_STEP(low, step, count, before)						\
	do {										\
		__u64 at = (low) + (step), there = PATH_EXISTS(at, count);		\
		const struct path_row *row_ = &rows[at & -there & PATH_ROW_MASK];	\
											\
		(low) += (step) & -(there & (before));					\
	} while (0)

/* The last row that begins at or before a time. */
static inline __attribute__((always_inline)) __u64
path_row_at(const struct path_head *h, const struct path_row *rows, __u64 t_ps)
{
	__u64 low = 0, step;

#pragma GCC unroll 18
	for (step = PATH_MAX_ROWS / 2; step; step /= 2)
		PATH_STEP(low, step, h->rows, path_below(t_ps, row_->time_ps) ^ 1);
	PATH_HIDE(low);
	return low & PATH_ROW_MASK;
}

/* The last row whose work is less; row 0 if there is none. */
static inline __attribute__((always_inline)) __u64
path_row_below(const struct path_head *h, const struct path_row *rows, __u64 work)
{
	__u64 low = 0, step;

#pragma GCC unroll 18
	for (step = PATH_MAX_ROWS / 2; step; step /= 2)
		PATH_STEP(low, step, h->rows, path_below(row_->work, work));
	PATH_HIDE(low);
	return low & PATH_ROW_MASK;
}

/* W(t), rounded down. */
static inline __attribute__((always_inline)) __u64
path_work(const struct path_head *h, const struct path_row *rows, __u64 t_ps)
{
	__u64 rounds = path_above(t_ps, h->loop_ps) / h->period_ps, gone_ps;
	const struct path_row *row;

	t_ps -= rounds * h->period_ps;
	row = &rows[path_row_at(h, rows, t_ps)];
	gone_ps = t_ps - row->time_ps;
	return rounds * h->period_work + row->work + row->rate * (gone_ps / PATH_PS_PER_US) +
	       row->rate * (gone_ps % PATH_PS_PER_US) / PATH_PS_PER_US;
}

/* The first tick t with W(t) >= work. */
static inline __attribute__((always_inline)) __u64
path_moment(const struct path_head *h, const struct path_row *rows, __u64 work)
{
	__u64 rounds = path_above(work, h->loop_work + 1) / h->period_work;
	__u64 at, next, after, t_ps, left, rate, silent;
	const struct path_row *row;

	work -= rounds * h->period_work;
	at = path_row_below(h, rows, work);
	after = path_below(at + 1, h->rows);
	/* Where the next row begins; after the last row, never. */
	next = at + after;
	PATH_HIDE(next);
	t_ps = rows[next & PATH_ROW_MASK].time_ps | ((after - 1) >> 1);
	PATH_HIDE(at);
	row = &rows[at & PATH_ROW_MASK];
	silent = path_below(row->rate, 1);
	rate = row->rate + silent;
	left = work - row->work;
	left = left / rate * PATH_PS_PER_US + (left % rate * PATH_PS_PER_US + rate - 1) / rate;
	left += row->time_ps;
	/* The row brings it, unless it is silent or ends before. */
	t_ps ^= (t_ps ^ left) & -(path_below(left, t_ps) & (silent ^ 1));
	return t_ps + rounds * h->period_ps;
}

/* The row that holds at a time, in any round. */
static inline __attribute__((always_inline)) const struct path_row *
path_now(const struct path_head *h, const struct path_row *rows, __u64 t_ps)
{
	__u64 rounds = path_above(t_ps, h->loop_ps) / h->period_ps;

	return &rows[path_row_at(h, rows, t_ps - rounds * h->period_ps)];
}

/* A draw of 32 bits for the n-th packet: SplitMix64 (Steele, Lea and Flood 2014, figure 16). */
static inline __attribute__((always_inline)) __u32 path_draw(__u64 seed, __u64 n)
{
	__u64 z = seed + (n + 1) * 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return (z ^ (z >> 31)) >> 32;
}

#endif /* CELLBED_PATH_H */
