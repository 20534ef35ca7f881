/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What both programs wait by: epoll, one timer, and the times that things are due.
 *
 * The clock is read once a wakeup, when something first wants it: what one wakeup finds has one
 * time. All times are nanoseconds of CLOCK_MONOTONIC; MISSING where a thing has not happened.
 */
#ifndef LOOP_H
#define LOOP_H

#include <stdint.h>
#include <sys/epoll.h>

#define MISSING (-1)
#define NS_PER_S 1000000000LL
#define EVENTS_A_WAKEUP 128
#define TIMER UINT32_MAX	/* the mark of the timer's event */

struct due {
	int64_t at_ns;
	uint64_t order;		/* of equal times the earlier noted is the first */
	uint32_t what;
};

struct loop {
	int epoll, timer;
	int64_t wakeup_ns;	/* MISSING until it is read */
	int64_t armed_ns;	/* what the timer is set to; MISSING: not */
	int64_t rung_ns;	/* what it was set to when it last went off */
	struct due *heap;	/* the earliest first */
	uint32_t count, room;
	uint64_t noted;
};

void loop_open(struct loop *loop);
void loop_watch(const struct loop *loop, int fd, uint32_t events, uint32_t mark);

/* Sleeps until something happens; returns the number of events. */
int loop_wait(struct loop *loop, struct epoll_event *events);
int64_t loop_now(struct loop *loop);

/* Notes that `what` is due at a time. */
void loop_note(struct loop *loop, int64_t at_ns, uint32_t what);

/* The earliest time noted, or MISSING. */
int64_t loop_next(const struct loop *loop);

/* Takes what was due when the timer last went off (the clock is not read): returns 1 and the thing,
 * or 0. */
int loop_take(struct loop *loop, uint32_t *what);

/* Wakes up at a time (MISSING: never). */
void loop_arm(struct loop *loop, int64_t at_ns);

/* As many open files as the system gives this process. */
void raise_file_limit(void);

#endif
