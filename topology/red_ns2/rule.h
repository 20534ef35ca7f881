/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rule of Adaptive RED as in ns-2 2.35 (queue/red.cc with adaptive_, its version of Floyd,
 * Gummadi, Shenker, "Adaptive RED", 2001). The kernel module (sch_red_ns2.c) and a library for the
 * tests contain it. It calls no other code.
 *
 * At each arrival, where q is the length of the queue without the packet in transmission:
 *
 *   average := (1 - w)^(m + 1) average + w q    m: mean packets that the link could have sent while
 *                                               it was idle until now
 *   only if half a second has passed since the last change of max_p:
 *       max_p := 0.9 max_p                      where average < min + 0.4 (max - min)
 *       max_p := max_p + min(0.01, max_p / 4)   where average > max - 0.4 (max - min)
 *   p := max_p (average - min) / (max - min)    below max
 *        P + (1 - P) (average - max) / max      from max on; P: the first value of max_p
 *   n: arrivals since the last drawn one; an arrival is drawn with the probability
 *        0 while n p < 1, then p / (2 - n p), and 1 from n p = 2 on ("wait_")
 *
 * If the average is below min or at most one packet waits, no arrival is drawn, and n restarts at
 * the next arrival for which neither is true. A drawn packet is marked if p < 0.1 and it allows
 * ECN, else dropped. A packet that finds the queue at its limit is dropped, and n restarts.
 *
 * If the queue counts bytes, q is in bytes, n is the bytes since then over a mean packet's bytes,
 * rounded down, "one packet" means one byte, and a larger packet is drawn more often.
 *
 * Numbers: Q32 is a fixed-point number with 32 fraction bits, and so on. ns-2 uses doubles.
 */
#ifndef RED_NS2_RULE_H
#define RED_NS2_RULE_H

#ifndef __KERNEL__
#include <stdbool.h>
#include <linux/types.h>
#endif

#define RED_NS2_ONE (1ULL << 32)          /* 1 in Q32 */
#define RED_NS2_MOST (1U << 23)           /* of a length: its Q32 has room for 8 more bits */
#define RED_NS2_BOTTOM (RED_NS2_ONE / 100) /* bottom_ until 2004 */
#define RED_NS2_TOP (RED_NS2_ONE / 2)
#define RED_NS2_ALPHA (RED_NS2_ONE / 100)
#define RED_NS2_MARK_P (RED_NS2_ONE / 10)
#define RED_NS2_INTERVAL_NS 500000000ULL

#define RED_NS2_ECN 1
#define RED_NS2_BYTES 2
#define RED_NS2_GENTLE 4
/* Rules of Linux. Each has its own flag, so that its effect can be measured. */
#define RED_NS2_EAGER 8    /* "wait_ false": the chance is p / (1 - n p), and 1 from n p = 1 on */
#define RED_NS2_SHORT 16   /* also draw if at most one packet waits */
#define RED_NS2_BLIND 32   /* with RED_NS2_BYTES: drops do not depend on a packet's size */
#define RED_NS2_PRESENT 64 /* the slope above max begins at the present max_p */
#define RED_NS2_FLAGS 127

/* The parameters over netlink; lengths are in packets, or in bytes with RED_NS2_BYTES. */
struct red_ns2_parms {
	__u64 weight;       /* w, Q32 */
	__u64 first_p;      /* the first value of max_p, Q32 */
	__u64 packet_ps;    /* the link's time for a mean packet */
	__u64 cell_ps;      /* the link's time for a cell; a packet: (bytes + overhead) / payload cells */
	__u32 limit;        /* at most RED_NS2_MOST */
	__u32 min;          /* Q8 */
	__u32 max;          /* Q8 */
	__u32 packet_bytes; /* a mean packet */
	__u32 cell_overhead;
	__u32 cell_payload;
	__u32 flags;
	__u32 unused;
};

struct red_ns2_vars {
	__u64 average;     /* Q32 */
	__u64 max_p;       /* Q32 */
	__u64 adapted_ns;  /* when max_p last changed */
	__u64 count_bytes; /* bytes of the arrivals in count */
	__u64 p;           /* at the last arrival for which a random number was drawn; Q32 */
	__u32 count;       /* arrivals since the last drawn one */
	__u32 above;       /* whether the previous arrival was above min, with more than one waiting */
};

/* An arrival; `waiting` is in the unit of the lengths. */
struct red_ns2_arrival {
	__u64 now_ns;
	__u64 idle_ns; /* since the link has sent the last packet; 0: it is busy */
	__u32 waiting;
	__u32 bytes;
};

enum red_ns2_verdict {
	RED_NS2_PASS,
	RED_NS2_DRAWN, /* by chance */
	RED_NS2_FULL,  /* the limit is reached */
};

static inline __u64 red_ns2_q32(__u32 q8)
{
	return (__u64)q8 << 24;
}

static inline __u64 red_ns2_times(__u64 a, __u64 b, unsigned int shift)
{
	return (unsigned __int128)a * b >> shift;
}

/* (1 - w)^n in Q63 by squaring; Q32 would lose too many bits on the way. */
static inline __u64 red_ns2_decay(__u64 weight, __u64 n)
{
	__u64 power = (RED_NS2_ONE - weight) << 31, result = 1ULL << 63;

	for (; n; n >>= 1) {
		if (n & 1)
			result = red_ns2_times(result, power, 63);
		power = red_ns2_times(power, power, 63);
	}
	return result;
}

