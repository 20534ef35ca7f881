/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event loop of both programs: epoll, one timer, and the times at which things are due.
 *
 * The program reads the clock once per wakeup, at the first use. All events of a wakeup have the
 * same time. All times are nanoseconds of CLOCK_MONOTONIC; MISSING: the event has not happened.
 *
 * System calls are noted in `calls` and made together, in their order: at the latest before the loop
 * waits, and before that where the program needs a result. The wait itself is in the same list if
 * the program knows that nothing else happens in this wakeup (loop_wait_ahead).
 */
#ifndef LOOP_H
#define LOOP_H

#include <stdint.h>
#include <sys/epoll.h>

#include "../../common/calls.h"

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
	struct calls calls;
	struct call *arming, *waiting;	/* in the list */
	int64_t arming_ns;
	int last;		/* the program handles the last event of this wakeup */
	int woken;		/* it has waited already: */
	int events_count;	/* the result */
	struct epoll_event events[EVENTS_A_WAKEUP];
};

void loop_open(struct loop *loop);

/* Notes the call that watches a file. */
struct call *loop_watch(struct loop *loop, int fd, uint32_t events, uint32_t mark);

/* Makes the noted calls. */
void loop_run(struct loop *loop);

/* Sleeps until something happens; returns the number of events. */
int loop_wait(struct loop *loop);
int64_t loop_now(struct loop *loop);

/* Notes that `what` is due at a time. */
void loop_note(struct loop *loop, int64_t at_ns, uint32_t what);

/* The earliest time noted, or MISSING. */
int64_t loop_next(const struct loop *loop);

/* Was a thing due when the timer last expired? */
int loop_is_due(const struct loop *loop);

/* Takes one thing that was due when the timer last expired: returns 1 and the thing, or 0. Does not
 * read the clock. */
int loop_take(struct loop *loop, uint32_t *what);

/* Notes the call that wakes up at a time (MISSING: never). */
void loop_arm(struct loop *loop, int64_t at_ns);

/* Notes both calls with which this wakeup ends, if the program handles its last event: it will wake
 * up at a time (MISSING: as before), and it waits. They are made if all calls before have the
 * expected results. Then the program must neither make another call nor read the clock for the first
 * time before loop_wait(). */
void loop_wait_ahead(struct loop *loop, int64_t at_ns);

/* Raises the limit of open files as far as the system allows. */
void raise_file_limit(void);

#endif
