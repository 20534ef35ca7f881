// SPDX-License-Identifier: GPL-2.0-only
#include "loop.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>

#include "../../common/fail.h"
#include "../../common/grown.h"

void loop_open(struct loop *loop)
{
	memset(loop, 0, sizeof(*loop));
	loop->wakeup_ns = loop->armed_ns = loop->rung_ns = MISSING;
	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	loop->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (loop->epoll < 0 || loop->timer < 0)
		fail("cannot make epoll and timer: %s", strerror(errno));
	/* Edge-triggered, so the program need not read the timer. */
	loop_watch(loop, loop->timer, EPOLLIN | EPOLLET, TIMER);
	loop_run(loop);
}

struct call *loop_watch(struct loop *loop, int fd, uint32_t events, uint32_t mark)
{
	struct epoll_event event = { .events = events, .data.u32 = mark };

	return CALL(&loop->calls, "watch a socket", SYS_epoll_ctl, (uint64_t)loop->epoll,
		    EPOLL_CTL_ADD, (uint64_t)fd, calls_keep(&loop->calls, &event, sizeof(event)));
}

void loop_run(struct loop *loop)
{
	calls_run(&loop->calls);
	if (loop->arming && call_made(&loop->calls, loop->arming))
		loop->armed_ns = loop->arming_ns;
	if (loop->waiting && call_made(&loop->calls, loop->waiting)) {
		loop->woken = 1;
		loop->events_count = (int)loop->waiting->result;
	}
	loop->arming = loop->waiting = NULL;
}

static void note_wait(struct loop *loop)
{
	loop->waiting = CALL(&loop->calls, NULL, SYS_epoll_pwait, (uint64_t)loop->epoll,
			     POINTER(loop->events), EVENTS_A_WAKEUP, (uint64_t)-1);
}

void loop_wait_ahead(struct loop *loop, int64_t at_ns)
{
	if (!loop->last)
		return;
	if (at_ns != MISSING)
		loop_arm(loop, at_ns);
	note_wait(loop);
}

int loop_wait(struct loop *loop)
{
	if (!loop->woken) {
		note_wait(loop);
		loop_run(loop);
	}
	if (loop->events_count < 0 && loop->events_count != -EINTR)
		fail("cannot wait: %s", strerror(-loop->events_count));
	loop->woken = 0;
	loop->wakeup_ns = MISSING;
	for (int i = 0; i < loop->events_count; i++)
		if (loop->events[i].data.u32 == TIMER) {
			loop->rung_ns = loop->armed_ns;
			loop->armed_ns = MISSING;
		}
	return loop->events_count < 0 ? 0 : loop->events_count;
}

int64_t loop_now(struct loop *loop)
{
	struct timespec now;

	if (loop->wakeup_ns == MISSING) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		loop->wakeup_ns = now.tv_sec * NS_PER_S + now.tv_nsec;
	}
	return loop->wakeup_ns;
}

static int earlier(const struct due *a, const struct due *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

void loop_note(struct loop *loop, int64_t at_ns, uint32_t what)
{
	struct due due = { .at_ns = at_ns, .order = loop->noted++, .what = what };
	uint32_t at;

	loop->heap = grown(loop->heap, loop->count, &loop->room, sizeof(*loop->heap));
	for (at = loop->count++; at && earlier(&due, &loop->heap[(at - 1) / 2]); at = (at - 1) / 2)
		loop->heap[at] = loop->heap[(at - 1) / 2];
	loop->heap[at] = due;
}

int64_t loop_next(const struct loop *loop)
{
	return loop->count ? loop->heap[0].at_ns : MISSING;
}

int loop_is_due(const struct loop *loop)
{
	return loop->count && loop->heap[0].at_ns <= loop->rung_ns;
}

int loop_take(struct loop *loop, uint32_t *what)
{
	struct due last;
	uint32_t at = 0, child;

	if (!loop_is_due(loop))
		return 0;
	*what = loop->heap[0].what;
	last = loop->heap[--loop->count];
	while ((child = 2 * at + 1) < loop->count) {
		if (child + 1 < loop->count && earlier(&loop->heap[child + 1], &loop->heap[child]))
			child++;
		if (!earlier(&loop->heap[child], &last))
			break;
		loop->heap[at] = loop->heap[child];
		at = child;
	}
	loop->heap[at] = last;
	return 1;
}

void loop_arm(struct loop *loop, int64_t at_ns)
{
	struct itimerspec when = { 0 };

	if (at_ns == loop->armed_ns)
		return;
	if (at_ns != MISSING) {
		when.it_value.tv_sec = at_ns / NS_PER_S;
		when.it_value.tv_nsec = at_ns % NS_PER_S;
	}
	loop->arming = CALL(&loop->calls, "set a timer", SYS_timerfd_settime,
			    (uint64_t)loop->timer, TFD_TIMER_ABSTIME,
			    calls_keep(&loop->calls, &when, sizeof(when)));
	loop->arming_ns = at_ns;
}

void raise_file_limit(void)
{
	struct rlimit limit = { .rlim_cur = 1 << 20, .rlim_max = 1 << 20 };

	if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
		return;
	/* Without root, use the present limit. If it is too low, opening a socket fails. */
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}