static inline void red_ns2_average(const struct red_ns2_parms *p, struct red_ns2_vars *v,
				   const struct red_ns2_arrival *a)
{
	/* Years of silence would overflow. After such a time, a rounding error does not matter. */
	__u64 packets = a->idle_ns < (1ULL << 53) ? a->idle_ns * 1000 / p->packet_ps
						 : a->idle_ns / p->packet_ps * 1000;

	v->average = red_ns2_times(v->average, red_ns2_decay(p->weight, packets + 1), 63) +
		     p->weight * a->waiting;
}

static inline void red_ns2_adapt(const struct red_ns2_parms *p, struct red_ns2_vars *v, __u64 now_ns)
{
	__u64 part = red_ns2_q32(p->max - p->min) / 5 * 2;

	if (now_ns <= v->adapted_ns + RED_NS2_INTERVAL_NS)
		return;
	if (v->average < red_ns2_q32(p->min) + part && v->max_p > RED_NS2_BOTTOM) {
		v->max_p = v->max_p * 9 / 10;
	} else if (v->average > red_ns2_q32(p->max) - part && v->max_p < RED_NS2_TOP) {
		v->max_p += v->max_p / 4 < RED_NS2_ALPHA ? v->max_p / 4 : RED_NS2_ALPHA;
	} else {
		return;
	}
	v->adapted_ns = now_ns;
}

static inline __u64 red_ns2_probability(const struct red_ns2_parms *p, const struct red_ns2_vars *v)
{
	__u64 min = red_ns2_q32(p->min), max = red_ns2_q32(p->max);
	__u64 from = p->flags & RED_NS2_PRESENT ? v->max_p : p->first_p, found;

	if (v->average < max)
		return red_ns2_times(((v->average - min) << 8) / (p->max - p->min), v->max_p, 32);
	if (!(p->flags & RED_NS2_GENTLE))
		return RED_NS2_ONE;
	found = from + red_ns2_times(((v->average - max) << 8) / p->max, RED_NS2_ONE - from, 32);
	return found < RED_NS2_ONE ? found : RED_NS2_ONE;
}

/* The probability that this arrival is drawn, after n arrivals: Q32, at most 1. */
static inline __u64 red_ns2_chance(const struct red_ns2_parms *p, const struct red_ns2_vars *v,
				   __u32 bytes)
{
	bool in_bytes = p->flags & RED_NS2_BYTES && !(p->flags & RED_NS2_BLIND);
	__u64 n = in_bytes ? v->count_bytes / p->packet_bytes : v->count;
	__u64 chance = v->p, np, sure = 2 * RED_NS2_ONE;

	/* Limit n so that n p cannot overflow 64 bits. */
	if (n > 1ULL << 31)
		n = 1ULL << 31;
	np = n * v->p;
	if (p->flags & RED_NS2_EAGER)
		sure = RED_NS2_ONE;
	else if (np < RED_NS2_ONE)
		return 0;
	if (np >= sure)
		return RED_NS2_ONE;
	chance = (chance << 31) / ((sure - np + 1) >> 1);
	if (in_bytes && chance < RED_NS2_ONE)
		chance = chance * bytes / p->packet_bytes;
	return chance < RED_NS2_ONE ? chance : RED_NS2_ONE;
}

static inline void red_ns2_start(const struct red_ns2_parms *p, struct red_ns2_vars *v)
{
	*v = (struct red_ns2_vars){ .max_p = p->first_p };
}

static inline bool red_ns2_above(const struct red_ns2_parms *p, const struct red_ns2_vars *v,
				 const struct red_ns2_arrival *a)
{
	return v->average >= red_ns2_q32(p->min) && (a->waiting > 1 || p->flags & RED_NS2_SHORT);
}

/* `random` returns 32 random bits. It is called exactly where ns-2 draws. */
static inline enum red_ns2_verdict red_ns2_arrive(const struct red_ns2_parms *p,
						  struct red_ns2_vars *v,
						  const struct red_ns2_arrival *a,
						  __u32 (*random)(void))
{
	enum red_ns2_verdict verdict = RED_NS2_PASS;
	bool above_before = v->above;

	red_ns2_average(p, v, a);
	red_ns2_adapt(p, v, a->now_ns);
	v->count++;
	v->count_bytes += a->bytes;
	v->above = red_ns2_above(p, v, a);
	if (v->above && !above_before) {
		v->count = 1;
		v->count_bytes = a->bytes;
	} else if (v->above) {
		v->p = red_ns2_probability(p, v);
		if (random() < red_ns2_chance(p, v, a->bytes))
			verdict = RED_NS2_DRAWN;
	}
	if (a->waiting >= p->limit)
		verdict = RED_NS2_FULL;
	if (verdict != RED_NS2_PASS) {
		v->count = 0;
		v->count_bytes = 0;
	}
	return verdict;
}

/* May a drawn packet be marked instead of dropped, if its sender allows ECN? */
static inline bool red_ns2_marks(const struct red_ns2_parms *p, const struct red_ns2_vars *v)
{
	return p->flags & RED_NS2_ECN && v->p < RED_NS2_MARK_P;
}

static inline bool red_ns2_valid(const struct red_ns2_parms *p)
{
	return p->weight && p->weight < RED_NS2_ONE && p->first_p && p->first_p <= RED_NS2_ONE &&
	       p->packet_ps && p->cell_ps && p->limit && p->limit <= RED_NS2_MOST && p->min &&
	       p->min < p->max &&
	       p->packet_bytes && p->cell_payload && !(p->flags & ~RED_NS2_FLAGS);
}

#endif
