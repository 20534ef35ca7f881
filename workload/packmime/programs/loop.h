/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event loop of both programs: epoll, one timer, and the times at which things are due.
 *
 * The program reads the clock once per wakeup, at the first use. All events of a wakeup have the
 * same time. All times are nanoseconds of CLOCK_MONOTONIC; MISSING: the event has not happened.
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
	uint64_t order;		/* order of noting, for equal times */
	uint32_t what;
};

struct loop {
	int epoll, timer;
	int64_t wakeup_ns;	/* MISSING until it is read */
	int64_t armed_ns;	/* the time to which the timer is set; MISSING: not set */
	int64_t rung_ns;	/* the time for which it last expired */
	struct due *heap;	/* the earliest is first */
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

/* Takes one thing that was due when the timer last expired: returns 1 and the thing, or 0. Does not
 * read the clock. */
int loop_take(struct loop *loop, uint32_t *what);

/* Wakes up at a time (MISSING: never). */
void loop_arm(struct loop *loop, int64_t at_ns);

/* Raises the limit of open files as far as the system allows. */
void raise_file_limit(void);

#endif
