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
}

void loop_watch(const struct loop *loop, int fd, uint32_t events, uint32_t mark)
{
	struct epoll_event event = { .events = events, .data.u32 = mark };

	if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
		fail("cannot watch a socket: %s", strerror(errno));
}

int loop_wait(struct loop *loop, struct epoll_event *events)
{
	int count = epoll_wait(loop->epoll, events, EVENTS_A_WAKEUP, -1);

	if (count < 0 && errno != EINTR)
		fail("cannot wait: %s", strerror(errno));
	loop->wakeup_ns = MISSING;
	for (int i = 0; i < count; i++)
		if (events[i].data.u32 == TIMER) {
			loop->rung_ns = loop->armed_ns;
			loop->armed_ns = MISSING;
		}
	return count < 0 ? 0 : count;
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

int loop_take(struct loop *loop, uint32_t *what)
{
	struct due last;
	uint32_t at = 0, child;

	if (!loop->count || loop->heap[0].at_ns > loop->rung_ns)
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
	if (timerfd_settime(loop->timer, TFD_TIMER_ABSTIME, &when, NULL) != 0)
		fail("cannot set a timer: %s", strerror(errno));
	loop->armed_ns = at_ns;
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
